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
                let Some(source) = undeclared(&key.template) else { continue };
                if seen.insert(key.template.skeleton()) {
                    report(analysis, effect, command, key, source, out);
                }
            }
        }
    }
}

/// Where an undeclared key comes from; `None` for a key of KEYS or one of which nothing is known.
fn undeclared(template: &KeyTemplate) -> Option<&'static str> {
    let from_keys = |hole: &Hole| matches!(hole.origin, Origin::ScriptKey(_));
    let mut holes = template.holes();
    let only_key = !template.has_literal() && template.literals().trim().is_empty();
    match (holes.next(), holes.next()) {
        (None, _) => Some("a literal of the script"),
        (Some(hole), None) if only_key && from_keys(hole) => None,
        (Some(hole), None) if only_key => match hole.origin {
            Origin::ScriptArgument(_) => Some("an argument"),
            Origin::Reply(_) => Some("data that the script read"),
            _ => None,
        },
        _ if template.holes().any(|hole| matches!(hole.origin, Origin::Reply(_))) => {
            Some("data that the script read")
        }
        _ if template.holes().any(from_keys) => Some("another key, with more text"),
        _ => Some("text and arguments"),
    }
}

fn report(
    analysis: &Analysis,
    effect: &Effect,
    command: &RedisCommand,
    key: &Key,
    source: &str,
    out: &mut Findings,
) {
    let tags = analysis.uses_hash_tags();
    let cluster = analysis.cluster_of_script(effect.site.body, tags);
    let severity = if cluster == ClusterUse::Yes { Severity::Error } else { Severity::Warning };
    let message = format!(
        "`{}` touches `{}`, a key made of {source}; it is not in KEYS",
        command.name, key.template
    );
    out.report(
        RULE.finding(effect.span, message)
            .severity(severity)
            .help("pass the key in KEYS, built by the caller with the same hash tag as the others")
            .step(key.span, "the key is made here")
            .steps(analysis.script_step(effect.site.body))
            .subject(key.template.skeleton())
            .function(analysis.function_name(effect.site.body)),
    );
}
