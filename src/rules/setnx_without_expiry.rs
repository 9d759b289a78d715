//! A key is taken only if it is free, and nothing makes it expire.

use super::prelude::*;

rule!("setnx-without-expiry", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (_, acquire) in analysis.leases.acquires() {
        // A field or member has no expiry of its own.
        if acquire.library || acquire.claim == Some(Claim::Share) {
            continue;
        }
        for omission in analysis.omissions(acquire) {
            report_omission(analysis, acquire, &omission, out);
        }
        let covered = !analysis.never_expires(acquire)
            || analysis.expires_in_script(acquire)
            || analysis.expires_in_transaction(acquire);
        if !covered {
            report(analysis, acquire, out);
        }
    }
}

/// How bad it is: a lease that never ends is an error. A marker may be meant to stay: it counts only
/// where the reply is looked at, and surely only where a name says what it is for or it is one of many
/// that hold nothing.
fn judge(analysis: &Analysis, acquire: &KeyUse) -> Option<(Severity, Confidence)> {
    let class = analysis.leases.class(acquire);
    match class.kind {
        KeyKind::Lease => Some((Severity::Error, class.confidence)),
        KeyKind::Marker if analysis.is_unasked(acquire) => None,
        KeyKind::Marker => {
            let once = class.named
                || names_repetition(analysis, acquire)
                || analysis.says_only_that_it_is_there(acquire);
            let confidence = if once { Confidence::Medium } else { Confidence::Low };
            Some((Severity::Warning, confidence))
        }
        KeyKind::Plain => None,
    }
}

/// Whether the key says that it keeps a request from running twice.
fn names_repetition(analysis: &Analysis, acquire: &KeyUse) -> bool {
    let says = |text: &str| analysis.words.has(WordList::Idempotency, text);
    acquire.identities.iter().any(|one| says(&one.template.to_string()))
}

fn report(analysis: &Analysis, acquire: &KeyUse, out: &mut Findings) {
    let Some((severity, confidence)) = judge(analysis, acquire) else { return };
    let Some((effect, command)) = analysis.command_of(acquire) else { return };
    let key = key_name(analysis, acquire);
    let keeps = if command.expiry == Expiry::Keep { "; KEEPTTL keeps none" } else { "" };
    let message = format!("`{}` takes {key} without an expiry{keeps}", command.name);
    out.report(
        RULE.finding(effect.span, message)
            .severity(severity)
            .confidence(confidence)
            .help(help(&effect.client))
            .steps(analysis.key_steps(acquire))
            .subject(key)
            .function(analysis.function_name(acquire.site.body)),
    );
}

fn report_omission(analysis: &Analysis, acquire: &KeyUse, omission: &Omission, out: &mut Findings) {
    let Some((effect, command)) = analysis.command_of(acquire) else { return };
    let class = analysis.leases.class(acquire);
    let key =
        analysis.key_at(acquire, &omission.chain).unwrap_or_else(|| key_name(analysis, acquire));
    let named = class.named || has_lock_word(analysis.words, &key);
    if class.kind != KeyKind::Lease && !named {
        return;
    }
    let severity = if class.kind == KeyKind::Lease { Severity::Error } else { Severity::Warning };
    let message = format!("no expiry is given here, so `{}` takes {key} for ever", command.name);
    let mut finding = RULE
        .finding(omission.span, message)
        .severity(severity)
        .confidence(Confidence::Medium)
        .help("pass an expiry here, or let the function fall back to one of its own")
        .subject(key)
        .function(analysis.function_name(omission.site.body));
    for site in &omission.chain {
        finding = finding.steps(analysis.step(*site, "the call without an expiry"));
    }
    out.report(finding.step(effect.span, "the command that then sets none"));
}

fn help(client: &str) -> String {
    match client {
        "fred" => "give the expiry in the same command: `client.set(key, token, Some(Expiration::PX(30_000)), Some(SetOptions::NX), false)`".to_owned(),
        "lua" => "give the expiry in the same command: `redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])`".to_owned(),
        _ => "give the expiry in the same command: `redis::cmd(\"SET\").arg(key).arg(token).arg(\"NX\").arg(\"PX\").arg(30_000)`, or `SetOptions::default().conditional_set(ExistenceCheck::NX).with_expiration(SetExpiry::PX(30_000))`".to_owned(),
    }
}
