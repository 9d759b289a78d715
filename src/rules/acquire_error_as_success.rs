//! Whether a lease was won is not known, and the code takes it for won.

use super::prelude::*;

rule!("acquire-error-as-success", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (_, acquire) in analysis.leases.acquires() {
        for taken in analysis.failures_as_wins(acquire) {
            report(analysis, acquire, &taken, out);
        }
    }
}

fn report(analysis: &Analysis, acquire: &KeyUse, taken: &FailureAsWin, out: &mut Findings) {
    let Some(effect) = analysis.effect_of(acquire) else { return };
    let key = analysis.key_at(acquire, &taken.chain);
    let key = key.unwrap_or_else(|| key_name(analysis, acquire));
    let (message, help) = match taken.mistake {
        Mistake::FailureWins => (
            format!("an acquire of {key} that failed is taken for one that won"),
            "take a failure for a loss, `.unwrap_or(false)`, or pass it on with `?`; before it is tried again with the same token, the key may be held by the attempt that failed",
        ),
        Mistake::AnyReplyWins => (
            format!(
                "every reply to the acquire of {key} is taken for a win, a loss too: only a failure is told apart"
            ),
            "look at the reply and not only at whether there is one: `Ok(true) => …`, `Ok(false) => …` and `Err(error) => …` are three answers",
        ),
    };
    let mut finding = RULE
        .finding(taken.span, message)
        .confidence(taken.confidence)
        .help(help)
        .subject(key)
        .function(analysis.function_name(taken.site.body));
    let name = analysis.call_name(taken.site).unwrap_or_else(|| "the acquire".to_owned());
    if taken.chain.is_empty() {
        finding = finding.step(effect.span, "the lease is taken here, if it is free");
    } else {
        finding = finding.steps(analysis.step(taken.site, format!("`{name}` says who won")));
        let calls = taken.chain.split_last().map(|(_, calls)| calls).unwrap_or_default();
        for site in calls.iter().take(MOST_STEPS - 2) {
            let name = analysis.call_name(*site).unwrap_or_else(|| "the function".to_owned());
            finding = finding.steps(analysis.step(*site, format!("`{name}` is called here")));
        }
        finding = finding.step(effect.span, "the lease is taken here, if it is free");
    }
    out.report(finding);
}
