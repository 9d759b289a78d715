//! Second step of the call graph: callers, closures that travel through parameters, and what runs
//! where a future is awaited.

use std::collections::{BTreeMap, BTreeSet};

use super::Targets;
use super::flow::Flow;
use crate::catalog::ApiEffect;
use crate::ir::body::{Call, Callee, OpId, OpKind};
use crate::ir::effect::{BodyId, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;
use crate::link::names::Resolution;

/// Library functions that give back the future or closure they were given.
pub(super) const WRAPPING: [&str; 14] = [
    "pin",
    "new",
    "boxed",
    "boxed_local",
    "shared",
    "fuse",
    "instrument",
    "in_current_span",
    "timeout",
    "timeout_at",
    "into_future",
    "compat",
    "with_subscriber",
    "unconstrained",
];

/// Finds what calls and waits run beyond their direct targets.
struct Runnable<'p> {
    program: &'p Program,
    flow: Flow<'p>,
}

/// Fills callers, runs and awaited bodies of the bodies from `from` on.
pub(crate) fn finish(program: &mut Program, from: usize) {
    let count = program.bodies.len();
    program.calls.targets.resize_with(count, BTreeMap::new);
    let (additions, handed) = {
        let runnable = Runnable { program, flow: Flow::build(program) };
        (runnable.additions(from), runnable.flow.handed())
    };
    program.calls.handed = handed;
    for (site, addition) in additions {
        let Some(targets) = program.calls.targets.get_mut(site.body.0 as usize) else { continue };
        let entry = targets.entry(site.op).or_insert_with(|| Targets {
            bodies: Vec::new(),
            apis: Vec::new(),
            runs: Vec::new(),
            spawned: false,
            deferred: false,
            resolution: Resolution::Exact,
            path: None,
        });
        match addition {
            Addition::Bodies(bodies) => add(&mut entry.bodies, bodies),
            Addition::Runs(bodies) => add(&mut entry.runs, bodies),
            Addition::Spawned => entry.spawned = true,
            Addition::Deferred => entry.deferred = true,
        }
    }
    program.calls.callers = callers(count, &program.calls.targets);
}

enum Addition {
    Bodies(Vec<BodyId>),
    Runs(Vec<BodyId>),
    Spawned,
    Deferred,
}

/// Adds what is not there yet; the order stays.
fn add(all: &mut Vec<BodyId>, more: Vec<BodyId>) {
    for body in more {
        if !all.contains(&body) {
            all.push(body);
        }
    }
}

fn callers(count: usize, targets: &[BTreeMap<OpId, Targets>]) -> Vec<Vec<Site>> {
    let mut callers = vec![Vec::new(); count];
    for (at, all) in targets.iter().enumerate() {
        let body = BodyId(u32::try_from(at).unwrap_or(u32::MAX));
        for (op, targets) in all {
            let called: BTreeSet<BodyId> =
                targets.bodies.iter().chain(&targets.runs).copied().collect();
            for called in called {
                if let Some(sites) = callers.get_mut(called.0 as usize) {
                    sites.push(Site { body, op: *op });
                }
            }
        }
    }
    callers
}

impl Runnable<'_> {
    fn additions(&self, from: usize) -> Vec<(Site, Addition)> {
        let mut all = Vec::new();
        for own in self.program.bodies.iter().skip(from) {
            for (_, op, operation) in own.body.operations() {
                let site = Site { body: own.id, op };
                match &operation.kind {
                    OpKind::Call(call) => self.call(site, call, &mut all),
                    OpKind::Await { value, .. } => {
                        let bodies = self.flow.futures(own.id, *value);
                        if !bodies.is_empty() {
                            all.push((site, Addition::Bodies(bodies)));
                        }
                    }
                    _ => {}
                }
            }
        }
        all
    }

    fn call(&self, site: Site, call: &Call, all: &mut Vec<(Site, Addition)>) {
        if let Callee::Value(value) = &call.callee {
            let bodies = self.flow.callables(site.body, *value);
            if !bodies.is_empty() {
                all.push((site, Addition::Bodies(bodies)));
            }
        }
        let targets = self.program.targets(site.body, site.op);
        // A workspace callee runs its arguments at its own calls of its parameters.
        if targets.is_some_and(|targets| !targets.bodies.is_empty()) {
            let values = call.arguments.iter().map(|argument| argument.value);
            let made = values.filter_map(|value| self.made_by(site.body, value));
            let futures = made.filter(|made| self.flow.only_makes_a_future(*made));
            all.extend(futures.map(|made| (made, Addition::Deferred)));
            return;
        }
        let spawns = match targets.filter(|targets| !targets.apis.is_empty()) {
            Some(targets) => targets.apis.iter().any(|row| row.effect == ApiEffect::Spawn),
            None => is_spawn_by_name(call),
        };
        let mut runs = Vec::new();
        // `fetch.retry(policy)`: closures have no methods of their own.
        if let Some(receiver) = call.receiver.filter(|_| !awaited_later(call)) {
            add(&mut runs, self.flow.callables(site.body, receiver));
        }
        for argument in &call.arguments {
            add(&mut runs, self.flow.callables(site.body, argument.value));
            if spawns || !awaited_later(call) {
                add(&mut runs, self.flow.futures(site.body, argument.value));
            }
        }
        if !runs.is_empty() {
            all.push((site, Addition::Runs(runs)));
        }
        if spawns {
            all.push((site, Addition::Spawned));
            let values = call.arguments.iter().map(|argument| argument.value);
            let made = values.filter_map(|value| self.made_by(site.body, value));
            all.extend(made.map(|made| (made, Addition::Spawned)));
        }
    }

    /// The call of a workspace function that made a value.
    fn made_by(&self, body: BodyId, value: ValueId) -> Option<Site> {
        let (body, value) = self.program.root_of(body, value);
        match self.program.body(body)?.body.kind(value) {
            ValueKind::Result(op) => {
                let targets = self.program.targets(body, *op)?;
                (!targets.bodies.is_empty()).then_some(Site { body, op: *op })
            }
            _ => None,
        }
    }
}

/// Whether a call of a library without rows starts a task, as executors, arbiters and sets of tasks
/// all call it.
fn is_spawn_by_name(call: &Call) -> bool {
    let name = call.callee.name().unwrap_or_default();
    name == "spawn" || name.starts_with("spawn_")
}

/// Whether a library call only wraps a future that is awaited with its result.
fn awaited_later(call: &Call) -> bool {
    call.callee.name().is_some_and(|name| WRAPPING.contains(&name))
}
