//! Lock libraries: a lease is taken, given back or prolonged.

use super::Draft;
use super::context::Context;
use super::follow::sources;
use super::redis::key;
use super::store;
use super::words::expand;
use crate::catalog::{Api, ApiEffect, Place, TimeUnit};
use crate::ir::body::{Call, OpId};
use crate::ir::effect::{EffectKind, ExpiryUnit, Key, LeaseAction, LeaseCall};
use crate::ir::value::ValueId;

/// A call of a lock library.
pub(super) fn call(context: &Context<'_>, op: OpId, call: &Call, api: &Api, out: &mut Vec<Draft>) {
    let action = match api.effect {
        ApiEffect::LockAcquire => LeaseAction::Acquire,
        ApiEffect::LockRenew => LeaseAction::Renew,
        _ => LeaseAction::Release,
    };
    let Some(run) = context.run_of(op, call, api) else { return };
    let unit = match api.lease_unit {
        Some(TimeUnit::Seconds) => ExpiryUnit::Seconds,
        _ => ExpiryUnit::Milliseconds,
    };
    let lease = place(call, api, "lease");
    let handle = match action {
        LeaseAction::Acquire => Some(run.reply),
        _ => place(call, api, "lock").or_else(|| place(call, api, "token")).or(call.receiver),
    };
    let kind = EffectKind::Lease(LeaseCall {
        action,
        key: lease_key(context, call, api),
        handle,
        lease_milliseconds: lease
            .and_then(|lease| super::facts::milliseconds(context.program, context.id, lease, unit)),
        lease_given: lease.is_some(),
        checks_owner: api.release_checks_owner.unwrap_or(true),
        releases_on_drop: api.on_drop.as_deref() == Some("release"),
        runs: place(call, api, "body"),
        store: store::of(context, call.receiver.or_else(|| place(call, api, "connections"))),
    });
    out.push(Draft::of(context, op, call, run, api, kind));
}

/// The value of a role.
fn place(call: &Call, api: &Api, role: &str) -> Option<ValueId> {
    match api.place(role)? {
        Place::Receiver => call.receiver,
        Place::Last => call.arguments.last().map(|argument| argument.value),
        _ => Context::argument(call, api.argument(role)?),
    }
}

fn lease_key(context: &Context<'_>, call: &Call, api: &Api) -> Option<Key> {
    let program = context.program;
    let at = match api.place("key").or_else(|| api.place("keys"))? {
        // The lock object was made with the key: `provider.create_lock(key)`.
        Place::ReceiverArgument(index) => {
            let made = sources(program, &context.at(call.receiver?));
            let [source] = made.as_slice() else { return None };
            let (_, maker) = source.call(program)?;
            source.with(maker.arguments.get(*index)?.value)
        }
        _ => context.at(place(call, api, "key").or_else(|| place(call, api, "keys"))?),
    };
    let pieces = expand(program, &at);
    let piece = pieces.first()?;
    Some(Key { many: piece.many || pieces.len() > 1, ..key(program, piece) })
}
