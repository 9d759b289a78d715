//! Whether a value succeeds or fails by what the payload of a result is, and not by whether the call did:
//! `row?`, `(count == 1).then_some(()).ok_or(…)`, `reply.and_then(…)`. There the success alone tells.

use std::collections::BTreeSet;

use super::{Counts, DEEPEST, Tracker};
use crate::analysis::guard::returns;
use crate::ir::body::{Body, OpId};
use crate::ir::effect::BodyId;
use crate::ir::value::{Adapter, Pattern, SUCCESS, ValueId, ValueKind};
use crate::link::evaluate::is_success;

impl Tracker<'_> {
    /// Whether a success test is one of the payload (`row?` of an option), not of the call's result.
    pub(super) fn optional_inside(&self, id: BodyId, value: ValueId, pattern: &Pattern) -> bool {
        pattern.variant() == Some(SUCCESS) && self.succeeds_by_payload(id, value, 0)
    }

    /// Whether a value that is made of the result succeeds by what the payload is, whatever its own
    /// content: `Some(count).filter(…).map(|_| ())`.
    pub(super) fn is_told_by_success(&self, id: BodyId, value: ValueId) -> bool {
        let counts = self.counts == Counts::Presence;
        self.program.body(id).is_some_and(|own| counts || !is_payload(&own.body, value))
            && self.succeeds_by_payload(id, value, 0)
    }

    /// Whether what a body gives back of the result is only whether it is a success: there is nothing
    /// inside, or what it is decides that. Who looks at the success looks at the result.
    pub(super) fn is_given_as_success(&self, id: BodyId, carriers: &BTreeSet<ValueId>) -> bool {
        self.gives_nothing(id)
            || self.program.body(id).is_some_and(|own| {
                let given = returns(&own.body).into_iter().filter(|(_, it)| carriers.contains(it));
                let mut given = given.peekable();
                given.peek().is_some()
                    && given.all(|(_, value)| self.succeeds_by_payload(id, value, 0))
            })
    }

    fn is_in_sight(&self, id: BodyId, op: OpId) -> bool {
        self.program.targets(id, op).is_some_and(|targets| !targets.bodies.is_empty())
    }

    /// Whether a value that is made of the result succeeds or fails by what the payload is.
    pub(super) fn succeeds_by_payload(&self, id: BodyId, value: ValueId, depth: u32) -> bool {
        let Some(body) = self.program.body(id).map(|own| &own.body) else { return false };
        let inner =
            |value: ValueId| depth < DEEPEST && self.succeeds_by_payload(id, value, depth + 1);
        match body.kind(body.peel(value)) {
            ValueKind::Payload { variant, .. } => {
                is_success(variant) && self.counts != Counts::Number
            }
            // Whatever is asked of the payload, or of a result by a method that results do not have
            // of themselves: `count.checked_sub(1)?`, `done.await.must_affect(1)?`.
            ValueKind::Result(op) => {
                body.call(*op).and_then(|call| call.receiver).is_some_and(|of| {
                    let settled = matches!(body.kind(body.peel(of)), ValueKind::Awaited(_));
                    (settled || is_payload(body, of)) && !self.is_in_sight(id, *op)
                })
            }
            ValueKind::Adapted { value, adapter, argument, .. } => match adapter {
                // Made of a truth value, which is a look at the payload.
                Adapter::Then => true,
                Adapter::AndThen | Adapter::Filter => {
                    self.adapter_carries(id, *adapter, *argument) || inner(*value)
                }
                Adapter::OkOr
                | Adapter::Ok
                | Adapter::OrElse
                | Adapter::Map
                | Adapter::MapFailure
                | Adapter::Inspect => inner(*value),
                _ => false,
            },
            ValueKind::Join(values) => values.iter().any(|value| inner(*value)),
            _ => false,
        }
    }
}

/// Whether a value is what is inside a success: after `?` or a pattern.
pub(super) fn is_payload(body: &Body, value: ValueId) -> bool {
    match body.kind(body.peel(value)) {
        ValueKind::Payload { variant, .. } => is_success(variant),
        ValueKind::Adapted { adapter: Adapter::Unwrap | Adapter::UnwrapOrDefault, .. } => true,
        ValueKind::Adapted { value, .. } | ValueKind::Converted { value, .. } => {
            is_payload(body, *value)
        }
        _ => false,
    }
}

/// Whether a pattern looks at more than whether there was an error.
pub(super) fn looks_inside(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Variant { path, fields } => match path.last() {
            Some("Err") => false,
            Some(name) if name == "Ok" || name == SUCCESS => {
                fields.iter().any(|(_, pattern)| !pattern.always())
            }
            _ => true,
        },
        Pattern::Or(any) => any.iter().any(looks_inside),
        pattern => !pattern.always(),
    }
}
