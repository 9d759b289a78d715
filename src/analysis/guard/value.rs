//! Which values were read from the lease key, and which came from outside.

use super::Seen;
use crate::ir::body::Body;
use crate::ir::effect::{Condition, Effect, EffectKind, Key, RedisCommand};
use crate::ir::value::{Literal, TemplatePart, ValueId, ValueKind};

/// How many steps a value is followed.
const MAXIMUM_STEPS: u32 = 24;

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
    /// The lease key.
    pub key: &'b Key,
    /// What else is in sight.
    pub seen: Seen<'b>,
}

impl<'b> Values<'b> {
    /// The values of what is looked at.
    pub fn new(seen: Seen<'b>, key: &'b Key) -> Self {
        Self { body: seen.body, effects: seen.effects, key, seen }
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
        if depth > MAXIMUM_STEPS {
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

    /// Whether a value is, or is taken out of, what the lease key stores.
    pub fn stored(&self, value: ValueId) -> bool {
        self.stored_within(value, 0)
    }

    fn stored_within(&self, value: ValueId, depth: u32) -> bool {
        if depth > MAXIMUM_STEPS {
            return false;
        }
        if let Some(command) = self.command(value) {
            return command.is(&READS);
        }
        let stored = |value: &ValueId| self.stored_within(*value, depth + 1);
        let value = self.peel(value);
        match self.kind(value) {
            ValueKind::Field { base, .. } | ValueKind::Element { base, .. } => stored(base),
            ValueKind::Binary { left, right, .. } => stored(left) || stored(right),
            ValueKind::Join(values) => {
                values.iter().any(stored)
                    && values.iter().all(|value| stored(value) || self.constant(*value))
            }
            ValueKind::Result(op) => self.body.call(*op).is_some_and(|call| {
                let reads = call.callee.name().is_some_and(|name| READERS.contains(&name));
                let first = call.receiver.or(call.arguments.first().map(|first| first.value));
                let from = call.arguments.first().map(|first| first.value);
                reads
                    && (first.is_some_and(|first| stored(&first))
                        || from.is_some_and(|from| stored(&from)))
            }),
            _ => false,
        }
    }

    /// Whether a value came from outside: it is neither a constant nor anything Redis answered.
    pub fn outside(&self, value: ValueId) -> bool {
        self.outside_within(value, 0)
    }

    fn outside_within(&self, value: ValueId, depth: u32) -> bool {
        if depth > MAXIMUM_STEPS {
            return true;
        }
        let outside = |value: &ValueId| self.outside_within(*value, depth + 1);
        let value = self.peel(value);
        if self.effect(value).is_some() {
            return false;
        }
        match self.kind(value) {
            ValueKind::Literal(_) => false,
            ValueKind::Field { base, .. } | ValueKind::Element { base, .. } => outside(base),
            ValueKind::Binary { left, right, .. } => outside(left) || outside(right),
            ValueKind::Join(values) => values.iter().any(outside),
            ValueKind::List(values) => values.iter().any(outside),
            ValueKind::Template(parts) => parts.iter().any(|part| match part {
                TemplatePart::Hole(value) => outside(value),
                TemplatePart::Text(_) => false,
            }),
            ValueKind::Result(_) => !self.stored_within(value, depth + 1),
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
        self.out_of_sight_within(value, 0)
    }

    fn out_of_sight_within(&self, value: ValueId, depth: u32) -> bool {
        if depth > MAXIMUM_STEPS {
            return true;
        }
        let unseen = |value: &ValueId| self.out_of_sight_within(*value, depth + 1);
        match self.kind(value) {
            ValueKind::Adapted { value, argument: Some(argument), .. } => {
                let runs =
                    matches!(self.kind(*argument), ValueKind::Closure(_) | ValueKind::Path(_));
                (runs && (self.stored(*value) || self.command(*value).is_some())) || unseen(value)
            }
            ValueKind::Converted { value, .. }
            | ValueKind::Awaited(value)
            | ValueKind::Adapted { value, .. }
            | ValueKind::Payload { of: value, .. }
            | ValueKind::Not(value)
            | ValueKind::Matches { value, .. } => unseen(value),
            ValueKind::Binary { left, right, .. } => unseen(left) || unseen(right),
            ValueKind::Join(values) => values.iter().any(unseen),
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

/// Whether a command takes the key, or a place among its holders, only if that is free.
pub(super) fn acquires(command: &RedisCommand) -> bool {
    let only_new = |word: &crate::ir::effect::Word| {
        word.text.as_deref().is_some_and(|text| text.eq_ignore_ascii_case("NX"))
    };
    command.is(&["SETNX", "HSETNX", "MSETNX"])
        || command.condition == Condition::IfAbsent
        || (command.is(&["ZADD"]) && command.words.iter().any(only_new))
}
