//! Numbers that are tested for truth.

use super::{Verdict, comparisons};
use crate::analysis::script_values::{Kinds, ScriptValues};
use crate::ir::body::{Callee, Terminator, Test};
use crate::ir::value::{Operator, ValueId, ValueKind};
use crate::source::Span;

/// An integer reply, or a length, as a condition; whether it is a length.
pub(super) fn of_numbers(values: &ScriptValues<'_>) -> Vec<(Span, Verdict<bool>)> {
    tests(values).into_iter().map(|(span, value)| (span, verdict(values, value))).collect()
}

/// The values that a script tests for truth, and where.
fn tests(values: &ScriptValues<'_>) -> Vec<(Span, ValueId)> {
    let body = values.body;
    let branches = body.blocks.iter().filter_map(|block| match &block.end {
        Terminator::Branch { test: Test::True(value), span, .. } => Some((*span, *value)),
        _ => None,
    });
    let operands = body.values.iter().filter_map(|value| match &value.kind {
        ValueKind::Not(of) => Some((value.span, *of)),
        ValueKind::Binary { operator: Operator::And, left, .. } => {
            Some((body.value(*left)?.span, *left))
        }
        _ => None,
    });
    branches.chain(operands).collect()
}

fn verdict(values: &ScriptValues<'_>, value: ValueId) -> Verdict<bool> {
    let kinds = values.at(value, value);
    if kinds == Kinds::EMPTY {
        return Verdict::None;
    }
    let length = is_length(values, value);
    let counted = length || !values.replies(value).is_empty();
    let sure = kinds.only(Kinds::NUMBER) && counted;
    match sure && !chooses_default(values, value) && !compared(values, value) {
        true => Verdict::Wrong(length, value),
        false => Verdict::Fine,
    }
}

/// Whether a value is `#t`.
fn is_length(values: &ScriptValues<'_>, value: ValueId) -> bool {
    let ValueKind::Result(op) = values.body.kind(values.body.peel(value)) else { return false };
    let call = values.body.call(*op);
    call.is_some_and(|call| matches!(&call.callee, Callee::Path(path) if path.last() == Some("#")))
}

/// Whether a value is what a test passes on: `reply or 0` asks for nothing.
fn chooses_default(values: &ScriptValues<'_>, value: ValueId) -> bool {
    values.body.values.iter().any(|other| match &other.kind {
        ValueKind::Join(ways) => ways.contains(&value),
        _ => false,
    })
}

/// Whether a value is compared with something elsewhere: the test for truth is only careful.
fn compared(values: &ScriptValues<'_>, value: ValueId) -> bool {
    comparisons(values).any(|(_, _, operator, sides)| {
        operator.compares() && sides.iter().any(|side| values.same(*side, value))
    })
}
