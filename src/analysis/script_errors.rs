//! Errors that a script asks for (`redis.pcall`) and does not look at.

use std::collections::BTreeSet;

use super::Analysis;
use super::script_values::ScriptValues;
use crate::ir::body::{Body, Callee, OpId, OpKind, Terminator, Test};
use crate::ir::effect::{BodyId, Effect};
use crate::ir::value::{Conversion, Operator, ValueId, ValueKind};

/// A protected command whose error goes unseen.
#[derive(Clone, Copy, Debug)]
pub struct UnseenError<'p> {
    /// The script.
    pub body: BodyId,
    /// The command.
    pub effect: &'p Effect,
    /// Whether its reply is dropped, not used.
    pub dropped: bool,
}

impl<'p> Analysis<'p> {
    /// The commands sent by `redis.pcall` whose reply is dropped, or used as if it were no error. A
    /// reply that is returned, or given to a function that is not followed, may be looked at there.
    #[must_use]
    pub fn unseen_errors(&self) -> Vec<UnseenError<'p>> {
        let mut found = Vec::new();
        for (body, values) in self.scripts() {
            for (_, op, call) in values.body.calls() {
                let protected =
                    matches!(&call.callee, Callee::Path(path) if path.last() == Some("pcall"));
                let Some(effect) = values.effect(op).filter(|_| protected) else { continue };
                if let Some(dropped) = unseen(values, op, call.result) {
                    found.push(UnseenError { body, effect, dropped });
                }
            }
        }
        found
    }
}

/// Whether a reply is dropped (`true`) or used without a look at its error (`false`); `None` when it
/// is looked at, or goes where that is not known.
fn unseen(values: &ScriptValues<'_>, op: OpId, reply: ValueId) -> Option<bool> {
    let body = values.body;
    let same = standing_for(body, reply);
    let uses = uses(body, op, &same);
    match () {
        () if uses.elsewhere || uses.looked_at => None,
        () if uses.explicit && !uses.used => None,
        () => Some(!uses.used),
    }
}

/// The values that a reply is: itself, copies, and where ways meet.
fn standing_for(body: &Body, reply: ValueId) -> BTreeSet<ValueId> {
    let mut same = BTreeSet::from([reply]);
    for _ in 0..8 {
        let before = same.len();
        for (index, value) in (0_u32..).zip(&body.values) {
            let stands = match &value.kind {
                ValueKind::Join(ways) => ways.iter().any(|way| same.contains(way)),
                ValueKind::Converted { value, conversion: Conversion::Same } => {
                    same.contains(value)
                }
                ValueKind::Binary { operator: Operator::And | Operator::Or, left, right } => {
                    same.contains(left) || same.contains(right)
                }
                _ => false,
            };
            if stands {
                same.insert(ValueId(index));
            }
        }
        if same.len() == before {
            break;
        }
    }
    same
}

/// What is done with a reply.
#[derive(Default)]
struct Uses {
    used: bool,
    looked_at: bool,
    elsewhere: bool,
    explicit: bool,
}

fn uses(body: &Body, own: OpId, same: &BTreeSet<ValueId>) -> Uses {
    let mut uses = Uses::default();
    for value in &body.values {
        match &value.kind {
            ValueKind::Field { base, name } if same.contains(base) => {
                uses.looked_at |= name == "err";
                uses.used = true;
            }
            ValueKind::Element { base, .. } if same.contains(base) => uses.used = true,
            ValueKind::Converted { value, conversion } if same.contains(value) => {
                uses.used |= *conversion != Conversion::Same;
            }
            ValueKind::Not(of) => uses.used |= same.contains(of),
            ValueKind::Binary { operator, left, right } if operator.compares() => {
                uses.used |= same.contains(left) || same.contains(right);
            }
            ValueKind::Binary { left, right, .. } => {
                uses.used |= same.contains(left) || same.contains(right);
            }
            ValueKind::List(values) => uses.elsewhere |= values.iter().any(|it| same.contains(it)),
            ValueKind::Aggregate { fields, .. } => {
                uses.elsewhere |= fields.iter().any(|(_, it)| same.contains(it));
            }
            ValueKind::Captured(_) | ValueKind::Closure(_) => uses.elsewhere = true,
            _ => {}
        }
    }
    for (_, op, operation) in body.operations().filter(|(_, op, _)| *op != own) {
        match &operation.kind {
            OpKind::Call(call) => {
                let given = call.arguments.iter().any(|argument| same.contains(&argument.value));
                let counts = matches!(&call.callee, Callee::Path(path)
                    if matches!(path.last(), Some("#")));
                let asks = matches!(&call.callee, Callee::Path(path)
                    if matches!(path.last(), Some("type")));
                uses.used |= given && counts;
                uses.looked_at |= given && asks;
                uses.elsewhere |= given && !counts && !asks;
                let _ = op;
            }
            OpKind::Store { value, .. } => uses.elsewhere |= same.contains(value),
            OpKind::Discard { value, explicit } => {
                uses.explicit |= *explicit && same.contains(value);
            }
            _ => {}
        }
    }
    for block in &body.blocks {
        match &block.end {
            Terminator::Return { value: Some(value), .. } => {
                uses.elsewhere |= same.contains(value);
            }
            Terminator::Branch { test: Test::True(value), .. } => uses.used |= same.contains(value),
            Terminator::Branch { test: Test::Opaque(values), .. } => {
                uses.used |= values.iter().any(|value| same.contains(value));
            }
            _ => {}
        }
    }
    uses
}
