//! Which server an effect speaks to, as far as the program tells two apart.

use super::context::Context;
use super::facts;
use super::follow::At;
use crate::catalog::ApiEffect;
use crate::ir::effect::{BodyId, Cluster, Store};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;
use crate::link::evaluate::{is_success, keeps_success};

/// How far a handle is followed.
const MOST_STEPS: usize = 64;

/// The store behind a connection, pool or client value.
pub(super) fn of(context: &Context<'_>, handle: Option<ValueId>) -> Store {
    let package = package(context.program, context.id);
    let Some(handle) = handle else { return Store { package, ..Store::default() } };
    let at = made_from(context.program, &context.at(handle));
    Store {
        handle: describe(context.program, &at),
        cluster: cluster(context.program, context.id, handle, &at),
        package,
    }
}

/// The field, parameter or constant that a connection was taken from: through `pool.get()`,
/// `client.get_connection()`, `&mut *tx`, clones.
fn made_from(program: &Program, start: &At) -> At {
    let mut at = start.clone();
    for _ in 0..MOST_STEPS {
        let Some(body) = at.code(program) else { break };
        let next = match body.kind(at.value) {
            ValueKind::Converted { value, .. } | ValueKind::Awaited(value) => at.with(*value),
            ValueKind::Payload { of, variant, .. } if is_success(variant) => at.with(*of),
            ValueKind::Adapted { value, adapter, .. } if keeps_success(*adapter) => at.with(*value),
            ValueKind::Captured(outer) => {
                match program.body(at.body).and_then(|body| body.parent) {
                    Some(parent) => At { body: parent, value: *outer, ..at.clone() },
                    None => break,
                }
            }
            ValueKind::Result(op) => {
                let Some(call) = body.call(*op) else { break };
                let site = crate::ir::effect::Site { body: at.body, op: *op };
                let rows = facts::apis(program, site);
                let handles = rows.is_empty()
                    || rows
                        .iter()
                        .any(|row| matches!(row.effect, ApiEffect::Handle | ApiEffect::TxBegin));
                match call.receiver.filter(|_| handles) {
                    Some(receiver) => at.with(receiver),
                    None => break,
                }
            }
            _ => break,
        };
        at = next;
    }
    at
}

/// `field Shop.redis`, `parameter conn`, `constant POOL`; empty for anything else.
fn describe(program: &Program, at: &At) -> String {
    let Some(body) = at.code(program) else { return String::new() };
    let value = body.value(at.value);
    match body.kind(at.value) {
        ValueKind::Parameter(_) => {
            let name = value.and_then(|value| value.name.as_deref()).unwrap_or_default();
            format!("parameter {name}")
        }
        ValueKind::Field { base, name } => {
            let owner = facts::owner_name(program, at.body, *base);
            format!("field {owner}.{name}")
        }
        ValueKind::Path(path) => format!("constant {path}"),
        ValueKind::Receiver => {
            format!("receiver {}", facts::owner_name(program, at.body, at.value))
        }
        _ => String::new(),
    }
}

fn cluster(program: &Program, body: BodyId, handle: ValueId, made_from: &At) -> Cluster {
    let mut known = Cluster::Unknown;
    for (body, value) in [(body, handle), (made_from.body, made_from.value)] {
        let path = facts::type_path(program, body, value);
        if path.iter().any(|part| part.to_ascii_lowercase().contains("cluster")) {
            return Cluster::Yes;
        }
        let single = ["Connection", "MultiplexedConnection", "ConnectionManager", "Client"];
        let redis = path.first().is_some_and(|root| root == "redis");
        if redis && path.last().is_some_and(|last| single.contains(&last.as_str())) {
            known = Cluster::No;
        }
    }
    known
}

/// The folder of the nearest manifest above a body's file; empty for the root.
pub(super) fn package(program: &Program, body: BodyId) -> String {
    let file = program.body(body).and_then(|body| program.tree.file(body.file));
    let package = file.and_then(|file| program.tree.package(&file.path));
    package.unwrap_or_default().to_owned()
}
