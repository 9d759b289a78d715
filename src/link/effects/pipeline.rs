//! Pipelines: commands that are queued and leave together.
//!
//! A queued command runs where its pipeline is sent, if that is in the same body; a command queued
//! into a pipeline that was passed in runs, as far as this body knows, where it is queued.

use super::chain::{self, makes_object};
use super::context::Context;
use super::facts;
use super::redis::{Built, Sent, effect, of_chain, of_method};
use super::words::expand;
use super::{Draft, store};
use crate::catalog::{Api, ApiEffect, Catalog, Receiver};
use crate::ir::body::{Call, OpId};
use crate::ir::effect::{Batch, Cluster, Site};
use crate::ir::index::TypeRef;
use crate::ir::value::{ValueId, ValueKind};

/// Calls that send a pipeline.
const SENDS: [&str; 8] =
    ["query", "query_async", "exec", "exec_async", "execute", "all", "try_all", "last"];
/// Of these, the ones that throw the replies away.
const WITHOUT_REPLY: [&str; 3] = ["exec", "exec_async", "execute"];
/// Replies of longer pipelines are not told apart.
const MOST_QUEUED: usize = 200;
/// How many calls up a pipeline that was passed in is followed.
const MOST_CALLS_UP: usize = 3;
/// With more callers it is not asked what they pass.
const MOST_CALLERS: usize = 40;
/// Types of pipelines.
const TYPES: [&str; 2] = ["Pipeline", "ClusterPipeline"];

/// A pipeline of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pipeline {
    /// Where it comes from.
    pub root: ValueId,
    /// Whether the server runs it as one, by how it was made.
    pub transaction: bool,
}

/// The pipeline that a call's receiver is; `None` when it is none.
pub(super) fn of_receiver(context: &Context<'_>, receiver: ValueId) -> Option<Pipeline> {
    of_value(context, receiver, 0)
}

/// The pipeline that a value is, so many calls up.
fn of_value(context: &Context<'_>, receiver: ValueId, depth: usize) -> Option<Pipeline> {
    let root = chain::root_of(context, receiver);
    let kind = context.body.kind(root);
    if let ValueKind::Result(op) = kind {
        let rows = context.apis(*op);
        let makes = |row: &&&Api| makes_object(row) && row.yields.as_ref().is_some_and(is_pipeline);
        if let Some(row) = rows.iter().find(makes) {
            return Some(Pipeline { root, transaction: row.effect == ApiEffect::TxBegin });
        }
    }
    if matches!(kind, ValueKind::Parameter(1)) && in_transaction_closure(context) {
        return Some(Pipeline { root, transaction: true });
    }
    let ty = facts::type_path(context.program, context.id, root);
    let last = ty.last().map_or("", String::as_str);
    let fred = ty.first().is_some_and(|root| root == "fred") && last == "Transaction";
    let known = TYPES.contains(&last) || fred;
    known
        .then(|| Pipeline { root, transaction: fred || given_as_transaction(context, root, depth) })
}

/// Whether a pipeline is one that a closure captured, or a parameter, and what stands for it there or is
/// passed by every caller is a transaction.
fn given_as_transaction(context: &Context<'_>, root: ValueId, depth: usize) -> bool {
    let program = context.program;
    let Some(own) = program.body(context.id) else { return false };
    if depth >= MOST_CALLS_UP {
        return false;
    }
    match (context.body.kind(root), own.parent) {
        (ValueKind::Captured(outer), Some(parent)) => Context::new(program, parent)
            .is_some_and(|around| is_transaction(&around, *outer, depth + 1)),
        (ValueKind::Parameter(index), None) => {
            let callers = program.callers(context.id);
            let passes = |site: &Site| {
                let caller = Context::new(program, site.body)?;
                let call = caller.body.call(caller.body.call_behind(site.op))?;
                let (arguments, _) = program.bound_arguments(context.id, call);
                let passed = arguments.get(*index as usize)?;
                is_transaction(&caller, *passed, depth + 1).then_some(())
            };
            (1..=MOST_CALLERS).contains(&callers.len())
                && callers.iter().all(|site| passes(site).is_some())
        }
        _ => false,
    }
}

/// Whether a value is a pipeline that the server runs as one.
fn is_transaction(context: &Context<'_>, value: ValueId, depth: usize) -> bool {
    let asked = |(_, call): &(OpId, &Call)| call.callee.name() == Some("atomic");
    of_value(context, value, depth).is_some_and(|pipeline| {
        pipeline.transaction || calls_on(context, pipeline.root).iter().any(asked)
    })
}

fn is_pipeline(receiver: &Receiver) -> bool {
    receiver.name().is_some_and(|name| {
        TYPES.contains(&name.last()) || (name.root() == "fred" && name.last() == "Transaction")
    })
}

/// Whether this body is the closure of `redis::transaction`, whose second parameter is a pipeline.
fn in_transaction_closure(context: &Context<'_>) -> bool {
    let Some(this) = context.program.body(context.id) else { return false };
    let Some(parent) = this.parent.and_then(|parent| Context::new(context.program, parent)) else {
        return false;
    };
    let takes_this = |call: &Call| {
        call.arguments.iter().any(|argument| {
            matches!(parent.body.kind(parent.body.peel(argument.value)),
                ValueKind::Closure(index) if *index == this.index)
        })
    };
    parent.body.calls().any(|(_, op, call)| {
        takes_this(call)
            && parent.apis(op).iter().any(|row| {
                row.effect == ApiEffect::TxBegin && row.domain.as_deref() == Some("redis")
            })
    })
}

/// The row of a method that queues a command, when its receiver's type was not known.
pub(super) fn row_by_name(
    catalog: &'static Catalog,
    name: &str,
    arguments: usize,
) -> Option<&'static Api> {
    catalog.rows_named(name).find(|row| {
        row.accepts(arguments)
            && matches!(row.effect, ApiEffect::RedisCommand | ApiEffect::ScriptInvoke)
            && catalog.receivers(row).into_iter().any(
                |receiver| matches!(receiver, Receiver::Type(name) if TYPES.contains(&name.last())),
            )
    })
}

/// Numbers batches that are not seen to be sent apart from the others, which the sending operation
/// numbers.
const UNSENT: u32 = 1 << 30;

/// A command that is queued into a pipeline.
pub(super) fn queued(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
    api: &Api,
    pipeline: Pipeline,
    out: &mut Vec<Draft>,
) {
    let group = calls_on(context, pipeline.root);
    let Some(here) = group.iter().position(|(other, _)| *other == op) else { return };
    let name = call.callee.name().unwrap_or_default();
    let Some(mut built) = built(context, call, api, name) else { return };
    let after = group.get(here + 1..).unwrap_or_default();
    if name == "cmd" {
        let own = after.iter().take_while(|(_, call)| call.callee.name() == Some("arg"));
        for (_, link) in own {
            if let Some(value) = Context::argument(link, 0) {
                built.pieces.extend(expand(context.program, &context.at(value)));
            }
        }
    }
    if end(context, op, &group).is_some_and(|(end, _)| repeated(context, op, end)) {
        built.pieces.iter_mut().for_each(|piece| piece.many |= piece.text.is_none());
    }
    if let Some(sent) = sent(context, op, pipeline) {
        out.extend(effect(context, op, &built, &sent, api));
    }
}

/// How what is queued at an operation is sent: where its pipeline is, with its part of the reply.
pub(super) fn sent(context: &Context<'_>, op: OpId, pipeline: Pipeline) -> Option<Sent> {
    let group = calls_on(context, pipeline.root);
    let here = group.iter().position(|(other, _)| *other == op)?;
    let (_, call) = group.get(here)?;
    let ignored = is_ignored(group.get(here + 1..).unwrap_or_default());
    let atomic =
        pipeline.transaction || group.iter().any(|(_, call)| call.callee.name() == Some("atomic"));
    let end = end(context, op, &group);
    let mut sent = Sent {
        run: context.run(op, call),
        store: store::of(context, None),
        // One object that is sent twice makes two batches.
        batch: Some(Batch {
            number: end.map_or(pipeline.root.0 | UNSENT, |(end, _)| end.0),
            atomic,
        }),
        reply: None,
        reply_type: None,
    };
    match end {
        Some((end, last)) => {
            sent.run = context.run(end, last);
            sent.store = store::of(context, Context::argument(last, 0).or(last.receiver));
            let thrown_away = ignored
                || last.callee.name().is_some_and(|name| WITHOUT_REPLY.contains(&name))
                    && context.apis(end).iter().all(|row| row.library == "redis");
            if !thrown_away {
                let before = group.get(..here).unwrap_or_default();
                reply(context, before, &group, last, &mut sent);
            }
        }
        None => {
            sent.run.site = Site { body: context.id, op };
            sent.store.cluster = cluster_of_callers(context, pipeline.root, 0).unwrap_or_default();
        }
    }
    Some(sent)
}

/// Whether the server is a cluster that a pipeline goes to, which a closure captured or a function was
/// passed; `None` where callers differ or it is not seen.
fn cluster_of_callers(context: &Context<'_>, root: ValueId, depth: usize) -> Option<Cluster> {
    let program = context.program;
    if depth >= MOST_CALLS_UP {
        return None;
    }
    match (context.body.kind(root), program.body(context.id)?.parent) {
        (ValueKind::Captured(outer), Some(parent)) => {
            let around = Context::new(program, parent)?;
            let root = of_value(&around, *outer, depth + 1)?.root;
            let sends = |(_, call): &&(OpId, &Call)| {
                call.callee.name().is_some_and(|name| SENDS.contains(&name))
            };
            match calls_on(&around, root).iter().find(sends) {
                Some((_, last)) => Some(cluster_sent_to(&around, last)),
                None => cluster_of_callers(&around, root, depth + 1),
            }
        }
        (ValueKind::Parameter(index), None) => {
            let callers = program.callers(context.id);
            let of_caller = |site: &Site| {
                let caller = Context::new(program, site.body)?;
                let op = caller.body.call_behind(site.op);
                let (arguments, _) = program.bound_arguments(context.id, caller.body.call(op)?);
                let root = of_value(&caller, *arguments.get(*index as usize)?, depth + 1)?.root;
                match end(&caller, op, &calls_on(&caller, root)) {
                    Some((_, last)) => Some(cluster_sent_to(&caller, last)),
                    None => cluster_of_callers(&caller, root, depth + 1),
                }
            };
            let mut found = callers.iter().take(MOST_CALLERS).map(of_caller);
            let first = found.next()??;
            (callers.len() <= MOST_CALLERS && found.all(|it| it == Some(first))).then_some(first)
        }
        _ => None,
    }
}

/// Whether the call that sends a pipeline sends it to a cluster.
fn cluster_sent_to(context: &Context<'_>, last: &Call) -> Cluster {
    store::of(context, Context::argument(last, 0).or(last.receiver)).cluster
}

/// The call that sends what is queued at an operation.
fn end<'p>(
    context: &Context<'_>,
    op: OpId,
    group: &[(OpId, &'p Call)],
) -> Option<(OpId, &'p Call)> {
    let sends = |(other, call): &&(OpId, &'p Call)| {
        call.callee.name().is_some_and(|name| SENDS.contains(&name))
            && !queues(context, *other, call)
            && context.flow().reaches(op, *other)
    };
    group.iter().find(sends).copied()
}

fn built(context: &Context<'_>, call: &Call, api: &Api, name: &str) -> Option<Built> {
    let argument = Context::argument(call, 0);
    match name {
        "cmd" => {
            let mut pieces = expand(context.program, &context.at(argument?));
            let first = (!pieces.is_empty()).then(|| pieces.remove(0))?;
            let span = call.name_span.to(first.span);
            Some(Built { name: first.text?.to_ascii_uppercase(), pieces, span })
        }
        "add_command" => {
            let whole = chain::behind(context, &context.at(argument?));
            let built = of_chain(context, &whole)?;
            Some(built)
        }
        _ => of_method(context, call, api, 0),
    }
}

/// All calls on one pipeline, in the order they run.
fn calls_on<'p>(context: &Context<'p>, root: ValueId) -> Vec<(OpId, &'p Call)> {
    let on_root = |call: &Call| {
        call.receiver.is_some_and(|receiver| chain::root_of(context, receiver) == root)
    };
    context
        .body
        .calls()
        .filter(|(_, _, call)| on_root(call))
        .map(|(_, op, call)| (op, call))
        .collect()
}

fn queues(context: &Context<'_>, op: OpId, call: &Call) -> bool {
    let name = call.callee.name().unwrap_or_default();
    let rows = context.apis(op);
    let queue =
        |row: &&Api| matches!(row.effect, ApiEffect::RedisCommand | ApiEffect::ScriptInvoke);
    match rows.iter().find(|row| row.accepts(call.arguments.len())) {
        Some(row) => queue(row) && row.command.as_deref() != Some("from_arg") || name == "cmd",
        None => row_by_name(context.program.catalog, name, call.arguments.len()).is_some(),
    }
}

/// Whether the next call on the pipeline, arguments aside, is `ignore`.
fn is_ignored(after: &[(OpId, &Call)]) -> bool {
    let next = after.iter().find(|(_, call)| call.callee.name() != Some("arg"));
    next.is_some_and(|(_, call)| call.callee.name() == Some("ignore"))
}

fn repeated(context: &Context<'_>, op: OpId, end: OpId) -> bool {
    let depth = |op: OpId| {
        let (block, _) = context.flow().position(op)?;
        context.body.block(block).map(|block| block.loop_depth)
    };
    depth(op) > depth(end)
}

/// The command's part of the replies: a field of the tuple they are taken apart to, or all of them.
fn reply(
    context: &Context<'_>,
    before: &[(OpId, &Call)],
    group: &[(OpId, &Call)],
    last: &Call,
    sent: &mut Sent,
) {
    let all = sent.run.reply;
    if before.len() > MOST_QUEUED {
        sent.reply = Some(all);
        return;
    }
    let index = before
        .iter()
        .enumerate()
        .filter(|(at, (op, call))| {
            queues(context, *op, call) && !is_ignored(group.get(at + 1..).unwrap_or_default())
        })
        .count();
    let written = last.type_arguments.last().filter(|ty| **ty != TypeRef::Unknown).cloned();
    let ty = written.or_else(|| context.reply_type(all));
    sent.reply_type = match ty {
        Some(TypeRef::Tuple(parts)) if !parts.is_empty() => parts.get(index).cloned(),
        other => other,
    };
    let wanted = index.to_string();
    let part = context.body.values.iter().enumerate().find_map(|(at, value)| match &value.kind {
        ValueKind::Field { base, name } if *name == wanted && context.is_reply(*base, all) => {
            Some(ValueId(u32::try_from(at).unwrap_or(u32::MAX)))
        }
        _ => None,
    });
    sent.reply = Some(part.unwrap_or(all));
}
