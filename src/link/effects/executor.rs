//! What runs a statement: a pool, a connection, or an open transaction.

use super::context::Context;
use super::facts;
use super::follow::At;
use crate::catalog::ApiEffect;
use crate::ir::body::Call;
use crate::ir::effect::{Executor, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::evaluate::{is_success, keeps_success};

/// How far an executor is followed.
const MOST_STEPS: usize = 32;

/// The executor that a value is.
pub(super) fn of(context: &Context<'_>, value: Option<ValueId>) -> Executor {
    let Some(value) = value else { return Executor::Unknown };
    let program = context.program;
    let mut at = context.at(value);
    for _ in 0..MOST_STEPS {
        let by_type = facts::type_path(program, at.body, at.value);
        let known = by_name(&by_type);
        if in_closure_transaction(context, &at) {
            return Executor::Transaction;
        }
        if known != Executor::Unknown {
            return known;
        }
        let Some(next) = before(context, &at) else { break };
        match next {
            Before::Value(next) => at = next,
            Before::Known(executor) => return executor,
        }
    }
    Executor::Unknown
}

enum Before {
    Value(At),
    Known(Executor),
}

/// What a value was taken from.
fn before(context: &Context<'_>, at: &At) -> Option<Before> {
    let program = context.program;
    let body = at.code(program)?;
    Some(Before::Value(match body.kind(at.value) {
        ValueKind::Converted { value, .. } | ValueKind::Awaited(value) => at.with(*value),
        ValueKind::Payload { of, variant, .. } if is_success(variant) => at.with(*of),
        ValueKind::Adapted { value, adapter, .. } if keeps_success(*adapter) => at.with(*value),
        ValueKind::Captured(outer) => {
            let parent = program.body(at.body)?.parent?;
            At { body: parent, value: *outer, ..at.clone() }
        }
        ValueKind::Result(op) => {
            let call = body.call(*op)?;
            let rows = facts::apis(program, Site { body: at.body, op: *op });
            if rows.iter().any(|row| {
                row.effect == ApiEffect::TxBegin && row.domain.as_deref() != Some("redis")
            }) {
                return Some(Before::Known(Executor::Transaction));
            }
            match (call.callee.name()?, call.receiver) {
                ("as_mut" | "deref_mut" | "deref" | "as_ref" | "borrow_mut", Some(receiver)) => {
                    at.with(receiver)
                }
                ("acquire" | "get" | "get_conn" | "get_owned", Some(_)) => {
                    return Some(Before::Known(Executor::Connection));
                }
                _ => return None,
            }
        }
        _ => return None,
    }))
}

/// By the last part of a type's path.
fn by_name(path: &[String]) -> Executor {
    let Some(last) = path.last() else { return Executor::Unknown };
    if last.ends_with("Transaction") || last == "Savepoint" {
        return Executor::Transaction;
    }
    if last.ends_with("Pool") || last == "DatabaseConnection" || last == "ConnectionPool" {
        return Executor::Pool;
    }
    let connections = ["Connection", "Conn", "Client", "Object", "PooledConn"];
    if connections.iter().any(|name| last.ends_with(name)) {
        return Executor::Connection;
    }
    Executor::Unknown
}

/// Whether a value is the parameter of a closure that a transaction runs.
fn in_closure_transaction(context: &Context<'_>, at: &At) -> bool {
    let program = context.program;
    let is_parameter =
        at.code(program).is_some_and(|body| matches!(body.kind(at.value), ValueKind::Parameter(_)));
    if !is_parameter {
        return false;
    }
    let Some(this) = program.body(at.body) else { return false };
    let Some(parent) = this.parent.and_then(|parent| Context::new(program, parent)) else {
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
            && parent
                .apis(op)
                .iter()
                .any(|row| row.effect == ApiEffect::TxBegin && row.domain.as_deref() == Some("sql"))
    })
}
