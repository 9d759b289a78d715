//! One command, script call or transaction touches keys of different hash slots.

use super::prelude::*;

rule!("cross-slot-keys", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for conflict in analysis.slot_conflicts() {
        report(analysis, &conflict, out);
    }
}

fn report(analysis: &Analysis, conflict: &Conflict, out: &mut Findings) {
    let read_only =
        matches!(&conflict.effect.kind, EffectKind::Redis(command) if command.is(&["MGET"]));
    let severity = match conflict.cluster {
        ClusterUse::Yes if read_only => Severity::Warning,
        ClusterUse::Yes => Severity::Error,
        ClusterUse::Unknown => Severity::Warning,
        ClusterUse::No => Severity::Note,
    };
    let confidence = match conflict.may_hold_tag {
        true => Confidence::Low,
        false if conflict.cluster == ClusterUse::Yes => Confidence::High,
        false => Confidence::Medium,
    };
    let unit = match conflict.unit {
        Unit::Command => "one command",
        Unit::Script => "one script call",
        Unit::Transaction => "one transaction",
    };
    let (left, right) = (&conflict.left.0, &conflict.right.0);
    let keys = match conflict.slots {
        Some((l, r)) => format!("`{left}` (slot {l}) and `{right}` (slot {r})"),
        None if left == right => format!("keys like `{left}`"),
        None => format!("`{left}` and `{right}`"),
    };
    let also = match conflict.undeclared {
        true => ", and the second is not in KEYS",
        false => "",
    };
    let message = format!("{unit} touches {keys}, which lie in different hash slots{also}");
    let calls = analysis.call_steps(&conflict.via);
    out.report(
        RULE.finding(conflict.effect.span, message)
            .severity(severity)
            .confidence(confidence)
            .help(help(left))
            .steps(calls)
            .step(conflict.left.1, format!("`{left}`"))
            .step(conflict.right.1, format!("`{right}`"))
            .subject(format!("{left} {right}"))
            .function(analysis.function_name(conflict.effect.site.body)),
    );
}

/// Shows the first key with the tag it could have.
fn help(key: &KeyTemplate) -> String {
    let Some(hole) = key.holes().next() else {
        return "give the keys a common hash tag, as in `{orders}:pending` and `{orders}:done`"
            .to_owned();
    };
    format!(
        "put what the keys share in braces, in every key alike: `{{<{}>}}` (in `format!` that is `{{{{{{…}}}}}}`)",
        hole.label
    )
}
