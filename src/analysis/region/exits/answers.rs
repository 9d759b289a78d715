//! What the answer of an operation goes into.

use std::collections::BTreeSet;

use crate::ir::body::{Body, Call, Callee, Exit, OpId, Terminator, Test};
use crate::ir::effect::{BodyId, Site};
use crate::ir::value::{Pattern, SUCCESS, ValueId, ValueKind};
use crate::link::Program;

/// Whether a value is made of the answer of one of some calls, read by library functions at most. What a
/// function of the program makes of it, or what is waited for, is another answer.
pub(super) fn answers(
    program: &Program,
    id: BodyId,
    value: ValueId,
    asks: &dyn Fn(OpId) -> bool,
) -> bool {
    let Some(body) = program.body(id).map(|own| &own.body) else { return false };
    let mut seen = BTreeSet::from([value]);
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        let parts = match body.kind(value) {
            ValueKind::Result(op) if asks(*op) => return true,
            ValueKind::Result(op) => read(program, id, body, *op),
            ValueKind::Awaited(future) => match body.kind(body.peel(*future)) {
                ValueKind::Result(op) if asks(*op) => return true,
                ValueKind::Result(_) => Vec::new(),
                _ => vec![*future],
            },
            kind => parts(kind),
        };
        waiting.extend(parts.into_iter().filter(|part| seen.insert(*part)));
    }
    false
}

/// Whether a body makes anything of what a call answers, but that it did not fail.
pub(super) fn is_asked(program: &Program, site: Site) -> bool {
    let Some(body) = program.body(site.body).map(|own| &own.body) else { return true };
    let taken = body.call_behind(site.op);
    let made = |value: ValueId| answers(program, site.body, value, &|op| op == taken);
    body.blocks.iter().any(|block| match &block.end {
        Terminator::Branch { test: Test::True(value), .. } => made(*value),
        Terminator::Branch { test: Test::Matches { value, pattern }, .. } => {
            failure_side(pattern).is_none() && made(*value)
        }
        Terminator::Return { value: Some(value), exit, .. } => {
            *exit != Exit::Propagated && made(*value)
        }
        _ => false,
    })
}

/// What a call makes its result of, where no function of the program does.
fn read(program: &Program, id: BodyId, body: &Body, op: OpId) -> Vec<ValueId> {
    let foreign = |call: &&Call| match program.targets(id, op) {
        Some(targets) => targets.bodies.is_empty(),
        None => !matches!(call.callee, Callee::Value(_)),
    };
    body.call(op).filter(foreign).map(given).unwrap_or_default()
}

/// All values that a call is given.
pub(super) fn given(call: &Call) -> Vec<ValueId> {
    call.arguments.iter().map(|argument| argument.value).chain(call.receiver).collect()
}

/// The values that a value is made of.
pub(super) fn parts(kind: &ValueKind) -> Vec<ValueId> {
    match kind {
        ValueKind::Field { base, .. } | ValueKind::Element { base, .. } => vec![*base],
        ValueKind::Adapted { value, argument, .. } => {
            std::iter::once(*value).chain(*argument).collect()
        }
        ValueKind::Payload { of: value, .. }
        | ValueKind::Awaited(value)
        | ValueKind::Converted { value, .. }
        | ValueKind::Not(value)
        | ValueKind::Matches { value, .. } => vec![*value],
        ValueKind::Aggregate { fields, base, .. } => {
            fields.iter().map(|(_, value)| *value).chain(*base).collect()
        }
        ValueKind::List(values) | ValueKind::Join(values) => values.clone(),
        ValueKind::Binary { left, right, .. } => vec![*left, *right],
        _ => Vec::new(),
    }
}

/// Whether a pattern is that of any failure, or of any success; `None` when it is neither, or asks for
/// more: `Ok(Some(_))`.
pub(super) fn failure_side(pattern: &Pattern) -> Option<bool> {
    let Pattern::Variant { path, fields } = pattern else { return None };
    let any = fields.iter().all(|(_, inside)| inside.always());
    match path.last()? {
        "Err" => Some(true),
        "Ok" | SUCCESS if any => Some(false),
        _ => None,
    }
}
