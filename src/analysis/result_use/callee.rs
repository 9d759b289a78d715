//! What calls do with a result that they are given, or are called on: functions of the program are looked
//! into, and a few of libraries are known to give back what they are given. What is out of sight may look
//! at anything.

use std::collections::BTreeSet;

use super::{DEEPEST, ResultUse, Tracker, parameter_use};
use crate::ir::body::{Call, Callee};
use crate::ir::effect::{BodyId, Site};
use crate::ir::index::Path;
use crate::ir::value::{ValueId, ValueKind};
use crate::link::names::Named;
use crate::source::Span;

/// How many closures deep a function of the program counts for.
const FUNCTION: u32 = 2;
/// How many functions that a call may run are looked into.
const MOST_CALLEES: usize = 8;

/// Functions of libraries that wait for futures and give what these give.
const WAITING: [&str; 5] = ["join_all", "try_join_all", "timeout", "timeout_at", "unconstrained"];

impl Tracker<'_> {
    /// What a call does with a carrier that it is given or called on.
    pub(super) fn used_by_call(
        &self,
        site: Site,
        call: &Call,
        span: Span,
        carriers: &BTreeSet<ValueId>,
    ) -> Option<ResultUse> {
        let given = call.arguments.iter().any(|it| carriers.contains(&it.value));
        if !given && !call.receiver.is_some_and(|value| carriers.contains(&value)) {
            return None;
        }
        match self.use_by_callee(site, call, carriers) {
            Some(ResultUse::Tested(_)) => Some(ResultUse::Tested(span)),
            Some(ResultUse::Passed(_)) => Some(ResultUse::Passed(span)),
            Some(ResultUse::Returned(_) | ResultUse::Dropped) => None,
            None if given && !waits(call) => {
                self.takes(site, call).then_some(ResultUse::Passed(span))
            }
            None => None,
        }
    }

    /// Whether a call that is given a carrier gives it back.
    pub(super) fn comes_back(&self, site: Site, call: &Call, carriers: &BTreeSet<ValueId>) -> bool {
        call.arguments.iter().any(|it| carriers.contains(&it.value))
            && match self.use_by_callee(site, call, carriers) {
                Some(used) => matches!(used, ResultUse::Returned(_)),
                None => waits(call),
            }
    }

    /// What the functions of the program that a call runs do with the carriers that it is given or
    /// called on; `None` where that is out of sight.
    fn use_by_callee(
        &self,
        site: Site,
        call: &Call,
        carriers: &BTreeSet<ValueId>,
    ) -> Option<ResultUse> {
        let targets = self.program.targets(site.body, site.op)?;
        let known = !targets.spawned && !self.program.is_guess(site);
        let deeper = self.one_function_deeper().filter(|_| known)?;
        if targets.bodies.len() > MOST_CALLEES {
            return None;
        }
        let uses = targets.bodies.iter().map(|callee| {
            let (arguments, receiver) = self.program.bound_arguments(*callee, call);
            let own = &self.program.body(*callee)?.body;
            let bound = arguments.iter().zip(&own.parameters);
            let bound = bound.filter(|(argument, _)| carriers.contains(argument));
            let mut start: BTreeSet<ValueId> = bound.map(|(_, parameter)| *parameter).collect();
            if receiver.is_some_and(|value| carriers.contains(&value)) {
                let values = own.values.iter().zip(0_u32..);
                let own = values.filter(|(value, _)| matches!(value.kind, ValueKind::Receiver));
                start.extend(own.map(|(_, index)| ValueId(index)));
            }
            Some(match deeper.follow(*callee, start) {
                // It may be by its success alone that it tells.
                ResultUse::Returned(span) if self.may_fail(*callee) => ResultUse::Passed(span),
                used => used,
            })
        });
        uses.collect::<Option<Vec<_>>>()?.into_iter().reduce(more)
    }

    /// What a function that is named as an adapter's argument does with its parameter.
    pub(super) fn function_carries(&self, id: BodyId, path: &Path) -> bool {
        let Named::Function(function) = self.program.resolve(id, path) else { return true };
        match (self.program.body_of(function), self.one_function_deeper()) {
            (Some(body), Some(deeper)) if !self.program.takes_receiver(body) => {
                parameter_use(&deeper, body, 0) != ResultUse::Dropped
            }
            _ => true,
        }
    }

    /// What a call that is given a closure, or is called on one, does with what this returns: *returned*
    /// where it gives it back, as a macro around it does, or a library (`transaction`, `run`, `interact`,
    /// `retry`). `None` where that is out of sight.
    pub(super) fn use_by_runner(
        &self,
        site: Site,
        call: &Call,
        closure: BodyId,
    ) -> Option<ResultUse> {
        let back = Some(ResultUse::Returned(call.name_span));
        if matches!(call.callee, Callee::Macro(_)) {
            return back;
        }
        let targets = self.program.targets(site.body, site.op)?;
        if targets.spawned {
            return None;
        }
        if targets.bodies.is_empty() {
            return back.filter(|_| targets.runs.contains(&closure));
        }
        let uses = targets.bodies.iter().filter_map(|callee| {
            let (arguments, _) = self.program.bound_arguments(*callee, call);
            let is_own = |value: &ValueId| {
                let (body, value) = self.program.root_of(site.body, *value);
                let kind = self.program.body(body).map(|own| own.body.kind(value));
                matches!(kind, Some(ValueKind::Closure(index))
                    if self.program.nested(body, *index) == Some(closure))
            };
            self.use_of_called(*callee, arguments.iter().position(is_own)?)
        });
        uses.reduce(more)
    }

    /// What a function does with what the closure returns that it has as a parameter.
    fn use_of_called(&self, callee: BodyId, parameter: usize) -> Option<ResultUse> {
        let deeper = self.one_function_deeper()?;
        let inside = self.program.nested_bodies(callee);
        let uses = std::iter::once(callee).chain(inside).flat_map(|body| {
            let calls = self.program.body(body).into_iter().flat_map(|own| own.body.calls());
            let called = calls.filter(move |(_, _, call)| {
                let Callee::Value(value) = &call.callee else { return false };
                let (body, value) = self.program.root_of(body, *value);
                let kind = self.program.body(body).map(|own| own.body.kind(value));
                body == callee
                    && matches!(kind, Some(ValueKind::Parameter(at)) if *at as usize == parameter)
            });
            called.map(move |(_, _, call)| deeper.follow(body, BTreeSet::from([call.result])))
        });
        uses.reduce(more)
    }

    /// Whether a function or closure is declared to give an option or a result.
    fn may_fail(&self, body: BodyId) -> bool {
        self.program.declared_result(body).is_some_and(|returns| returns.payload().is_some())
    }

    fn one_function_deeper(&self) -> Option<Self> {
        let depth = self.depth + FUNCTION;
        (depth <= DEEPEST).then_some(Self { depth, ..*self })
    }
}

/// The one of two uses that is more of a look.
fn more(left: ResultUse, right: ResultUse) -> ResultUse {
    let rank = |used: ResultUse| match used {
        ResultUse::Dropped => 0,
        ResultUse::Returned(_) => 1,
        ResultUse::Passed(_) => 2,
        ResultUse::Tested(_) => 3,
    };
    if rank(right) > rank(left) { right } else { left }
}

/// Whether a call of a library waits for what it is given, and gives what that gives.
fn waits(call: &Call) -> bool {
    let named = |name| WAITING.contains(&name);
    match &call.callee {
        Callee::Path(path) => {
            path.last().is_some_and(named)
                || path.last() == Some("iter") && path.parent().last() == Some("stream")
        }
        _ => false,
    }
}
