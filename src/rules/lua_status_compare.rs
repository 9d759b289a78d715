//! A status reply, which is a table, is compared with text.

use super::prelude::*;

rule!("lua-status-compare", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.status_comparisons() {
        let name = variable(&found.subject);
        let (message, help) = match found.fault {
            "a table" => (
                format!(
                    "the reply of {} is a table with the field `ok`: it never equals text",
                    found.commands()
                ),
                format!("compare the field: `{name}.ok == 'OK'`, or `{name}['ok']`"),
            ),
            "a library" => (
                "the name of a type is text, and this is the library of that name: never equal"
                    .to_owned(),
                "write the type's name in quotes: `type(x) == 'string'`".to_owned(),
            ),
            _ => (
                format!("the reply of {} is text, also where it holds a number", found.commands()),
                format!("ask whether there is one: `if {name} then`"),
            ),
        };
        out.report(reply_finding(&RULE, analysis, &found, message, help));
    }
}
