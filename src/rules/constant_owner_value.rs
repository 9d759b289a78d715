//! The value of a lease is the same for every attempt.

use super::prelude::*;

rule!("constant-owner-value", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (id, acquire) in analysis.leases.acquires() {
        for value in analysis.same_values(acquire) {
            report(analysis, id, acquire, &value, out);
        }
    }
}

/// How bad it is: an error where a comparison relies on it. One process that wants to be the leader
/// knows itself by its own name.
fn severity(analysis: &Analysis, id: UseId, acquire: &KeyUse, value: &SameValue) -> Severity {
    let process = value.sameness == Sameness::Process;
    match analysis.comparing_use(&value.key) {
        _ if process && analysis.taken_by_one_loop(id, acquire) => Severity::Note,
        Some(_) => Severity::Error,
        None => Severity::Warning,
    }
}

fn report(analysis: &Analysis, id: UseId, acquire: &KeyUse, value: &SameValue, out: &mut Findings) {
    let Some((effect, command)) = analysis.command_of(acquire) else { return };
    let certain = analysis.leases.class_of(&value.key.identity).confidence;
    let confidence = match value.sameness {
        Sameness::Everywhere => certain,
        Sameness::Key | Sameness::Process => certain.min(Confidence::Medium),
    };
    let compared = analysis.comparing_use(&value.key);
    let key = format!("`{}`", value.key.template);
    let mut finding = RULE
        .finding(value.span, message(value, &key, compared.is_some()))
        .severity(severity(analysis, id, acquire, value))
        .confidence(confidence)
        .help(help(&effect.client))
        .subject(key)
        .function(analysis.function_name(value.body));
    if let Some(made) = value.made_at.filter(|made| *made != value.span) {
        finding = finding.step(made, "the value is made here, once");
    }
    for site in &value.chain {
        finding = finding.steps(analysis.step(*site, "passed on here"));
    }
    let stores = if value.stored == value.span { effect.span } else { value.stored };
    finding = finding.step(stores, format!("`{}` stores it", command.name));
    let changes = analysis.changes(&value.key);
    out.report(match (compared, changes.first()) {
        (Some(compared), _) => finding.steps(analysis.use_step(compared, "compared here")),
        (None, Some(change)) => {
            finding.steps(analysis.use_step(change, "given back or renewed here"))
        }
        (None, None) => finding,
    });
}

fn message(value: &SameValue, key: &str, compared: bool) -> String {
    let text = &value.value;
    let stored = match (value.sameness, text.parts.is_empty()) {
        (_, true) => format!("every holder of {key} stores an empty value"),
        (Sameness::Everywhere, _) => format!("every holder of {key} stores `{text}`"),
        (Sameness::Key, _) => {
            format!("every holder of {key} stores `{text}`, which the key tells already")
        }
        (Sameness::Process, _) => {
            format!("every holder of {key} in one process stores the same `{text}`")
        }
    };
    let so = if compared { "comparing it proves nothing" } else { "nobody can tell whose it is" };
    format!("{stored}: {so}")
}

/// How to make an owner token, for the client that was called.
fn help(client: &str) -> &'static str {
    match client {
        "lua" => {
            "let the caller pass a token that is new at every attempt, `ARGV[1]`, and compare it at the release"
        }
        _ => {
            "make a new token at every attempt, `let token = Uuid::new_v4().to_string();`, store it, and compare it at the release"
        }
    }
}
