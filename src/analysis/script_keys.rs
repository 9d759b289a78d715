//! Where the keys that a script touches come from: KEYS, ARGV, its own text, or what it read.
//!
//! A key is followed through locals, tables that the script fills, decoded JSON and functions of
//! Lua's library. What can't be followed says nothing.

use std::collections::BTreeSet;

use super::Analysis;
use crate::ir::body::{Body, OpKind};
use crate::ir::effect::{BodyId, Effect, EffectKind, Key, RedisCommand};
use crate::ir::key::{Hole, KeyTemplate, Origin, SlotRelation};
use crate::ir::value::{Literal, Operator, TemplatePart, ValueId, ValueKind};
use crate::source::Span;

/// What an undeclared key is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeySource {
    /// Text of the script alone.
    Literal,
    /// An argument as it is.
    Argument,
    /// Text and arguments.
    Built,
    /// A key of KEYS, and more.
    Derived,
    /// What the script read from the store.
    Data,
}

/// A key that is not in KEYS.
#[derive(Clone, Debug)]
pub struct UndeclaredKey {
    /// What it is made of.
    pub source: KeySource,
    /// Where the other key, or the first argument, is read.
    pub read: Option<Span>,
    /// Whether every call passes a key whose hash tag the made key keeps.
    pub keeps_tag: bool,
}

/// What flows into a value.
#[derive(Clone, Copy, Debug, Default)]
struct Sources {
    keys: bool,
    arguments: bool,
    replies: bool,
    text: bool,
    /// Text and values were joined to one.
    joined: bool,
    unknown: bool,
}

impl Sources {
    fn with(self, other: Self) -> Self {
        Self {
            keys: self.keys || other.keys,
            arguments: self.arguments || other.arguments,
            replies: self.replies || other.replies,
            text: self.text || other.text,
            joined: self.joined || other.joined,
            unknown: self.unknown || other.unknown,
        }
    }
}

/// How many values one key is followed through.
const MOST_VALUES: usize = 400;

/// A key that a command of a script touches and that is not in KEYS.
#[derive(Clone, Debug)]
pub struct UndeclaredUse<'p> {
    /// The command's effect.
    pub effect: &'p Effect,
    /// The command.
    pub command: &'p RedisCommand,
    /// The key.
    pub key: &'p Key,
    /// What makes it one.
    pub undeclared: UndeclaredKey,
}

impl<'p> Analysis<'p> {
    /// The undeclared keys of a script, those that are written alike once, in order.
    #[must_use]
    pub fn undeclared_keys(&self, body: BodyId) -> Vec<UndeclaredUse<'p>> {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut found = Vec::new();
        for effect in self.program.effects(body) {
            let EffectKind::Redis(command) = &effect.kind else { continue };
            if !effect.in_script() || command.is(&["PUBLISH", "KEYS", "SCAN"]) {
                continue;
            }
            for key in &command.keys {
                if self.declared_free(body, command, key) {
                    continue;
                }
                let Some(undeclared) = self.undeclared_key(body, key) else { continue };
                if seen.insert(named_alike(&key.template)) {
                    found.push(UndeclaredUse { effect, command, key, undeclared });
                }
            }
        }
        found
    }

    /// What makes a script's key one that its caller did not declare; `None` for a key of KEYS and
    /// for one of which nothing is known.
    fn undeclared_key(&self, body: BodyId, key: &Key) -> Option<UndeclaredKey> {
        let source = match key.template.constant() {
            Some(_) if !key.template.parts.is_empty() => KeySource::Literal,
            _ => source(self.followed(body, key))?,
        };
        let from_keys = |hole: &&Hole| matches!(hole.origin, Origin::ScriptKey(_));
        let from_arguments = |hole: &&Hole| matches!(hole.origin, Origin::ScriptArgument(_));
        let mut holes = key.template.holes();
        let read = holes.find(from_keys).or_else(|| key.template.holes().find(from_arguments));
        Some(UndeclaredKey {
            source,
            read: read.map(|hole| hole.span),
            keeps_tag: source == KeySource::Derived && self.keeps_tag(body, &key.template),
        })
    }

    /// What flows into a key: by its value, and by what its template says.
    fn followed(&self, body: BodyId, key: &Key) -> Sources {
        let mut sources = Sources {
            text: key.template.has_literal(),
            joined: key.template.parts.len() > 1,
            ..Sources::default()
        };
        for hole in key.template.holes() {
            sources = match hole.origin {
                Origin::ScriptKey(_) => Sources { keys: true, ..sources },
                Origin::ScriptArgument(_) => Sources { arguments: true, ..sources },
                Origin::Reply(_) => Sources { replies: true, ..sources },
                _ => Sources { unknown: true, ..sources },
            };
        }
        let own = self.program.body(body).filter(|_| sources.unknown);
        let (Some(own), Some(value)) = (own, key.value) else { return sources };
        let walk = Walk { body: &own.body, effects: self.program.effects(body) };
        sources.with(walk.sources(value))
    }

    /// Whether every known call of the script passes keys with a hash tag that the template keeps.
    fn keeps_tag(&self, body: BodyId, template: &KeyTemplate) -> bool {
        let sites = self.program.script_callers(body);
        !sites.is_empty()
            && sites.iter().all(|site| {
                let Some(made) =
                    super::identity::outer_template(self.program, body, template, *site)
                else {
                    return false;
                };
                let effects = self.program.effects(site.body).iter();
                let declared = effects.filter(|effect| effect.site == *site).find_map(keys_of);
                made.hash_tag().is_some()
                    && declared.is_some_and(|keys| {
                        keys.iter().any(|key| {
                            key.template.hash_tag().is_some()
                                && key.template.slot_relation(&made) == SlotRelation::MustShare
                        })
                    })
            })
    }
}

/// Keys of one script that are told of once: those that are written alike.
fn named_alike(template: &KeyTemplate) -> String {
    if template.has_literal() { template.skeleton() } else { template.to_string() }
}

fn keys_of(effect: &Effect) -> Option<&[Key]> {
    match &effect.kind {
        EffectKind::Script(call) => call.keys.as_deref(),
        _ => None,
    }
}

fn source(sources: Sources) -> Option<KeySource> {
    let Sources { keys, arguments, replies, text, joined, .. } = sources;
    match () {
        // A table of keys and other things: which of them is touched is not known.
        () if keys && !joined => None,
        () if replies => Some(KeySource::Data),
        () if keys => Some(KeySource::Derived),
        () if text || (arguments && joined) => Some(KeySource::Built),
        () if arguments => Some(KeySource::Argument),
        () => None,
    }
}

/// A walk from a value to what flows into it.
struct Walk<'b> {
    body: &'b Body,
    effects: &'b [Effect],
}

impl Walk<'_> {
    fn sources(&self, value: ValueId) -> Sources {
        let mut found = Sources::default();
        let mut seen = BTreeSet::new();
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            if seen.len() > MOST_VALUES {
                return Sources { unknown: true, ..found };
            }
            if seen.insert(value) {
                found = found.with(self.step(value, &mut waiting));
            }
        }
        found
    }

    /// What a value is by itself; what flows into it is to be looked at next.
    fn step(&self, value: ValueId, next: &mut Vec<ValueId>) -> Sources {
        let nothing = Sources::default();
        match self.body.kind(value) {
            ValueKind::ScriptKey(_) => Sources { keys: true, ..nothing },
            ValueKind::ScriptArgument(_) => Sources { arguments: true, ..nothing },
            ValueKind::Literal(Literal::Text(text)) => {
                Sources { text: text.content.chars().any(char::is_alphanumeric), ..nothing }
            }
            ValueKind::Literal(_) | ValueKind::Not(_) | ValueKind::Matches { .. } => nothing,
            ValueKind::Path(path) => match path.last() {
                Some("KEYS") => Sources { keys: true, ..nothing },
                Some("ARGV") => Sources { arguments: true, ..nothing },
                _ => self.stored_in(value, next),
            },
            ValueKind::Converted { value, .. }
            | ValueKind::Awaited(value)
            | ValueKind::Adapted { value, .. }
            | ValueKind::Payload { of: value, .. }
            | ValueKind::Field { base: value, .. }
            | ValueKind::Element { base: value, .. } => {
                next.push(*value);
                nothing
            }
            ValueKind::Template(parts) => {
                next.extend(parts.iter().filter_map(|part| match part {
                    TemplatePart::Hole(value) => Some(*value),
                    TemplatePart::Text(_) => None,
                }));
                Sources { joined: parts.len() > 1, ..nothing }
            }
            ValueKind::Join(values) => {
                next.extend(values);
                nothing
            }
            ValueKind::List(values) => {
                next.extend(values);
                self.stored_in(value, next);
                nothing
            }
            ValueKind::Aggregate { fields, .. } => {
                next.extend(fields.iter().map(|(_, value)| *value));
                self.stored_in(value, next);
                nothing
            }
            ValueKind::Binary { operator, left, right } => {
                next.extend([*left, *right]);
                // One of two is chosen by `or`; `+` makes a number, which is neither.
                let chosen = matches!(operator, Operator::And | Operator::Or);
                Sources { joined: !chosen, ..nothing }
            }
            ValueKind::Result(op) if self.replies(*op) => Sources { replies: true, ..nothing },
            ValueKind::Result(op) => {
                let call = self.body.call(*op);
                next.extend(call.into_iter().flat_map(|call| {
                    call.arguments.iter().map(|argument| argument.value).chain(call.receiver)
                }));
                nothing
            }
            _ => Sources { unknown: true, ..nothing },
        }
    }

    fn replies(&self, op: crate::ir::body::OpId) -> bool {
        let at = |effect: &&Effect| effect.site.op == op;
        self.effects
            .iter()
            .find(at)
            .is_some_and(|effect| matches!(effect.kind, EffectKind::Redis(_)))
    }

    /// What the script puts into a table: `t[i] = x`, `t.x = y`, `table.insert(t, x)`.
    fn stored_in(&self, table: ValueId, next: &mut Vec<ValueId>) -> Sources {
        let mut any = false;
        for (_, _, op) in self.body.operations() {
            let stored = match &op.kind {
                OpKind::Store { place, value } => self.is_within(*place, table).then_some(*value),
                OpKind::Call(call) if call.callee.name() == Some("insert") => {
                    let first = call.arguments.first();
                    let into = first.is_some_and(|first| self.is_table(first.value, table));
                    call.arguments.last().map(|last| last.value).filter(|_| into)
                }
                _ => None,
            };
            any |= stored.is_some();
            next.extend(stored);
        }
        Sources { unknown: !any, ..Sources::default() }
    }

    /// Whether a place is an element or field of a table.
    fn is_within(&self, place: ValueId, table: ValueId) -> bool {
        match self.body.kind(place) {
            ValueKind::Element { base, .. } | ValueKind::Field { base, .. } => {
                self.is_table(*base, table)
            }
            _ => false,
        }
    }

    /// Whether a value is, or on some path may be, a table; a global by its name.
    fn is_table(&self, value: ValueId, table: ValueId) -> bool {
        let mut waiting = vec![value];
        for _ in 0..64 {
            let Some(value) = waiting.pop() else { return false };
            if value == table {
                return true;
            }
            match (self.body.kind(value), self.body.kind(table)) {
                (ValueKind::Path(left), ValueKind::Path(right))
                    if left.0.first() == right.0.first() =>
                {
                    return true;
                }
                (ValueKind::Converted { value, .. }, _) => waiting.push(*value),
                (ValueKind::Join(values), _) => waiting.extend(values),
                _ => {}
            }
        }
        false
    }
}
