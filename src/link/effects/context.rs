//! What is asked of one body again and again: where a future runs, what its reply is, of what type.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::facts;
use super::flow::Flow;
use super::follow::At;
use crate::catalog::{Api, ApiEffect};
use crate::ir::body::{Body, Call, OpId, OpKind, Terminator};
use crate::ir::effect::{BodyId, Site};
use crate::ir::index::TypeRef;
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;
use crate::link::evaluate::{is_success, keeps_success};

/// How deep a future is looked for behind what wraps it.
const MOST_WRAPPERS: usize = 12;

/// In a body of more blocks, which branch decides is not asked.
const MOST_BLOCKS: usize = 2_000;

/// Methods of futures that give another future of the same thing.
const FUTURE_METHODS: [&str; 12] = [
    "map_err",
    "map_ok",
    "map",
    "boxed",
    "boxed_local",
    "instrument",
    "in_current_span",
    "fuse",
    "into_future",
    "or_else",
    "and_then",
    "timeout",
];

/// Functions and macros that give or await a future made of their arguments.
const FUTURE_FUNCTIONS: [&str; 13] = [
    "timeout",
    "timeout_at",
    "pin",
    "join",
    "try_join",
    "join_all",
    "try_join_all",
    "select",
    "select_ok",
    "unconstrained",
    "ready",
    "abortable",
    "new",
];

/// One body and what is known of it.
pub(super) struct Context<'p> {
    /// The program.
    pub program: &'p Program,
    /// The body's number.
    pub id: BodyId,
    /// The body.
    pub body: &'p Body,
    /// The calls by which the body was entered, outermost first, where that is asked of one way.
    entered: Arc<[(Site, BodyId)]>,
    flow: OnceCell<Flow>,
    awaits: OnceCell<BTreeMap<ValueId, (OpId, ValueId)>>,
    typed: OnceCell<Vec<ValueId>>,
    /// Where objects are made, by any value on their chain.
    roots: RefCell<BTreeMap<ValueId, ValueId>>,
}

/// Where a call runs and what it gives back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The await, or the call itself.
    pub site: Site,
    /// What comes out.
    pub reply: ValueId,
    /// Whether it is awaited.
    pub awaited: bool,
}

impl<'p> Context<'p> {
    pub(super) fn new(program: &'p Program, id: BodyId) -> Option<Self> {
        let body = &program.body(id)?.body;
        Some(Self {
            program,
            id,
            body,
            entered: Arc::from([]),
            flow: OnceCell::new(),
            awaits: OnceCell::new(),
            typed: OnceCell::new(),
            roots: RefCell::default(),
        })
    }

    /// Order and dominance.
    pub(super) fn flow(&self) -> &Flow {
        self.flow.get_or_init(|| Flow::of(self.body))
    }

    /// A body as calls enter it, outermost first.
    pub(super) fn of_calls(
        program: &'p Program,
        id: BodyId,
        entered: Arc<[(Site, BodyId)]>,
    ) -> Option<Self> {
        Some(Self { entered, ..Self::new(program, id)? })
    }

    /// The body of a value, entered as the value was.
    pub(super) fn of(program: &'p Program, at: &At) -> Option<Self> {
        let entered = if at.detached { Arc::from([]) } else { Arc::clone(&at.entered) };
        Self::of_calls(program, at.body, entered)
    }

    /// A value of this body.
    pub(super) fn at(&self, value: ValueId) -> At {
        At::entered(self.id, value, &self.entered)
    }

    /// The rows a call may be.
    pub(super) fn apis(&self, op: OpId) -> Vec<&'static Api> {
        facts::apis(self.program, Site { body: self.id, op })
    }

    /// The n-th argument.
    pub(super) fn argument(call: &Call, index: usize) -> Option<ValueId> {
        call.arguments.get(index).map(|argument| argument.value)
    }

    /// Where a call runs: at the await of its future, if there is one here.
    pub(super) fn run(&self, op: OpId, call: &Call) -> Run {
        match self.awaits().get(&call.result) {
            Some((at, result)) => {
                Run { site: Site { body: self.id, op: *at }, reply: *result, awaited: true }
            }
            None => Run { site: Site { body: self.id, op }, reply: call.result, awaited: false },
        }
    }

    /// Where a call of a row runs; `None` when it only makes a future that is thrown away.
    pub(super) fn run_of(&self, op: OpId, call: &Call, api: &Api) -> Option<Run> {
        let run = self.run(op, call);
        let discarded = |op: &OpKind| matches!(op, OpKind::Discard { value, .. } if self.body.peel(*value) == call.result);
        let future = !run.awaited && api.is_async == Some(true);
        let never = future && self.body.ops.iter().any(|op| discarded(&op.kind));
        (!never).then_some(run)
    }

    /// The await of each future, by the future's value.
    fn awaits(&self) -> &BTreeMap<ValueId, (OpId, ValueId)> {
        self.awaits.get_or_init(|| {
            let mut awaits = BTreeMap::new();
            for (_, op, operation) in self.body.operations() {
                if let OpKind::Await { value, result } = &operation.kind {
                    self.note_await(*value, (op, *result), 0, &mut awaits);
                }
            }
            awaits
        })
    }

    fn note_await(
        &self,
        value: ValueId,
        end: (OpId, ValueId),
        depth: usize,
        awaits: &mut BTreeMap<ValueId, (OpId, ValueId)>,
    ) {
        if depth > MOST_WRAPPERS || awaits.contains_key(&value) {
            return;
        }
        awaits.insert(value, end);
        let mut inner = |value: ValueId| self.note_await(value, end, depth + 1, awaits);
        match self.body.kind(value) {
            ValueKind::Converted { value, .. } | ValueKind::Adapted { value, .. } => inner(*value),
            ValueKind::List(values) | ValueKind::Join(values) => {
                values.iter().for_each(|value| inner(*value));
            }
            ValueKind::Result(op) => {
                let Some(call) = self.body.call(*op) else { return };
                let Some(name) = call.callee.name() else { return };
                match call.receiver {
                    Some(receiver) if FUTURE_METHODS.contains(&name) => inner(receiver),
                    None if FUTURE_FUNCTIONS.contains(&name) => {
                        call.arguments.iter().for_each(|argument| inner(argument.value));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// The calls around an awaited future that bound its time: `timeout(d, future)`.
    pub(super) fn enclosing_timeout(&self, future: ValueId) -> Option<ValueId> {
        let mut inner = future;
        for _ in 0..MOST_WRAPPERS {
            let around = self.body.calls().find(|(_, _, call)| {
                let takes = |value: ValueId| self.body.peel(value) == inner;
                call.arguments.iter().any(|argument| takes(argument.value))
                    || call.receiver.is_some_and(takes)
            });
            let (_, op, call) = around?;
            let bounds = self.apis(op).iter().any(|api| {
                api.effect == ApiEffect::Modifier
                    && api.methods.iter().any(|name| name == "timeout")
            });
            if bounds && call.receiver.is_none() {
                return Self::argument(call, 0);
            }
            let wraps = call.callee.name().is_some_and(|name| {
                FUTURE_METHODS.contains(&name) || FUTURE_FUNCTIONS.contains(&name)
            });
            if !wraps {
                return None;
            }
            inner = call.result;
        }
        None
    }

    /// The type that the source asks a reply to be read as: of the turbofish, of the variable it is
    /// bound to, or of the function that returns it.
    pub(super) fn reply_type(&self, reply: ValueId) -> Option<TypeRef> {
        for id in self.typed() {
            let id = *id;
            let Some(ty) = self.body.value(id).and_then(|value| value.ty.as_ref()) else {
                continue;
            };
            match self.payload_levels(id, reply) {
                Some(0) => return ty.payload().cloned(),
                Some(_) => return Some(ty.clone()),
                None => {}
            }
        }
        self.returned_type(reply)
    }

    /// The values that the source writes a type for.
    fn typed(&self) -> &[ValueId] {
        self.typed.get_or_init(|| {
            let values = self.body.values.iter().enumerate();
            let typed = values
                .filter(|(_, value)| value.ty.as_ref().is_some_and(|ty| *ty != TypeRef::Unknown));
            typed.map(|(index, _)| ValueId(u32::try_from(index).unwrap_or(u32::MAX))).collect()
        })
    }

    /// A root that was found before.
    pub(super) fn known_root(&self, value: ValueId) -> Option<ValueId> {
        self.roots.borrow().get(&value).copied()
    }

    /// Keeps the root of all values on the way to it.
    pub(super) fn keep_root(&self, way: &[ValueId], root: ValueId) {
        let mut roots = self.roots.borrow_mut();
        roots.extend(way.iter().map(|value| (*value, root)));
    }

    fn returned_type(&self, reply: ValueId) -> Option<TypeRef> {
        let returns = self.program.declared_result(self.id)?;
        self.body.blocks.iter().find_map(|block| {
            let Terminator::Return { value: Some(value), .. } = &block.end else { return None };
            let whole = self.payload_levels(*value, reply) == Some(0);
            let wrapped = match self.body.kind(*value) {
                ValueKind::Aggregate { path, fields, .. } => match fields.as_slice() {
                    [(_, inner)] if path.last() == Some("Ok") => {
                        self.payload_levels(*inner, reply).is_some_and(|levels| levels > 0)
                    }
                    _ => false,
                },
                _ => false,
            };
            (whole || wrapped).then(|| returns.payload().cloned()).flatten()
        })
    }

    /// How many success payloads lie between a value and the reply it was taken from.
    fn payload_levels(&self, value: ValueId, reply: ValueId) -> Option<usize> {
        let (mut value, mut levels) = (value, 0);
        for _ in 0..32 {
            if value == reply {
                return Some(levels);
            }
            match self.body.kind(value) {
                ValueKind::Converted {
                    value: inner,
                    conversion: crate::ir::value::Conversion::Same,
                } => value = *inner,
                ValueKind::Payload { of, variant, .. } if is_success(variant) => {
                    (value, levels) = (*of, levels + 1);
                }
                ValueKind::Adapted { value: inner, adapter, .. } if keeps_success(*adapter) => {
                    let opens = matches!(
                        adapter,
                        crate::ir::value::Adapter::Unwrap
                            | crate::ir::value::Adapter::UnwrapOrDefault
                    );
                    (value, levels) = (*inner, levels + usize::from(opens));
                }
                _ => return None,
            }
        }
        None
    }

    /// The branch test that decides whether a block is reached, when one alone does: the last
    /// branch that dominates it and of which it is on one side only.
    pub(super) fn decided_by(&self, op: OpId) -> Option<&'p crate::ir::body::Test> {
        let (block, _) = self.flow().position(op)?;
        if self.body.blocks.len() > MOST_BLOCKS {
            return None;
        }
        let mut nearest = None;
        for (index, candidate) in self.body.blocks.iter().enumerate() {
            let id = crate::ir::body::BlockId(u32::try_from(index).unwrap_or(u32::MAX));
            if let Terminator::Branch { test, then, otherwise, .. } = &candidate.end
                && then != otherwise
                && id != block
                && self.flow().block_dominates(id, block)
                && self.flow().block_dominates(*then, block)
            {
                nearest = Some(test);
            }
        }
        nearest
    }
}

impl Context<'_> {
    /// Whether a value is a reply or what a reply holds on success.
    pub(super) fn is_reply(&self, value: ValueId, reply: ValueId) -> bool {
        self.payload_levels(value, reply).is_some()
    }
}
