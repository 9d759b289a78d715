//! What happens to the result of an operation: is it looked at, given back, handed on, or dropped.
//!
//! Looking only at whether a call *succeeded* (`?`, `if let Err(e)`, `is_ok()`) is no look at its
//! result. Printing it is none either.

use std::collections::BTreeSet;

use crate::ir::body::{Body, Call, Callee, Exit, OpId, OpKind, Terminator, Test};
use crate::ir::effect::{BodyId, Effect, EffectKind, Site};
use crate::ir::index::TypeRef;
use crate::ir::value::{Adapter, Pattern, TemplatePart, ValueId, ValueKind};
use crate::link::Program;
use crate::link::evaluate::keeps_success;
use crate::source::Span;

mod callee;
mod success;

use success::{is_payload, looks_inside};

/// What happens to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultUse {
    /// Nothing looks at it.
    Dropped,
    /// A branch looks at it.
    Tested(Span),
    /// It is the function's own result.
    Returned(Span),
    /// It goes into a call, a field or another value that leaves sight.
    Passed(Span),
}

/// What happens to the result of the call at a site.
#[must_use]
pub fn result_use(program: &Program, site: Site) -> ResultUse {
    Tracker { program, depth: 0, counts: Counts::Payload }.of(site)
}

/// What happens to a count that the call at a site gives: as [`result_use`], of a call whose success
/// holds no option, so that a second `?` is one of what waits for it (`timeout(…).await??`).
#[must_use]
pub fn count_use(program: &Program, site: Site) -> ResultUse {
    Tracker { program, depth: 0, counts: Counts::Number }.of(site)
}

/// What happens to the reply of a command: as [`presence_use`] of its operation, or of its part of what
/// a pipeline gives back. A reply that is read as nothing is dropped.
#[must_use]
pub fn reply_use(program: &Program, effect: &Effect) -> ResultUse {
    let Some(reply) = effect.reply else { return ResultUse::Dropped };
    if effect.reply_type.as_ref().is_some_and(TypeRef::is_unit) {
        return ResultUse::Dropped;
    }
    let batched = matches!(&effect.kind, EffectKind::Redis(command) if command.batch.is_some());
    match batched && !effect.in_script() {
        true => Tracker { program, depth: 0, counts: Counts::Presence }
            .follow(effect.site.body, BTreeSet::from([reply])),
        false => presence_use(program, effect.site),
    }
}

/// What happens to whether the call at a site failed: as [`result_use`], but that it failed counts as
/// its result too, so that `?` looks at it.
#[must_use]
pub fn failure_use(program: &Program, site: Site) -> ResultUse {
    Tracker { program, depth: 0, counts: Counts::Failure }.of(site)
}

/// What happens to the rows that the call at a site gave: as [`result_use`], but that an optional
/// row is there at all counts as a result too, so mapping its content away keeps it.
#[must_use]
pub fn presence_use(program: &Program, site: Site) -> ResultUse {
    Tracker { program, depth: 0, counts: Counts::Presence }.of(site)
}

/// What happens to a parameter of a nested body.
fn parameter_use(tracker: &Tracker<'_>, body: BodyId, index: usize) -> ResultUse {
    let Some(own) = tracker.program.body(body) else { return ResultUse::Dropped };
    let Some(parameter) = own.body.parameters.get(index) else { return ResultUse::Dropped };
    tracker.follow(body, BTreeSet::from([*parameter]))
}

/// The value an operation gives: a call's result, an await's.
fn result_value(body: &Body, op: OpId) -> Option<ValueId> {
    match &body.op(op)?.kind {
        OpKind::Call(call) => Some(call.result),
        OpKind::Await { result, .. } => Some(*result),
        _ => None,
    }
}

/// How many closures deep a result is followed.
const DEEPEST: u32 = 6;

/// What of a result counts as its being looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// What is inside a success.
    Payload,
    /// The same, where it is a number or holds one.
    Number,
    /// And whether an optional payload is there.
    Presence,
    /// And whether it is a success at all.
    Failure,
}

#[derive(Clone, Copy)]
struct Tracker<'p> {
    program: &'p Program,
    depth: u32,
    counts: Counts,
}

impl Tracker<'_> {
    /// What happens to the result of the operation at a site.
    fn of(&self, site: Site) -> ResultUse {
        let body = self.program.body(site.body);
        match body.and_then(|own| result_value(&own.body, site.op)) {
            Some(result) => self.follow(site.body, BTreeSet::from([result])),
            None => ResultUse::Dropped,
        }
    }

    fn follow(&self, id: BodyId, start: BTreeSet<ValueId>) -> ResultUse {
        let Some(own) = self.program.body(id) else { return ResultUse::Dropped };
        let body = &own.body;
        let carriers = self.carriers(id, body, start);
        let tested = body.blocks.iter().find_map(|block| self.tested(id, &block.end, &carriers));
        if let Some(span) = tested.or_else(|| self.unwrapped(body, &carriers)) {
            return ResultUse::Tested(span);
        }
        for (_, op, kind) in body.operations() {
            let site = Site { body: id, op };
            if let Some(found) = self.used_by(site, &kind.kind, kind.span, &carriers) {
                return found;
            }
        }
        if let Some(span) = self.returned(id, &carriers) {
            let outside = match self.is_given_as_success(id, &carriers) {
                true => Self { counts: Counts::Failure, ..*self },
                false => *self,
            };
            return outside.given_on(id).unwrap_or(ResultUse::Returned(span));
        }
        self.used_inside(id, &carriers)
    }

    /// What becomes of the result that a closure or block returns, in the code around it: the value
    /// of the block, or of the call that runs the closure. `None` for a function, and where it is not
    /// known who runs the closure.
    fn given_on(&self, id: BodyId) -> Option<ResultUse> {
        let parent = self.program.body(id)?.parent?;
        let outer = &self.program.body(parent)?.body;
        if self.depth >= DEEPEST {
            return None;
        }
        let is_own = |index| self.program.nested(parent, index) == Some(id);
        let mut start = BTreeSet::new();
        for (index, value) in outer.values.iter().enumerate() {
            if matches!(value.kind, ValueKind::Async(index) if is_own(index)) {
                start.insert(ValueId(u32::try_from(index).unwrap_or(u32::MAX)));
            }
        }
        for (_, op, call) in outer.calls() {
            let given = call.arguments.iter().map(|argument| argument.value).chain(call.receiver);
            let mut given = given.map(|value| outer.kind(outer.peel(value)));
            if !given.any(|kind| matches!(kind, ValueKind::Closure(index) if is_own(*index))) {
                continue;
            }
            match self.use_by_runner(Site { body: parent, op }, call, id) {
                Some(ResultUse::Returned(_)) => _ = start.insert(call.result),
                Some(used @ (ResultUse::Tested(_) | ResultUse::Passed(_))) => return Some(used),
                _ => {}
            }
        }
        let deeper = Self { depth: self.depth + 1, ..*self };
        (!start.is_empty()).then(|| deeper.follow(parent, start))
    }

    /// All values that carry the result, found by running to a fixpoint over the body's values.
    fn carriers(&self, id: BodyId, body: &Body, start: BTreeSet<ValueId>) -> BTreeSet<ValueId> {
        let mut carriers = start;
        loop {
            let before = carriers.len();
            for (index, value) in body.values.iter().enumerate() {
                let value_id = ValueId(u32::try_from(index).unwrap_or(u32::MAX));
                if !carriers.contains(&value_id) && self.carries(id, body, &value.kind, &carriers) {
                    carriers.insert(value_id);
                }
            }
            if carriers.len() == before {
                return carriers;
            }
        }
    }

    /// Whether a value is made of a carrier so that it still tells something of the result.
    fn carries(
        &self,
        id: BodyId,
        body: &Body,
        kind: &ValueKind,
        carriers: &BTreeSet<ValueId>,
    ) -> bool {
        let has = |value: &ValueId| carriers.contains(value);
        let failure = self.counts == Counts::Failure;
        match kind {
            ValueKind::Converted { value, .. }
            | ValueKind::Awaited(value)
            | ValueKind::Not(value) => has(value),
            ValueKind::Payload { of, variant, .. } => has(of) && (failure || variant != "Err"),
            ValueKind::Field { base, .. } | ValueKind::Element { base, .. } => has(base),
            ValueKind::Adapted { value, adapter, argument, .. } => {
                has(value)
                    && (failure
                        || self.adapter_carries(id, *adapter, *argument)
                        || (self.counts == Counts::Presence && is_payload(body, *value))
                        || self.is_told_by_success(id, *value))
            }
            ValueKind::Matches { value, pattern } => has(value) && self.looks(pattern),
            ValueKind::Binary { left, right, .. } => has(left) || has(right),
            ValueKind::Template(parts) => parts.iter().any(|part| match part {
                TemplatePart::Hole(value) => has(value),
                TemplatePart::Text(_) => false,
            }),
            ValueKind::Aggregate { fields, base, path } => {
                (failure || path.last() != Some("Err"))
                    && (fields.iter().any(|(_, value)| has(value))
                        || base.as_ref().is_some_and(has))
            }
            ValueKind::List(values) | ValueKind::Join(values) => values.iter().any(has),
            ValueKind::Result(op) => {
                let site = Site { body: id, op: *op };
                body.call(*op).is_some_and(|call| {
                    call.receiver.as_ref().is_some_and(has) || self.comes_back(site, call, carriers)
                })
            }
            _ => false,
        }
    }

    /// Whether the result still shows after an adapter.
    fn adapter_carries(&self, id: BodyId, adapter: Adapter, argument: Option<ValueId>) -> bool {
        match adapter {
            Adapter::Map
            | Adapter::AndThen
            | Adapter::TestAnd
            | Adapter::TestOr
            | Adapter::Filter => {
                let Some(argument) = argument else { return true };
                match self.program.body(id).map(|body| body.body.kind(argument)) {
                    Some(ValueKind::Closure(index)) => match self.program.nested(id, *index) {
                        Some(nested) if self.depth < DEEPEST => {
                            let deeper = Self { depth: self.depth + 1, ..*self };
                            parameter_use(&deeper, nested, 0) != ResultUse::Dropped
                        }
                        _ => true,
                    },
                    // `map(drop)`: thrown away by name.
                    Some(ValueKind::Path(path)) => {
                        path.last() != Some("drop") && self.function_carries(id, path)
                    }
                    _ => true,
                }
            }
            adapter => {
                keeps_success(adapter)
                    || matches!(adapter, Adapter::UnwrapOr | Adapter::OrElse | Adapter::Then)
            }
        }
    }

    /// Whether an operation uses a carrier.
    fn used_by(
        &self,
        site: Site,
        kind: &OpKind,
        span: Span,
        carriers: &BTreeSet<ValueId>,
    ) -> Option<ResultUse> {
        match kind {
            OpKind::Store { value, .. } if carriers.contains(value) => {
                Some(ResultUse::Passed(span))
            }
            OpKind::Call(call) => self.used_by_call(site, call, span, carriers),
            _ => None,
        }
    }

    /// Whether a call that is given the result may look at it: not printing, not `drop`.
    fn takes(&self, site: Site, call: &Call) -> bool {
        if call.callee.name() == Some("drop") {
            return false;
        }
        let effects = self.program.effects(site.body);
        let logs = effects
            .iter()
            .any(|effect| effect.site == site && matches!(effect.kind, EffectKind::Log { .. }));
        let prints = matches!(&call.callee, Callee::Macro(path)
            if path.last().is_some_and(|name| PRINTING.contains(&name)));
        !logs && !prints
    }

    /// Whether a body's declared result is nothing, so that returning a carrier drops it.
    fn gives_nothing(&self, id: BodyId) -> bool {
        self.program.declared_result(id).is_some_and(|returns| {
            let fails = self.counts == Counts::Failure;
            returns.is_unit() || !fails && returns.payload().is_some_and(TypeRef::is_unit)
        })
    }

    /// The test of a branch, when it looks at a carrier.
    fn tested(&self, id: BodyId, end: &Terminator, carriers: &BTreeSet<ValueId>) -> Option<Span> {
        let Terminator::Branch { test, span, .. } = end else { return None };
        let looks = match test {
            Test::True(value) => carriers.contains(value),
            Test::Matches { value, pattern } => {
                carriers.contains(value)
                    && (self.looks(pattern) || self.optional_inside(id, *value, pattern))
            }
            Test::Opaque(values) => values.iter().any(|value| carriers.contains(value)),
        };
        looks.then_some(*span)
    }

    /// Whether a pattern looks at what counts.
    fn looks(&self, pattern: &Pattern) -> bool {
        match self.counts {
            Counts::Failure => !pattern.always(),
            _ => looks_inside(pattern),
        }
    }

    /// Where a failure to be looked at ends in a panic: `unwrap`.
    fn unwrapped(&self, body: &Body, carriers: &BTreeSet<ValueId>) -> Option<Span> {
        let mut values = body.values.iter().filter(|_| self.counts == Counts::Failure);
        let found = values.find(|value| {
            matches!(&value.kind, ValueKind::Adapted { value, adapter: Adapter::Unwrap, .. }
                if carriers.contains(value))
        });
        found.map(|value| value.span)
    }

    /// The return that gives a carrier back; where the failure does not count, on a path without one.
    /// A success with nothing inside gives back only whether it is one.
    fn returned(&self, id: BodyId, carriers: &BTreeSet<ValueId>) -> Option<Span> {
        let own = self.program.body(id)?;
        let empty = self.gives_nothing(id);
        own.body.blocks.iter().find_map(|block| match &block.end {
            Terminator::Return { value: Some(value), exit, span }
                if *exit != Exit::Propagated || self.counts == Counts::Failure =>
            {
                let tells =
                    carriers.contains(value) && (!empty || self.succeeds_by_payload(id, *value, 0));
                tells.then_some(*span)
            }
            _ => None,
        })
    }

    /// Uses in closures and async blocks that capture a carrier.
    fn used_inside(&self, id: BodyId, carriers: &BTreeSet<ValueId>) -> ResultUse {
        if self.depth >= DEEPEST {
            return ResultUse::Dropped;
        }
        for nested in self.program.nested_bodies(id) {
            let Some(own) = self.program.body(nested) else { continue };
            let mut start = BTreeSet::new();
            for (index, value) in own.body.values.iter().enumerate() {
                if matches!(&value.kind, ValueKind::Captured(outer) if carriers.contains(outer)) {
                    start.insert(ValueId(u32::try_from(index).unwrap_or(u32::MAX)));
                }
            }
            if start.is_empty() {
                continue;
            }
            let deeper = Self { depth: self.depth + 1, ..*self };
            match deeper.follow(nested, start) {
                ResultUse::Dropped => {}
                found => return found,
            }
        }
        ResultUse::Dropped
    }
}

/// Macros that only print what they are given.
const PRINTING: [&str; 16] = [
    "println",
    "print",
    "eprintln",
    "eprint",
    "dbg",
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "event",
    "log",
    "span",
    "debug_span",
    "info_span",
    "trace_span",
];

#[cfg(test)]
mod tests;
