//! A key is taken by one command and given its expiry by another.

use super::prelude::*;

rule!("expiry-not-atomic", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (_, acquire) in analysis.leases.acquires() {
        if acquire.library || analysis.in_script(acquire) {
            continue;
        }
        let lease = analysis.leases.class(acquire).kind == KeyKind::Lease;
        if let Some((_, expire)) = analysis.later_expiry(acquire)
            && (lease || !analysis.is_unasked(acquire))
        {
            report(analysis, acquire, expire, out);
        }
    }
}

fn report(analysis: &Analysis, acquire: &KeyUse, expire: &KeyUse, out: &mut Findings) {
    let (Some((effect, command)), Some((late, expiring))) =
        (analysis.command_of(acquire), analysis.command_of(expire))
    else {
        return;
    };
    let class = analysis.leases.class(acquire);
    // A marker that stays keeps one thing undone, not every later holder out. Where the name says
    // lock, the release is most likely out of sight.
    let lease = class.kind == KeyKind::Lease || class.named;
    let severity = if lease { Severity::Error } else { Severity::Warning };
    let key = key_name(analysis, acquire);
    let batched = command.batch.is_some() && command.batch == expiring.batch;
    let message = match batched {
        true => format!(
            "`{}` follows `{}` on {key} in one batch: it also runs when the key was not won",
            expiring.name, command.name
        ),
        false => format!(
            "{key} is taken by `{}` and gets its expiry only from a later `{}`",
            command.name, expiring.name
        ),
    };
    let mut finding = RULE
        .finding(effect.span, message)
        .severity(severity)
        .confidence(class.confidence.max(Confidence::Medium))
        .help(help(&effect.client))
        .step(effect.span, "the key is taken here without an expiry")
        .subject(key)
        .function(analysis.function_name(acquire.site.body));
    if let Some(identified) = analysis.leases.telling_identity(acquire) {
        finding = finding.steps(analysis.via_steps(identified));
    }
    out.report(
        finding.step(late.span, "the expiry comes here; a crash before it leaves the key for ever"),
    );
}

fn help(client: &str) -> &'static str {
    match client {
        "fred" => {
            "take the key and its expiry in one command: `client.set(key, token, Some(Expiration::PX(30_000)), Some(SetOptions::NX), false)`"
        }
        _ => {
            "take the key and its expiry in one command: `redis::cmd(\"SET\").arg(key).arg(token).arg(\"NX\").arg(\"PX\").arg(30_000)`"
        }
    }
}
