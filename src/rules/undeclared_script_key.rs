//! A script touches a key that its caller did not declare.

use std::collections::BTreeSet;

use super::prelude::*;

rule!("undeclared-script-key", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for body in &analysis.program.bodies {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for effect in analysis.program.effects(body.id) {
            let EffectKind::Redis(command) = &effect.kind else { continue };
            if effect.client != "lua" || command.is(&["PUBLISH", "KEYS", "SCAN"]) {
                continue;
            }
            for key in &command.keys {
                if analysis.declared_free(body.id, command, key) {
                    continue;
                }
                let Some(undeclared) = analysis.undeclared_key(body.id, key) else { continue };
                if seen.insert(named_alike(&key.template)) {
                    report(analysis, effect, command, key, &undeclared, out);
                }
            }
        }
    }
}

/// Keys of one script that are reported once: those that are written alike.
fn named_alike(template: &KeyTemplate) -> String {
    if template.has_literal() { template.skeleton() } else { template.to_string() }
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

fn report(
    analysis: &Analysis,
    effect: &Effect,
    command: &RedisCommand,
    key: &Key,
    undeclared: &UndeclaredKey,
    out: &mut Findings,
) {
    let tags = analysis.uses_hash_tags();
    let cluster = analysis.cluster_of_script(effect.site.body, tags);
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
