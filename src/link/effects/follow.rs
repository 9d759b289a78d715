//! Follows a value to where it is made: through locals, constants, lazily made statics, fields that
//! constructors set, and functions of the workspace.

use std::sync::Arc;

use super::facts;
use crate::ir::body::{Body, Call};
use crate::ir::effect::{BodyId, ExpiryUnit, Site};
use crate::ir::key::KeyTemplate;
use crate::ir::value::{Literal, ValueId, ValueKind};
use crate::link::Program;
use crate::link::evaluate::{is_success, keeps_success, returned_values};

/// How many places a value may come from before nothing is said.
const MOST_SOURCES: usize = 12;
/// How many calls are followed into one another.
const MOST_CALLS: usize = 8;
/// How many values one question looks at.
const MOST_STEPS: usize = 600;

/// Functions of lazily made values: they give what their closure gives.
const LAZY: [&str; 6] =
    ["new", "get_or_init", "get_or_try_init", "force", "get_or_insert_with", "call_once"];

/// A value and the calls by which its body was entered from the body that asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// The body.
    pub body: BodyId,
    /// The value.
    pub value: ValueId,
    /// The body that asked.
    pub asked: BodyId,
    /// Call and callee, outermost first.
    pub entered: Arc<[(Site, BodyId)]>,
    /// Whether the body was reached in another way than by calls: its parameters mean nothing here.
    pub detached: bool,
}

impl At {
    /// A value of the body that asks.
    pub(super) fn here(body: BodyId, value: ValueId) -> Self {
        Self { body, value, asked: body, entered: Arc::from([]), detached: false }
    }

    /// A value of a body that calls entered, outermost first.
    pub(super) fn entered(body: BodyId, value: ValueId, entered: &Arc<[(Site, BodyId)]>) -> Self {
        let asked = entered.first().map_or(body, |(site, _)| site.body);
        Self { asked, entered: Arc::clone(entered), ..Self::here(body, value) }
    }

    /// Another value of the same body, entered the same way.
    pub(super) fn with(&self, value: ValueId) -> Self {
        Self { value, ..self.clone() }
    }

    /// A value of a callee.
    pub(super) fn inside(&self, call: Site, callee: BodyId, value: ValueId) -> Self {
        let entered = self.entered.iter().copied().chain([(call, callee)]).collect();
        Self { body: callee, value, entered, ..self.clone() }
    }

    /// A value of a body that no call of ours entered.
    fn elsewhere(body: BodyId, value: ValueId) -> Self {
        Self { detached: true, ..Self::here(body, value) }
    }

    /// Its body.
    pub(super) fn code<'p>(&self, program: &'p Program) -> Option<&'p Body> {
        program.body(self.body).map(|body| &body.body)
    }

    /// What it is, same-value conversions peeled.
    pub(super) fn kind<'p>(&self, program: &'p Program) -> &'p ValueKind {
        static UNKNOWN: ValueKind = ValueKind::Unknown;
        self.code(program).map_or(&UNKNOWN, |body| body.kind(body.peel(self.value)))
    }

    /// The call it is the result of.
    pub(super) fn call<'p>(&self, program: &'p Program) -> Option<(Site, &'p Call)> {
        let ValueKind::Result(op) = self.kind(program) else { return None };
        let call = self.code(program)?.call(*op)?;
        Some((Site { body: self.body, op: *op }, call))
    }

    /// The value of the asking body that it is: itself, or what was passed for it.
    pub(super) fn local(&self, program: &Program) -> Option<ValueId> {
        if self.detached {
            return None;
        }
        let mut at = self.clone();
        while let Some(((site, callee), outer)) = at.entered.split_last() {
            let (site, callee, outer) = (*site, *callee, Arc::from(outer));
            at = match at.body == callee {
                true => {
                    let value = passed(program, &at, site, callee)?;
                    Self { body: site.body, value, entered: outer, ..at }
                }
                // A value that a closure captured is one of a body further out.
                false => Self { entered: outer, ..at },
            };
        }
        if at.body == at.asked {
            return Some(at.value);
        }
        let asked = program.body(at.asked).filter(|asked| asked.parent == Some(at.body))?;
        asked.body.values.iter().zip(0_u32..).find_map(|(own, index)| match own.kind {
            ValueKind::Captured(outer) if outer == at.value => Some(ValueId(index)),
            _ => None,
        })
    }

    /// Its template in the frame of the asking body.
    pub(super) fn template(&self, program: &Program) -> KeyTemplate {
        let template = program.template_through(&self.entered, self.body, self.value);
        if self.detached { program.detached_template(&template, self.body) } else { template }
    }

    /// The milliseconds that it means where a unit is expected, when constant.
    pub(super) fn milliseconds(&self, program: &Program, unit: ExpiryUnit) -> Option<u64> {
        let direct = self.entered.last().is_some_and(|(_, callee)| *callee == self.body);
        let calls: Vec<Site> = match direct && !self.detached {
            true => self.entered.iter().map(|(site, _)| *site).collect(),
            false => Vec::new(),
        };
        program.milliseconds_through(&calls, self.body, self.value, unit)
    }

    /// Its text, when constant.
    pub(super) fn constant(&self, program: &Program) -> Option<String> {
        self.template(program).constant().map(str::to_owned)
    }
}

/// What a call passes for a parameter (or receiver) of the callee.
fn passed(program: &Program, at: &At, site: Site, callee: BodyId) -> Option<ValueId> {
    let call = program.body(site.body)?.body.call(site.op)?;
    let (arguments, receiver) = program.bound_arguments(callee, call);
    match at.kind(program) {
        ValueKind::Parameter(index) => arguments.get(*index as usize).copied(),
        ValueKind::Receiver => receiver,
        _ => None,
    }
}

/// Where a value is made: calls, literals, parameters, fields of unknown values. Joins give all
/// their sides. Empty when there are too many.
pub(super) fn sources(program: &Program, start: &At) -> Vec<At> {
    let mut found: Vec<At> = Vec::new();
    let mut stack = vec![start.clone()];
    let mut seen: Vec<At> = Vec::new();
    let mut steps = 0;
    while let Some(at) = stack.pop() {
        steps += 1;
        if steps > MOST_STEPS || found.len() > MOST_SOURCES {
            return Vec::new();
        }
        if seen.contains(&at) {
            continue;
        }
        seen.push(at.clone());
        let next = step(program, &at);
        if next.is_empty() {
            if !found.contains(&at) {
                found.push(at);
            }
        } else {
            stack.extend(next.into_iter().rev());
        }
    }
    found
}

/// Whether an optional value is there: `Some(true)` when it plainly is on every way it is made,
/// `Some(false)` when it plainly is not. A type's derived default has no optional parts.
pub(super) fn presence(program: &Program, start: &At) -> Option<bool> {
    let mut known: Option<bool> = None;
    let mut stack = vec![start.clone()];
    let mut steps = 0;
    while let Some(at) = stack.pop() {
        steps += 1;
        if steps > MOST_STEPS {
            return None;
        }
        let here = match at.kind(program) {
            ValueKind::Literal(Literal::Nothing) => Some(false),
            ValueKind::Aggregate { path, .. } if path.last() == Some("Some") => Some(true),
            ValueKind::Result(_) => {
                let (site, call) = at.call(program)?;
                let default = call.callee.name() == Some("default");
                (default && facts::callee_bodies(program, site).is_empty()).then_some(false)
            }
            _ => None,
        };
        match here {
            Some(here) if known.is_none_or(|before| before == here) => known = Some(here),
            Some(_) => return None,
            None => {
                let next = step(program, &at);
                if next.is_empty() {
                    return None;
                }
                stack.extend(next);
            }
        }
    }
    known
}

/// The values that a value comes from; none when it is made here.
fn step(program: &Program, at: &At) -> Vec<At> {
    let Some(body) = at.code(program) else { return Vec::new() };
    match body.kind(at.value) {
        ValueKind::Converted { value, .. } | ValueKind::Awaited(value) => vec![at.with(*value)],
        ValueKind::Payload { of, variant, field } if is_success(variant) && field == "0" => {
            vec![at.with(*of)]
        }
        ValueKind::Adapted { value, adapter, .. } if keeps_success(*adapter) => {
            vec![at.with(*value)]
        }
        ValueKind::Join(values) => values.iter().map(|value| at.with(*value)).collect(),
        ValueKind::Aggregate { path, fields, .. } => match (path.last(), fields.as_slice()) {
            (Some(last), [(_, inner)]) if is_success(last) => vec![at.with(*inner)],
            _ => Vec::new(),
        },
        ValueKind::Captured(outer) => match program.body(at.body).and_then(|body| body.parent) {
            // The closure runs in its function's frame: parameters there are the function's own.
            Some(parent) => vec![At { body: parent, value: *outer, ..at.clone() }],
            None => Vec::new(),
        },
        ValueKind::Path(path) => match facts::constant_body(program, at.body, path) {
            Some(constant) => elsewhere(program, constant),
            None => Vec::new(),
        },
        ValueKind::Field { base, name } => field(program, at, *base, name),
        ValueKind::Parameter(_) | ValueKind::Receiver => parameter(program, at),
        ValueKind::Result(_) => call(program, at),
        _ => Vec::new(),
    }
}

fn elsewhere(program: &Program, body: BodyId) -> Vec<At> {
    let code = program.body(body).map(|body| returned_values(&body.body)).unwrap_or_default();
    code.into_iter().map(|value| At::elsewhere(body, value)).collect()
}

fn parameter(program: &Program, at: &At) -> Vec<At> {
    let Some(((site, callee), outer)) = at.entered.split_last() else { return Vec::new() };
    if at.body != *callee {
        return Vec::new();
    }
    let value = passed(program, at, *site, *callee);
    let outer = At { body: site.body, entered: Arc::from(outer), ..at.clone() };
    value.into_iter().map(|value| outer.with(value)).collect()
}

/// A field of a value built in sight, or of a type whose constructors are all in sight.
fn field(program: &Program, at: &At, base: ValueId, name: &str) -> Vec<At> {
    let Some(body) = at.code(program) else { return Vec::new() };
    let mut base = at.with(body.peel(base));
    for _ in 0..MOST_CALLS {
        if let Some(found) = named(program, &base, name) {
            return vec![found];
        }
        match (base.kind(program), step(program, &base).as_slice()) {
            (ValueKind::Parameter(_) | ValueKind::Captured(_), [only]) => {
                let peeled = only.code(program).map(|body| body.peel(only.value));
                base = only.with(peeled.unwrap_or(only.value));
            }
            _ => break,
        }
    }
    let built = facts::constructors(program, base.body, base.value);
    let fields: Vec<Option<At>> = built
        .into_iter()
        .map(|(body, value)| named(program, &At::elsewhere(body, value), name))
        .collect();
    fields.into_iter().collect::<Option<Vec<At>>>().unwrap_or_default()
}

/// A field of an aggregate or tuple; one that a functional update leaves out is that of its base:
/// the base itself stands for it when the base is a default.
fn named(program: &Program, at: &At, name: &str) -> Option<At> {
    match at.kind(program) {
        ValueKind::Aggregate { fields, base, .. } => {
            let found = fields.iter().find(|(field, _)| field == name);
            match (found, base) {
                (Some((_, value)), _) => Some(at.with(*value)),
                (None, Some(base)) => {
                    let base = at.with(*base);
                    let default = base.call(program)?.1.callee.name() == Some("default");
                    default.then_some(base)
                }
                (None, None) => None,
            }
        }
        ValueKind::List(values) => {
            let index = name.parse::<usize>().ok()?;
            values.get(index).map(|value| at.with(*value))
        }
        _ => None,
    }
}

fn call(program: &Program, at: &At) -> Vec<At> {
    let Some((site, call)) = at.call(program) else { return Vec::new() };
    let bodies = facts::callee_bodies(program, site);
    if !bodies.is_empty() {
        if at.entered.len() >= MOST_CALLS {
            return Vec::new();
        }
        let values = bodies.iter().flat_map(|callee| {
            let values =
                program.body(*callee).map(|body| returned_values(&body.body)).unwrap_or_default();
            values.into_iter().map(|value| at.inside(site, *callee, value)).collect::<Vec<_>>()
        });
        return values.collect();
    }
    let lazy = call.callee.name().is_some_and(|name| LAZY.contains(&name));
    let argument = call.arguments.last().filter(|_| lazy).map(|argument| at.with(argument.value));
    let Some(argument) = argument else { return Vec::new() };
    match argument.kind(program) {
        ValueKind::Closure(index) | ValueKind::Async(index) => {
            let nested = facts::nested(program, at.body, *index);
            let values = nested.and_then(|nested| program.body(nested));
            let values = values.map(|body| (body.id, returned_values(&body.body)));
            let (body, values) = values.unwrap_or((at.body, Vec::new()));
            values.into_iter().map(|value| At { body, value, ..at.clone() }).collect()
        }
        // `LazyLock::new(make_script)`: a function by name.
        ValueKind::Path(path) => match facts::function_body(program, at.body, path) {
            Some(body) => elsewhere(program, body),
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}
