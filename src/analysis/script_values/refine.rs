//! What decided tests say of a value.

use super::kinds::Kinds;
use crate::ir::body::{Body, Callee};
use crate::ir::given::GivenId;
use crate::ir::value::{Conversion, Literal, Operator, ValueId, ValueKind};

/// Decided tests that one value is looked at under.
const MOST_TESTS: usize = 64;
/// Tests inside one another: `not (a and b)`.
const MOST_NESTED: usize = 8;

/// What a value may be where these tests were decided; `kinds` says what each value is by itself.
pub(super) fn refined(
    body: &Body,
    kinds: &[Kinds],
    value: ValueId,
    given: Option<GivenId>,
) -> Kinds {
    let mut found = own(kinds, value);
    for (_, test) in body.givens.from(given).take(MOST_TESTS) {
        found = found.and(allowed(body, kinds, test.value, test.holds, value, 0));
    }
    found
}

fn own(kinds: &[Kinds], value: ValueId) -> Kinds {
    kinds.get(value.0 as usize).copied().unwrap_or(Kinds::OTHER)
}

/// What a value may be where a test is true, or is not.
fn allowed(
    body: &Body,
    kinds: &[Kinds],
    test: ValueId,
    holds: bool,
    value: ValueId,
    depth: usize,
) -> Kinds {
    if depth > MOST_NESTED {
        return Kinds::ALL;
    }
    if same(body, test, value) {
        return if holds { Kinds::TRUTHY } else { Kinds::FALSY };
    }
    let inner = |test: ValueId, holds: bool| allowed(body, kinds, test, holds, value, depth + 1);
    match body.kind(body.peel(test)) {
        ValueKind::Not(test) => inner(*test, !holds),
        ValueKind::Binary { operator: Operator::And, left, right } if holds => {
            inner(*left, true).and(inner(*right, true))
        }
        ValueKind::Binary { operator: Operator::Or, left, right } if !holds => {
            inner(*left, false).and(inner(*right, false))
        }
        ValueKind::Binary { operator, left, right } if operator.compares() => {
            let equal = match operator {
                Operator::Equal => Some(holds),
                Operator::NotEqual => Some(!holds),
                _ => None,
            };
            let sides = [(*left, *right), (*right, *left)];
            sides.into_iter().fold(Kinds::ALL, |allowed, (side, other)| {
                allowed.and(by_comparison(body, kinds, equal, (side, other), value))
            })
        }
        // `tonumber(v)` was true, so v is something.
        ValueKind::Converted { value: of, conversion: Conversion::Number }
            if holds && same(body, *of, value) =>
        {
            Kinds::TRUTHY
        }
        _ => Kinds::ALL,
    }
}

/// What a comparison says of a value: `equal` is whether the sides are equal, and `None` when they
/// were put in order, which neither `nil` nor `false` can be.
fn by_comparison(
    body: &Body,
    kinds: &[Kinds],
    equal: Option<bool>,
    (side, other): (ValueId, ValueId),
    value: ValueId,
) -> Kinds {
    let number_of = |value: ValueId| match body.kind(body.peel(value)) {
        ValueKind::Converted { value, conversion: Conversion::Number } => Some(*value),
        _ => None,
    };
    let named = type_name(body, side, value).zip(text(body, other));
    let other = own(kinds, other);
    let scalar = Kinds::NIL.or(Kinds::ABSENT).or(Kinds::FALSE).or(Kinds::TRUE);
    match equal {
        Some(true) if same(body, side, value) && !other.may_be(Kinds::OTHER) => match other {
            _ if other.may_be(Kinds::NIL.or(Kinds::ABSENT)) => {
                other.or(Kinds::NIL).or(Kinds::ABSENT)
            }
            _ => other,
        },
        Some(true)
            if number_of(side).is_some_and(|of| same(body, of, value))
                && other.only(Kinds::NUMBER) =>
        {
            Kinds::TRUTHY
        }
        Some(false) if same(body, side, value) && other.only(scalar) => {
            let nil = Kinds::NIL.or(Kinds::ABSENT);
            Kinds::ALL.without(if other.may_be(nil) { nil } else { other })
        }
        Some(equal) => match named {
            Some(((), name)) if equal => of_type(name).or(Kinds::OTHER),
            Some(((), name)) => Kinds::ALL.without(of_type(name)),
            None => Kinds::ALL,
        },
        None if same(body, side, value) => Kinds::TRUTHY,
        None if number_of(side).is_some_and(|of| same(body, of, value)) => Kinds::TRUTHY,
        None => Kinds::ALL,
    }
}

/// Whether a value is `type(v)`.
fn type_name(body: &Body, side: ValueId, value: ValueId) -> Option<()> {
    let of = typed(body, side)?;
    same(body, of, value).then_some(())
}

/// The argument of a call of `type`.
pub fn typed(body: &Body, value: ValueId) -> Option<ValueId> {
    let ValueKind::Result(op) = body.kind(body.peel(value)) else { return None };
    let call = body.call(*op)?;
    let named = matches!(&call.callee, Callee::Path(path) if path.0.as_slice() == ["type"]);
    call.arguments.first().filter(|_| named).map(|argument| argument.value)
}

/// The text of a literal.
pub fn text(body: &Body, value: ValueId) -> Option<&str> {
    match body.kind(body.peel(value)) {
        ValueKind::Literal(Literal::Text(text)) => Some(&text.content),
        _ => None,
    }
}

/// The kinds that `type` gives one name.
pub(super) fn of_type(name: &str) -> Kinds {
    match name {
        "nil" => Kinds::NIL.or(Kinds::ABSENT),
        "boolean" => Kinds::FALSE.or(Kinds::TRUE),
        "number" => Kinds::NUMBER,
        "string" => Kinds::TEXT,
        "table" => Kinds::TABLE.or(Kinds::STATUS).or(Kinds::ERROR),
        "function" => Kinds::FUNCTION,
        _ => Kinds::EMPTY,
    }
}

/// Whether two values are one: the same number, or read alike from the same place.
pub(super) fn same(body: &Body, left: ValueId, right: ValueId) -> bool {
    let (mut left, mut right) = (body.peel(left), body.peel(right));
    for _ in 0..MOST_NESTED {
        if left == right {
            return true;
        }
        (left, right) = match (body.kind(left), body.kind(right)) {
            (ValueKind::ScriptKey(Some(l)), ValueKind::ScriptKey(Some(r)))
            | (ValueKind::ScriptArgument(Some(l)), ValueKind::ScriptArgument(Some(r))) => {
                return l == r;
            }
            (
                ValueKind::Converted { value: l, conversion: left },
                ValueKind::Converted { value: r, conversion: right },
            ) if left == right && *left == Conversion::Number => (body.peel(*l), body.peel(*r)),
            (
                ValueKind::Field { base: l, name: left },
                ValueKind::Field { base: r, name: right },
            ) if left == right => (body.peel(*l), body.peel(*r)),
            (
                ValueKind::Element { base: l, index: Some(left) },
                ValueKind::Element { base: r, index: Some(right) },
            ) if integer(body, *left).is_some()
                && integer(body, *left) == integer(body, *right) =>
            {
                (body.peel(*l), body.peel(*r))
            }
            _ => return false,
        };
    }
    false
}

/// A whole number that a value is written as.
pub(super) fn integer(body: &Body, value: ValueId) -> Option<i128> {
    match body.kind(body.peel(value)) {
        ValueKind::Literal(Literal::Integer(number)) => Some(*number),
        _ => None,
    }
}
