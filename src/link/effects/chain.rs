//! Builder chains: the calls on one object from where it is made to where it is sent.
//!
//! `redis::cmd("SET").arg(k).query(con)`, a local that is built over several statements, and a
//! builder that a function of the workspace returns are the same chain. A call that not every path
//! to the end passes is *optional*.

use super::context::Context;
use super::facts;
use super::follow::At;
use crate::catalog::{Api, ApiEffect, ApiScript};
use crate::ir::body::{BlockId, Call, Callee, OpId, Terminator};
use crate::ir::effect::Site;
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;
use crate::link::evaluate::returned_values;

/// How many calls one chain may have.
const MOST_LINKS: usize = 400;
/// How many steps lead from a value to where its object is made.
const MOST_STEPS: usize = 20_000;
/// How deep functions that return a builder are followed.
const MOST_FRAMES: usize = 4;

/// Methods that make a handle of a builder and go on with what was given to it.
const PASSING: [&str; 5] =
    ["prepare_invoke", "build", "build_query_as", "build_query_scalar", "into_request"];

/// One call of a chain.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// A value of the body the call stands in, entered as the chain was.
    pub at: At,
    /// The call.
    pub site: Site,
    /// Whether some path to the end does not pass it.
    pub optional: bool,
    /// Whether it may run more than once before the end.
    pub repeated: bool,
}

/// A chain.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Where the object comes from: the result of the call that makes it, a parameter, a field.
    pub root: At,
    /// The calls on it in order, the one that makes it and the last one left out.
    pub links: Vec<Link>,
}

impl Link {
    /// The call.
    pub(super) fn call<'p>(&self, program: &'p Program) -> Option<&'p Call> {
        program.body(self.site.body)?.body.call(self.site.op)
    }

    /// Its name.
    pub(super) fn name<'p>(&self, program: &'p Program) -> Option<&'p str> {
        self.call(program)?.callee.name()
    }

    /// Its n-th argument.
    pub(super) fn argument(&self, program: &Program, index: usize) -> Option<At> {
        let argument = self.call(program)?.arguments.get(index)?;
        Some(self.at.with(argument.value))
    }
}

/// The chain that ends in a call on `receiver` at `end` (everything that can run before it).
pub(super) fn collect(context: &Context<'_>, receiver: ValueId, end: OpId) -> Chain {
    collect_at(context, &context.at(receiver), Some(end), 0)
}

/// The chain behind a value, the call that gave it included.
pub(super) fn behind(context: &Context<'_>, at: &At) -> Chain {
    collect_at(context, at, None, 0)
}

fn collect_at(context: &Context<'_>, receiver: &At, end: Option<OpId>, depth: usize) -> Chain {
    let root = root_of(context, receiver.value);
    let root_at = receiver.with(root);
    let mut chain = Chain { root: root_at.clone(), links: Vec::new() };
    let made_by = match context.body.kind(root) {
        ValueKind::Result(op) => Some(*op),
        _ => None,
    };
    if let Some(op) = made_by
        && depth < MOST_FRAMES
        && let Some(inner) = returned_chain(context, op, receiver, depth)
    {
        chain = inner;
    }
    let shared = shares_object(context, root);
    let leaves = if end.is_none() { leaving_with(context, root) } else { Vec::new() };
    let direct = ancestors(context, receiver.value);
    // A script object is shared; what its first `key` or `arg` makes is not.
    let first = direct.last().copied();
    for (block, op, call) in context.body.calls() {
        let Some(on) = call.receiver else { continue };
        if Some(op) == end || Some(op) == made_by || chain.links.len() >= MOST_LINKS {
            continue;
        }
        let on_chain = direct.contains(&op);
        let of_object = match shared {
            true => root_of(context, on) == root,
            false => first.is_some_and(|first| ancestors(context, on).contains(&first)),
        };
        if !on_chain && !of_object {
            continue;
        }
        if let Some(end) = end
            && !context.flow().reaches(op, end)
        {
            continue;
        }
        let loops = |op: OpId| {
            let (block, _) = context.flow().position(op)?;
            context.body.block(block).map(|block| block.loop_depth)
        };
        let around = made_by.and_then(loops).unwrap_or(0);
        let depth_here = context.body.block(block).map_or(0, |block| block.loop_depth);
        chain.links.push(Link {
            at: receiver.clone(),
            site: Site { body: context.id, op },
            optional: match end {
                Some(end) => !context.flow().dominates(op, end),
                None => leaves.iter().any(|leave| !context.flow().block_dominates(block, *leave)),
            },
            repeated: depth_here > around
                && end.and_then(loops).is_some_and(|end| depth_here > end),
        });
    }
    chain
}

/// The blocks that leave the body with an object.
fn leaving_with(context: &Context<'_>, root: ValueId) -> Vec<BlockId> {
    let mut leaves = Vec::new();
    for (index, block) in context.body.blocks.iter().enumerate() {
        if let Terminator::Return { value: Some(value), .. } = &block.end
            && root_of(context, *value) == root
        {
            leaves.push(BlockId(u32::try_from(index).unwrap_or(u32::MAX)));
        }
    }
    leaves
}

/// The chain inside a workspace function that returns the object.
fn returned_chain(context: &Context<'_>, op: OpId, receiver: &At, depth: usize) -> Option<Chain> {
    let site = Site { body: context.id, op };
    let bodies = facts::callee_bodies(context.program, site);
    let [callee] = bodies.as_slice() else { return None };
    let inner = Context::new(context.program, *callee)?;
    let values = returned_values(inner.body);
    let [value] = values.as_slice() else { return None };
    let at = receiver.inside(site, *callee, *value);
    Some(collect_at(&inner, &at, None, depth + 1))
}

/// Where an object is made: up through the receivers of the calls on it.
pub(super) fn root_of(context: &Context<'_>, value: ValueId) -> ValueId {
    let mut way = Vec::new();
    let mut value = value;
    while way.len() < MOST_STEPS {
        if let Some(root) = context.known_root(value) {
            value = root;
            break;
        }
        way.push(value);
        match before(context, value) {
            Some(next) if next != value => value = next,
            _ => break,
        }
    }
    context.keep_root(&way, value);
    value
}

/// The object that a value is, one step nearer to where it is made.
fn before(context: &Context<'_>, value: ValueId) -> Option<ValueId> {
    match context.body.kind(value) {
        // A builder's `filter` looks like an option's.
        ValueKind::Converted { value, .. } | ValueKind::Adapted { value, .. } => Some(*value),
        ValueKind::Result(op) => passing_receiver(context, *op),
        // `let req = if x { req.header(..) } else { req }`: all sides have one root.
        ValueKind::Join(sides) => sides.first().copied(),
        _ => None,
    }
}

/// The receiver of a call that gives its receiver back; `None` when the call makes something new.
fn passing_receiver(context: &Context<'_>, op: OpId) -> Option<ValueId> {
    let call = context.body.call(op)?;
    let receiver = call.receiver?;
    let name = match &call.callee {
        Callee::Method(name) => name.as_str(),
        _ => return None,
    };
    if !facts::callee_bodies(context.program, Site { body: context.id, op }).is_empty() {
        return None;
    }
    let makes = context.apis(op).iter().any(|api| makes_object(api));
    (!makes || PASSING.contains(&name)).then_some(receiver)
}

/// Whether a call of this row makes an object of its own.
pub(super) fn makes_object(api: &Api) -> bool {
    api.effect == ApiEffect::Handle || api.yields.is_some()
}

/// The calls on the receiver chain of a value, all sides of joins.
fn ancestors(context: &Context<'_>, value: ValueId) -> Vec<OpId> {
    let mut found = Vec::new();
    let mut seen = Vec::new();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        let value = context.body.peel(value);
        if seen.contains(&value) || seen.len() > MOST_LINKS {
            continue;
        }
        seen.push(value);
        match context.body.kind(value) {
            ValueKind::Converted { value, .. } => stack.push(*value),
            ValueKind::Adapted { value, call, .. } => {
                found.extend(*call);
                stack.push(*value);
            }
            ValueKind::Join(sides) => stack.extend(sides.iter().copied()),
            ValueKind::Result(op) => {
                if let Some(receiver) = passing_receiver(context, *op) {
                    found.push(*op);
                    stack.push(receiver);
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether all calls on a root value work on one object, so that statements on it are links: true
/// for what a call makes and for builders that are passed in; a client in a field is no builder.
fn shares_object(context: &Context<'_>, root: ValueId) -> bool {
    match context.body.kind(root) {
        ValueKind::Result(op) => !defines_script(context, *op),
        ValueKind::Parameter(_) | ValueKind::Captured(_) | ValueKind::Path(_) => {
            facts::is_builder(context.program, context.id, root)
        }
        _ => false,
    }
}

/// Whether a call makes a script object, whose methods leave it as it is.
fn defines_script(context: &Context<'_>, op: OpId) -> bool {
    context.apis(op).iter().any(|api| api.script == Some(ApiScript::Define))
}
