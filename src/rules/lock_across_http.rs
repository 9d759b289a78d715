//! A call leaves the process while a lease is held.

use std::collections::BTreeSet;

use super::prelude::*;

rule!("lock-across-http", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    let mut seen: BTreeSet<(Site, Site)> = BTreeSet::new();
    for region in analysis.regions.iter() {
        for op in &region.held {
            let site = Site { body: region.point.site.body, op: *op };
            for reached in analysis.reach.at(&analysis.graph, site) {
                let Some(target) = reached.target() else { continue };
                if seen.insert((site, target)) {
                    report(analysis, region, site, &reached, out);
                    break;
                }
            }
        }
    }
}

fn report(analysis: &Analysis, region: &Region, site: Site, reached: &Reached, out: &mut Findings) {
    let Some(acquire) = analysis.leases.get(region.point.acquire) else { return };
    let class = analysis.leases.class(acquire);
    let Some(effect) = reached.effect(analysis.program) else { return };
    let EffectKind::External(call) = &effect.kind else { return };
    let Some(primary) = analysis.place(site) else { return };
    let key = analysis
        .key_at(acquire, &region.point.chain)
        .unwrap_or_else(|| key_name(analysis, acquire));
    let lease = analysis.lease_milliseconds(acquire);
    let unbounded = match (call.timeout, lease) {
        (Timeout::None, _) => true,
        (Timeout::Milliseconds(limit), Some(lease)) => limit >= lease,
        _ => false,
    };
    let message = format!("the lease {key} is held across {}", describe(analysis, effect, call));
    let mut finding = RULE
        .finding(primary, message)
        .severity(if unbounded { Severity::Error } else { Severity::Warning })
        .confidence(class.confidence)
        .help(help(call, lease))
        .subject(format!(
            "{key} {}",
            analysis.call_name(reached.target().unwrap_or(site)).unwrap_or_default()
        ))
        .function(analysis.function_name(site.body))
        .steps(analysis.step(region.point.site, "the lease is held from here"));
    if !region.point.chain.is_empty() {
        finding = finding.steps(analysis.use_step(acquire, "acquired by this command"));
    }
    for step in reached.chain.iter().take(reached.chain.len().saturating_sub(1)).take(4) {
        let name = analysis.call_name(*step).unwrap_or_else(|| "the closure".to_owned());
        finding =
            finding.steps(analysis.step(*step, format!("`{name}` is called while it is held")));
    }
    finding = finding.step(effect.span, format!("leaves the process over {} here", call.protocol));
    if let Some(release) = region.releases.first() {
        let release = Site { body: site.body, op: *release };
        finding = finding.steps(analysis.step(release, "the lease is released here"));
    }
    out.report(finding);
}

fn describe(analysis: &Analysis, effect: &Effect, call: &ExternalCall) -> String {
    let url = call.url.as_ref().filter(|url| url.has_literal()).map(|url| format!(" to `{url}`"));
    let method = call.method.as_deref().map(|method| format!("{method} ")).unwrap_or_default();
    let _ = analysis;
    match call.protocol {
        Protocol::Http => format!("an HTTP {method}call{}", url.unwrap_or_default()),
        Protocol::Smtp => "sending mail".to_owned(),
        other => format!("a call over {other} (`{}`)", effect.client),
    }
}

/// Names what is missing of what makes such a call safe.
fn help(call: &ExternalCall, lease: Option<u64>) -> String {
    let mut missing: Vec<String> =
        vec!["move the call before the acquire or after the release".to_owned()];
    match (call.timeout, lease) {
        (Timeout::Milliseconds(limit), Some(lease)) if limit >= lease => {
            missing.push(format!("or give it a time limit below the lease (it has {limit} ms, the lease is {lease} ms)"));
        }
        (Timeout::None | Timeout::Unknown, Some(lease)) => {
            missing.push(format!("or give it a time limit below the lease of {lease} ms"));
        }
        (Timeout::None | Timeout::Unknown, None) => {
            missing.push("or give it a time limit below the lease".to_owned());
        }
        _ => {}
    }
    if !call.idempotency_key {
        missing.push(
            "send an idempotency key, and write down the attempt before it leaves".to_owned(),
        );
    }
    missing.join("; ")
}
