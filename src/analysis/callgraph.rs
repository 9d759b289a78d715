//! Which bodies run at which operation.
//!
//! An async function runs where its future is awaited, not where it is called; a closure or block
//! runs where it is called, awaited, or handed to a call that runs it. What goes to another task
//! (`spawn`) runs elsewhere and is no part of the caller, unless the caller waits for its end.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::body::{Body, Call, Callee, OpId, OpKind};
use crate::ir::effect::{BodyId, EffectKind, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;

/// The graph, both ways, sorted.
#[derive(Debug, Default)]
pub struct CallGraph {
    runs: BTreeMap<Site, Vec<BodyId>>,
    run_by: BTreeMap<BodyId, Vec<Site>>,
}

impl CallGraph {
    /// Builds the graph of a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut graph = Self::default();
        for body in &program.bodies {
            for (_, op, kind) in body.body.operations() {
                let site = Site { body: body.id, op };
                let found = match &kind.kind {
                    OpKind::Call(call) => called(program, site, &body.body, call),
                    OpKind::Await { value, .. } => {
                        awaited(program, body.id, &body.body, op, *value)
                    }
                    _ => BTreeSet::new(),
                };
                graph.add(site, found);
            }
            for effect in program.effects(body.id) {
                if let EffectKind::Script(call) = &effect.kind {
                    graph.add(effect.site, call.scripts.iter().copied().collect());
                }
            }
        }
        graph
    }

    fn add(&mut self, site: Site, callees: BTreeSet<BodyId>) {
        for callee in callees {
            let known = self.runs.entry(site).or_default();
            if !known.contains(&callee) {
                known.push(callee);
                self.run_by.entry(callee).or_default().push(site);
            }
        }
    }

    /// The bodies that an operation runs before it goes on.
    #[must_use]
    pub fn runs_at(&self, site: Site) -> &[BodyId] {
        self.runs.get(&site).map_or(&[], Vec::as_slice)
    }

    /// The operations that run a body.
    #[must_use]
    pub fn run_by(&self, body: BodyId) -> &[Site] {
        self.run_by.get(&body).map_or(&[], Vec::as_slice)
    }

    /// Some operations and those that lead to where they run, by body; of no more than `most` of them
    /// the callers are looked at.
    #[must_use]
    pub fn leading_to(
        &self,
        sites: impl IntoIterator<Item = Site>,
        most: usize,
    ) -> BTreeMap<BodyId, BTreeSet<OpId>> {
        let mut found: BTreeMap<BodyId, BTreeSet<OpId>> = BTreeMap::new();
        let mut waiting: Vec<Site> = sites.into_iter().collect();
        let mut count = 0;
        while let Some(site) = waiting.pop() {
            let own = found.entry(site.body).or_default();
            count += 1;
            if own.is_empty() && count < most {
                waiting.extend(self.run_by(site.body));
            }
            own.insert(site.op);
        }
        found
    }

    /// The operations by which calls run a body, innermost first, as far as each call runs the one
    /// below. The calls are given outermost first.
    #[must_use]
    pub fn chain(&self, program: &Program, body: BodyId, calls: &[Site]) -> Vec<Site> {
        let mut chain = Vec::new();
        let mut inner = body;
        for call in calls.iter().rev() {
            let call = call_site(program, *call);
            let runs = |site: &&Site| call_site(program, **site) == call;
            let Some(site) = self.run_by(inner).iter().find(runs) else { break };
            chain.push(*site);
            inner = site.body;
        }
        chain
    }
}

/// What a call runs on the spot.
fn called(program: &Program, site: Site, body: &Body, call: &Call) -> BTreeSet<BodyId> {
    let mut found = BTreeSet::new();
    let Some(targets) = program.targets(site.body, site.op) else { return found };
    if let Some(task) = joined(body, call) {
        found.extend(task_bodies(program, site.body, body, task));
    }
    let waits = is_awaited(body, call.result);
    for callee in &targets.bodies {
        if !(is_async(program, *callee) && (waits || is_handed_on(body, call.result))) {
            found.insert(*callee);
        }
    }
    if targets.spawned {
        return found;
    }
    for closure in &targets.runs {
        found.insert(*closure);
    }
    // Futures handed to a call that is no function of the program (`timeout`, `join_all`) run there.
    if targets.bodies.is_empty() {
        for argument in &call.arguments {
            found.extend(future_bodies(program, site.body, body, argument.value, 0));
        }
    }
    found
}

/// What an await runs.
fn awaited(
    program: &Program,
    id: BodyId,
    body: &Body,
    op: OpId,
    value: ValueId,
) -> BTreeSet<BodyId> {
    let mut found = future_bodies(program, id, body, value, 0);
    found.extend(task_bodies(program, id, body, value));
    found.extend(
        program.targets(id, op).into_iter().flat_map(|targets| targets.bodies.iter().copied()),
    );
    found
}

/// The bodies of a task that is waited for by its handle: it ran elsewhere, and ends here at the latest.
fn task_bodies(program: &Program, id: BodyId, body: &Body, handle: ValueId) -> BTreeSet<BodyId> {
    let mut found = BTreeSet::new();
    if let ValueKind::Result(op) = body.kind(body.peel(handle))
        && let (Some(targets), Some(call)) = (program.targets(id, *op), body.call(*op))
        && targets.spawned
    {
        found.extend(&targets.runs);
        for argument in &call.arguments {
            found.extend(future_bodies(program, id, body, argument.value, 0));
        }
    }
    found
}

/// The handle of the thread that a call waits for: `handle.join()`.
fn joined(body: &Body, call: &Call) -> Option<ValueId> {
    let waits = call.callee.name() == Some("join") && call.arguments.is_empty();
    let handle = call.receiver.filter(|_| waits)?;
    matches!(body.kind(body.peel(handle)), ValueKind::Result(_)).then_some(handle)
}

/// The bodies of a future value: an async block, or the async functions a call may have made it by.
fn future_bodies(
    program: &Program,
    id: BodyId,
    body: &Body,
    value: ValueId,
    depth: u32,
) -> BTreeSet<BodyId> {
    let mut found = BTreeSet::new();
    if depth > 8 {
        return found;
    }
    match body.kind(body.peel(value)) {
        ValueKind::Async(index) => found.extend(program.nested(id, *index)),
        ValueKind::Result(op) => {
            if let Some(targets) = program.targets(id, *op) {
                let futures = targets.bodies.iter().filter(|callee| is_async(program, **callee));
                found.extend(futures.copied());
            }
        }
        ValueKind::Join(values) | ValueKind::List(values) => {
            for value in values {
                found.extend(future_bodies(program, id, body, *value, depth + 1));
            }
        }
        _ => {}
    }
    found
}

/// Whether calling a body's function only makes a future.
fn is_async(program: &Program, body: BodyId) -> bool {
    let own = program.body(body).is_some_and(|body| body.parent.is_none());
    let header = program.enclosing_function(body).and_then(|id| program.function(id));
    own && header.is_some_and(|function| function.is_async)
}

/// Whether a call's result is awaited in the same body.
fn is_awaited(body: &Body, result: ValueId) -> bool {
    body.operations().any(|(_, _, op)| match op.kind {
        OpKind::Await { value, .. } => reaches(body, value, result, 0),
        _ => false,
    })
}

/// Whether a call's result goes into another call, which then runs or spawns it.
fn is_handed_on(body: &Body, result: ValueId) -> bool {
    body.calls().any(|(_, _, call)| {
        let macro_call = matches!(call.callee, Callee::Macro(_));
        !macro_call && call.arguments.iter().any(|it| body.peel(it.value) == result)
    })
}

fn reaches(body: &Body, value: ValueId, wanted: ValueId, depth: u32) -> bool {
    let value = body.peel(value);
    if value == wanted {
        return true;
    }
    match body.kind(value) {
        ValueKind::Join(values) | ValueKind::List(values) if depth < 8 => {
            values.iter().any(|value| reaches(body, *value, wanted, depth + 1))
        }
        _ => false,
    }
}

/// [`Body::call_behind`] of the whole program.
#[must_use]
pub fn call_site(program: &Program, site: Site) -> Site {
    let op = program.body(site.body).map_or(site.op, |own| own.body.call_behind(site.op));
    Site { op, ..site }
}
