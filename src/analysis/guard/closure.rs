//! Comparisons inside the closure that a test runs: `holder.is_some_and(|holder| holder == token)`.

use super::CheckKind;
use super::value::Values;
use crate::ir::body::Body;
use crate::ir::value::{Operator, ValueId, ValueKind};
use crate::link::evaluate::returned;

/// How deep a condition is read.
const MAXIMUM_DEPTH: u32 = 16;

impl Values<'_> {
    /// What it says that a closure which is given a stored value answers yes.
    pub fn compared_inside(&self, given: ValueId, closure: ValueId) -> Option<CheckKind> {
        let ValueKind::Closure(index) = self.kind(closure) else { return None };
        let inner = self.seen.nested(*index).filter(|_| self.stored(given))?;
        let answers = returned(inner);
        let all = answers.iter().all(|answer| self.holds_inside(inner, *answer, true, 0));
        (all && !answers.is_empty()).then_some(CheckKind::Owner)
    }

    /// Whether a condition of the closure compares the owner where it comes out as `truth`.
    fn holds_inside(&self, inner: &Body, value: ValueId, truth: bool, depth: u32) -> bool {
        if depth > MAXIMUM_DEPTH {
            return false;
        }
        let deeper = |value: &ValueId, truth| self.holds_inside(inner, *value, truth, depth + 1);
        match inner.kind(inner.peel(value)) {
            ValueKind::Not(value) => deeper(value, !truth),
            ValueKind::Binary { operator: Operator::And, left, right } => match truth {
                true => deeper(left, true) || deeper(right, true),
                false => deeper(left, false) && deeper(right, false),
            },
            ValueKind::Binary { operator: Operator::Or, left, right } => match truth {
                true => deeper(left, true) && deeper(right, true),
                false => deeper(left, false) || deeper(right, false),
            },
            ValueKind::Binary { operator: Operator::Equal, left, right } if truth => {
                self.pair_inside(inner, *left, *right)
            }
            ValueKind::Binary { operator: Operator::NotEqual, left, right } if !truth => {
                self.pair_inside(inner, *left, *right)
            }
            _ => false,
        }
    }

    /// Whether one of two values is what the closure was given and the other came from outside.
    fn pair_inside(&self, inner: &Body, left: ValueId, right: ValueId) -> bool {
        let given = |value| given_in(inner, value);
        let outside = |value| {
            let outer = outer_of(inner, value);
            outer.is_some_and(|outer| self.outside(outer) && !self.stored(outer))
        };
        (given(left) && outside(right)) || (given(right) && outside(left))
    }
}

/// Whether a value of a closure is its parameter, or taken out of it.
fn given_in(inner: &Body, mut value: ValueId) -> bool {
    for _ in 0..MAXIMUM_DEPTH {
        value = match inner.kind(inner.peel(value)) {
            ValueKind::Parameter(0) => return true,
            ValueKind::Converted { value, .. }
            | ValueKind::Payload { of: value, .. }
            | ValueKind::Field { base: value, .. }
            | ValueKind::Adapted { value, argument: None, .. } => *value,
            _ => return false,
        };
    }
    false
}

/// The value of the body around a closure that a captured value is, or is taken out of.
fn outer_of(inner: &Body, mut value: ValueId) -> Option<ValueId> {
    for _ in 0..MAXIMUM_DEPTH {
        value = match inner.kind(inner.peel(value)) {
            ValueKind::Captured(outer) => return Some(*outer),
            ValueKind::Converted { value, .. } | ValueKind::Field { base: value, .. } => *value,
            _ => return None,
        };
    }
    None
}
