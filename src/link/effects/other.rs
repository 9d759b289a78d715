//! Transactions, messages, sleeps, log lines, spawned tasks.

use super::Draft;
use super::context::Context;
use super::facts;
use super::follow::sources;
use crate::catalog::{Api, ApiEffect, Place, TimeUnit};
use crate::ir::body::{Call, OpId};
use crate::ir::effect::{Boundary, EffectKind, ExpiryUnit, TransactionCall};
use crate::ir::value::{ValueId, ValueKind};

/// Begin, commit and rollback of a database transaction; pipelines and brokers are no database.
pub(super) fn transaction(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
    api: &Api,
    out: &mut Vec<Draft>,
) {
    if api.domain.as_deref().is_some_and(|domain| domain != "sql") {
        return;
    }
    let boundary = match api.effect {
        ApiEffect::TxBegin => Boundary::Begin,
        ApiEffect::TxCommit => Boundary::Commit,
        _ => Boundary::Rollback,
    };
    let run = context.run(op, call);
    let handle = match boundary {
        Boundary::Begin => run.reply,
        _ => Context::argument(call, 0).or(call.receiver).unwrap_or(run.reply),
    };
    let handle = match (boundary, call.receiver) {
        (Boundary::Commit | Boundary::Rollback, Some(receiver)) => receiver,
        _ => handle,
    };
    let runs = api.argument("body").and_then(|index| Context::argument(call, index));
    let kind = EffectKind::Transaction(TransactionCall { boundary, handle: Some(handle), runs });
    push(context, op, call, api, kind, out);
}

/// A message to a broker.
pub(super) fn publish(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
    api: &Api,
    out: &mut Vec<Draft>,
) {
    let topic = match api.place("topic") {
        Some(Place::Argument(index)) => Context::argument(call, *index)
            .map(|value| facts::template(context.program, context.id, value)),
        _ => None,
    };
    push(context, op, call, api, EffectKind::Publish { topic }, out);
}

/// A wait for a time.
pub(super) fn sleep(context: &Context<'_>, op: OpId, call: &Call, api: &Api, out: &mut Vec<Draft>) {
    let duration = match api.place("duration") {
        // `interval.tick()`: the time the interval was made with.
        Some(Place::ReceiverArgument(_)) => call.receiver.and_then(|receiver| {
            let made = sources(context.program, &context.at(receiver));
            let [source] = made.as_slice() else { return None };
            let (_, maker) = source.call(context.program)?;
            Some(source.with(maker.arguments.last()?.value))
        }),
        _ => Context::argument(call, 0).map(|value| context.at(value)),
    };
    let unit = match api.unit {
        Some(TimeUnit::Seconds) => ExpiryUnit::Seconds,
        _ => ExpiryUnit::Milliseconds,
    };
    let until = call.callee.name().is_some_and(|name| name.ends_with("until") || name == "at");
    let milliseconds = duration
        .filter(|_| !until)
        .and_then(|at| facts::milliseconds(context.program, at.body, at.value, unit));
    push(context, op, call, api, EffectKind::Sleep { milliseconds }, out);
}

/// A time for a future to end in.
pub(super) fn time_limit(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
    api: &Api,
    out: &mut Vec<Draft>,
) {
    let until = call.callee.name().is_some_and(|name| name.ends_with("_at"));
    let given = api.argument("duration").and_then(|index| Context::argument(call, index));
    let amount = given.filter(|_| !until);
    let milliseconds = amount.and_then(|value| {
        facts::milliseconds(context.program, context.id, value, ExpiryUnit::Milliseconds)
    });
    push(context, op, call, api, EffectKind::TimeLimit { milliseconds, amount }, out);
}

/// A log line.
pub(super) fn log(context: &Context<'_>, op: OpId, call: &Call, api: &Api, out: &mut Vec<Draft>) {
    let values = call.arguments.iter().map(|argument| argument.value).collect();
    push(context, op, call, api, EffectKind::Log { values }, out);
}

/// A task or thread of its own.
pub(super) fn spawn(context: &Context<'_>, op: OpId, call: &Call, api: &Api, out: &mut Vec<Draft>) {
    let given = Context::argument(call, api.argument("body").unwrap_or(0));
    let body = given.and_then(|value| spawned(context, value));
    push(context, op, call, api, EffectKind::Spawn { body }, out);
}

/// The body behind a future or closure: its own, or that of the async function called.
fn spawned(context: &Context<'_>, value: ValueId) -> Option<crate::ir::effect::BodyId> {
    let mut value = value;
    for _ in 0..16 {
        match context.body.kind(value) {
            ValueKind::Closure(index) | ValueKind::Async(index) => {
                return facts::nested(context.program, context.id, *index);
            }
            ValueKind::Converted { value: inner, .. } => value = *inner,
            ValueKind::Result(op) => {
                let site = crate::ir::effect::Site { body: context.id, op: *op };
                let bodies = facts::callee_bodies(context.program, site);
                if let [body] = bodies.as_slice() {
                    return Some(*body);
                }
                let call = context.body.call(*op)?;
                match (call.callee.name()?, call.receiver) {
                    (
                        "instrument" | "in_current_span" | "boxed" | "with_current_subscriber",
                        Some(inner),
                    ) => {
                        value = inner;
                    }
                    ("pin" | "new", None) => value = Context::argument(call, 0)?,
                    _ => return None,
                }
            }
            ValueKind::Path(path) => {
                return facts::function_body(context.program, context.id, path);
            }
            _ => return None,
        }
    }
    None
}

fn push(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
    api: &Api,
    kind: EffectKind,
    out: &mut Vec<Draft>,
) {
    let Some(run) = context.run_of(op, call, api) else { return };
    out.push(Draft::of(context, op, call, run, api, kind));
}
