//! Which values are computed from others: through arithmetic, conversions, fields, and calls that take
//! them.
//!
//! Errs on the side of *derived*: what a call makes of its arguments counts.

use std::collections::BTreeSet;

use crate::ir::body::{Body, Terminator, Test};
use crate::ir::effect::BodyId;
use crate::ir::value::{TemplatePart, ValueId, ValueKind};
use crate::link::Program;
use crate::source::Span;

/// How many closures and blocks deep values are followed.
const MOST_NESTED: usize = 4;

/// Values of a function that are computed from some values, in the body of those and the bodies inside
/// it.
#[derive(Clone, Debug, Default)]
pub struct Derived {
    /// Body and value.
    values: BTreeSet<(BodyId, ValueId)>,
    bodies: Vec<BodyId>,
}

impl Derived {
    /// The values that are computed from some values of a body.
    #[must_use]
    pub fn from(program: &Program, id: BodyId, start: impl IntoIterator<Item = ValueId>) -> Self {
        let mut derived = Self::default();
        derived.follow(program, id, start.into_iter().collect(), MOST_NESTED);
        derived
    }

    fn follow(&mut self, program: &Program, id: BodyId, start: BTreeSet<ValueId>, depth: usize) {
        let Some(own) = program.body(id) else { return };
        let found = within(&own.body, start);
        self.bodies.push(id);
        self.values.extend(found.iter().map(|value| (id, *value)));
        let Some(depth) = depth.checked_sub(1) else { return };
        for nested in program.nested_bodies(id) {
            let Some(inner) = program.body(nested) else { continue };
            let start: BTreeSet<ValueId> = ids(&inner.body)
                .filter(
                    |(_, kind)| matches!(kind, ValueKind::Captured(outer) if found.contains(outer)),
                )
                .map(|(value, _)| value)
                .collect();
            if !start.is_empty() {
                self.follow(program, nested, start, depth);
            }
        }
    }

    /// Whether a value is one of them.
    #[must_use]
    pub fn has(&self, body: BodyId, value: ValueId) -> bool {
        self.values.contains(&(body, value))
    }

    /// The first branch that tests one of them, in the bodies looked at.
    #[must_use]
    pub fn tested(&self, program: &Program) -> Option<(BodyId, Span)> {
        self.bodies.iter().find_map(|id| {
            let body = &program.body(*id)?.body;
            body.blocks.iter().find_map(|block| match &block.end {
                Terminator::Branch { test, span, .. } => {
                    self.tests(*id, test).then_some((*id, *span))
                }
                _ => None,
            })
        })
    }

    /// Whether a test looks at one of them, and not only at whether a call failed.
    #[must_use]
    pub fn tests(&self, body: BodyId, test: &Test) -> bool {
        match test {
            Test::True(value) => self.has(body, *value),
            Test::Matches { value, pattern } => {
                let success =
                    matches!(pattern.variant(), Some("Ok" | "Err" | crate::ir::value::SUCCESS));
                self.has(body, *value) && !success
            }
            Test::Opaque(values) => values.iter().any(|value| self.has(body, *value)),
        }
    }

    /// These and some more.
    pub fn extend(&mut self, more: &Self) {
        self.values.extend(more.values.iter().copied());
        self.bodies.extend(more.bodies.iter().copied());
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (BodyId, ValueId)> + '_ {
        self.values.iter().copied()
    }
}

fn ids(body: &Body) -> impl Iterator<Item = (ValueId, &ValueKind)> {
    body.values
        .iter()
        .enumerate()
        .map(|(index, value)| (ValueId(u32::try_from(index).unwrap_or(u32::MAX)), &value.kind))
}

/// The fixpoint over the values of one body.
fn within(body: &Body, mut found: BTreeSet<ValueId>) -> BTreeSet<ValueId> {
    loop {
        let before = found.len();
        for (value, kind) in ids(body) {
            if !found.contains(&value) && is_made_of(body, kind, &found) {
                found.insert(value);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn is_made_of(body: &Body, kind: &ValueKind, found: &BTreeSet<ValueId>) -> bool {
    let has = |value: &ValueId| found.contains(value);
    match kind {
        ValueKind::Converted { value, .. } | ValueKind::Awaited(value) | ValueKind::Not(value) => {
            has(value)
        }
        ValueKind::Payload { of, variant, .. } => has(of) && variant != "Err",
        ValueKind::Field { base, .. } => has(base),
        ValueKind::Element { base, index } => has(base) || index.as_ref().is_some_and(has),
        ValueKind::Adapted { value, argument, .. } => {
            has(value) || argument.as_ref().is_some_and(has)
        }
        ValueKind::Matches { value, .. } => has(value),
        ValueKind::Binary { left, right, .. } => has(left) || has(right),
        ValueKind::Template(parts) => parts.iter().any(|part| match part {
            TemplatePart::Hole(value) => has(value),
            TemplatePart::Text(_) => false,
        }),
        ValueKind::Aggregate { fields, base, path } => {
            path.last() != Some("Err")
                && (fields.iter().any(|(_, value)| has(value)) || base.as_ref().is_some_and(has))
        }
        ValueKind::List(values) | ValueKind::Join(values) => values.iter().any(has),
        ValueKind::Result(op) => body.call(*op).is_some_and(|call| {
            call.receiver.as_ref().is_some_and(has)
                || call.arguments.iter().any(|argument| has(&argument.value))
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Settings;
    use crate::source::{Language, Tree};

    #[test]
    fn arithmetic_calls_and_captures_are_followed() {
        let text = "fn f(a: i64, b: i64) -> i64 {
            let low = a - 1;
            let other = b + 1;
            let least = low.max(0);
            let told = move || { if least > 3 { other } else { 0 } };
            told()
        }";
        let file = ("src/lib.rs".to_owned(), Language::Rust, text.to_owned());
        let program = Program::build(Arc::new(Tree::from_texts(vec![file])), Settings::default());
        let id = program.bodies.iter().find(|body| body.parent.is_none()).unwrap().id;
        let body = &program.body(id).unwrap().body;
        let derived = Derived::from(&program, id, [body.parameters[0]]);
        let named = |name: &str| {
            derived.iter().any(|(id, value)| {
                program.body(id).unwrap().body.value(value).unwrap().name.as_deref() == Some(name)
            })
        };
        assert!(named("low") && named("least"));
        assert!(!named("other"));
        assert!(derived.tested(&program).is_some_and(|(inner, _)| inner != id));
    }
}
