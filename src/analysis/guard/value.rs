//! Which values were read from the lease key, and which came from outside.
//!
//! Values that meet in loops lead back to themselves: every question looks at a value once.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::{Answer, CheckKind, Seen};
use crate::ir::body::{Body, OpId};
use crate::ir::effect::{Condition, Effect, EffectKind, Key, RedisCommand};
use crate::ir::value::{Literal, TemplatePart, ValueId, ValueKind};

/// How many steps a value is followed.
const MAXIMUM_STEPS: u32 = 24;
/// How many values one question looks at.
const MOST_VALUES: usize = 2_000;
/// How many pairs of values are compared for one key.
const MOST_PAIRS: u32 = 20_000;

/// Commands whose reply is, or holds, what the key stores.
const READS: [&str; 12] = [
    "GET",
    "GETEX",
    "MGET",
    "HGET",
    "HMGET",
    "HGETALL",
    "LINDEX",
    "LRANGE",
    "GETRANGE",
    "SMEMBERS",
    "JSON.GET",
    "JSON.MGET",
];

/// Functions whose result is made of their first argument and nothing else.
const READERS: [&str; 14] = [
    "decode",
    "unpack",
    "from_str",
    "from_slice",
    "from_value",
    "match",
    "gsub",
    "parse",
    "deserialize",
    "split",
    "rsplit",
    "split_once",
    "sub",
    "strip_prefix",
];

/// Functions that only say how many or which kind.
const MEASURES: [&str; 7] = ["next", "type", "#", "len", "is_empty", "ipairs", "pairs"];

/// The values of a body, seen with one lease key in mind.
pub(super) struct Values<'b> {
    /// The body.
    pub body: &'b Body,
    /// Its effects.
    pub effects: &'b [Effect],
    /// What else is in sight.
    pub seen: Seen<'b>,
    /// The lease key.
    pub key: &'b Key,
    /// What [`Values::stored`] has found.
    known_stored: RefCell<BTreeMap<ValueId, bool>>,
    /// How many pairs were compared.
    pairs: Cell<u32>,
}

impl<'b> Values<'b> {
    /// The values of what is looked at.
    pub fn new(seen: Seen<'b>, key: &'b Key) -> Self {
        let Seen { body, effects, .. } = seen;
        Self { body, effects, seen, key, known_stored: RefCell::default(), pairs: Cell::new(0) }
    }

    /// Whether the call at an operation answers whether the caller's token is in the key.
    pub fn asks_owner(&self, op: OpId) -> bool {
        let asks = |it: &Answer| it.op == op && it.key.same_text(&self.key.template);
        self.seen.answers.iter().any(asks)
    }

    /// The kind of a value.
    pub fn kind(&self, value: ValueId) -> &'b ValueKind {
        self.body.kind(value)
    }

    /// The effect whose reply a value is.
    pub fn effect(&self, value: ValueId) -> Option<&'b Effect> {
        self.effects.iter().find(|effect| effect.reply == Some(value)).or_else(|| {
            let ValueKind::Result(op) = self.kind(value) else { return None };
            self.effects.iter().find(|effect| effect.site.op == *op)
        })
    }

    /// The value with everything around it peeled off that keeps its content.
    pub fn peel(&self, mut value: ValueId) -> ValueId {
        for _ in 0..MAXIMUM_STEPS {
            if self.effect(value).is_some() {
                break;
            }
            value = match self.kind(value) {
                ValueKind::Converted { value, .. }
                | ValueKind::Awaited(value)
                | ValueKind::Adapted { value, .. }
                | ValueKind::Payload { of: value, .. } => *value,
                // `Some(token)`, `Ok(token)`.
                ValueKind::Aggregate { fields, base: None, .. } if fields.len() == 1 => {
                    match fields.first() {
                        Some((_, value)) => *value,
                        None => break,
                    }
                }
                _ => break,
            };
        }
        value
    }

    /// The command on the lease key whose reply a value is.
    pub fn command(&self, value: ValueId) -> Option<&'b RedisCommand> {
        match &self.effect(self.peel(value))?.kind {
            EffectKind::Redis(command) if self.on_key(command) => Some(command),
            _ => None,
        }
    }

    fn on_key(&self, command: &RedisCommand) -> bool {
        command.keys.iter().any(|key| self.same_key(key, self.key))
    }

    /// Whether the lease key is any of several: an element of a list, a key in a loop.
    pub fn any_of_several(&self) -> bool {
        self.key.many || self.key.value.is_some_and(|value| self.element(value).is_some())
    }

    /// The list that a value is some element of; `KEYS` and `ARGV` by name.
    fn element(&self, value: ValueId) -> Option<Listed<'b>> {
        match self.kind(self.peel(value)) {
            ValueKind::ScriptKey(None) => Some(Listed::Named("KEYS")),
            ValueKind::ScriptArgument(None) => Some(Listed::Named("ARGV")),
            ValueKind::Element { base, index: None } => match self.kind(self.peel(*base)) {
                ValueKind::Path(path) => path.last().map(Listed::Named),
                _ => Some(Listed::Value(self.peel(*base))),
            },
            _ => None,
        }
    }

    fn filled_here(&self, list: &Listed<'b>) -> bool {
        matches!(list, Listed::Value(value)
            if matches!(self.kind(*value), ValueKind::List(_) | ValueKind::Aggregate { .. }))
    }

    fn same_key(&self, left: &Key, right: &Key) -> bool {
        let values = left.value.zip(right.value);
        left.template.same_text(&right.template)
            || values.is_some_and(|(left, right)| self.same(left, right, 0))
    }

    /// Whether two values are the same text in one run of the body.
    fn same(&self, left: ValueId, right: ValueId, depth: u32) -> bool {
        let (left, right) = (self.peel(left), self.peel(right));
        if left == right {
            return true;
        }
        self.pairs.set(self.pairs.get().saturating_add(1));
        if depth > MAXIMUM_STEPS || self.pairs.get() > MOST_PAIRS {
            return false;
        }
        if let (Some(left), Some(right)) = (self.element(left), self.element(right)) {
            // A table that the body fills (`args[#args + 1] = key`) may hold any keys.
            return left == right || self.filled_here(&left) || self.filled_here(&right);
        }
        match (self.kind(left), self.kind(right)) {
            (ValueKind::ScriptKey(left), ValueKind::ScriptKey(right))
            | (ValueKind::ScriptArgument(left), ValueKind::ScriptArgument(right)) => left == right,
            (ValueKind::Parameter(left), ValueKind::Parameter(right)) => left == right,
            (ValueKind::Receiver, ValueKind::Receiver) => true,
            (ValueKind::Captured(left), ValueKind::Captured(right)) => left == right,
            (ValueKind::Path(left), ValueKind::Path(right)) => left == right,
            (ValueKind::Field { base: a, name: m }, ValueKind::Field { base: b, name: n }) => {
                m == n && self.same(*a, *b, depth + 1)
            }
            (ValueKind::Literal(Literal::Text(left)), ValueKind::Literal(Literal::Text(right))) => {
                left.content == right.content
            }
            (ValueKind::Template(left), ValueKind::Template(right)) => {
                let same = |(left, right): (&TemplatePart, &TemplatePart)| match (left, right) {
                    (TemplatePart::Text(left), TemplatePart::Text(right)) => {
                        left.content == right.content
                    }
                    (TemplatePart::Hole(left), TemplatePart::Hole(right)) => {
                        self.same(*left, *right, depth + 1)
                    }
                    _ => false,
                };
                left.len() == right.len() && left.iter().zip(right).all(same)
            }
            _ => false,
        }
    }

    /// Whether a value is, or is taken out of, what the lease key stores. Of values that meet, one
    /// must be and the others are at most constants.
    pub fn stored(&self, value: ValueId) -> bool {
        if let Some(known) = self.known_stored.borrow().get(&value) {
            return *known;
        }
        let order = self.closure(value, |value, next| next.extend(self.taken_from(value)));
        let mut known: BTreeMap<ValueId, bool> = BTreeMap::new();
        // What is stored spreads from the replies; a bound for chains that no program has.
        for _ in 0..MAXIMUM_STEPS {
            let before = known.len();
            for value in order.iter().rev() {
                if !known.contains_key(value) && self.is_stored(*value, &known) {
                    known.insert(*value, true);
                }
            }
            if known.len() == before {
                break;
            }
        }
        let answers = order.iter().map(|value| (*value, known.contains_key(value)));
        self.known_stored.borrow_mut().extend(answers);
        known.contains_key(&value)
    }

    /// Whether a value is stored, by what is known of the values it is taken from.
    fn is_stored(&self, value: ValueId, known: &BTreeMap<ValueId, bool>) -> bool {
        if let Some(command) = self.command(value) {
            return command.is(&READS) || command.gives_old();
        }
        let stored = |value: &ValueId| known.contains_key(value);
        match self.kind(self.peel(value)) {
            ValueKind::Join(values) => {
                values.iter().any(stored)
                    && values.iter().all(|value| stored(value) || self.constant(*value))
            }
            _ => self.taken_from(value).iter().any(stored),
        }
    }

    /// The values that a value may be taken out of.
    fn taken_from(&self, value: ValueId) -> Vec<ValueId> {
        if self.command(value).is_some() {
            return Vec::new();
        }
        match self.kind(self.peel(value)) {
            ValueKind::Field { base, .. } | ValueKind::Element { base, .. } => vec![*base],
            ValueKind::Binary { left, right, .. } => vec![*left, *right],
            ValueKind::Join(values) => values.clone(),
            ValueKind::Result(op) => {
                let reads = |name: &str| READERS.contains(&name);
                let call = self.body.call(*op).filter(|it| it.callee.name().is_some_and(reads));
                let first = call.and_then(|call| call.arguments.first()).map(|first| first.value);
                call.and_then(|call| call.receiver).into_iter().chain(first).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A value and all that `step` leads to from it, each once; nothing of what is too much.
    fn closure(&self, value: ValueId, step: impl Fn(ValueId, &mut Vec<ValueId>)) -> Vec<ValueId> {
        let mut seen = BTreeSet::new();
        let mut order = Vec::new();
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            if order.len() >= MOST_VALUES {
                return Vec::new();
            }
            if seen.insert(value) {
                order.push(value);
                step(value, &mut waiting);
            }
        }
        order
    }

    /// Whether a value came from outside: it is neither a constant nor anything that Redis answered of
    /// the lease key. What another key holds (the job at the head of a list) may name the caller.
    pub fn outside(&self, value: ValueId) -> bool {
        self.closure(value, |value, next| next.extend(self.made_of(value)))
            .into_iter()
            .any(|value| self.is_outside(self.peel(value)))
    }

    /// The values that a value is made of, as far as that decides where it came from.
    fn made_of(&self, value: ValueId) -> Vec<ValueId> {
        let value = self.peel(value);
        if self.effect(value).is_some() {
            return Vec::new();
        }
        match self.kind(value) {
            ValueKind::Field { base, .. } | ValueKind::Element { base, .. } => vec![*base],
            ValueKind::Binary { left, right, .. } => vec![*left, *right],
            ValueKind::Join(values) | ValueKind::List(values) => values.clone(),
            ValueKind::Template(parts) => {
                let holes = parts.iter().filter_map(|part| match part {
                    TemplatePart::Hole(value) => Some(*value),
                    TemplatePart::Text(_) => None,
                });
                holes.collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a value by itself came from outside.
    fn is_outside(&self, value: ValueId) -> bool {
        if let Some(effect) = self.effect(value) {
            let read =
                matches!(&effect.kind, EffectKind::Redis(command) if !command.keys.is_empty());
            return read && self.command(value).is_none();
        }
        match self.kind(value) {
            ValueKind::Literal(_)
            | ValueKind::Field { .. }
            | ValueKind::Element { .. }
            | ValueKind::Binary { .. }
            | ValueKind::Join(_)
            | ValueKind::List(_)
            | ValueKind::Template(_) => false,
            ValueKind::Result(_) => !self.stored(value),
            _ => true,
        }
    }

    fn constant(&self, value: ValueId) -> bool {
        matches!(self.kind(self.peel(value)), ValueKind::Literal(_))
    }

    /// Whether a command names a field or member that came from outside, and that may be the
    /// owner's: where the body writes other fields of the key, and never this one, it is not.
    pub fn names_outside(&self, command: &RedisCommand) -> bool {
        let mut named = command.words.iter().skip(1).filter_map(|word| word.value);
        named.any(|value| self.outside(value)) && self.names_written_field(command)
    }

    /// Whether the body writes the field that a hash command names; yes where it writes none.
    fn names_written_field(&self, command: &RedisCommand) -> bool {
        let field = |command: &RedisCommand| command.words.get(1).and_then(|word| word.value);
        let Some(named) = field(command).filter(|_| command.is(&["HEXISTS", "HGET", "HSTRLEN"]))
        else {
            return true;
        };
        let mut writes_any = false;
        for effect in self.effects {
            let EffectKind::Redis(write) = &effect.kind else { continue };
            let writes = write.is(&["HSET", "HSETNX", "HINCRBY", "HMSET"]) && self.on_key(write);
            let Some(written) = field(write).filter(|_| writes) else { continue };
            if !self.outside(written) || self.same(written, named, 0) {
                return true;
            }
            writes_any = true;
        }
        !writes_any
    }

    /// Whether a value is out of sight and has to do with the lease: what a function that is no
    /// known reader made of its value or key, what a closure made of its value, what a script or a
    /// lock library answered.
    pub fn out_of_sight(&self, value: ValueId) -> bool {
        self.closure(value, |value, next| self.looked_into(value, next))
            .into_iter()
            .any(|value| self.is_out_of_sight(value))
    }

    /// The values that an answer is read off.
    fn looked_into(&self, value: ValueId, next: &mut Vec<ValueId>) {
        match self.kind(value) {
            ValueKind::Converted { value, .. }
            | ValueKind::Awaited(value)
            | ValueKind::Adapted { value, .. }
            | ValueKind::Payload { of: value, .. }
            | ValueKind::Not(value)
            | ValueKind::Matches { value, .. } => next.push(*value),
            ValueKind::Binary { left, right, .. } => next.extend([*left, *right]),
            ValueKind::Join(values) => next.extend(values),
            _ => {}
        }
    }

    /// Whether a value by itself is out of sight.
    fn is_out_of_sight(&self, value: ValueId) -> bool {
        match self.kind(value) {
            ValueKind::Adapted { value, argument: Some(argument), .. } => {
                let runs =
                    matches!(self.kind(*argument), ValueKind::Closure(_) | ValueKind::Path(_));
                runs && (self.stored(*value) || self.command(*value).is_some())
            }
            ValueKind::Result(op) => match self.effect(value).map(|effect| &effect.kind) {
                Some(EffectKind::Script(_) | EffectKind::Lease(_)) => true,
                Some(_) => false,
                None => self.body.call(*op).is_some_and(|call| {
                    if call.callee.name().is_some_and(|name| MEASURES.contains(&name)) {
                        return false;
                    }
                    let given = call.arguments.iter().map(|argument| argument.value);
                    given.chain(call.receiver).any(|value| self.concerns_lease(value))
                }),
            },
            ValueKind::Converted { .. }
            | ValueKind::Awaited(_)
            | ValueKind::Adapted { .. }
            | ValueKind::Payload { .. }
            | ValueKind::Not(_)
            | ValueKind::Matches { .. }
            | ValueKind::Binary { .. }
            | ValueKind::Join(_) => false,
            _ => self.effect(value).is_some_and(|effect| {
                matches!(effect.kind, EffectKind::Script(_) | EffectKind::Lease(_))
            }),
        }
    }

    fn concerns_lease(&self, value: ValueId) -> bool {
        self.stored(value) || self.key.value.is_some_and(|key| self.same(key, value, 0))
    }
}

/// A list, as far as two of them can be told apart.
#[derive(PartialEq)]
enum Listed<'b> {
    Named(&'b str),
    Value(ValueId),
}

/// Whether a command takes the key, or a place among its holders, only if that is free, and says so by
/// what it answers.
pub(super) fn acquires(command: &RedisCommand) -> bool {
    command.condition == Condition::IfAbsent && !command.gives_old()
}

/// What it says that a command answers nothing: there was nothing, and by now the key may be the
/// caller's.
pub(super) fn nothing_says(command: &RedisCommand) -> Option<CheckKind> {
    match command.name.as_str() {
        "GET" | "GETEX" => Some(CheckKind::Absent),
        "SET" if command.condition == Condition::IfAbsent && command.gives_old() => {
            Some(CheckKind::Acquired)
        }
        _ => None,
    }
}
