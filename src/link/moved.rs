//! Values that are taken out of their place: `mem::take(&mut self.key)`, `self.inner.take()`. What is
//! taken is what was there, and what is left behind is empty: no other value that the place could have.

use super::Program;
use super::types::Ty;
use crate::ir::body::{Body, Call, Callee};
use crate::ir::effect::BodyId;
use crate::ir::index::Path;
use crate::ir::value::{Conversion, Literal, ValueId, ValueKind};

/// A call's result, and the place that it was taken out of.
struct Taken {
    result: ValueId,
    place: ValueId,
}

impl Program {
    /// Makes the result of a call that takes a value out of its place that value. Done once, when calls
    /// and types are known.
    pub(super) fn takes_are_moves(&mut self) {
        let all: Vec<Vec<Taken>> = self
            .bodies
            .iter()
            .map(|own| {
                let calls = own.body.calls();
                calls.filter_map(|(_, op, call)| self.taken(own.id, &own.body, op, call)).collect()
            })
            .collect();
        for (own, taken) in self.bodies.iter_mut().zip(all) {
            for Taken { result, place } in taken {
                let lent = own.body.peel(place);
                own.body.lent.remove(&lent);
                if let Some(slot) = own.body.values.get_mut(result.0 as usize) {
                    slot.kind = ValueKind::Converted { value: place, conversion: Conversion::Same };
                }
            }
        }
    }

    fn taken(
        &self,
        id: BodyId,
        body: &Body,
        op: crate::ir::body::OpId,
        call: &Call,
    ) -> Option<Taken> {
        let targets = self.targets(id, op);
        if targets.is_some_and(|targets| !targets.bodies.is_empty() || !targets.apis.is_empty()) {
            return None;
        }
        let argument = |index: usize| call.arguments.get(index).map(|argument| argument.value);
        let place = match (&call.callee, call.receiver) {
            (Callee::Method(name), Some(receiver)) => {
                let emptied = name == "take" && call.arguments.is_empty();
                (emptied && is_option(&self.type_of(id, receiver))).then_some(receiver)?
            }
            (Callee::Path(written), None) => {
                let full = targets.and_then(|targets| targets.path.as_ref()).unwrap_or(written);
                match owner_and_name(full) {
                    ("mem", "take") | ("Option", "take") => argument(0)?,
                    ("mem", "replace") if is_empty(body, argument(1)?) => argument(0)?,
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(Taken { result: call.result, place })
    }
}

fn owner_and_name(path: &Path) -> (&str, &str) {
    match path.0.as_slice() {
        [.., owner, name] => (owner, name),
        _ => ("", ""),
    }
}

fn is_option(ty: &Ty) -> bool {
    ty.name() == Some("Option")
}

/// Whether a value holds nothing: `""`, `String::new()`, `None`.
fn is_empty(body: &Body, value: ValueId) -> bool {
    match body.kind(body.peel(value)) {
        ValueKind::Literal(Literal::Text(text)) => text.content.is_empty(),
        ValueKind::Literal(Literal::Nothing) => true,
        ValueKind::Path(path) => path.last() == Some("None"),
        ValueKind::Result(op) => body.call(*op).is_some_and(|call| {
            let makes = matches!(call.callee.name(), Some("new" | "default"));
            makes && call.receiver.is_none() && call.arguments.is_empty()
        }),
        _ => false,
    }
}
