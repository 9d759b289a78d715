//! A number is tested for truth, and zero is true.

use super::prelude::*;

rule!("lua-zero-truthy", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.zero_tests() {
        let what = match found.fault {
            true => "a length".to_owned(),
            false => format!("the reply of {}", found.commands()),
        };
        let message = format!("{what} is a number, and 0 is true in Lua: this test is always true");
        let name = variable(&found.subject);
        let help = format!("compare it: `{name} > 0`, or `{name} == 1`");
        out.report(reply_finding(&RULE, analysis, &found, message, help));
    }
}
