//! KEYS goes through the whole keyspace, and the server does nothing else meanwhile.

use super::prelude::*;

rule!("keys-command", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for effect in analysis.effects() {
        let EffectKind::Redis(command) = &effect.kind else { continue };
        let message = match command.name.as_str() {
            "KEYS" => {
                "`KEYS` goes through the whole keyspace, and the server does nothing else meanwhile"
                    .to_owned()
            }
            "FLUSHALL" | "FLUSHDB" => format!("`{}` removes every key, leases too", command.name),
            _ => continue,
        };
        let mut finding = RULE
            .finding(effect.span, message)
            .help(help(&effect.client, &command.name))
            .subject(command.name.clone())
            .function(analysis.function_name(effect.site.body));
        if command.name != "KEYS" {
            finding = finding.severity(Severity::Note).confidence(Confidence::Low);
        }
        out.report(finding.steps(analysis.script_step(effect.site.body)));
    }
}

fn help(client: &str, name: &str) -> &'static str {
    match (client, name) {
        (_, "FLUSHALL" | "FLUSHDB") => "delete the keys that are meant",
        ("fred", _) => "go through them step by step: `client.scan(pattern, Some(500), None)`",
        ("lua", _) => "keep the names in a set, and read that: `SMEMBERS`, `SSCAN`",
        _ => "go through them step by step: `con.scan_match(pattern)`, or keep the names in a set",
    }
}
