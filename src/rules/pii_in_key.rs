//! A key template carries personal data.

use super::prelude::*;

rule!("pii-in-key", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for one in analysis.personal_keys() {
        report(analysis, &one, out);
    }
}

fn report(analysis: &Analysis, one: &PersonalKey, out: &mut Findings) {
    let severity = match () {
        () if one.data.is_note() => Severity::Note,
        () if one.lease && !one.plain_hash => Severity::Error,
        () => Severity::Warning,
    };
    let hashed = if one.plain_hash { ", hashed without a secret: it can be guessed" } else { "" };
    let message =
        format!("the key `{}` carries {} (`{}`){hashed}", one.template, one.data.noun(), one.label);
    let mut finding = RULE
        .finding(one.span, message)
        .severity(severity)
        .confidence(if one.used_at.is_some() { Confidence::High } else { Confidence::Medium })
        .help("use an internal id, or a keyed hash: `HMAC-SHA256(secret, value)`; keys show up in logs, monitors and dumps")
        .subject(one.template.skeleton())
        .function(analysis.function_name(one.body));
    if let Some(made) = one.made_at {
        finding = finding.step(made, "the key is made here");
    }
    if let Some(used) = one.used_at {
        finding = finding.step(used, "the key is used here");
    }
    out.report(finding);
}
