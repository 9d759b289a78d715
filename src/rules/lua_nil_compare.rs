//! A reply is compared with nil, and a missing one is false.

use super::prelude::*;

rule!("lua-nil-compare", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.nil_comparisons() {
        let (verb, always) = match found.fault {
            true => ("is compared with", "never"),
            false => ("is tested against", "always"),
        };
        let message = format!(
            "the reply of {} {verb} nil: one that is missing arrives as false, so this is {always} true",
            found.commands()
        );
        let name = variable(&found.subject);
        let help = match found.fault {
            true => format!("test the reply itself: `if not {name} then`, or `{name} == false`"),
            false => format!("test the reply itself: `if {name} then`, or `{name} ~= false`"),
        };
        out.report(reply_finding(&RULE, analysis, &found, message, help));
    }
}
