//! Second step of the call graph: callers, closures that travel through parameters, and what runs
//! where a future is awaited.

use std::collections::{BTreeMap, BTreeSet};

use super::Targets;
use crate::catalog::ApiEffect;
use crate::ir::body::{Call, Callee, OpId, OpKind, Terminator};
use crate::ir::effect::{BodyId, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;
use crate::link::names::{Named, Namespace, Resolution};

/// How many steps a closure is followed back through parameters.
const STEPS: usize = 8;

/// Library functions that give back the future or closure they were given.
const WRAPPING: [&str; 14] = [
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

/// What a value may run when it is called or awaited.
struct Runnable<'p> {
    program: &'p Program,
    /// Call sites by the body they call: only first-step targets.
    callers: &'p [Vec<Site>],
    targets: &'p [BTreeMap<OpId, Targets>],
}

/// Fills callers, runs and awaited bodies.
pub(crate) fn finish(program: &mut Program, from: usize) {
    for at in from..program.bodies.len() {
        if program.calls.targets.len() <= at {
            program.calls.targets.push(BTreeMap::new());
        }
    }
    let first = callers(program.bodies.len(), &program.calls.targets);
    let additions = {
        let runnable = Runnable { program, callers: &first, targets: &program.calls.targets };
        runnable.additions(from)
    };
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
    program.calls.callers = callers(program.bodies.len(), &program.calls.targets);
}

enum Addition {
    Bodies(Vec<BodyId>),
    Runs(Vec<BodyId>),
    Spawned,
    Deferred,
}

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
                        let bodies = self.futures(own.id, *value, STEPS);
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
            let bodies = self.callables(site.body, *value, STEPS);
            if !bodies.is_empty() {
                all.push((site, Addition::Bodies(bodies)));
            }
        }
        let targets = self.targets.get(site.body.0 as usize).and_then(|all| all.get(&site.op));
        // A workspace callee runs its arguments at its own calls of its parameters.
        if targets.is_some_and(|targets| !targets.bodies.is_empty()) {
            let made = call
                .arguments
                .iter()
                .filter_map(|argument| self.made_by(site.body, argument.value));
            all.extend(
                made.filter(|made| self.only_makes_a_future(*made))
                    .map(|made| (made, Addition::Deferred)),
            );
            return;
        }
        let spawns = targets
            .is_some_and(|targets| targets.apis.iter().any(|row| row.effect == ApiEffect::Spawn));
        let mut runs = Vec::new();
        let values = call.arguments.iter().map(|argument| argument.value).chain(call.receiver);
        for value in values {
            if spawns || call.receiver != Some(value) {
                add(&mut runs, self.callables(site.body, value, STEPS));
                if spawns || !awaited_later(call) {
                    add(&mut runs, self.futures(site.body, value, STEPS));
                }
            }
            if spawns && let Some(made) = self.made_by(site.body, value) {
                all.push((made, Addition::Spawned));
            }
        }
        if !runs.is_empty() {
            all.push((site, Addition::Runs(runs)));
        }
        if spawns {
            all.push((site, Addition::Spawned));
        }
    }

    /// Whether all that a call may run are async functions.
    fn only_makes_a_future(&self, site: Site) -> bool {
        let targets = self.targets.get(site.body.0 as usize).and_then(|all| all.get(&site.op));
        targets
            .is_some_and(|targets| targets.bodies.iter().all(|body| self.program.is_async(*body)))
    }

    /// The call of a workspace function that made a future.
    fn made_by(&self, body: BodyId, value: ValueId) -> Option<Site> {
        let (body, value) = self.program.root_of(body, value);
        match self.program.body(body)?.body.kind(value) {
            ValueKind::Result(op) => {
                let targets = self.targets.get(body.0 as usize)?.get(op)?;
                (!targets.bodies.is_empty()).then_some(Site { body, op: *op })
            }
            _ => None,
        }
    }

    /// Bodies of closures and functions that a value may be.
    fn callables(&self, body: BodyId, value: ValueId, steps: usize) -> Vec<BodyId> {
        let (body, value) = self.program.root_of(body, value);
        let Some(own) = self.program.body(body) else { return Vec::new() };
        match own.body.kind(value) {
            ValueKind::Closure(index) => self.program.nested(body, *index).into_iter().collect(),
            ValueKind::Path(path) => {
                let scope = self.program.scope_of(body);
                match self.program.names.resolve(scope, path, Namespace::Value).0 {
                    Named::Function(id) => self.program.body_of(id).into_iter().collect(),
                    _ => Vec::new(),
                }
            }
            ValueKind::Join(incoming) => self.all(body, incoming, steps, Self::callables),
            ValueKind::Parameter(at) if steps > 0 => {
                self.arguments(body, *at, steps, Self::callables)
            }
            ValueKind::Result(op) if steps > 0 => self.through(body, *op, steps, Self::callables),
            _ => Vec::new(),
        }
    }

    /// Bodies of async blocks that a value may be a future of. A call of an async function is no
    /// such block: its body runs, for all we care, where it is called; only a future that came in
    /// through a parameter is followed to the function that made it.
    fn futures(&self, body: BodyId, value: ValueId, steps: usize) -> Vec<BodyId> {
        let (body, value) = self.program.root_of(body, value);
        let Some(own) = self.program.body(body) else { return Vec::new() };
        match own.body.kind(value) {
            ValueKind::Async(index) => self.program.nested(body, *index).into_iter().collect(),
            ValueKind::Join(incoming) => self.all(body, incoming, steps, Self::futures),
            ValueKind::Parameter(at) if steps > 0 => {
                self.arguments(body, *at, steps, Self::futures)
            }
            ValueKind::Result(op) if steps > 0 => {
                let site = Site { body, op: *op };
                let mut bodies = self.through(body, *op, steps, Self::futures);
                if steps < STEPS && self.only_makes_a_future(site) {
                    let targets = self.targets.get(body.0 as usize).and_then(|all| all.get(op));
                    add(
                        &mut bodies,
                        targets.map_or_else(Vec::new, |targets| targets.bodies.clone()),
                    );
                }
                bodies
            }
            _ => Vec::new(),
        }
    }

    fn all(
        &self,
        body: BodyId,
        values: &[ValueId],
        steps: usize,
        find: fn(&Self, BodyId, ValueId, usize) -> Vec<BodyId>,
    ) -> Vec<BodyId> {
        let mut bodies = Vec::new();
        if steps > 0 {
            for value in values {
                add(&mut bodies, find(self, body, *value, steps - 1));
            }
        }
        bodies
    }

    /// What all callers give for a parameter.
    fn arguments(
        &self,
        body: BodyId,
        at: u32,
        steps: usize,
        find: fn(&Self, BodyId, ValueId, usize) -> Vec<BodyId>,
    ) -> Vec<BodyId> {
        let mut bodies = Vec::new();
        let Some(own) = self.program.body(body) else { return bodies };
        if own.parent.is_some() {
            return bodies;
        }
        for site in self.callers.get(body.0 as usize).into_iter().flatten() {
            if let Some(value) = self.program.argument_for(*site, body, at) {
                add(&mut bodies, find(self, site.body, value, steps - 1));
            }
        }
        bodies
    }

    /// What a call gives back: an argument that a wrapper passes on, or what the called body
    /// returns.
    fn through(
        &self,
        body: BodyId,
        op: OpId,
        steps: usize,
        find: fn(&Self, BodyId, ValueId, usize) -> Vec<BodyId>,
    ) -> Vec<BodyId> {
        let Some(call) = self.program.body(body).and_then(|own| own.body.call(op)) else {
            return Vec::new();
        };
        let mut bodies = Vec::new();
        let targets = self.targets.get(body.0 as usize).and_then(|all| all.get(&op));
        let mut called: Vec<BodyId> =
            targets.map_or_else(Vec::new, |targets| targets.bodies.clone());
        if let Callee::Value(value) = &call.callee {
            add(&mut called, self.callables(body, *value, steps - 1));
        }
        for called in &called {
            let Some(own) = self.program.body(*called) else { continue };
            for block in &own.body.blocks {
                if let Terminator::Return { value: Some(value), .. } = &block.end {
                    let (at, root) = self.program.root_of(*called, *value);
                    let plain = !matches!(
                        self.program.body(at).map(|own| own.body.kind(root)),
                        Some(ValueKind::Parameter(_))
                    );
                    if plain {
                        add(&mut bodies, find(self, *called, *value, steps - 1));
                    }
                }
            }
        }
        if called.is_empty() && call.callee.name().is_some_and(|name| WRAPPING.contains(&name)) {
            let values = call.arguments.iter().map(|argument| argument.value).chain(call.receiver);
            for value in values {
                add(&mut bodies, find(self, body, value, steps - 1));
            }
        }
        bodies
    }
}

/// Whether a library call only wraps a future that is awaited with its result.
fn awaited_later(call: &Call) -> bool {
    call.callee.name().is_some_and(|name| WRAPPING.contains(&name))
}
