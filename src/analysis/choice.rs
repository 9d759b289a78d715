//! What a function does for one of its callers: `run(Op::Renew(ttl))` comes to no operation behind
//! `Op::Release`, and runs no script that is chosen there.
//!
//! Errs on the side of *may*: only what a call writes down (a literal, a variant) rules anything out.

use crate::ir::body::{BlockId, Body};
use crate::ir::effect::{BodyId, EffectKind, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;

use super::outcome::{Abstract, Assumption, of_literal};

/// Whether a function, as one call of it enters it, may come to one of its operations, and there run
/// that script.
#[must_use]
pub fn may_come_to(
    program: &Program,
    operation: Site,
    script: Option<BodyId>,
    caller: Site,
) -> bool {
    let Some(own) = program.body(operation.body).filter(|own| own.parent.is_none()) else {
        return true;
    };
    let given = given_by(program, operation.body, caller);
    if given.iter().all(|value| *value == Abstract::Unknown) {
        return true;
    }
    let Some((block, _)) = own.body.position(operation.op) else { return true };
    let assumption = Assumption::of_parameters(program, operation.body, given);
    let open = assumption.reachable(&own.body, BlockId(0));
    let chosen =
        |script| may_choose(program, &own.body, operation, script, &|from| open.contains(&from));
    open.contains(&block) && script.is_none_or(chosen)
}

/// What a call gives for the parameters of what it calls, as far as it is written down.
fn given_by(program: &Program, callee: BodyId, caller: Site) -> Vec<Abstract> {
    let Some(outer) = program.body(caller.body).map(|outer| &outer.body) else { return Vec::new() };
    let Some(call) = outer.call(outer.call_behind(caller.op)) else { return Vec::new() };
    let (arguments, _) = program.bound_arguments(callee, call);
    arguments.iter().map(|value| written(outer, *value)).collect()
}

fn written(body: &Body, value: ValueId) -> Abstract {
    let variant = |name: Option<&str>| match name {
        Some("None") => Abstract::Nothing,
        Some("Some") => Abstract::Some(Box::new(Abstract::Unknown)),
        Some(name) if name.starts_with(char::is_uppercase) => Abstract::Named(name.to_owned()),
        _ => Abstract::Unknown,
    };
    match body.kind(body.peel(value)) {
        ValueKind::Literal(literal) => of_literal(literal),
        // A constant of that name may be anything; a variant stands behind its type.
        ValueKind::Path(path) if path.0.len() > 1 || path.last() == Some("None") => {
            variant(path.last().filter(|name| name.chars().any(char::is_lowercase)))
        }
        ValueKind::Aggregate { path, base: None, .. } => variant(path.last()),
        _ => Abstract::Unknown,
    }
}

/// Whether an invocation may run one of its scripts on the ways that are open: the texts that meet
/// in the body are its scripts, and each way brings its own.
fn may_choose(
    program: &Program,
    body: &Body,
    operation: Site,
    script: BodyId,
    open: &dyn Fn(BlockId) -> bool,
) -> bool {
    let several = program.effects(operation.body).iter().any(|effect| match &effect.kind {
        EffectKind::Script(call) => effect.site == operation && call.scripts.len() > 1,
        _ => false,
    });
    let Some(place) = program.body(script).map(|own| own.body.span).filter(|_| several) else {
        return true;
    };
    let brings = |value: ValueId| {
        let texts = program.texts(operation.body, value);
        texts.iter().filter_map(|text| text.runs.first()).any(|(_, first)| place.covers(*first))
    };
    let mut known = false;
    for (join, ways) in &body.ways {
        let ValueKind::Join(values) = body.kind(*join) else { continue };
        for (from, value) in ways.iter().zip(values) {
            if brings(*value) {
                known = true;
                if open(*from) {
                    return true;
                }
            }
        }
    }
    !known
}
