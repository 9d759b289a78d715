//! Something that is not a key is passed as one of KEYS.

use super::prelude::*;

rule!("script-argument-in-keys", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.keys_that_are_none() {
        let severity = match analysis.cluster_of_script(found.body) {
            ClusterUse::Yes => Severity::Error,
            ClusterUse::No | ClusterUse::Unknown => Severity::Warning,
        };
        let message = format!(
            "`{}` is used as {} and never as a key: a cluster takes it for the name of one",
            found.name, found.used_as
        );
        let mut finding = RULE
            .finding(found.span, message)
            .severity(severity)
            .help("pass it in ARGV: `.arg(…)` where the script is called, `ARGV[n]` in the script")
            .subject(found.name.clone())
            .function(analysis.function_name(found.body));
        for span in &found.passed {
            finding = finding.step(*span, "it is passed as a key here");
        }
        out.report(finding.steps(analysis.script_step(found.body)));
    }
}
