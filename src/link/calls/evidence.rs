//! What other uses prove of a value whose type is not known: it is a Redis connection if a command
//! is sent over it, or if a method that only Redis has is called on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::matching;
use crate::catalog::ApiEffect;
use crate::ir::body::{Call, Callee};
use crate::ir::effect::BodyId;
use crate::ir::index::Path;
use crate::ir::value::{Conversion, ValueId, ValueKind};
use crate::link::types::infer::Group;
use crate::link::types::{Bound, Ty};

/// Methods that send what was built over the connection that is their first argument.
const SENDING: [&str; 12] = [
    "query_async",
    "query",
    "exec_async",
    "exec",
    "invoke_async",
    "invoke",
    "execute_async",
    "execute",
    "query_pipeline_async",
    "load_async",
    "load",
    "transaction",
];

/// The values that are proven to be Redis connections, and the type that says so.
pub(crate) fn connections(group: &Group<'_>) -> BTreeMap<(BodyId, ValueId), Ty> {
    let mut proven = BTreeMap::new();
    for own in group.bodies {
        for (_, _, call) in own.body.calls() {
            let Some(value) = connection(group, own.id, call) else { continue };
            let root = root(group, own.id, value);
            if open(group, root) {
                let bound = Bound::External(Arc::new(Path::parse("redis::aio::ConnectionLike")));
                proven.insert(root, Ty::Bounds([bound].into()));
            }
        }
    }
    proven
}

/// The value that a call proves to be a connection.
fn connection(group: &Group<'_>, body: BodyId, call: &Call) -> Option<ValueId> {
    let Callee::Method(name) = &call.callee else { return None };
    let receiver = call.receiver?;
    let ty = group.ty(body, receiver);
    if SENDING.contains(&name.as_str()) && ty.root() == Some("redis") {
        return call.arguments.first().map(|argument| argument.value);
    }
    if !ty.is_unknown() {
        return None;
    }
    let types = |body: BodyId, value: ValueId| group.ty(body, value);
    let resolved = group.program.resolve_call(&group.site(body, &types), call);
    let row = resolved.apis.first()?;
    (row.effect == ApiEffect::RedisCommand && row.library == "redis").then_some(receiver)
}

/// Whether the type of a value leaves room for proof.
fn open(group: &Group<'_>, (body, value): (BodyId, ValueId)) -> bool {
    match group.ty(body, value) {
        Ty::Unknown => true,
        Ty::External { path, .. } | Ty::Derived { from: path, .. } => {
            matching::unlisted(group.program.catalog, &path)
        }
        _ => false,
    }
}

fn root(group: &Group<'_>, mut body: BodyId, mut value: ValueId) -> (BodyId, ValueId) {
    for _ in 0..64 {
        let Some(own) = group.body(body) else { break };
        match own.kind(value) {
            ValueKind::Converted { value: of, conversion: Conversion::Same } => value = *of,
            ValueKind::Captured(of) => match own.parent {
                Some(parent) => (body, value) = (group.nested(parent), *of),
                None => break,
            },
            _ => break,
        }
    }
    (body, value)
}
