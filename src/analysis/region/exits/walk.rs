//! The runs of one body from a won acquire on, as long as the lease is surely held.

use std::collections::BTreeSet;

use super::answers::{answers, failure_side, given, parts};
use crate::analysis::Analysis;
use crate::analysis::callgraph::call_site;
use crate::analysis::identity::KeyIdentity;
use crate::analysis::lease::{Action, ways_to};
use crate::analysis::outcome::{Abstract, Assumption};
use crate::analysis::region::holding::{Holding, Passing, quiet};
use crate::analysis::region::{AcquirePoint, Region};
use crate::ir::body::{BlockId, Body, Call, Callee, Exit, OpId, OpKind, Terminator, Test};
use crate::ir::effect::{BodyId, EffectKind, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::evaluate::returned_values;

/// How deep a value is taken apart.
const DEEPEST: u32 = 12;

/// What is known of one region's body.
pub(super) struct Walk<'a> {
    analysis: &'a Analysis<'a>,
    holding: Holding<'a>,
    pub(super) id: BodyId,
    pub(super) body: &'a Body,
    pub(super) point: &'a AcquirePoint,
    /// The acquire, where the body is the one that makes it.
    origin: Option<OpId>,
    assumption: Assumption<'a>,
    identities: BTreeSet<KeyIdentity>,
    /// The values that the acquire gave.
    handles: BTreeSet<ValueId>,
    /// The owner token, where the body gives it to the acquire.
    token: Option<ValueId>,
    /// What else the acquire was given, the key among it.
    given: BTreeSet<ValueId>,
    /// The operations that ask about the lease or change it, calls rather than awaits.
    asks: BTreeSet<OpId>,
}

/// The blocks of a body by what they end with.
#[derive(Default)]
pub(super) struct Ends {
    /// Some run ends them with the lease held.
    pub held: BTreeSet<BlockId>,
    /// Some run ends them after the lease was given back or handed on.
    pub released: BTreeSet<BlockId>,
    /// The operations that gave it back or handed it on.
    pub stops: Vec<OpId>,
}

/// Why a run is followed no further.
enum Stop {
    /// The lease is not held by this body any more, after this.
    Released(OpId),
    /// The acquire itself comes again.
    Again,
}

impl<'a> Walk<'a> {
    pub(super) fn new(analysis: &'a Analysis<'a>, region: &'a Region) -> Option<Self> {
        let point = &region.point;
        let id = point.site.body;
        let body = &analysis.program.body(id)?.body;
        let holding = analysis.holding();
        let op = body.call_behind(point.site.op);
        let known = analysis.leases.identities_at(analysis.program, point);
        let mut walk = Self {
            analysis,
            holding,
            id,
            body,
            point,
            origin: Some(point.site.op),
            assumption: Assumption::new(analysis.program, id, op, point.won.clone()),
            identities: known.unwrap_or_else(|| holding.all_identities(point)),
            handles: holding.handles(body, point),
            token: None,
            given: BTreeSet::new(),
            asks: BTreeSet::new(),
        };
        walk.token = walk.stored();
        walk.given = walk.given_to_acquire();
        walk.asks = walk.asking();
        Some(walk)
    }

    /// The same lease in a body that is called while it is held.
    pub(super) fn within(&'a self, call: OpId, called: BodyId) -> Option<Self> {
        let program = self.analysis.program;
        let body = &program.body(called)?.body;
        let given = self.body.call(self.body.call_behind(call));
        let given = given.map(|call| program.bound_arguments(called, call).0).unwrap_or_default();
        let parameters = given.iter().map(|value| self.value(*value)).collect();
        let outer = |value: ValueId| match body.kind(value) {
            ValueKind::Parameter(index) => given.get(*index as usize).copied(),
            ValueKind::Captured(outer) => Some(*outer),
            _ => None,
        };
        let all = (0..body.values.len()).filter_map(|index| u32::try_from(index).ok()).map(ValueId);
        let passed: Vec<(ValueId, ValueId)> = all
            .filter_map(|value| Some((value, self.body.peel(outer(body.peel(value))?))))
            .collect();
        let those = |wanted: &dyn Fn(ValueId) -> bool| {
            let those = passed.iter().filter(|(_, root)| wanted(*root)).map(|(value, _)| *value);
            those.collect::<Vec<_>>()
        };
        let mut walk = Self {
            analysis: self.analysis,
            holding: self.holding,
            id: called,
            body,
            point: self.point,
            origin: None,
            assumption: Assumption::of_parameters(program, called, parameters),
            identities: self.identities.clone(),
            handles: those(&|root| self.handles.contains(&root)).into_iter().collect(),
            token: those(&|root| self.token == Some(root)).first().map(|value| body.peel(*value)),
            given: those(&|root| self.given.contains(&root)).into_iter().collect(),
            asks: BTreeSet::new(),
        };
        walk.asks = walk.asking();
        Some(walk)
    }

    /// Whether an operation asks about the lease or changes it.
    pub(super) fn is_asked(&self, op: OpId) -> bool {
        self.asks.contains(&op)
    }

    /// What a value is when the acquire was won.
    pub(super) fn value(&self, value: ValueId) -> Abstract {
        self.assumption.value(self.body, value)
    }

    /// Whether a value that is given back carries the lease: what the acquire gave or was given.
    pub(super) fn hands_out(&self, value: ValueId) -> bool {
        self.carries(value, true, DEEPEST)
    }

    /// Follows all runs from the acquire on.
    pub(super) fn held(&self) -> Ends {
        let mut ends = Ends::default();
        let (start, next) = match self.origin.map(|op| self.body.position(op)) {
            Some(Some((block, index))) => (block, index + 1),
            Some(None) => return ends,
            None => (BlockId(0), 0),
        };
        let mut released: Vec<BlockId> = Vec::new();
        let mut seen: BTreeSet<BlockId> = BTreeSet::new();
        let mut waiting = vec![(start, next)];
        while let Some((id, from)) = waiting.pop() {
            let Some(block) = self.body.block(id) else { continue };
            match self.stop(block.ops.get(from..).unwrap_or_default()) {
                Some(Stop::Released(op)) => {
                    released.push(id);
                    ends.stops.push(op);
                    continue;
                }
                Some(Stop::Again) => continue,
                None => {}
            }
            ends.held.insert(id);
            let next = self.ways_on(&block.end).into_iter().filter(|next| seen.insert(*next));
            waiting.extend(next.map(|next| (next, 0)));
        }
        let again = |ops: &[OpId]| self.origin.is_some_and(|op| ops.contains(&op));
        ends.released = self.body.reachable(released, |block| match again(&block.ops) {
            true => Vec::new(),
            false => block.end.successors(),
        });
        ends
    }

    fn stop(&self, ops: &[OpId]) -> Option<Stop> {
        ops.iter().find_map(|op| {
            let site = Site { body: self.id, op: *op };
            if site == self.point.site {
                return Some(Stop::Again);
            }
            let passing = self.holding.passes(self.body, self.point, site, &self.handles);
            (!matches!(passing, Passing::Held) || self.lets_go(*op) || self.may_release(site))
                .then_some(Stop::Released(*op))
        })
    }

    /// Whether an operation of a body below the acquire's runs what releases the lease for somebody.
    fn may_release(&self, site: Site) -> bool {
        let graph = &self.analysis.graph;
        self.origin.is_none() && self.holding.releases.any_at(graph, site, &self.identities)
    }

    /// The ways on with the lease held. What asks about the lease decides whether it still is: only
    /// where it merely did not fail does the run go on.
    fn ways_on(&self, end: &Terminator) -> Vec<BlockId> {
        let Terminator::Branch { test, then, otherwise, .. } = end else {
            return end.successors();
        };
        match self.assumption.test(test).or_else(|| self.cannot_fail(test)) {
            Some(true) => vec![*then],
            Some(false) => vec![*otherwise],
            None if !self.asks_about_lease(test) => vec![*then, *otherwise],
            None => match test {
                Test::Matches { value, pattern } if !self.depends(*value, true) => {
                    match failure_side(pattern) {
                        Some(true) => vec![*otherwise],
                        Some(false) => vec![*then],
                        None => Vec::new(),
                    }
                }
                _ => Vec::new(),
            },
        }
    }

    /// `Some(true)` where a test for success is one of a function of the program that never fails.
    fn cannot_fail(&self, test: &Test) -> Option<bool> {
        let Test::Matches { value, pattern } = test else { return None };
        let program = self.analysis.program;
        let (body, source) = program.source_of(self.id, *value);
        let ValueKind::Result(op) = self.body.kind(source) else { return None };
        let called =
            program.targets(self.id, *op).filter(|it| body == self.id && it.apis.is_empty())?;
        let succeeds = |id: &BodyId| program.body(*id).is_some_and(|own| only_succeeds(&own.body));
        let never = !called.bodies.is_empty() && called.bodies.iter().all(succeeds);
        failure_side(pattern).filter(|_| never).map(|failure| !failure)
    }

    fn asks_about_lease(&self, test: &Test) -> bool {
        match test {
            Test::True(value) | Test::Matches { value, .. } => self.depends(*value, false),
            Test::Opaque(_) => false,
        }
    }

    /// Whether a value is made of the answer of an operation that asks about the lease (`acquire`: of
    /// the acquire alone).
    fn depends(&self, value: ValueId, acquire: bool) -> bool {
        let taken = self.origin.map(|op| self.body.call_behind(op));
        let asks = |op: OpId| Some(op) == taken || (!acquire && self.asks.contains(&op));
        answers(self.analysis.program, self.id, value, &asks)
    }

    /// Whether an operation lets the lease out of this body's hands: it is stored, goes to another
    /// task, or to somebody who is not known.
    fn lets_go(&self, op: OpId) -> bool {
        match self.body.op(op).map(|op| &op.kind) {
            Some(OpKind::Store { value, .. }) => self.carries(*value, false, DEEPEST),
            Some(OpKind::ScopeEnd(values)) => values.iter().any(|value| self.gone_with(*value)),
            Some(OpKind::Call(call)) => self.goes_elsewhere(op, call),
            _ => false,
        }
    }

    /// Whether dropping a value gives the lease back.
    fn gone_with(&self, value: ValueId) -> bool {
        let program = self.analysis.program;
        let ty = program.type_of(self.id, value);
        let carries = self.carries(value, false, DEEPEST);
        if let Some(releases) = self.holding.library_drop(self.point)
            && self.handles.contains(&value)
        {
            return releases;
        }
        if !ty.is_unknown() || !self.handles.contains(&value) {
            return self.analysis.releases_on_drop(&ty, carries);
        }
        // `T::Wallet` of a trait: what the implementation that takes the lease gives.
        let given = self.point.chain.first().and_then(|inner| program.body(inner.body));
        given.is_none_or(|given| {
            returned_values(&given.body).into_iter().any(|value| {
                let ty = program.type_of(given.id, value);
                ty.payload().is_unknown() || self.analysis.releases_on_drop(&ty, carries)
            })
        })
    }

    fn goes_elsewhere(&self, op: OpId, call: &Call) -> bool {
        let targets = self.analysis.program.targets(self.id, op);
        let spawned = targets.is_some_and(|targets| targets.spawned);
        let known = targets.is_some_and(|it| !it.bodies.is_empty() || !it.apis.is_empty());
        let values = given(call);
        let tasks = values.iter().filter_map(|value| self.nested_of(*value));
        if tasks.into_iter().any(|task| self.task_takes(task, spawned)) {
            return true;
        }
        !known
            && !quiet(self.body, call)
            && values.iter().any(|value| self.carries(*value, false, DEEPEST))
    }

    /// The closure or async block that a value is.
    fn nested_of(&self, value: ValueId) -> Option<BodyId> {
        match self.body.kind(self.body.peel(value)) {
            ValueKind::Closure(index) | ValueKind::Async(index) => {
                self.analysis.program.nested(self.id, *index)
            }
            _ => None,
        }
    }

    /// Whether a closure or async block gives the lease back, or has it for itself.
    fn task_takes(&self, task: BodyId, spawned: bool) -> bool {
        let mut waiting = vec![task];
        while let Some(task) = waiting.pop() {
            let captures = |own: &Body| {
                own.values.iter().any(|value| match value.kind {
                    ValueKind::Captured(outer) => self.carries(outer, false, DEEPEST),
                    _ => false,
                })
            };
            let own = self.analysis.program.body(task);
            if self.holding.releases.body(task, &self.identities)
                || (spawned && own.is_some_and(|own| captures(&own.body)))
            {
                return true;
            }
            waiting.extend(self.analysis.program.nested_bodies(task));
        }
        false
    }

    /// Whether a value holds what the acquire gave or stored; with `key`, what else it was given, too.
    fn carries(&self, value: ValueId, key: bool, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let root = self.body.peel(value);
        let own = self.handles.contains(&root) || self.token == Some(root);
        // A key may be anybody's.
        if own || (key && self.given.contains(&root)) {
            return true;
        }
        let inner = |value: &ValueId| self.carries(*value, key, depth);
        match self.body.kind(root) {
            // What a constructor or a conversion was given is in what it gives.
            ValueKind::Result(op) => self.body.call(*op).is_some_and(|call| {
                matches!(call.callee, Callee::Path(_)) && given(call).iter().any(inner)
            }),
            ValueKind::Awaited(_) => false,
            kind => parts(kind).iter().any(inner),
        }
    }

    /// The owner token as this body gives it to the acquire; `None` where it is made further down.
    fn stored(&self) -> Option<ValueId> {
        let program = self.analysis.program;
        let acquire = self.analysis.leases.get(self.point.acquire)?;
        let EffectKind::Redis(command) = &self.analysis.effect_of(acquire)?.kind else {
            return None;
        };
        let (mut body, mut value) = program.root_of(acquire.site.body, command.value?);
        let way = self.point.way();
        for site in way.iter().rev().skip(1) {
            let site = call_site(program, *site);
            let own = &program.body(body)?.body;
            let ValueKind::Parameter(index) = own.kind(value) else { return None };
            let call = program.body(site.body)?.body.call(site.op)?;
            let passed = *program.bound_arguments(body, call).0.get(*index as usize)?;
            (body, value) = program.root_of(site.body, passed);
        }
        (body == self.id).then_some(value)
    }

    /// The values that the acquire is given, constants aside.
    fn given_to_acquire(&self) -> BTreeSet<ValueId> {
        let acquire = self.analysis.leases.get(self.point.acquire);
        let key = acquire.filter(|it| it.site == self.point.site).and_then(|it| it.key.as_ref());
        let call = self.body.call(self.body.call_behind(self.point.site.op));
        let arguments = call.map(|call| call.arguments.as_slice()).unwrap_or_default();
        let all =
            arguments.iter().map(|argument| argument.value).chain(key.and_then(|it| it.value));
        all.map(|value| self.body.peel(value))
            .filter(|value| !matches!(self.body.kind(*value), ValueKind::Literal(_)))
            .collect()
    }

    /// The operations that take, renew, read or give back the same lease, directly or by what they run.
    fn asking(&self) -> BTreeSet<OpId> {
        let mut ops = BTreeSet::new();
        for identity in self.own_identities() {
            let uses = self.analysis.leases.uses_of(identity).into_iter();
            for key_use in uses.filter(|it| it.action != Action::Write) {
                for one in key_use.identities.iter().filter(|one| one.identity == *identity) {
                    let ways = ways_to(self.analysis.program, &self.analysis.graph, key_use, one);
                    let own = ways.get(&self.id).into_iter().flatten();
                    ops.extend(own.map(|op| self.body.call_behind(*op)));
                }
            }
        }
        ops
    }

    /// What the lease is to this body: as the parameter of a function it is anybody's, unless it is
    /// nothing else.
    fn own_identities(&self) -> Vec<&KeyIdentity> {
        let parameter = |it: &&KeyIdentity| matches!(it, KeyIdentity::Parameter(..));
        let told: Vec<&KeyIdentity> = self.identities.iter().filter(|it| !parameter(it)).collect();
        if told.is_empty() { self.identities.iter().collect() } else { told }
    }
}

/// Whether a body gives back nothing but `Ok(…)`.
fn only_succeeds(body: &Body) -> bool {
    let ok = |value: ValueId| match body.kind(body.peel(value)) {
        ValueKind::Aggregate { path, .. } => path.last() == Some("Ok"),
        _ => false,
    };
    body.blocks.iter().all(|block| match &block.end {
        Terminator::Return { value, exit, .. } => {
            *exit != Exit::Propagated && value.is_some_and(ok)
        }
        _ => true,
    })
}
