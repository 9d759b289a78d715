//! Redis clients of libraries that have no rows: a team's own wrapper crate, a framework.
//!
//! A method that only Redis has (`set_nx` and its kin), called on a value of such a library, proves
//! that this *kind* of value is a Redis client: the results of one accessor, or one type, of one
//! library. From then on `get`, `del` and `expire` on that kind are Redis commands too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::matching;
use crate::ir::body::{Body, Callee};
use crate::ir::effect::BodyId;
use crate::ir::index::Path;
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;
use crate::link::types::infer::Group;
use crate::link::types::{Bound, Ty};

/// A kind of value: the library, and the accessor or type.
pub(crate) type Kind = (String, String);

/// Words that a method's name has only where it takes a key if it is free.
const CONDITIONAL: [&str; 2] = ["set_nx", "setnx"];

/// Whether only Redis has a method of this name.
pub(in crate::link) fn is_conditional(method: &str) -> bool {
    CONDITIONAL.iter().any(|word| method.starts_with(word))
}

/// The kinds of foreign values that are proven to be Redis clients.
pub(crate) fn kinds(program: &Program) -> BTreeSet<Kind> {
    let mut found = BTreeSet::new();
    for own in &program.bodies {
        for (_, op, call) in own.body.calls() {
            let Callee::Method(name) = &call.callee else { continue };
            let known = program
                .targets(own.id, op)
                .is_some_and(|it| !it.bodies.is_empty() || !it.apis.is_empty());
            if known || !is_conditional(name) {
                continue;
            }
            let Some(receiver) = call.receiver else { continue };
            let ty = program.type_of(own.id, receiver);
            found.extend(kind(program, &own.body, receiver, &ty));
        }
    }
    found
}

/// The kind of a value of a library without rows; `None` for any other.
fn kind(program: &Program, body: &Body, value: ValueId, ty: &Ty) -> Option<Kind> {
    let (path, by_type) = match ty {
        Ty::External { path, .. } => (path, true),
        Ty::Derived { from, .. } => (from, false),
        _ => return None,
    };
    let root = path.first().filter(|_| matching::unlisted(program.catalog, path))?;
    if by_type {
        return Some((root.to_owned(), path.last()?.to_owned()));
    }
    let value = behind(body, value);
    let ValueKind::Result(op) = body.kind(value) else { return None };
    Some((root.to_owned(), body.call(*op)?.callee.name()?.to_owned()))
}

/// The call behind conversions, awaits and `?`.
fn behind(body: &Body, mut value: ValueId) -> ValueId {
    for _ in 0..32 {
        value = match body.kind(value) {
            ValueKind::Converted { value, .. }
            | ValueKind::Awaited(value)
            | ValueKind::Adapted { value, .. }
            | ValueKind::Payload { of: value, .. } => *value,
            _ => break,
        };
    }
    value
}

/// The values of an item that are of a proven kind, and the type that says so.
pub(crate) fn connections(group: &Group<'_>) -> BTreeMap<(BodyId, ValueId), Ty> {
    let mut proven = BTreeMap::new();
    if group.program.foreign.is_empty() {
        return proven;
    }
    for own in group.bodies {
        for (_, _, call) in own.body.calls() {
            let Some(receiver) = call.receiver else { continue };
            let ty = group.ty(own.id, receiver);
            let kind = kind(group.program, &own.body, receiver, &ty);
            if kind.is_some_and(|kind| group.program.foreign.contains(&kind)) {
                let bound = Bound::External(Arc::new(Path::parse("redis::aio::ConnectionLike")));
                proven.insert((own.id, receiver), Ty::Bounds([bound].into()));
            }
        }
    }
    proven
}
