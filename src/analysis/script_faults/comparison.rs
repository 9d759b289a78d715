//! Comparisons that do not do what they say.

use super::{MISSING, Verdict, comparisons, is_nil};
use crate::analysis::loops;
use crate::analysis::script_values::{Kinds, ScriptValues, form, text, typed};
use crate::ir::body::{BlockId, OpId};
use crate::ir::value::{Conversion, Literal, Operator, ValueId, ValueKind};
use crate::source::Span;

/// What is wrong where text meets a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    /// Two texts are put in order: by their letters.
    Letters,
    /// Text and a number are put in order: an error.
    Mixed,
    /// Text and a number are tested for being equal: they never are.
    NeverEqual,
    /// `tonumber` of a reply that may be missing is `nil`, which has no order and no sum.
    Missing,
}

/// A reply compared with `nil`; whether it is the comparison `==`.
pub(super) fn with_nil(values: &ScriptValues<'_>) -> Vec<(Span, Verdict<bool>)> {
    let judge = |(id, span, operator, sides): (ValueId, Span, Operator, [ValueId; 2])| {
        let equal = match operator {
            Operator::Equal => true,
            Operator::NotEqual => false,
            _ => return None,
        };
        let [left, right] = sides;
        let orders = [(left, right), (right, left)];
        let value = orders.into_iter().find_map(|(value, nil)| match is_nil(values, nil) {
            true => Some(value),
            false if text(values.body, nil) == Some("nil") => typed(values.body, value),
            false => None,
        })?;
        Some((span, nil_verdict(values, id, value, equal)))
    };
    comparisons(values).filter_map(judge).collect()
}

fn nil_verdict(
    values: &ScriptValues<'_>,
    id: ValueId,
    value: ValueId,
    equal: bool,
) -> Verdict<bool> {
    let kinds = values.at(value, id);
    if kinds == Kinds::EMPTY {
        return Verdict::None;
    }
    let replies = values.replies(value);
    let never_nil = !kinds.may_be(Kinds::NIL.or(Kinds::ABSENT).or(Kinds::OTHER));
    let missing = kinds.may_be(Kinds::FALSE)
        || kinds.only(Kinds::STATUS) && replies.iter().all(|op| may_be_missing(values, *op));
    if !never_nil || !missing || replies.is_empty() || also_false(values, id, value, equal) {
        return Verdict::Fine;
    }
    Verdict::Wrong(equal, value)
}

/// Whether a command's reply may be missing with other words.
fn may_be_missing(values: &ScriptValues<'_>, op: OpId) -> bool {
    let command = values.command(op);
    command.and_then(|command| form(values.body, command)).is_some_and(|form| form.may_be_missing)
}

/// Whether the test for `false` stands right behind the one for `nil`: `v == nil or v == false`.
fn also_false(values: &ScriptValues<'_>, id: ValueId, value: ValueId, equal: bool) -> bool {
    let body = values.body;
    let ids = (0..body.values.len()).filter_map(|index| u32::try_from(index).ok().map(ValueId));
    let behind = |other: ValueId| {
        let first = body.givens.from(body.givens.of(other)).next();
        first.is_some_and(|(_, given)| given.value == id && given.holds != equal)
    };
    let tests_false = |other: ValueId| match body.kind(other) {
        ValueKind::Binary { operator: Operator::Equal | Operator::NotEqual, left, right } => {
            let is_false = |side: ValueId| {
                matches!(body.kind(side), ValueKind::Literal(Literal::Boolean(false)))
            };
            values.same(*left, value) && is_false(*right)
                || values.same(*right, value) && is_false(*left)
        }
        ValueKind::Not(of) => values.same(*of, value),
        _ => false,
    };
    let tested = ids.filter(|other| tests_false(*other)).any(behind);
    tested
        || body.givens.all().any(|given| {
            let before = body.givens.from(given.before).next();
            values.same(given.value, value)
                && before.is_some_and(|(_, before)| before.value == id && before.holds != equal)
        })
}

/// Text where a number is meant.
pub(super) fn as_number(values: &ScriptValues<'_>) -> Vec<(Span, Verdict<NumberFault>)> {
    comparisons(values)
        .filter_map(|(id, span, operator, sides)| {
            Some((span, number_verdict(values, id, operator, sides)?))
        })
        .collect()
}

fn number_verdict(
    values: &ScriptValues<'_>,
    id: ValueId,
    operator: Operator,
    sides: [ValueId; 2],
) -> Option<Verdict<NumberFault>> {
    let kinds = sides.map(|side| values.at(side, id));
    let ordered = match operator {
        Operator::Equal | Operator::NotEqual => false,
        _ if operator.compares() => true,
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide => {
            return Some(missing(values, id, sides));
        }
        _ => return None,
    };
    if kinds.contains(&Kinds::EMPTY) {
        return Some(Verdict::None);
    }
    if kinds.iter().any(|kinds| kinds.may_be(Kinds::OTHER)) {
        return Some(if ordered { missing(values, id, sides) } else { Verdict::Fine });
    }
    let [left, right] = sides;
    let [left_kinds, right_kinds] = kinds;
    let orders =
        [((left, left_kinds), (right, right_kinds)), ((right, right_kinds), (left, left_kinds))];
    let found = orders.into_iter().find_map(|(one, other)| text_fault(values, ordered, one, other));
    Some(match found {
        Some((fault, value)) => Verdict::Wrong(fault, value),
        None if ordered => missing(values, id, sides),
        None => Verdict::Fine,
    })
}

/// What is wrong where one side is text.
fn text_fault(
    values: &ScriptValues<'_>,
    ordered: bool,
    (side, kinds): (ValueId, Kinds),
    (other, against): (ValueId, Kinds),
) -> Option<(NumberFault, ValueId)> {
    let outside = |side| !values.replies(side).is_empty() || values.is_argument(side);
    if !kinds.may_be(Kinds::TEXT) {
        return None;
    }
    if ordered {
        let fault = match () {
            () if !outside(side) => return None,
            () if against.may_be(Kinds::TEXT) => NumberFault::Letters,
            () if against.may_be(Kinds::NUMBER) => NumberFault::Mixed,
            () => return None,
        };
        return Some((fault, side));
    }
    // Both may be nil only where both may be absent.
    let absent = kinds.may_be(Kinds::NIL.or(Kinds::ABSENT));
    let number = if absent { Kinds::NUMBER } else { Kinds::NUMBER.or(Kinds::ABSENT) };
    let never = kinds.only(Kinds::TEXT.or(MISSING)) && against.only(number);
    let meant = [side, other].into_iter().find(|side| outside(*side))?;
    never.then_some((NumberFault::NeverEqual, meant))
}

/// A side that is `tonumber` of a reply that may be missing.
fn missing(values: &ScriptValues<'_>, id: ValueId, sides: [ValueId; 2]) -> Verdict<NumberFault> {
    let body = values.body;
    let may_fail = |side: &ValueId| {
        let number = body.peel(*side);
        let ValueKind::Converted { value, conversion: Conversion::Number } = body.kind(number)
        else {
            return false;
        };
        let ValueKind::Result(op) = body.kind(body.peel(*value)) else { return false };
        let kinds = values.at(*side, id);
        kinds.may_be(Kinds::NIL)
            && values.at(*value, id).may_be(Kinds::FALSE)
            && !kinds.may_be(Kinds::OTHER.or(Kinds::ABSENT))
            && values.command(*op).is_some()
            && !is_there(values, *op, id)
    };
    match sides.iter().find(|side| may_fail(side)) {
        Some(side) => Verdict::Wrong(NumberFault::Missing, *side),
        None => Verdict::Fine,
    }
}

/// Whether the script has written or looked at the key on every way to a command, or to the place where
/// its reply is used: then it may well know that the key is there.
fn is_there(values: &ScriptValues<'_>, op: OpId, place: ValueId) -> bool {
    let (Some(command), Some((block, at))) = (values.command(op), values.body.position(op)) else {
        return true;
    };
    let Some(key) = command.keys.first() else { return true };
    let touches = |other: OpId| {
        other != op
            && values.command(other).is_some_and(|other| {
                other.keys.iter().any(|one| {
                    one.template == key.template
                        || one.value.zip(key.value).is_some_and(|(l, r)| values.same(l, r))
                })
            })
    };
    let before = |own: BlockId, other: OpId| match own == block {
        true => values.body.position(other).is_some_and(|(_, earlier)| earlier < at),
        false => loops::dominates(values.body, own, block),
    };
    let givens = &values.body.givens;
    let tested = givens.from(givens.of(place)).any(|(_, given)| {
        let sides = match values.body.kind(given.value) {
            ValueKind::Binary { left, right, .. } => vec![*left, *right],
            _ => vec![given.value],
        };
        sides.into_iter().flat_map(|side| values.replies(side)).any(touches)
    });
    let mut operations = values.body.operations();
    tested || operations.any(|(own, other, _)| touches(other) && before(own, other))
}

/// A status reply compared with text, or with the name of a type that it never has.
pub(super) fn of_status(values: &ScriptValues<'_>) -> Vec<(Span, Verdict<&'static str>)> {
    let judge = |(id, span, operator, sides): (ValueId, Span, Operator, [ValueId; 2])| {
        if !matches!(operator, Operator::Equal | Operator::NotEqual) {
            return None;
        }
        let order = [(sides[0], sides[1]), (sides[1], sides[0])];
        let mut verdicts =
            order.into_iter().filter_map(|(side, other)| status_verdict(values, id, side, other));
        Some((span, verdicts.next().unwrap_or(Verdict::Fine)))
    };
    comparisons(values).filter_map(judge).collect()
}

fn status_verdict(
    values: &ScriptValues<'_>,
    id: ValueId,
    side: ValueId,
    other: ValueId,
) -> Option<Verdict<&'static str>> {
    if let Some(of) = typed(values.body, side) {
        return type_verdict(values, id, of, other);
    }
    let (kinds, against) = (values.at(side, id), values.at(other, id));
    let plain = Kinds::TEXT.or(Kinds::NUMBER).or(Kinds::TRUE);
    let table = kinds.may_be(Kinds::STATUS)
        && kinds.only(Kinds::STATUS.or(Kinds::ERROR).or(MISSING))
        && !values.replies(side).is_empty();
    (table && against.only(plain)).then_some(Verdict::Wrong("a table", side))
}

/// `type(reply)` compared with what the reply never is.
fn type_verdict(
    values: &ScriptValues<'_>,
    id: ValueId,
    of: ValueId,
    other: ValueId,
) -> Option<Verdict<&'static str>> {
    let library = matches!(values.body.kind(other), ValueKind::Path(path)
        if matches!(path.0.as_slice(), [one] if one == "string" || one == "table"));
    if library {
        return Some(Verdict::Wrong("a library", other));
    }
    let kinds = values.at(of, id);
    let (has, is) = match text(values.body, other)? {
        "number" => (Kinds::NUMBER, Kinds::TEXT),
        "string" => (Kinds::TEXT, Kinds::STATUS),
        _ => return None,
    };
    let never = !kinds.may_be(has.or(Kinds::OTHER)) && kinds.may_be(is);
    let reply = never && !values.replies(of).is_empty();
    let is = if is == Kinds::TEXT { "text" } else { "a table" };
    reply.then_some(Verdict::Wrong(is, of))
}
