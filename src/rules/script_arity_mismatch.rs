//! A script is given another number of keys or arguments than it reads.

use super::prelude::*;

rule!("script-arity-mismatch", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.arity_faults() {
        let list = found.list;
        let number = match found.given {
            0 => "none".to_owned(),
            given => given.to_string(),
        };
        let read = found.read.map_or(0, |(number, _)| number);
        let (message, severity) = match found.missing {
            true => (
                format!(
                    "the script reads {list}[{read}], and of {list} {number} is passed: it is nil there"
                ),
                Severity::Error,
            ),
            false if read == 0 => {
                (format!("of {list} {number} is passed, and the script reads none"), Severity::Note)
            }
            false => (
                format!(
                    "of {list} {number} is passed, and the script reads none beyond {list}[{read}]"
                ),
                Severity::Note,
            ),
        };
        let mut finding = RULE
            .finding(found.effect.span, message)
            .severity(severity)
            .help(help(&found.effect.client, list, found.missing))
            .subject(format!("{list} {read}"))
            .function(analysis.function_name(found.effect.site.body));
        if let Some((_, span)) = found.read {
            finding = finding.step(span, format!("the last of {list} that is read"));
        }
        out.report(finding);
    }
}

fn help(client: &str, list: &str, missing: bool) -> String {
    let word = match (client, list) {
        ("fred", "KEYS") => "the keys of `eval`",
        ("fred", _) => "the arguments of `eval`",
        (_, "KEYS") => "`.key(…)`",
        _ => "`.arg(…)`",
    };
    match missing {
        true => format!("pass it with {word}, in the order that the script reads"),
        false => format!("take what is not read off {word}, or read it"),
    }
}
