//! Text is compared as if it were a number.

use super::prelude::*;

rule!("lua-number-as-string", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.text_as_number() {
        let what = match found.replies.is_empty() {
            true => format!("`{}`", found.subject),
            false => format!("the reply of {}", found.commands()),
        };
        let name = variable(&found.subject);
        let (message, help) = match found.fault {
            NumberFault::Letters => (
                format!(
                    "{what} is text, and so is what it is compared with: '10' comes before '9'"
                ),
                format!("compare numbers: `tonumber({name})` on both sides"),
            ),
            NumberFault::Mixed => (
                format!(
                    "{what} is text and is compared with a number: the script ends with an error"
                ),
                format!("compare numbers: `tonumber({name})`"),
            ),
            NumberFault::NeverEqual => (
                format!("{what} and what it is compared with are text and a number: never equal"),
                "make both sides numbers with `tonumber`, or both text".to_owned(),
            ),
            NumberFault::Missing => (
                format!(
                    "{what} may be missing, and then `tonumber` gives nil: the script ends with an error"
                ),
                "say what a missing reply counts as: `tonumber(redis.call(…) or 0)`".to_owned(),
            ),
        };
        let finding = reply_finding(&RULE, analysis, &found, message, help);
        out.report(match found.fault {
            NumberFault::Missing => {
                finding.severity(Severity::Warning).confidence(Confidence::Medium)
            }
            _ => finding,
        });
    }
}
