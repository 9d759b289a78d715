//! Comparisons inside what a test runs: `holder.is_some_and(|holder| holder == token)`,
//! `is_own(&holder, token)`.

use super::CheckKind;
use super::value::Values;
use crate::ir::body::{Body, OpId};
use crate::ir::value::{Operator, ValueId, ValueKind};
use crate::link::evaluate::returned_values;

/// How deep a condition is read.
const MAXIMUM_DEPTH: u32 = 16;

/// A body that a test runs, and what it is given by the body around it or by its caller.
struct Inner<'b> {
    body: &'b Body,
    arguments: Vec<ValueId>,
    receiver: Option<ValueId>,
}

impl Values<'_> {
    /// What it says that a closure which is given a stored value answers yes.
    pub fn compared_inside(&self, given: ValueId, closure: ValueId) -> Option<CheckKind> {
        let ValueKind::Closure(index) = self.kind(closure) else { return None };
        let body = self.seen.nested(*index).filter(|_| self.stored(given))?;
        self.answers_owner(&Inner { body, arguments: vec![given], receiver: None })
    }

    /// What it says that the function called at an operation answers yes.
    pub fn compared_by_call(&self, op: OpId) -> Option<CheckKind> {
        let (program, id) = self.seen.program?;
        let call = self.body.call(op)?;
        let targets = &program.targets(id, op)?.bodies;
        let answers = targets.iter().map(|target| {
            let (arguments, receiver) = program.bound_arguments(*target, call);
            let body = &program.body(*target)?.body;
            self.answers_owner(&Inner { body, arguments, receiver })
        });
        answers.reduce(Option::min).flatten()
    }

    /// What it says that a body answers yes.
    fn answers_owner(&self, inner: &Inner<'_>) -> Option<CheckKind> {
        let answers = returned_values(inner.body);
        let all = answers.iter().all(|answer| self.holds_inside(inner, *answer, true, 0));
        (all && !answers.is_empty()).then_some(CheckKind::Owner)
    }

    /// Whether a condition of the body compares the owner where it comes out as `truth`.
    fn holds_inside(&self, inner: &Inner<'_>, value: ValueId, truth: bool, depth: u32) -> bool {
        if depth > MAXIMUM_DEPTH {
            return false;
        }
        let deeper = |value: &ValueId, truth| self.holds_inside(inner, *value, truth, depth + 1);
        match inner.body.kind(inner.body.peel(value)) {
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

    /// Whether one of two values is what the lease stores and the other came from outside.
    fn pair_inside(&self, inner: &Inner<'_>, left: ValueId, right: ValueId) -> bool {
        let (Some(left), Some(right)) = (inner.outer(left), inner.outer(right)) else {
            return false;
        };
        let pair = |one, other| self.stored(one) && self.outside(other) && !self.stored(other);
        pair(left, right) || pair(right, left)
    }
}

impl Inner<'_> {
    /// The value outside that a value is, or is taken out of.
    fn outer(&self, mut value: ValueId) -> Option<ValueId> {
        for _ in 0..MAXIMUM_DEPTH {
            value = match self.body.kind(self.body.peel(value)) {
                ValueKind::Parameter(index) => {
                    return self.arguments.get(usize::try_from(*index).ok()?).copied();
                }
                ValueKind::Receiver => return self.receiver,
                ValueKind::Captured(outer) => return Some(*outer),
                ValueKind::Converted { value, .. }
                | ValueKind::Payload { of: value, .. }
                | ValueKind::Field { base: value, .. }
                | ValueKind::Adapted { value, argument: None, .. } => *value,
                // `Some(token)`
                ValueKind::Aggregate { fields, base: None, .. } if fields.len() == 1 => {
                    fields.first()?.1
                }
                _ => return None,
            };
        }
        None
    }
}
