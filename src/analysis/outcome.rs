//! What a value is under an assumption about one operation: "if this acquire won, that test holds".
//!
//! An [`Abstract`] value is just enough to follow a reply through `?`, `map`, `is_some`,
//! comparisons and wrappers to the branch that tests it. [`Assumption::test`] then says which edge
//! is taken, and a walk that follows only possible edges is a walk over the runs in which the
//! assumption holds. It never claims more than it knows: an undecided test leaves both edges open.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::ir::body::{BlockId, Body, OpId, Terminator, Test};
use crate::ir::effect::BodyId;
use crate::ir::index::Path;
use crate::ir::value::{Adapter, Literal, SUCCESS, ValueId, ValueKind};
use crate::link::Program;

mod again;
mod answer;
mod compare;
mod returned;

pub use answer::{Answer, NilRead, nil_read, script_call};
use compare::compare;
pub use compare::{alike, matches};

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Abstract {
    /// Nothing.
    Unknown,
    /// The reply of a conditional command, in whatever form it is read: `Some`, `true`, `1`, `OK`
    /// when won; `None`, `false`, `0`, nil when lost.
    Reply(bool),
    /// A truth value.
    Truth(bool),
    /// A whole number.
    Number(i128),
    /// A text.
    Text(String),
    /// A unit variant or constant by its last name.
    Named(String),
    /// None, nil, null.
    Nothing,
    /// An option that holds this.
    Some(Box<Abstract>),
    /// A result that succeeded with this.
    Ok(Box<Abstract>),
    /// A result that failed.
    Err,
    /// Some value that is there.
    Present,
}

/// One assumption: the result of an operation.
pub struct Assumption<'p> {
    program: &'p Program,
    body: BodyId,
    op: OpId,
    result: Abstract,
    /// Values of the body that were asked for; `Unknown` while one is being looked at (a loop).
    known: RefCell<BTreeMap<ValueId, Abstract>>,
    /// How many values the question at hand has looked at.
    steps: Cell<usize>,
    /// What the parameters of the body are.
    parameters: Vec<Abstract>,
}

/// How deep values are followed.
const DEEPEST: usize = 48;
/// How many values one question looks at.
const MOST_STEPS: usize = 4_000;

impl<'p> Assumption<'p> {
    /// Assumes that the call at `op` gives `result`.
    #[must_use]
    pub fn new(program: &'p Program, body: BodyId, op: OpId, result: Abstract) -> Self {
        let (known, steps) = (RefCell::default(), Cell::new(0));
        Self { program, body, op, result, known, steps, parameters: Vec::new() }
    }

    /// Assumes that a body is entered with these parameters.
    #[must_use]
    pub fn of_parameters(program: &'p Program, body: BodyId, parameters: Vec<Abstract>) -> Self {
        let nowhere = OpId(u32::MAX);
        Self { parameters, ..Self::new(program, body, nowhere, Abstract::Unknown) }
    }

    /// Whether a test holds; `None` when the assumption does not decide it.
    #[must_use]
    pub fn test(&self, test: &Test) -> Option<bool> {
        let body = &self.program.body(self.body)?.body;
        match test {
            Test::True(value) => truth(&self.value(body, *value)),
            Test::Matches { value, pattern } => matches(&self.value(body, *value), pattern),
            Test::Opaque(_) => None,
        }
    }

    /// The blocks a block can go to under the assumption.
    #[must_use]
    pub fn successors(&self, end: &Terminator) -> Vec<BlockId> {
        match end {
            Terminator::Branch { test, then, otherwise, .. } => match self.test(test) {
                Some(true) => vec![*then],
                Some(false) => vec![*otherwise],
                None => vec![*then, *otherwise],
            },
            end => end.successors(),
        }
    }

    /// All blocks reached from a block under the assumption, that block first.
    #[must_use]
    pub fn reachable(&self, body: &Body, from: BlockId) -> BTreeSet<BlockId> {
        body.reachable([from], |block| self.successors(&block.end))
    }

    /// What a value of the body is.
    #[must_use]
    pub fn value(&self, body: &Body, value: ValueId) -> Abstract {
        self.steps.set(0);
        self.value_within(body, value, &[], DEEPEST)
    }

    /// `parameters` are known in a closure's body.
    fn value_within(
        &self,
        body: &Body,
        value: ValueId,
        parameters: &[Abstract],
        depth: usize,
    ) -> Abstract {
        let Some(depth) = depth.checked_sub(1) else { return Abstract::Unknown };
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MOST_STEPS {
            return Abstract::Unknown;
        }
        if !self.is_own(body) {
            return self.value_of_kind(body, value, parameters, depth);
        }
        if let Some(known) = self.known.borrow().get(&value) {
            return known.clone();
        }
        self.known.borrow_mut().insert(value, Abstract::Unknown);
        let found = self.value_of_kind(body, value, parameters, depth);
        self.known.borrow_mut().insert(value, found.clone());
        found
    }

    fn value_of_kind(
        &self,
        body: &Body,
        value: ValueId,
        parameters: &[Abstract],
        depth: usize,
    ) -> Abstract {
        let inner = |value: ValueId| self.value_within(body, value, parameters, depth);
        match body.kind(value) {
            ValueKind::Result(op) if *op == self.op && self.is_own(body) => self.result.clone(),
            ValueKind::Parameter(index) => {
                let known = if self.is_own(body) { &self.parameters } else { parameters };
                known.get(*index as usize).cloned().unwrap_or(Abstract::Unknown)
            }
            ValueKind::Literal(literal) => of_literal(literal),
            ValueKind::Path(path) => match path.last() {
                Some("None") => Abstract::Nothing,
                Some(name) => match self.constant(body, value) {
                    Some(number) => Abstract::Number(number),
                    None => Abstract::Named(name.to_owned()),
                },
                None => Abstract::Unknown,
            },
            ValueKind::Awaited(value) | ValueKind::Converted { value, .. } => inner(*value),
            ValueKind::Payload { of, variant, field } if field == "0" => {
                payload(inner(*of), variant)
            }
            ValueKind::Adapted { value, adapter, argument, .. } => {
                self.adapted(body, inner(*value), *adapter, *argument, parameters, depth)
            }
            ValueKind::Matches { value, pattern } => {
                matches(&inner(*value), pattern).map_or(Abstract::Unknown, Abstract::Truth)
            }
            ValueKind::Not(value) => {
                truth(&inner(*value)).map_or(Abstract::Unknown, |truth| Abstract::Truth(!truth))
            }
            ValueKind::Binary { operator, left, right } => {
                compare(*operator, &inner(*left), &inner(*right))
            }
            ValueKind::Aggregate { path, fields, .. } => {
                let content = fields.first().map_or(Abstract::Present, |(_, value)| inner(*value));
                wrapped(path, content)
            }
            ValueKind::Join(values) => {
                let mut all = values.iter().map(|value| inner(*value));
                let first = all.next().unwrap_or(Abstract::Unknown);
                all.fold(first, join)
            }
            ValueKind::Captured(outer) => self.captured(body, *outer, depth),
            ValueKind::Template(_)
            | ValueKind::List(_)
            | ValueKind::ScriptKey(_)
            | ValueKind::ScriptArgument(_) => Abstract::Present,
            _ => Abstract::Unknown,
        }
    }

    /// The whole number that a constant of the program stands for.
    fn constant(&self, body: &Body, value: ValueId) -> Option<i128> {
        self.is_own(body).then(|| self.program.integer(self.body, value)).flatten()
    }

    fn is_own(&self, body: &Body) -> bool {
        self.program.body(self.body).is_some_and(|own| std::ptr::eq(&raw const own.body, body))
    }

    /// A value of the enclosing body, seen in a closure.
    fn captured(&self, body: &Body, outer: ValueId, depth: usize) -> Abstract {
        let own = self.program.body(self.body).map(|own| &own.body);
        match own {
            Some(own) if !std::ptr::eq(own, body) => self.value_within(own, outer, &[], depth),
            _ => Abstract::Unknown,
        }
    }

    fn adapted(
        &self,
        body: &Body,
        value: Abstract,
        adapter: Adapter,
        argument: Option<ValueId>,
        parameters: &[Abstract],
        depth: usize,
    ) -> Abstract {
        let argument_value = |given: Option<Abstract>| match argument {
            Some(argument) => self.applied(body, argument, given, parameters, depth),
            None => Abstract::Unknown,
        };
        match (adapter, value) {
            (Adapter::MapFailure | Adapter::Inspect, value) => value,
            (Adapter::Ok, Abstract::Ok(inner)) => Abstract::Some(inner),
            (Adapter::Ok, Abstract::Err) => Abstract::Nothing,
            (Adapter::OkOr, Abstract::Some(inner)) => Abstract::Ok(inner),
            (Adapter::OkOr, Abstract::Reply(true)) => Abstract::Ok(Box::new(Abstract::Present)),
            (Adapter::OkOr, Abstract::Nothing | Abstract::Reply(false)) => Abstract::Err,
            (Adapter::Map, Abstract::Ok(inner)) => {
                Abstract::Ok(Box::new(argument_value(Some(*inner))))
            }
            (Adapter::Map, Abstract::Some(inner)) => {
                Abstract::Some(Box::new(argument_value(Some(*inner))))
            }
            (Adapter::Map, Abstract::Reply(true)) => {
                Abstract::Some(Box::new(argument_value(Some(Abstract::Present))))
            }
            (Adapter::AndThen, Abstract::Ok(inner) | Abstract::Some(inner)) => {
                argument_value(Some(*inner))
            }
            (Adapter::AndThen, Abstract::Reply(true)) => argument_value(Some(Abstract::Present)),
            (Adapter::Map | Adapter::AndThen, Abstract::Reply(false)) => Abstract::Nothing,
            (Adapter::Map | Adapter::AndThen, failed @ (Abstract::Err | Abstract::Nothing)) => {
                failed
            }
            (
                Adapter::UnwrapOr | Adapter::UnwrapOrDefault | Adapter::Unwrap,
                Abstract::Ok(inner) | Abstract::Some(inner),
            ) => *inner,
            (Adapter::UnwrapOr, Abstract::Err | Abstract::Nothing) => argument_value(None),
            (Adapter::UnwrapOrDefault, Abstract::Err | Abstract::Nothing) => Abstract::Reply(false),
            (Adapter::OrElse, value @ (Abstract::Ok(_) | Abstract::Some(_))) => value,
            (Adapter::OrElse, Abstract::Err | Abstract::Nothing) => argument_value(None),
            (Adapter::Then, value) => match truth(&value) {
                Some(true) => Abstract::Some(Box::new(argument_value(None))),
                Some(false) => Abstract::Nothing,
                None => Abstract::Unknown,
            },
            (Adapter::TestAnd | Adapter::TestOr, Abstract::Ok(inner) | Abstract::Some(inner)) => {
                argument_value(Some(*inner))
            }
            (Adapter::TestAnd, Abstract::Err | Abstract::Nothing | Abstract::Reply(false)) => {
                Abstract::Truth(false)
            }
            (Adapter::TestOr, Abstract::Err | Abstract::Nothing) => Abstract::Truth(true),
            (Adapter::Reshape, Abstract::Some(inner) | Abstract::Ok(inner)) => reshaped(*inner),
            _ => Abstract::Unknown,
        }
    }

    /// An adapter's argument: what a closure makes of the given value, or the value itself.
    fn applied(
        &self,
        body: &Body,
        argument: ValueId,
        given: Option<Abstract>,
        parameters: &[Abstract],
        depth: usize,
    ) -> Abstract {
        let ValueKind::Closure(index) = body.kind(argument) else {
            return self.value_within(body, argument, parameters, depth);
        };
        let nested = self.program.nested(self.body, *index).and_then(|id| self.program.body(id));
        let Some(nested) = nested.map(|nested| &nested.body) else { return Abstract::Unknown };
        let given: Vec<Abstract> = given.into_iter().collect();
        let mut all: Option<Abstract> = None;
        for block in &nested.blocks {
            if let Terminator::Return { value: Some(value), .. } = &block.end {
                let returned = self.value_within(nested, *value, &given, depth);
                all = Some(all.map_or(returned.clone(), |before| join(before, returned)));
            }
        }
        all.unwrap_or(Abstract::Unknown)
    }
}

fn reshaped(inner: Abstract) -> Abstract {
    match inner {
        Abstract::Nothing => Abstract::Nothing,
        Abstract::Err => Abstract::Err,
        inner @ (Abstract::Some(_) | Abstract::Ok(_)) => inner,
        _ => Abstract::Unknown,
    }
}

/// A value wrapped in a variant.
fn wrapped(path: &Path, content: Abstract) -> Abstract {
    match path.last() {
        Some("Some") => Abstract::Some(Box::new(content)),
        Some("Ok") => Abstract::Ok(Box::new(content)),
        Some("Err") => Abstract::Err,
        _ => Abstract::Present,
    }
}

/// What is common to two values.
#[must_use]
pub fn join(left: Abstract, right: Abstract) -> Abstract {
    match (left, right) {
        (left, right) if left == right => left,
        (Abstract::Some(left), Abstract::Some(right)) => {
            Abstract::Some(Box::new(join(*left, *right)))
        }
        (Abstract::Ok(left), Abstract::Ok(right)) => Abstract::Ok(Box::new(join(*left, *right))),
        _ => Abstract::Unknown,
    }
}

/// What a literal is.
#[must_use]
pub fn of_literal(literal: &Literal) -> Abstract {
    match literal {
        Literal::Text(text) => Abstract::Text(text.content.clone()),
        Literal::Integer(number) => Abstract::Number(*number),
        Literal::Boolean(truth) => Abstract::Truth(*truth),
        Literal::Nothing => Abstract::Nothing,
        Literal::Unit | Literal::Float(_) => Abstract::Present,
    }
}

/// Whether a value counts as true.
fn truth(value: &Abstract) -> Option<bool> {
    match value {
        Abstract::Truth(truth) | Abstract::Reply(truth) => Some(*truth),
        Abstract::Nothing => Some(false),
        Abstract::Some(inner) | Abstract::Ok(inner) => truth(inner),
        _ => None,
    }
}

/// What a variant's payload is once it matched.
fn payload(value: Abstract, variant: &str) -> Abstract {
    match (value, variant) {
        (Abstract::Ok(inner), "Ok" | SUCCESS) | (Abstract::Some(inner), "Some" | SUCCESS) => *inner,
        (Abstract::Reply(true), "Some" | SUCCESS) => Abstract::Present,
        _ => Abstract::Unknown,
    }
}
