//! Where closures, functions and futures flow: through variables, wrappers, returned values and
//! parameters, to the place that calls or awaits them.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::passed::WRAPPING;
use crate::ir::body::{BodyKind, Call, Callee, OpId, Terminator};
use crate::ir::effect::{BodyId, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;
use crate::link::names::{Named, Namespace};

/// How many steps a value is followed inside one body and the bodies it calls.
const STEPS: usize = 6;

/// How many values one question looks at.
const MOST_VALUES: u32 = 2_000;

/// Something that runs when it is called (`future` false) or awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    body: BodyId,
    future: bool,
}

/// A parameter of a function: its body and position.
type Parameter = (BodyId, u32);

/// What a value may be: things that run, and parameters that hold such.
#[derive(Clone, Debug, Default)]
struct Sources {
    direct: BTreeSet<Source>,
    parameters: BTreeSet<Parameter>,
}

impl Sources {
    fn of(source: Source) -> Self {
        Self { direct: BTreeSet::from([source]), ..Self::default() }
    }

    fn add(&mut self, more: Self) {
        self.direct.extend(more.direct);
        self.parameters.extend(more.parameters);
    }
}

/// The calls by which a closure or function, the first, comes to a workspace body, the second.
pub(super) type Handed = BTreeMap<(BodyId, BodyId), BTreeSet<Site>>;

/// The flow of a program: what each parameter may hold.
pub(super) struct Flow<'p> {
    program: &'p Program,
    /// With each the call that gave it first.
    held: BTreeMap<Parameter, BTreeSet<(Source, Site)>>,
    /// How many values the question at hand has looked at.
    seen: Cell<u32>,
}

impl<'p> Flow<'p> {
    /// Follows what all calls give for parameters until nothing new is found.
    pub(super) fn build(program: &'p Program) -> Self {
        let mut flow = Self { program, held: BTreeMap::new(), seen: Cell::new(0) };
        let mut onward: BTreeMap<Parameter, BTreeSet<Parameter>> = BTreeMap::new();
        let mut open: Vec<(Parameter, (Source, Site))> = Vec::new();
        for own in &program.bodies {
            for (_, op, call) in own.body.calls() {
                let at = Site { body: own.id, op };
                for (parameter, sources) in flow.given(own.id, op, call) {
                    let direct = sources.direct.into_iter();
                    open.extend(direct.map(|source| (parameter, (source, at))));
                    for from in sources.parameters {
                        onward.entry(from).or_default().insert(parameter);
                    }
                }
            }
        }
        while let Some((parameter, source)) = open.pop() {
            if flow.held.entry(parameter).or_default().insert(source) {
                let next = onward.get(&parameter).into_iter().flatten();
                open.extend(next.map(|next| (*next, source)));
            }
        }
        flow
    }

    /// Where closures and functions are given to workspace bodies, directly or by way of others.
    pub(super) fn handed(&self) -> Handed {
        let mut handed = Handed::new();
        for ((to, _), sources) in &self.held {
            for (source, at) in sources {
                handed.entry((source.body, *to)).or_default().insert(*at);
            }
        }
        handed
    }

    /// What a call gives for each parameter of each workspace body it may run.
    fn given(&self, body: BodyId, op: OpId, call: &Call) -> Vec<(Parameter, Sources)> {
        let mut all = Vec::new();
        let Some(targets) = self.program.targets(body, op) else { return all };
        if targets.bodies.is_empty() {
            return all;
        }
        for (at, argument) in (0_u32..).zip(&call.arguments) {
            self.seen.set(0);
            let sources = self.sources(body, argument.value, true, STEPS);
            if sources.direct.is_empty() && sources.parameters.is_empty() {
                continue;
            }
            for called in &targets.bodies {
                let shift =
                    u32::from(call.receiver.is_none() && self.program.takes_receiver(*called));
                if let Some(at) = at.checked_sub(shift) {
                    all.push(((*called, at), sources.clone()));
                }
            }
        }
        all
    }

    /// Bodies of closures and functions that a value may be.
    pub(super) fn callables(&self, body: BodyId, value: ValueId) -> Vec<BodyId> {
        self.bodies(body, value, false)
    }

    /// Bodies that run when a value is awaited: async blocks, and async functions whose future
    /// came in through a parameter. (The future of a call in the same body is said to run at the
    /// call.)
    pub(super) fn futures(&self, body: BodyId, value: ValueId) -> Vec<BodyId> {
        self.bodies(body, value, true)
    }

    fn bodies(&self, body: BodyId, value: ValueId, future: bool) -> Vec<BodyId> {
        self.seen.set(0);
        let sources = self.sources(body, value, false, STEPS);
        let mut all = sources.direct;
        for parameter in &sources.parameters {
            all.extend(self.held_by(parameter));
        }
        all.into_iter().filter(|source| source.future == future).map(|source| source.body).collect()
    }

    fn held_by(&self, parameter: &Parameter) -> impl Iterator<Item = Source> + '_ {
        self.held.get(parameter).into_iter().flatten().map(|(source, _)| *source)
    }

    /// Whether all that a call may run are async functions.
    pub(super) fn only_makes_a_future(&self, site: Site) -> bool {
        self.program.targets(site.body, site.op).is_some_and(|targets| {
            !targets.bodies.is_empty()
                && targets.bodies.iter().all(|body| self.program.is_async(*body))
        })
    }

    /// What a value may be; `given` says that it leaves the body as an argument.
    fn sources(&self, body: BodyId, value: ValueId, given: bool, steps: usize) -> Sources {
        let (body, value) = self.program.root_of(body, value);
        self.seen.set(self.seen.get() + 1);
        let Some(own) = self.program.body(body).filter(|_| self.seen.get() <= MOST_VALUES) else {
            return Sources::default();
        };
        let nested = |index, future| {
            let body = self.program.nested(body, index);
            body.map_or_else(Sources::default, |body| Sources::of(Source { body, future }))
        };
        match own.body.kind(value) {
            ValueKind::Closure(index) => nested(*index, false),
            ValueKind::Async(index) => nested(*index, true),
            ValueKind::Path(path) => {
                let scope = self.program.scope_of(body);
                match self.program.names.resolve(scope, path, Namespace::Value).0 {
                    Named::Function(id) => {
                        self.program.body_of(id).map_or_else(Sources::default, |body| {
                            Sources::of(Source { body, future: false })
                        })
                    }
                    _ => Sources::default(),
                }
            }
            ValueKind::Parameter(at) if own.parent.is_none() => {
                Sources { parameters: BTreeSet::from([(body, *at)]), ..Sources::default() }
            }
            ValueKind::Join(incoming) if steps > 0 => {
                let mut all = Sources::default();
                for value in incoming {
                    all.add(self.sources(body, *value, given, steps - 1));
                }
                all
            }
            ValueKind::Result(op) if steps > 0 => self.result(body, *op, given, steps - 1),
            _ => Sources::default(),
        }
    }

    /// What a call gives back: an argument that a wrapper passes on, what the called body returns,
    /// or the future of an async function that is handed on.
    fn result(&self, body: BodyId, op: OpId, given: bool, steps: usize) -> Sources {
        let mut all = Sources::default();
        let Some(call) = self.program.body(body).and_then(|own| own.body.call(op)) else {
            return all;
        };
        let mut called: BTreeSet<BodyId> = self
            .program
            .targets(body, op)
            .map_or_else(BTreeSet::new, |targets| targets.bodies.iter().copied().collect());
        if given && self.only_makes_a_future(Site { body, op }) {
            all.direct.extend(called.iter().map(|body| Source { body: *body, future: true }));
            return all;
        }
        if let Callee::Value(value) = &call.callee {
            let sources = self.sources(body, *value, false, steps);
            let held = sources.parameters.iter().flat_map(|parameter| self.held_by(parameter));
            let callables = sources.direct.iter().copied().chain(held);
            called.extend(callables.filter(|source| !source.future).map(|source| source.body));
        }
        for called in &called {
            all.add(self.returned(*called, steps));
        }
        let wraps = call.callee.name().is_some_and(|name| WRAPPING.contains(&name));
        if called.is_empty() && wraps && steps > 0 {
            let values = call.arguments.iter().map(|argument| argument.value).chain(call.receiver);
            for value in values {
                all.add(self.sources(body, value, given, steps - 1));
            }
        }
        all
    }

    /// What a body gives back when it is called; its own parameters are left out. The value of an
    /// async function comes later, so it gives nothing.
    fn returned(&self, body: BodyId, steps: usize) -> Sources {
        let mut all = Sources::default();
        let Some(own) = self.program.body(body) else { return all };
        if steps == 0 || self.program.is_async(body) || own.body.kind == BodyKind::Async {
            return all;
        }
        for block in &own.body.blocks {
            if let Terminator::Return { value: Some(value), .. } = &block.end {
                let mut sources = self.sources(body, *value, true, steps - 1);
                sources.parameters.clear();
                all.add(sources);
            }
        }
        all
    }
}
