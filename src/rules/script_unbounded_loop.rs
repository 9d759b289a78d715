//! A script works as long as there is data, and nothing else runs meanwhile.

use super::prelude::*;

rule!("script-unbounded-loop", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.unbounded_work() {
        let name = &found.command;
        let (message, help) = match found.why {
            Unbounded::Keyspace => (
                format!(
                    "`{name}` goes through the whole keyspace in a script, and no other command runs meanwhile"
                ),
                "keep an index of the keys (a set), or let the caller go through them with SCAN",
            ),
            Unbounded::Scan => (
                format!(
                    "`{name}` is repeated to its end in a script, and no other command runs meanwhile"
                ),
                "one step a call: return the cursor, and let the caller pass it again",
            ),
            Unbounded::Range => (
                format!(
                    "all that `{name}` gives is written one by one in a script, however much that is"
                ),
                "so much a call: read with a bound (`LRANGE key 0 ARGV[n]`, `LIMIT 0 n`), and call again",
            ),
        };
        let mut finding = RULE
            .finding(found.effect.span, message)
            .help(help)
            .subject(name.clone())
            .function(analysis.function_name(found.body));
        if let Some(write) = found.write {
            finding = finding.step(write, "this is repeated for each");
        }
        out.report(finding.steps(analysis.script_step(found.body)));
    }
}
