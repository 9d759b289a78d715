//! A number of more than 14 digits loses some of them.

use super::prelude::*;

rule!("lua-number-precision", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.lost_digits() {
        let name = if found.name.is_empty() { "number" } else { &found.name };
        let (message, help) = match found.loss {
            DigitLoss::Printed => (
                format!("`{name}` has more than 14 digits, and Lua prints 14 of them"),
                format!("print all digits: `string.format('%.0f', {name})`"),
            ),
            DigitLoss::Converted => (
                format!(
                    "`{name}` is an id made a number: of one with more than 15 digits the last are lost"
                ),
                "keep it as text: nothing is reckoned with it".to_owned(),
            ),
        };
        let mut finding = RULE.finding(found.span, message).help(help);
        if found.loss == DigitLoss::Printed && found.made != found.span {
            finding = finding.step(found.made, "the number is made here");
        }
        out.report(
            finding
                .steps(analysis.script_step(found.body))
                .subject(found.name.clone())
                .function(analysis.function_name(found.body)),
        );
    }
}
