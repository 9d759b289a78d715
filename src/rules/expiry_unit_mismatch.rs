//! A time is given in another unit than the command counts in, or comes to nothing.

use super::prelude::*;

rule!("expiry-unit-mismatch", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for effect in analysis.effects() {
        for wrong in analysis.wrong_times(effect) {
            report(analysis, effect, &wrong, out);
        }
    }
}

fn report(analysis: &Analysis, effect: &Effect, wrong: &WrongTime, out: &mut Findings) {
    let EffectKind::Redis(command) = &effect.kind else { return };
    let name = words(command);
    let wanted = wrong.wanted.word();
    let (message, help) = match wrong.fault {
        TimeFault::Unit(unit) => (
            format!("this counts {}, and `{name}` takes it for {wanted}", unit.word()),
            convert(&name, wrong.wanted, unit),
        ),
        TimeFault::Zero => (
            format!("this comes to 0 {wanted}: `{name}` keeps nothing that long"),
            "give at least one unit; a time of less than a second is kept by `PX` and `PEXPIRE`, with `as_millis()`".to_owned(),
        ),
        TimeFault::Fraction => (
            format!("`{name}` takes whole {wanted} only, and the server refuses this"),
            "give whole numbers: `as_secs()` for `EX`, `as_millis()` for `PX`".to_owned(),
        ),
    };
    let mut finding = RULE
        .finding(wrong.span, message)
        .confidence(wrong.confidence)
        .help(help)
        .subject(name.clone())
        .function(analysis.function_name(wrong.body));
    for site in wrong.chain.iter().take(MOST_STEPS - 1) {
        finding = finding.steps(analysis.step(*site, "passed on here"));
    }
    if !wrong.chain.is_empty() {
        finding = finding.step(effect.span, format!("`{name}` is sent here"));
    }
    out.report(finding);
}

/// The command with the option that tells its unit.
fn words(command: &RedisCommand) -> String {
    let options = command.is(&["SET", "GETEX", "MSETEX"]);
    match &command.expiry {
        Expiry::Set { unit: ExpiryUnit::Seconds, .. } if options => {
            format!("{} … EX", command.name)
        }
        Expiry::Set { unit: ExpiryUnit::Milliseconds, .. } if options => {
            format!("{} … PX", command.name)
        }
        _ => command.name.clone(),
    }
}

fn convert(name: &str, wanted: TimeUnit, given: TimeUnit) -> String {
    match (wanted, given) {
        (TimeUnit::Seconds, TimeUnit::Milliseconds) if name.ends_with("POP") || name.starts_with('B') => {
            "divide by 1000.0, or give seconds: the wait takes fractions of a second".to_owned()
        }
        (TimeUnit::Seconds, TimeUnit::Milliseconds) => {
            "count in milliseconds throughout, with `PX` or `PEXPIRE`; or give `as_secs()`, which cuts parts of a second off".to_owned()
        }
        (TimeUnit::Milliseconds, TimeUnit::Seconds) => {
            "give `as_millis()`, or use `EX` or `EXPIRE`, which count seconds".to_owned()
        }
        _ => format!("give {}", wanted.word()),
    }
}
