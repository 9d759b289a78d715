//! What one side of a test says of the lease.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::value::{Values, acquires, nothing_says};
use super::{CheckKind, Fact};
use crate::ir::body::{Callee, Test};
use crate::ir::effect::RedisCommand;
use crate::ir::value::{Adapter, Literal, Operator, Pattern, SUCCESS, ValueId, ValueKind};
use crate::source::Span;

/// How deep a condition is read.
const MAXIMUM_DEPTH: u32 = 32;

/// Commands that answer a count of what they found or changed: 0 for a stranger.
const COUNTS: [&str; 9] =
    ["HEXISTS", "SISMEMBER", "SMISMEMBER", "ZREM", "SREM", "HDEL", "LREM", "HINCRBY", "HSTRLEN"];
/// Commands that answer nothing for a stranger.
const FINDS: [&str; 6] = ["HGET", "ZSCORE", "ZRANK", "ZREVRANK", "LPOS", "ZMSCORE"];
/// Commands that answer 0 when the key is not there.
const SIZES: [&str; 6] = ["EXISTS", "HLEN", "SCARD", "LLEN", "ZCARD", "STRLEN"];
/// Functions that compare two texts.
const COMPARES: [&str; 10] = [
    "find",
    "match",
    "eq",
    "ct_eq",
    "constant_time_eq",
    "verify_slices_are_equal",
    "contains",
    "starts_with",
    "eq_ignore_ascii_case",
    "is_eq",
];

/// What a test says when it comes out as `truth`.
pub(super) fn fact(values: &Values<'_>, test: &Test, truth: bool, span: Span) -> Option<Fact> {
    let reader = Reader::new(values);
    let (kind, seen) = match test {
        Test::True(value) => (reader.truth(*value, truth, 0), *value),
        Test::Matches { value, pattern } => (reader.matches(*value, pattern, truth, 0), *value),
        Test::Opaque(_) => return None,
    };
    if let Some(kind) = kind {
        return Some(Fact { kind, by: span, opaque: false });
    }
    let opaque = values.out_of_sight(seen);
    opaque.then_some(Fact { kind: CheckKind::Absent, by: span, opaque })
}

/// What it says that a value is true, or that it is not.
pub(super) fn said_by(values: &Values<'_>, value: ValueId, truth: bool) -> Option<CheckKind> {
    Reader::new(values).truth(value, truth, 0)
}

struct Reader<'v, 'b> {
    values: &'v Values<'b>,
    /// What a value was found to say; nothing while it is being looked at.
    said: RefCell<BTreeMap<(ValueId, bool), Option<CheckKind>>>,
}

impl<'v, 'b> Reader<'v, 'b> {
    fn new(values: &'v Values<'b>) -> Self {
        Self { values, said: RefCell::default() }
    }

    /// What it says that a value is true, or that it is not.
    fn truth(&self, value: ValueId, truth: bool, depth: u32) -> Option<CheckKind> {
        if let Some(said) = self.said.borrow().get(&(value, truth)) {
            return *said;
        }
        self.said.borrow_mut().insert((value, truth), None);
        let said = self.truth_of(value, truth, depth);
        self.said.borrow_mut().insert((value, truth), said);
        said
    }

    fn truth_of(&self, value: ValueId, truth: bool, depth: u32) -> Option<CheckKind> {
        if depth > MAXIMUM_DEPTH {
            return None;
        }
        if let ValueKind::Result(op) = self.values.kind(value)
            && self.values.asks_owner(*op)
        {
            return truth.then_some(CheckKind::Owner);
        }
        if self.values.effect(value).is_some() {
            return self.reply_truth(value, truth);
        }
        let deeper = |value: &ValueId, truth| self.truth(*value, truth, depth + 1);
        match self.values.kind(value) {
            ValueKind::Not(value) => deeper(value, !truth),
            ValueKind::Matches { value, pattern } => {
                self.matches(*value, pattern, truth, depth + 1)
            }
            ValueKind::Binary { operator: Operator::And, left, right } => {
                combine(truth, deeper(left, truth), deeper(right, truth))
            }
            ValueKind::Binary { operator: Operator::Or, left, right } => {
                combine(!truth, deeper(left, truth), deeper(right, truth))
            }
            ValueKind::Binary { operator, left, right } if operator.compares() => {
                self.compared(*operator, *left, *right, truth, depth)
            }
            ValueKind::Join(incoming) => self.joined(incoming, truth, depth),
            ValueKind::Converted { value, .. }
            | ValueKind::Awaited(value)
            | ValueKind::Payload { of: value, .. } => deeper(value, truth),
            ValueKind::Adapted { adapter: Adapter::UnwrapOr, argument, .. }
                if argument.is_some_and(|default| self.constant(default) == Some(truth)) =>
            {
                None
            }
            ValueKind::Adapted { value, adapter, .. } if !replaces(*adapter) => {
                deeper(value, truth)
            }
            ValueKind::Adapted {
                value,
                adapter: Adapter::Map | Adapter::TestAnd,
                argument: Some(closure),
                ..
            } if truth => self.values.compared_inside(*value, *closure),
            ValueKind::Result(op) => {
                let call = self.values.body.call(*op)?;
                let first = call.arguments.first().map(|argument| argument.value);
                let second = call.arguments.get(1).map(|argument| argument.value);
                let (left, right) = match &call.callee {
                    Callee::Method(_) => (call.receiver?, first?),
                    _ => (first?, second?),
                };
                let compares = call.callee.name().is_some_and(|name| COMPARES.contains(&name));
                if compares && self.pair(left, right) {
                    return truth.then_some(CheckKind::Owner);
                }
                self.values.compared_by_call(*op).filter(|_| truth)
            }
            _ => None,
        }
    }

    /// Every value that can come out this way says something.
    fn joined(&self, incoming: &[ValueId], truth: bool, depth: u32) -> Option<CheckKind> {
        let mut said: Option<CheckKind> = None;
        for value in incoming {
            if self.constant(*value) == Some(!truth) {
                continue;
            }
            let kind = self.truth(*value, truth, depth + 1)?;
            said = Some(said.map_or(kind, |said| said.max(kind)));
        }
        said
    }

    /// Whether a literal counts as true.
    fn constant(&self, value: ValueId) -> Option<bool> {
        match self.values.kind(value) {
            ValueKind::Literal(literal) => Some(is_true(literal)),
            _ => None,
        }
    }

    /// What it says that the reply of a command counts as true, or does not.
    fn reply_truth(&self, value: ValueId, truth: bool) -> Option<CheckKind> {
        let command = self.values.command(value)?;
        let effect = self.values.effect(self.values.peel(value))?;
        // In Lua, 0 is true: only an answer that may be nothing tells.
        let zero_is_false = !effect.in_script();
        match truth {
            true if self.finds(command) => Some(CheckKind::Owner),
            true if zero_is_false && self.counts(command) => Some(CheckKind::Owner),
            true if acquires(command) && (zero_is_false || command.is(&["SET"])) => {
                Some(CheckKind::Acquired)
            }
            false if zero_is_false && command.is(&SIZES) => Some(CheckKind::Absent),
            false => nothing_says(command),
            true => None,
        }
    }

    fn finds(&self, command: &RedisCommand) -> bool {
        command.is(&FINDS) && self.values.names_outside(command)
    }

    fn counts(&self, command: &RedisCommand) -> bool {
        command.is(&COUNTS) && self.values.names_outside(command)
    }

    /// Whether one of two values was read from the key and the other came from outside.
    fn pair(&self, left: ValueId, right: ValueId) -> bool {
        let values = self.values;
        (values.stored(left) && values.outside(right) && !values.stored(right))
            || (values.stored(right) && values.outside(left) && !values.stored(left))
    }

    fn compared(
        &self,
        operator: Operator,
        left: ValueId,
        right: ValueId,
        truth: bool,
        depth: u32,
    ) -> Option<CheckKind> {
        let (equal, truth) = match operator {
            Operator::Equal => (true, truth),
            Operator::NotEqual => (true, !truth),
            _ => (false, truth),
        };
        if equal && truth && self.pair(left, right) {
            return Some(CheckKind::Owner);
        }
        let literal = |value| match self.values.kind(self.values.peel(value)) {
            ValueKind::Literal(literal) => Some(literal),
            _ => None,
        };
        match (literal(left), literal(right)) {
            (None, Some(constant)) if equal => self.equals(left, constant, truth, depth),
            (Some(constant), None) if equal => self.equals(right, constant, truth, depth),
            (None, Some(Literal::Integer(number))) => self.ordered(operator, left, *number, truth),
            (Some(Literal::Integer(number)), None) => {
                self.ordered(mirrored(operator), right, *number, truth)
            }
            _ => None,
        }
    }

    /// What it says that a value equals a constant, or does not.
    fn equals(
        &self,
        value: ValueId,
        constant: &Literal,
        truth: bool,
        depth: u32,
    ) -> Option<CheckKind> {
        if let Literal::Boolean(expected) = constant
            && self.values.command(value).is_none()
        {
            return self.truth(value, truth == *expected, depth + 1);
        }
        if *constant == Literal::Nothing && self.values.command(value).is_none() {
            // A comparing function that gives nothing back when it finds nothing.
            return self.truth(value, !truth, depth + 1).filter(|_| !truth);
        }
        let command = self.values.command(value)?;
        let nothing = matches!(constant, Literal::Nothing | Literal::Boolean(false));
        let zero = *constant == Literal::Integer(0) || *constant == Literal::Boolean(false);
        match truth {
            true if self.counts(command) && (!zero || command.is(&["HINCRBY"])) => {
                Some(CheckKind::Owner)
            }
            true if acquires(command) && !zero && !nothing => Some(CheckKind::Acquired),
            true if command.is(&SIZES) && zero => Some(CheckKind::Absent),
            true if nothing && nothing_says(command).is_some() => nothing_says(command),
            // -2: it is not there. 0: it is at its end (the commands' pages).
            true if command.is(&["TTL", "PTTL"])
                && matches!(constant, Literal::Integer(-2 | 0)) =>
            {
                Some(CheckKind::Absent)
            }
            false if self.counts(command) && zero => Some(CheckKind::Owner),
            false if self.finds(command) && nothing => Some(CheckKind::Owner),
            false if acquires(command) && (zero || nothing) => Some(CheckKind::Acquired),
            false if command.is(&["EXISTS"]) && *constant == Literal::Integer(1) => {
                Some(CheckKind::Absent)
            }
            _ => None,
        }
    }

    /// What an order comparison of a reply with a number says.
    fn ordered(
        &self,
        operator: Operator,
        value: ValueId,
        number: i128,
        truth: bool,
    ) -> Option<CheckKind> {
        let command = self.values.command(value)?;
        if command.is(&["HINCRBY"]) && self.values.names_outside(command) {
            return Some(CheckKind::Owner);
        }
        let some = match (operator, number) {
            (Operator::Greater, 0) | (Operator::GreaterOrEqual, 1) => truth,
            (Operator::Less, 1) | (Operator::LessOrEqual, 0) => !truth,
            _ => return None,
        };
        match some {
            true if self.counts(command) => Some(CheckKind::Owner),
            true if acquires(command) => Some(CheckKind::Acquired),
            false if command.is(&SIZES) => Some(CheckKind::Absent),
            _ => None,
        }
    }

    fn matches(
        &self,
        value: ValueId,
        pattern: &Pattern,
        truth: bool,
        depth: u32,
    ) -> Option<CheckKind> {
        if depth > MAXIMUM_DEPTH {
            return None;
        }
        match pattern {
            Pattern::Literal(literal) => self.equals(value, literal, truth, depth),
            Pattern::Or(any) => {
                let said = any.iter().map(|pattern| self.matches(value, pattern, truth, depth + 1));
                said.reduce(|left, right| combine(!truth, left, right)).flatten()
            }
            Pattern::Variant { path, fields } => {
                let inner = fields.first().map(|(_, pattern)| pattern);
                match path.last()? {
                    "Some" => self.something(value, truth),
                    "None" => self.something(value, !truth),
                    SUCCESS if self.unwrapped(value) => self.something(value, truth),
                    // Only that the call went well: what came back is told by the pattern inside.
                    // If the pattern fails, the call may have failed.
                    "Ok" | SUCCESS if truth => self.matches(value, inner?, truth, depth + 1),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether an error was already taken off a reply.
    fn unwrapped(&self, value: ValueId) -> bool {
        match self.values.kind(value) {
            ValueKind::Payload { .. } | ValueKind::Adapted { .. } => true,
            ValueKind::Converted { value, .. } => {
                let inner = self.values.kind(*value);
                matches!(inner, ValueKind::Payload { .. } | ValueKind::Adapted { .. })
            }
            _ => false,
        }
    }

    /// What it says that an optional reply is there, or is not.
    fn something(&self, value: ValueId, there: bool) -> Option<CheckKind> {
        if let ValueKind::Adapted {
            value, adapter: Adapter::Filter, argument: Some(closure), ..
        } = self.values.kind(value)
        {
            return self.values.compared_inside(*value, *closure).filter(|_| there);
        }
        let command = self.values.command(value)?;
        match there {
            true if self.finds(command) => Some(CheckKind::Owner),
            true if acquires(command) => Some(CheckKind::Acquired),
            false => nothing_says(command),
            true => None,
        }
    }
}

/// What two tests say together: either one if both must hold, else only what both say.
fn combine(
    both_hold: bool,
    left: Option<CheckKind>,
    right: Option<CheckKind>,
) -> Option<CheckKind> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.max(right)),
        (left, right) if both_hold => left.or(right),
        _ => None,
    }
}

/// Whether an adapter's closure decides what comes out.
fn replaces(adapter: Adapter) -> bool {
    use Adapter::{AndThen, Filter, Map, OrElse, TestAnd, TestOr};
    matches!(adapter, AndThen | Filter | Map | OrElse | TestAnd | TestOr)
}

fn is_true(literal: &Literal) -> bool {
    !matches!(literal, Literal::Nothing | Literal::Boolean(false))
}

fn mirrored(operator: Operator) -> Operator {
    match operator {
        Operator::Less => Operator::Greater,
        Operator::LessOrEqual => Operator::GreaterOrEqual,
        Operator::Greater => Operator::Less,
        Operator::GreaterOrEqual => Operator::LessOrEqual,
        other => other,
    }
}
