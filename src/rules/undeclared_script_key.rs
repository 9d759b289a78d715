//! A script touches a key that its caller did not declare.

use super::prelude::*;

rule!("undeclared-script-key", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for body in &analysis.program.bodies {
        for found in analysis.undeclared_keys(body.id) {
            report(analysis, &found, out);
        }
    }
}

/// What a key is made of, for the message.
fn made_of(source: KeySource) -> &'static str {
    match source {
        KeySource::Literal => "a literal of the script",
        KeySource::Argument => "an argument",
        KeySource::Built => "text and arguments",
        KeySource::Derived => "another key, with more text",
        KeySource::Data => "data that the script read",
    }
}

fn report(analysis: &Analysis, found: &UndeclaredUse<'_>, out: &mut Findings) {
    let UndeclaredUse { effect, command, key, undeclared } = found;
    let cluster = analysis.cluster_of_script(effect.site.body);
    let severity = match cluster {
        _ if undeclared.keeps_tag => Severity::Note,
        ClusterUse::Yes => Severity::Error,
        ClusterUse::No | ClusterUse::Unknown => Severity::Warning,
    };
    let but =
        if undeclared.keeps_tag { ", though it keeps the hash tag of one that is" } else { "" };
    let message = format!(
        "`{}` touches `{}`, a key made of {}; it is not in KEYS{but}",
        command.name,
        key.template,
        made_of(undeclared.source)
    );
    let mut finding = RULE
        .finding(effect.span, message)
        .severity(severity)
        .help("pass the key in KEYS, built by the caller with the same hash tag as the others");
    if let Some(read) = undeclared.read {
        finding = finding.step(read, "what it is made of is read here");
    }
    out.report(
        finding
            .step(key.span, "the key is made here")
            .steps(analysis.script_step(effect.site.body))
            .subject(key.template.skeleton())
            .function(analysis.function_name(effect.site.body)),
    );
}
