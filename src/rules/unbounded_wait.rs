//! A lease is waited for, and nothing ends the wait but the lease.

use std::collections::BTreeSet;

use super::prelude::*;

rule!("unbounded-wait", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    // One call may lead to several acquires: one for each server of a quorum.
    let mut told: BTreeSet<Site> = BTreeSet::new();
    for (_, acquire) in analysis.leases.acquires() {
        for wait in analysis.unbounded_waits(acquire) {
            if told.insert(wait.site) {
                report(analysis, acquire, &wait, out);
            }
        }
    }
}

fn report(analysis: &Analysis, acquire: &KeyUse, wait: &Wait, out: &mut Findings) {
    let Some(effect) = analysis.effect_of(acquire) else { return };
    let own = wait.chain.is_empty();
    let place = if own { Some(effect.span) } else { analysis.place(wait.site) };
    let Some(place) = place else { return };
    let key = analysis.key_at(acquire, &wait.chain);
    let key = key.unwrap_or_else(|| key_name(analysis, acquire));
    let name = match &effect.kind {
        EffectKind::Redis(command) if own => match command.name.as_str() {
            "SET" => "SET … NX".to_owned(),
            name => name.to_owned(),
        },
        _ => analysis.call_name(wait.site).unwrap_or_else(|| "the function".to_owned()),
    };
    let message = match wait.by_library {
        true => format!("`{name}` waits for {key} until it is free, however long that takes"),
        false => format!(
            "`{name}` is tried again until it wins {key}: no deadline, no last attempt, no way to cancel"
        ),
    };
    let mut finding = RULE
        .finding(place, message)
        .confidence(wait.confidence)
        .help(help(wait.by_library))
        .subject(key)
        .function(analysis.function_name(wait.site.body));
    if let Some((_, calls)) = wait.chain.split_last() {
        for site in calls {
            let name = analysis.call_name(*site).unwrap_or_else(|| "the function".to_owned());
            finding = finding.steps(analysis.step(*site, format!("`{name}` is called here")));
        }
        finding = finding.step(effect.span, "the lease is taken here, if it is free");
    } else {
        finding = finding.steps(analysis.key_steps(acquire));
    }
    out.report(finding);
}

fn help(by_library: bool) -> &'static str {
    match by_library {
        true => {
            "give the wait an end: `tokio::time::timeout(Duration::from_secs(…), …)` around it, or the library's call that tries a few times and gives up"
        }
        false => {
            "give up after a time: `if started.elapsed() >= PATIENCE { return Err(busy) }` in the loop, or `tokio::time::timeout(PATIENCE, …)` around it"
        }
    }
}
