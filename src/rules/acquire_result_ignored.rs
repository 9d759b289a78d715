//! A lease is asked for, and the work goes on whether it was won or not.

use super::prelude::*;

rule!("acquire-result-ignored", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (id, acquire) in analysis.leases.acquires() {
        for dropped in analysis.dropped_outcomes(id, acquire) {
            report(analysis, acquire, &dropped, out);
        }
    }
}

fn report(analysis: &Analysis, acquire: &KeyUse, dropped: &DroppedOutcome, out: &mut Findings) {
    let Some(effect) = analysis.effect_of(acquire) else { return };
    let own = dropped.chain.is_empty();
    let place = if own { Some(effect.span) } else { analysis.place(dropped.site) };
    let Some(place) = place else { return };
    let key = analysis.key_at(acquire, &dropped.chain);
    let key = key.unwrap_or_else(|| key_name(analysis, acquire));
    let name = match own {
        true => command_name(effect, &analysis.call_name(acquire.site)),
        false => analysis.call_name(dropped.site).unwrap_or_else(|| "the function".to_owned()),
    };
    let message = match own {
        true => format!(
            "nobody asks whether `{name}` won {key}: who lost works on as if the lease were held"
        ),
        false => format!(
            "`{name}` says whether {key} was won, and that is dropped here: who lost works on as if the lease were held"
        ),
    };
    let mut finding = RULE
        .finding(place, message)
        .confidence(dropped.confidence)
        .help(help(own, effect, &name))
        .subject(key)
        .function(analysis.function_name(dropped.site.body));
    if let Some((_, calls)) = dropped.chain.split_last() {
        for site in calls {
            let name = analysis.call_name(*site).unwrap_or_else(|| "the function".to_owned());
            finding = finding.steps(analysis.step(*site, format!("`{name}` is called here")));
        }
        finding = finding.step(effect.span, "the lease is taken here, if it is free");
    } else {
        finding = finding.steps(analysis.key_steps(acquire));
    }
    let release =
        dropped.release.and_then(|site| analysis.step(site, "the lease is given back here"));
    out.report(finding.steps(release));
}

/// What a message calls an acquire: the command, or a library's method.
fn command_name(effect: &Effect, called: &Option<String>) -> String {
    match &effect.kind {
        EffectKind::Redis(command) if command.name == "SET" => "SET … NX".to_owned(),
        EffectKind::Redis(command) => command.name.clone(),
        _ => called.clone().unwrap_or_else(|| "the acquire".to_owned()),
    }
}

fn help(own: bool, effect: &Effect, name: &str) -> String {
    if !own || matches!(effect.kind, EffectKind::Lease(_)) {
        return format!("look at what `{name}` gives back, and go on only where the lease was won");
    }
    match effect.client.as_str() {
        "fred" => "read the reply as what may be missing and go on only where it is there: `let won: Option<String> = client.set(…).await?; if won.is_none() { return Err(busy) }`",
        "lua" => "go on only where the key was taken: `if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end`",
        _ => "read the reply as a `bool` and go on only where it is true: `let won: bool = …query_async(con).await?; if !won { return Err(busy) }`",
    }
    .to_owned()
}
