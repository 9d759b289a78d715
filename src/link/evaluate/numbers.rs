//! Numbers and durations: constants, arithmetic on them, and conversions between units.

use super::sources::DurationUnit;
use super::{Entry, Evaluator, Frame, returned_values};
use crate::ir::body::Call;
use crate::ir::effect::{BodyId, ExpiryUnit, Site};
use crate::ir::index::TypeRef;
use crate::ir::value::{Literal, Operator, ValueId, ValueKind};
use crate::link::Program;
use crate::link::names::Named;

/// A number, or a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    /// A plain number, and whether it is a whole one by its type: then division cuts off.
    Plain(f64, bool),
    /// A duration, in milliseconds.
    Duration(f64),
}

impl Program {
    /// The whole number a value is, when constant.
    #[must_use]
    pub fn integer(&self, body: BodyId, value: ValueId) -> Option<i128> {
        Evaluator::new(self).integer(&Frame::root(body), value)
    }

    /// The milliseconds that a number or duration means where `unit` is expected, when constant;
    /// `None` for points in time.
    #[must_use]
    pub fn milliseconds(&self, body: BodyId, value: ValueId, unit: ExpiryUnit) -> Option<u64> {
        let number = Evaluator::new(self).number(&Frame::root(body), value, 0)?;
        number.milliseconds(unit)
    }

    /// The same for a value of a body that is entered by these calls, outermost first: what they pass
    /// counts.
    #[must_use]
    pub fn milliseconds_through(
        &self,
        calls: &[Site],
        body: BodyId,
        value: ValueId,
        unit: ExpiryUnit,
    ) -> Option<u64> {
        let outermost = calls.first().map_or(body, |site| site.body);
        let number = Evaluator::new(self).entered(calls, &Frame::root(outermost), (body, value))?;
        number.milliseconds(unit)
    }
}

impl Number {
    /// The milliseconds it means where `unit` is expected.
    fn milliseconds(self, unit: ExpiryUnit) -> Option<u64> {
        match (self, unit) {
            (Self::Duration(milliseconds), _) => in_range(milliseconds),
            (Self::Plain(seconds, _), ExpiryUnit::Seconds) => in_range(seconds * 1_000.0),
            (Self::Plain(milliseconds, _), ExpiryUnit::Milliseconds) => in_range(milliseconds),
            _ => None,
        }
    }
}

/// A non-negative number of milliseconds as a whole number.
fn in_range(milliseconds: f64) -> Option<u64> {
    let fits = milliseconds.is_finite() && (0.0..9.0e15).contains(&milliseconds);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fits.then_some(milliseconds as u64)
}

impl Evaluator<'_> {
    pub(super) fn integer(&mut self, frame: &Frame<'_>, value: ValueId) -> Option<i128> {
        if let ValueKind::Literal(Literal::Integer(number)) = self.body_of(frame)?.kind(value) {
            return Some(*number);
        }
        match self.number(frame, value, 0)? {
            #[allow(clippy::cast_possible_truncation)]
            Number::Plain(number, _) if number.fract() == 0.0 && number.abs() < 9.0e15 => {
                Some(number as i128)
            }
            _ => None,
        }
    }

    /// A number of a body that is entered by these calls from the frame.
    fn entered(
        &mut self,
        calls: &[Site],
        frame: &Frame<'_>,
        (body, value): (BodyId, ValueId),
    ) -> Option<Number> {
        let Some((site, deeper)) = calls.split_first() else {
            return self.number(frame, value, 0);
        };
        let callee = deeper.first().map_or(body, |next| next.body);
        if let Some(arguments) = self.program.script_arguments(*site, callee) {
            return self.entered(deeper, &frame.nested(callee, arguments), (body, value));
        }
        let body_around = self.body_of(frame)?;
        let op = body_around.call_behind(site.op);
        let called = self.program.targets(site.body, op);
        let called = called.is_some_and(|targets| targets.bodies.contains(&callee));
        let call = body_around.call(op).filter(|_| called);
        match call {
            Some(call) => {
                let (arguments, receiver) = self.program.bound_arguments(callee, call);
                let inner = frame.called(callee, Some(op), receiver, &arguments);
                self.entered(deeper, &inner, (body, value))
            }
            None => self.entered(deeper, &frame.nested(callee, &[]), (body, value)),
        }
    }

    fn number(&mut self, frame: &Frame<'_>, value: ValueId, depth: usize) -> Option<Number> {
        self.steps += 1;
        if depth > 40 || frame.depth > super::MOST_FRAMES || self.steps > super::MOST_STEPS {
            return None;
        }
        let body = self.body_of(frame)?;
        match body.kind(value) {
            #[allow(clippy::cast_precision_loss)]
            ValueKind::Literal(Literal::Integer(number)) => {
                // Lua has no whole numbers.
                let whole = !self.program.in_script(frame.body);
                Some(Number::Plain(*number as f64, whole))
            }
            ValueKind::Literal(Literal::Float(number)) => Some(Number::Plain(*number, false)),
            ValueKind::Literal(Literal::Text(text)) => {
                text.content.trim().parse().ok().map(|number| Number::Plain(number, false))
            }
            ValueKind::Converted { value: inner, .. } => {
                let number = self.number(frame, *inner, depth + 1)?;
                Some(converted(number, body.value(value).and_then(|value| value.ty.as_ref())))
            }
            ValueKind::Awaited(value) => self.number(frame, *value, depth + 1),
            ValueKind::Adapted { value, adapter, .. } if super::keeps_success(*adapter) => {
                self.number(frame, *value, depth + 1)
            }
            ValueKind::Payload { of, variant, .. } if super::is_success(variant) => {
                self.number(frame, *of, depth + 1)
            }
            ValueKind::Aggregate { path, fields, .. } => match (path.last(), fields.as_slice()) {
                (Some(last), [(_, inner)]) if super::is_success(last) => {
                    self.number(frame, *inner, depth + 1)
                }
                _ => None,
            },
            ValueKind::Binary { operator, left, right } => {
                let left = self.number(frame, *left, depth + 1)?;
                let right = self.number(frame, *right, depth + 1)?;
                arithmetic(*operator, left, right)
            }
            ValueKind::Path(path) => match self.program.resolve(frame.body, path) {
                Named::Constant(id) => {
                    let body = self.program.constant_body(id)?;
                    self.returned_number(&frame.apart(body), depth)
                }
                _ => None,
            },
            ValueKind::Parameter(index) => {
                let Entry { outer, arguments, .. } = frame.entered?;
                self.number(outer, *arguments.get(*index as usize)?, depth + 1)
            }
            ValueKind::ScriptArgument(number) => {
                let Entry { outer, arguments, .. } = frame.entered?;
                let index = number.and_then(|number| number.checked_sub(1))? as usize;
                self.number(outer, *arguments.get(index)?, depth + 1)
            }
            ValueKind::Captured(outer) => {
                let parent = self.program.body(frame.body)?.parent?;
                self.number(&frame.around(parent), *outer, depth + 1)
            }
            ValueKind::Field { .. } => self.field_number(frame, value, depth),
            ValueKind::Result(op) => self.called_number(frame, *op, depth),
            _ => None,
        }
    }

    /// A field that every constructor sets to the same number, and that nothing writes to later.
    fn field_number(&mut self, frame: &Frame<'_>, value: ValueId, depth: usize) -> Option<Number> {
        let ValueKind::Field { base, name } = self.body_of(frame)?.kind(value) else { return None };
        let ty = super::workspace_type(&self.program.type_of(frame.body, *base))?;
        if self.program.is_assigned(ty, name) {
            return None;
        }
        let mut agreed = None;
        for (body, built) in self.program.constructors(ty) {
            let inner = frame.apart(*body);
            let ValueKind::Aggregate { fields, .. } = self.body_of(&inner)?.kind(*built) else {
                return None;
            };
            let (_, set) = fields.iter().find(|(field, _)| field == name)?;
            let number = self.number(&inner, *set, depth + 1)?;
            if agreed.is_some_and(|before| before != number) {
                return None;
            }
            agreed = Some(number);
        }
        agreed
    }

    /// What a call of a duration's interface gives: a duration of a number, or the number of units
    /// in a duration.
    fn duration_number(
        &mut self,
        frame: &Frame<'_>,
        call: &Call,
        unit: DurationUnit,
        depth: usize,
    ) -> Option<Number> {
        let argument = |index: usize| call.arguments.get(index).map(|argument| argument.value);
        let of = call.receiver.or_else(|| argument(0))?;
        match (unit.makes, self.number(frame, of, depth + 1)?) {
            (true, Number::Plain(amount, _)) => {
                // `Duration::new(seconds, nanoseconds)`
                let rest = match unit.nanoseconds {
                    Some(index) => match self.number(frame, argument(index)?, depth + 1)? {
                        Number::Plain(nanoseconds, _) => nanoseconds / 1.0e6,
                        Number::Duration(_) => return None,
                    },
                    None => 0.0,
                };
                Some(Number::Duration(amount * unit.milliseconds + rest))
            }
            (false, Number::Duration(milliseconds)) => {
                let amount = milliseconds / unit.milliseconds;
                let name = call.callee.name().unwrap_or_default();
                let whole = !name.ends_with("_f64") && !name.ends_with("_f32");
                Some(Number::Plain(if whole { amount.trunc() } else { amount }, whole))
            }
            _ => None,
        }
    }

    fn returned_number(&mut self, frame: &Frame<'_>, depth: usize) -> Option<Number> {
        let values = returned_values(self.body_of(frame)?);
        let [value] = values.as_slice() else { return None };
        self.number(frame, *value, depth + 1)
    }

    fn called_number(
        &mut self,
        frame: &Frame<'_>,
        op: crate::ir::body::OpId,
        depth: usize,
    ) -> Option<Number> {
        let call = self.body_of(frame)?.call(op)?;
        let site = Site { body: frame.body, op };
        if let Some(unit) = self.program.duration_unit(site) {
            return self.duration_number(frame, call, unit, depth);
        }
        let targets = self.program.targets(frame.body, op)?;
        let [callee] = targets.bodies.as_slice() else { return None };
        let (arguments, receiver) = self.program.bound_arguments(*callee, call);
        self.returned_number(&frame.called(*callee, Some(op), receiver, &arguments), depth)
    }
}

/// The number a text is, or another number's type makes of it.
fn converted(number: Number, ty: Option<&TypeRef>) -> Number {
    match (number, ty.and_then(TypeRef::name)) {
        (Number::Plain(number, _), Some("f32" | "f64")) => Number::Plain(number, false),
        (Number::Plain(number, false), Some(name)) if is_whole(name) => {
            Number::Plain(number.trunc(), true)
        }
        (number, _) => number,
    }
}

/// Whether a primitive type is one of whole numbers.
fn is_whole(name: &str) -> bool {
    let bits = name.strip_prefix(['u', 'i']).unwrap_or_default();
    matches!(bits, "8" | "16" | "32" | "64" | "128" | "size")
}

fn arithmetic(operator: Operator, left: Number, right: Number) -> Option<Number> {
    use Operator::{Add, Divide, Multiply, Remainder, Subtract};
    let plain = |left: f64, right: f64| match operator {
        Add => Some(left + right),
        Subtract => Some(left - right),
        Multiply => Some(left * right),
        Divide if right != 0.0 => Some(left / right),
        Remainder if right != 0.0 => Some(left % right),
        _ => None,
    };
    match (left, operator, right) {
        (Number::Plain(left, one), _, Number::Plain(right, other)) => {
            let whole = one && other;
            let number = plain(left, right)?;
            Some(Number::Plain(if whole { number.trunc() } else { number }, whole))
        }
        (Number::Duration(left), Multiply | Divide, Number::Plain(right, _))
        | (Number::Plain(right, _), Multiply, Number::Duration(left)) => {
            plain(left, right).map(Number::Duration)
        }
        (Number::Duration(left), Add | Subtract, Number::Duration(right)) => {
            plain(left, right).map(Number::Duration)
        }
        _ => None,
    }
}
