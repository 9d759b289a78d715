//! A store is asked, and what it answered is acted on in another command: it may have changed between.

use super::prelude::*;

rule!("check-then-act", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.checks_then_acts() {
        let what = &found.what;
        let message = match found.act {
            Act::Counter | Act::Limiter => format!(
                "{what} is read and tested, and moved by a second command: others come between"
            ),
            Act::Marker => format!(
                "{what} is asked for and then set by a second command: two callers both find it absent"
            ),
            Act::Secret => format!(
                "{what} is read and then deleted by a second command: two callers both read it"
            ),
            Act::Row => format!(
                "{what} is looked for and then inserted, and no unique key refuses the second: two callers both find none"
            ),
        };
        let severity = match (found.act, found.under_lease) {
            (Act::Limiter, _) => Severity::Note,
            (_, true) => Severity::Warning,
            _ => Severity::Error,
        };
        let confidence = match found.act {
            Act::Secret => Confidence::High,
            _ => Confidence::Medium,
        };
        out.report(
            RULE.finding(found.check.span, message)
                .severity(severity)
                .confidence(confidence)
                .help(help(found.act, &found.effect.client))
                .step(found.check.span, "asked here")
                .step(found.tested, "the answer decides here")
                .step(found.effect.span, "acted on here")
                .subject(what.clone())
                .function(analysis.function_name(found.effect.site.body)),
        );
    }
}

fn help(act: Act, client: &str) -> &'static str {
    match (act, client) {
        (Act::Secret, "fred") => "read and delete in one command: `client.getdel(key)`",
        (Act::Secret, _) => "read and delete in one command: `con.get_del(key)`",
        (Act::Marker, "fred") => {
            "set it and ask in one command: `client.set(key, value, Some(Expiration::EX(n)), Some(SetOptions::NX), false)`"
        }
        (Act::Marker, _) => {
            "set it and ask in one command: `SET key value NX EX n`, and look at the reply"
        }
        (Act::Row, _) => {
            "let the insert be the check: a unique key, `INSERT … ON CONFLICT DO NOTHING`, and go on only if a row was hit"
        }
        _ => {
            "compare and move in one script: `if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then return -1 end return redis.call('DECRBY', KEYS[1], ARGV[1])`"
        }
    }
}
