//! Times that are given to a command in a unit that it does not count in.
//!
//! What unit a number counts in is read off where it comes from: a duration that is turned into one, a
//! constant, field, parameter or variable whose name ends in its unit, and arithmetic that turns one unit
//! into another. A number is followed to the callers that pass it, into scripts too. What has no unit in
//! sight says nothing.

use std::collections::BTreeSet;

use super::Analysis;
use crate::catalog::redis::{WordPlace, command};
use crate::config::Confidence;
use crate::config::words::Words;
use crate::ir::body::{Body, Call, OpId};
use crate::ir::effect::{BodyId, Effect, EffectKind, Expiry, ExpiryUnit, RedisCommand, Site};
use crate::ir::value::{Literal, Operator, Value, ValueId, ValueKind};
use crate::link::ConstantId;
use crate::link::evaluate::returned_values;
use crate::link::names::Named;
use crate::source::Span;

mod unit;

pub use unit::TimeUnit;

/// What is wrong with a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeFault {
    /// It counts in this unit.
    Unit(TimeUnit),
    /// It is nothing: the server refuses it, or takes it for "at once".
    Zero,
    /// It has a fraction: the server refuses it.
    Fraction,
}

/// A time that a command does not mean as it is given.
#[derive(Clone, Debug)]
pub struct WrongTime {
    /// The value at fault.
    pub span: Span,
    /// The body it is given in.
    pub body: BodyId,
    /// The calls from there down to the command.
    pub chain: Vec<Site>,
    /// What is wrong.
    pub fault: TimeFault,
    /// The unit that the command counts in.
    pub wanted: TimeUnit,
    /// How sure.
    pub confidence: Confidence,
}

/// How deep a value is followed.
const DEEPEST: usize = 24;
/// How many calls up a value is followed.
const MOST_CALLS_UP: usize = 5;
/// How many places one time is followed to.
const MOST_PLACES: usize = 200;

/// A unit, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    unit: TimeUnit,
    confidence: Confidence,
}

/// A time on its way from a command up to where it is made.
struct Place {
    body: BodyId,
    value: ValueId,
    wanted: TimeUnit,
    chain: Vec<Site>,
    /// Where it is given.
    span: Option<Span>,
}

impl Analysis<'_> {
    /// The times that a command is given in a wrong unit, as nothing, or in parts.
    #[must_use]
    pub fn wrong_times(&self, effect: &Effect) -> Vec<WrongTime> {
        let EffectKind::Redis(redis) = &effect.kind else { return Vec::new() };
        let body = effect.site.body;
        let given = given_times(redis);
        let faults = given.into_iter().flat_map(|(value, wanted, whole)| {
            let span = self.place_of(body, value).unwrap_or(effect.span);
            match self.plainly_wrong(redis, body, value, whole) {
                Some(fault) => {
                    let (chain, confidence) = (Vec::new(), Confidence::High);
                    vec![WrongTime { span, body, chain, fault, wanted, confidence }]
                }
                None => {
                    let (chain, span) = (Vec::new(), Some(span));
                    self.wrong_units(Place { body, value, wanted, chain, span })
                }
            }
        });
        faults.collect()
    }

    /// A time that is wrong whatever its unit.
    fn plainly_wrong(
        &self,
        redis: &RedisCommand,
        body: BodyId,
        value: ValueId,
        whole: bool,
    ) -> Option<TimeFault> {
        let own = &self.program.body(body)?.body;
        if whole && gives_fraction(own, value) {
            return Some(TimeFault::Fraction);
        }
        // `EXPIRE key 0` deletes, and a wait of 0 has no end: both may be meant where they are written.
        let meant = matches!(own.kind(own.peel(value)), ValueKind::Literal(_))
            && (!whole || redis.is(&["EXPIRE", "PEXPIRE"]));
        (!meant && self.program.integer(body, value) == Some(0)).then_some(TimeFault::Zero)
    }

    /// The places where a time of another unit is given.
    fn wrong_units(&self, place: Place) -> Vec<WrongTime> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            if !seen.insert((place.body, place.value, place.wanted)) || seen.len() > MOST_PLACES {
                continue;
            }
            let Some(own) = self.program.body(place.body) else { continue };
            let known = self.unit(place.body, &own.body, place.value, DEEPEST);
            match (known, own.body.value(place.value)) {
                (Some(known), Some(value)) if known.unit != place.wanted => found.push(WrongTime {
                    span: place.span.unwrap_or(value.span),
                    body: place.body,
                    chain: place.chain,
                    fault: TimeFault::Unit(known.unit),
                    wanted: place.wanted,
                    confidence: known.confidence,
                }),
                _ if place.chain.len() < MOST_CALLS_UP => {
                    waiting.extend(self.passed(&own.body, &place, DEEPEST));
                }
                _ => {}
            }
        }
        found.sort_by_key(|one| (one.span, one.chain.len()));
        found
    }

    /// What callers pass where a value is a parameter, or is made of one.
    fn passed(&self, body: &Body, place: &Place, depth: usize) -> Vec<Place> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let inner = |value: ValueId, wanted: TimeUnit| {
            let (chain, span) = (place.chain.clone(), place.span);
            self.passed(body, &Place { body: place.body, value, wanted, chain, span }, depth)
        };
        match body.kind(place.value) {
            ValueKind::Parameter(index) => self.arguments(place, *index),
            ValueKind::ScriptArgument(Some(number)) => self.script_arguments(place, *number),
            ValueKind::Converted { value, .. } | ValueKind::Adapted { value, .. } => {
                inner(*value, place.wanted)
            }
            ValueKind::Payload { of, .. } => inner(*of, place.wanted),
            ValueKind::Join(values) => {
                values.iter().flat_map(|value| inner(*value, place.wanted)).collect()
            }
            ValueKind::Captured(outer) => {
                let parent = self.program.body(place.body).and_then(|own| own.parent);
                let around = parent.map(|body| Place {
                    body,
                    value: *outer,
                    wanted: place.wanted,
                    chain: place.chain.clone(),
                    span: place.span,
                });
                around.into_iter().collect()
            }
            ValueKind::Binary { .. } | ValueKind::Result(_) => {
                match self.arithmetic(place.body, body, place.value) {
                    Some((of, Scale::Times(by))) => {
                        let wanted = place.wanted.divided(by).filter(|_| converts(by));
                        wanted.map(|wanted| inner(of, wanted)).unwrap_or_default()
                    }
                    Some((of, Scale::Divided(by))) => {
                        let wanted = place.wanted.times(by).filter(|_| converts(by));
                        wanted.map(|wanted| inner(of, wanted)).unwrap_or_default()
                    }
                    Some((of, Scale::Same)) => inner(of, place.wanted),
                    None => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn arguments(&self, place: &Place, index: u32) -> Vec<Place> {
        let callers = self.program.callers(place.body).iter();
        let passed = callers.filter_map(|site| {
            let call = self.program.body(site.body)?.body.call(site.op)?;
            let (arguments, _) = self.program.bound_arguments(place.body, call);
            let value = *arguments.get(index as usize)?;
            Some(self.passed_by(place, *site, value))
        });
        passed.collect()
    }

    fn script_arguments(&self, place: &Place, number: u32) -> Vec<Place> {
        let callers = self.program.script_callers(place.body).iter();
        let passed = callers.filter_map(|site| {
            let arguments = self.program.script_arguments(*site, place.body)?;
            let value = *arguments.get(number.checked_sub(1)? as usize)?;
            Some(self.passed_by(place, *site, value))
        });
        passed.collect()
    }

    /// Where a value is written; `None` for a variable, which is written where it was bound.
    fn place_of(&self, body: BodyId, value: ValueId) -> Option<Span> {
        let value = self.program.body(body)?.body.value(value)?;
        value.name.is_none().then_some(value.span)
    }

    /// The same time as a caller of the body passes it.
    fn passed_by(&self, place: &Place, site: Site, value: ValueId) -> Place {
        let mut chain = vec![site];
        chain.extend(place.chain.iter().copied());
        let span = self.place_of(site.body, value).or_else(|| self.place(site));
        Place { body: site.body, value, wanted: place.wanted, chain, span }
    }

    /// The unit that a value counts in.
    fn unit(&self, id: BodyId, body: &Body, value: ValueId, depth: usize) -> Option<Known> {
        let depth = depth.checked_sub(1)?;
        let inner = |value: ValueId| self.unit(id, body, value, depth);
        let whole = body.value(value)?;
        let made = match &whole.kind {
            ValueKind::Converted { value, .. }
            | ValueKind::Adapted { value, .. }
            | ValueKind::Awaited(value) => inner(*value),
            ValueKind::Payload { of, .. } => inner(*of),
            ValueKind::Join(values) => {
                let mut all = values.iter().map(|value| inner(*value));
                let first = all.next()??;
                all.all(|other| other.is_some_and(|it| it.unit == first.unit)).then_some(first)
            }
            ValueKind::Captured(outer) => {
                let parent = self.program.body(id)?.parent?;
                self.unit(parent, &self.program.body(parent)?.body, *outer, depth)
            }
            ValueKind::Binary { .. } | ValueKind::Result(_) => {
                self.made_unit(id, body, value, depth)
            }
            ValueKind::Path(path) => match self.program.resolve(id, path) {
                Named::Constant(constant) => self.constant_unit(constant, depth),
                _ => None,
            },
            _ => None,
        };
        made.or_else(|| named_unit(self.words, whole))
    }

    /// The unit of a constant whose name does not say it.
    fn constant_unit(&self, constant: ConstantId, depth: usize) -> Option<Known> {
        let id = self.program.constant_body(constant)?;
        let body = &self.program.body(id)?.body;
        match returned_values(body).as_slice() {
            [value] => self.unit(id, body, *value, depth),
            _ => None,
        }
    }

    /// The unit of a number that a call or an operator makes.
    fn made_unit(&self, id: BodyId, body: &Body, value: ValueId, depth: usize) -> Option<Known> {
        if let ValueKind::Result(op) = body.kind(value)
            && let Some(nanoseconds) = self.program.counted_nanoseconds(Site { body: id, op: *op })
        {
            let unit = TimeUnit::of_nanoseconds(nanoseconds)?;
            return Some(Known { unit, confidence: Confidence::High });
        }
        let (of, scale) = self.arithmetic(id, body, value)?;
        let known = self.unit(id, body, of, depth)?;
        let unit = match scale {
            Scale::Same => known.unit,
            Scale::Times(by) if converts(by) => known.unit.times(by)?,
            Scale::Divided(by) if converts(by) => known.unit.divided(by)?,
            Scale::Times(_) | Scale::Divided(_) => known.unit,
        };
        Some(Known { unit, ..known })
    }

    /// The number that a value is a multiple or a part of.
    fn arithmetic(&self, id: BodyId, body: &Body, value: ValueId) -> Option<(ValueId, Scale)> {
        let constant = |value: ValueId| self.program.integer(id, value);
        match body.kind(value) {
            ValueKind::Binary { operator, left, right } => {
                match (operator, constant(*left), constant(*right)) {
                    (_, Some(_), Some(_)) => {
                        self.named_factor(body, *operator, [*left, *right], constant)
                    }
                    (Operator::Multiply, Some(by), None) => Some((*right, Scale::Times(by))),
                    (Operator::Multiply, None, Some(by)) => Some((*left, Scale::Times(by))),
                    (Operator::Divide, None, Some(by)) => Some((*left, Scale::Divided(by))),
                    (Operator::Add | Operator::Subtract, _, Some(_)) => Some((*left, Scale::Same)),
                    (Operator::Add, Some(_), _) => Some((*right, Scale::Same)),
                    _ => None,
                }
            }
            ValueKind::Result(op) => adjusted(body, *op, constant),
            _ => None,
        }
    }

    /// Of two constants, the one that is no bare number.
    fn named_factor(
        &self,
        body: &Body,
        operator: Operator,
        [left, right]: [ValueId; 2],
        constant: impl Fn(ValueId) -> Option<i128>,
    ) -> Option<(ValueId, Scale)> {
        let bare = |value: ValueId| matches!(body.kind(body.peel(value)), ValueKind::Literal(_));
        match (operator, bare(left), bare(right)) {
            (Operator::Multiply, false, true) => Some((left, Scale::Times(constant(right)?))),
            (Operator::Multiply, true, false) => Some((right, Scale::Times(constant(left)?))),
            (Operator::Divide, false, true) => Some((left, Scale::Divided(constant(right)?))),
            (Operator::Add | Operator::Subtract, false, true) => Some((left, Scale::Same)),
            _ => None,
        }
    }
}

/// How a number was made of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Same,
    Times(i128),
    Divided(i128),
}

/// Whether a factor turns one unit into another: any other one makes a longer or shorter time.
fn converts(factor: i128) -> bool {
    matches!(factor, 60 | 1_000 | 3_600 | 60_000 | 86_400 | 1_000_000 | 1_000_000_000)
}

/// The unit that the name of a value ends in.
fn named_unit(words: &Words, value: &Value) -> Option<Known> {
    let own = match &value.kind {
        ValueKind::Path(path) => path.last(),
        ValueKind::Field { name, .. } => Some(name.as_str()),
        ValueKind::Literal(_) => None,
        _ => value.name.as_deref(),
    };
    let unit = TimeUnit::of_name(words, own?)?;
    Some(Known { unit, confidence: Confidence::Medium })
}

/// The number that a call of a number's own interface, or of Lua's, gives back in another form.
fn adjusted(
    body: &Body,
    op: OpId,
    constant: impl Fn(ValueId) -> Option<i128>,
) -> Option<(ValueId, Scale)> {
    let call: &Call = body.call(op)?;
    let argument = |index: usize| call.arguments.get(index).map(|argument| argument.value);
    let of = call.receiver.or_else(|| argument(0))?;
    let by = || constant(argument(usize::from(call.receiver.is_none()))?);
    let scale = match call.callee.name()? {
        "max" | "min" | "clamp" | "ceil" | "floor" | "round" | "abs" | "tonumber" | "tostring"
        | "saturating_add" | "saturating_sub" | "checked_add" | "checked_sub" => Scale::Same,
        "saturating_mul" | "checked_mul" | "wrapping_mul" => Scale::Times(by()?),
        "div_ceil" | "checked_div" | "saturating_div" => Scale::Divided(by()?),
        _ => return None,
    };
    // `math.max(1, ttl)`
    let bare = constant(of).is_some() && scale == Scale::Same;
    Some((if bare { argument(1).unwrap_or(of) } else { of }, scale))
}

/// Whether a value is a number with a fraction.
fn gives_fraction(body: &Body, value: ValueId) -> bool {
    match body.kind(body.peel(value)) {
        ValueKind::Literal(Literal::Float(number)) => number.fract() != 0.0,
        ValueKind::Result(op) => {
            body.call(*op).and_then(|call| call.callee.name()).is_some_and(|name| {
                matches!(name, "as_secs_f64" | "as_secs_f32" | "as_millis_f64" | "as_millis_f32")
            })
        }
        _ => false,
    }
}

/// The times that a command is given: value, unit, and whether they must be whole.
fn given_times(redis: &RedisCommand) -> Vec<(ValueId, TimeUnit, bool)> {
    let expiry = match &redis.expiry {
        Expiry::Set { amount: Some(amount), unit: ExpiryUnit::Seconds, .. } => {
            Some((*amount, TimeUnit::Seconds, true))
        }
        Expiry::Set { amount: Some(amount), unit: ExpiryUnit::Milliseconds, .. } => {
            Some((*amount, TimeUnit::Milliseconds, true))
        }
        _ => None,
    };
    let waits = command(&redis.name).and_then(|row| row.waits);
    let wait = waits.and_then(|place| {
        let word = match place {
            WordPlace::FromStart(word) => redis.words.get(word.checked_sub(1)?),
            WordPlace::Last => redis.words.last(),
        };
        Some((word?.value?, TimeUnit::Seconds, false))
    });
    expiry.into_iter().chain(wait).collect()
}
