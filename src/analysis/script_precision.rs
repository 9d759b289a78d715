//! Numbers of more digits than a script keeps.
//!
//! A Lua number is a double: 15 digits are exact, `..` and `tostring` print 14.

use std::collections::BTreeSet;

use super::Analysis;
use super::script_values::{Kinds, ScriptValues};
use crate::ir::body::OpKind;
use crate::ir::effect::BodyId;
use crate::ir::value::{Conversion, Literal, Operator, TemplatePart, ValueId, ValueKind};
use crate::source::Span;

/// A second of Unix time has ten digits; by this, fifteen and more.
const FIVE_DIGITS: i128 = 100_000;
/// The first number of fifteen digits.
const FIFTEEN_DIGITS: i128 = 100_000_000_000_000;
/// Ends of names that count in millionths or billionths of a second.
const FINE_TIMES: [&str; 8] =
    ["_us", "_ns", "micros", "nanos", "microseconds", "nanoseconds", "snowflake", "_usec"];

/// How digits are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DigitLoss {
    /// A time in small units is put into text.
    Printed,
    /// An id is made a number.
    Converted,
}

/// A place where digits are lost.
#[derive(Clone, Debug)]
pub struct LostDigits {
    /// The script.
    pub body: BodyId,
    /// Where.
    pub span: Span,
    /// How.
    pub loss: DigitLoss,
    /// The variable.
    pub name: String,
    /// Where the number is made.
    pub made: Span,
}

impl Analysis<'_> {
    /// Places where a number of more than 14 digits is printed, and where an id is made a number.
    #[must_use]
    pub fn lost_digits(&self) -> Vec<LostDigits> {
        self.scripts().flat_map(|(body, values)| of_script(body, values)).collect()
    }
}

fn of_script(body: BodyId, values: &ScriptValues<'_>) -> Vec<LostDigits> {
    let all = (0_u32..).map(ValueId).zip(&values.body.values);
    let mut found = Vec::new();
    for (id, value) in all {
        let printed = match &value.kind {
            ValueKind::Template(parts) => parts.iter().find_map(|part| match part {
                TemplatePart::Hole(hole) if is_long(values, *hole) => Some(*hole),
                _ => None,
            }),
            ValueKind::Converted { value, conversion: Conversion::Display }
                if is_long(values, *value) =>
            {
                Some(*value)
            }
            _ => None,
        };
        let (meant, loss) = match printed {
            Some(meant) => (meant, DigitLoss::Printed),
            None if is_converted_id(values, id) => (id, DigitLoss::Converted),
            None => continue,
        };
        let Some(of) = values.body.value(meant) else { continue };
        let name = of.name.clone().unwrap_or_default();
        found.push(LostDigits { body, span: value.span, loss, name, made: of.span });
    }
    found
}

/// Whether a value is a number of more than 14 digits.
fn is_long(values: &ScriptValues<'_>, value: ValueId) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop().filter(|_| seen.len() < 64) {
        if !seen.insert(value) {
            continue;
        }
        match values.body.kind(value) {
            ValueKind::Literal(Literal::Integer(number)) if number.abs() >= FIFTEEN_DIGITS => {
                return true;
            }
            ValueKind::Binary { operator: Operator::Multiply, left, right } => {
                let sides = [(*left, *right), (*right, *left)];
                if sides
                    .iter()
                    .any(|(time, unit)| is_second(values, *time) && is_fine(values, *unit))
                {
                    return true;
                }
            }
            ValueKind::Binary { operator: Operator::Add, left, right } => {
                waiting.extend([*left, *right]);
            }
            ValueKind::Binary { operator: Operator::Subtract, left, right } => {
                // The difference of two times is short.
                let difference = values
                    .body
                    .value(*right)
                    .is_some_and(|right| !matches!(right.kind, ValueKind::Literal(_)));
                waiting.extend((!difference).then_some(*left));
            }
            ValueKind::Converted { value: inner, conversion: Conversion::Number } => {
                if values.is_argument(*inner) && has_fine_name(values, value) {
                    return true;
                }
                waiting.push(*inner);
            }
            ValueKind::Converted { value, conversion: Conversion::Same } => waiting.push(*value),
            ValueKind::Join(ways) => waiting.extend(ways),
            _ => {}
        }
    }
    false
}

/// Whether a value is the seconds of `TIME`.
fn is_second(values: &ScriptValues<'_>, value: ValueId) -> bool {
    let mut value = value;
    for _ in 0..8 {
        match values.body.kind(value) {
            ValueKind::Converted { value: inner, .. } => value = *inner,
            ValueKind::Element { base, index: Some(index) } => {
                let first =
                    matches!(values.body.kind(*index), ValueKind::Literal(Literal::Integer(0)));
                let replies = values.replies(*base);
                return first
                    && !replies.is_empty()
                    && replies.iter().all(|op| {
                        values.command(*op).is_some_and(|command| command.is(&["TIME"]))
                    });
            }
            _ => return false,
        }
    }
    false
}

fn is_fine(values: &ScriptValues<'_>, value: ValueId) -> bool {
    match values.body.kind(values.body.peel(value)) {
        ValueKind::Literal(Literal::Integer(number)) => *number >= FIVE_DIGITS,
        ValueKind::Literal(Literal::Float(number)) => *number >= 100_000.0,
        _ => false,
    }
}

fn has_fine_name(values: &ScriptValues<'_>, value: ValueId) -> bool {
    let name = values.body.value(value).and_then(|value| value.name.as_deref());
    name.map(str::to_ascii_lowercase)
        .is_some_and(|name| FINE_TIMES.iter().any(|end| name.ends_with(end)))
}

/// Whether a value is what `tonumber` makes of an argument that is an id, and nothing is reckoned with
/// it.
fn is_converted_id(values: &ScriptValues<'_>, id: ValueId) -> bool {
    let body = values.body;
    let ValueKind::Converted { value: of, conversion: Conversion::Number } = body.kind(id) else {
        return false;
    };
    let argument = matches!(body.kind(body.peel(*of)), ValueKind::ScriptArgument(Some(_)));
    let named = body.value(id).and_then(|value| value.name.as_deref()).is_some_and(is_id);
    let text = values.at(*of, id).may_be(Kinds::TEXT);
    argument && named && text && !is_reckoned_with(values, id) && is_given_on(values, id)
}

fn is_id(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == "id" || lower.ends_with("_id") || name.ends_with("Id") || lower == "snowflake"
}

/// Whether a number is put in order or is part of a sum.
fn is_reckoned_with(values: &ScriptValues<'_>, number: ValueId) -> bool {
    values.body.values.iter().any(|value| match &value.kind {
        ValueKind::Binary { operator, left, right } => {
            let asked = !matches!(
                operator,
                Operator::Equal | Operator::NotEqual | Operator::And | Operator::Or
            );
            asked && (*left == number || *right == number)
        }
        _ => false,
    })
}

/// Whether a number is a word of a command.
fn is_given_on(values: &ScriptValues<'_>, number: ValueId) -> bool {
    values.body.operations().any(|(_, op, operation)| match &operation.kind {
        OpKind::Call(_) => values
            .command(op)
            .is_some_and(|command| command.words.iter().any(|word| word.value == Some(number))),
        _ => false,
    })
}
