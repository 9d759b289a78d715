//! Counters in Redis that say what is left, and the commands that take from them.

use std::collections::BTreeSet;

use super::Analysis;
use super::derived::Derived;
use super::expiry::{EXPIRES, comes_after};
use crate::config::words::WordList;
use crate::ir::body::Body;
use crate::ir::effect::{Effect, EffectKind, Expiry, Key, RedisCommand, Site, Word};
use crate::ir::key::{KeyPart, KeyTemplate};
use crate::ir::value::{Literal, Operator, TemplatePart, ValueId, ValueKind};
use crate::source::Span;

/// Commands that take one or a given number.
const TAKES: [&str; 2] = ["DECR", "DECRBY"];
/// Commands that take what is below zero.
const ADDS: [&str; 5] = ["INCR", "INCRBY", "INCRBYFLOAT", "HINCRBY", "HINCRBYFLOAT"];
/// Commands that tell what a counter holds.
const READS: [&str; 6] = ["GET", "HGET", "MGET", "HMGET", "HGETALL", "GETEX"];

/// A command that takes from a counter and may leave less than nothing in it.
#[derive(Clone, Debug)]
pub struct Taking<'a> {
    /// The command.
    pub effect: &'a Effect,
    /// Its name.
    pub command: &'a str,
    /// The counter, for messages.
    pub counter: String,
    /// Where its reply is compared with nothing.
    pub tested: Option<Span>,
    /// Whether what was taken is given back in the same function.
    pub restored: bool,
    /// Whether a name says that it counts what is left; else only that it is compared with nothing.
    pub named: bool,
}

impl Analysis<'_> {
    /// Commands that take from what is left without having looked whether there is enough.
    #[must_use]
    pub fn unguarded_takings(&self) -> Vec<Taking<'_>> {
        let mut found = Vec::new();
        for own in &self.program.bodies {
            for effect in self.program.effects(own.id) {
                let EffectKind::Redis(command) = &effect.kind else { continue };
                if takes(&own.body, command)
                    && let Some(taking) = self.taking(&own.body, effect, command)
                {
                    found.push(taking);
                }
            }
        }
        found
    }

    fn taking<'a>(
        &'a self,
        body: &'a Body,
        effect: &'a Effect,
        command: &'a RedisCommand,
    ) -> Option<Taking<'a>> {
        let key = command.keys.first()?;
        let others = || self.others_on(effect, command, key);
        let is_read = |(_, other): &(&Effect, &RedisCommand)| other.is(&READS);
        for (read, _) in others().filter(is_read) {
            let start = read.reply.into_iter().chain(result(body, read.site));
            let derived = Derived::from(self.program, effect.site.body, start);
            if comes_after(self.program, read.site, effect.site)
                && derived.tested(self.program).is_some()
            {
                return None;
            }
        }
        let reply = effect.reply.into_iter().chain(result(body, effect.site));
        let derived = Derived::from(self.program, effect.site.body, reply);
        let tested = below_nothing(self, &derived);
        let named = self.names_level(body, effect, command, key);
        let ends = others().any(|(_, other)| {
            other.is(&["DEL", "UNLINK"]) || other.is(&EXPIRES) || other.expiry != Expiry::None
        });
        if !named && (tested.is_none() || ends) {
            return None;
        }
        let restored = others().any(|(later, other)| {
            (other.is(&ADDS) && !takes(body, other) || other.is(&["SET"]))
                && comes_after(self.program, effect.site, later.site)
        });
        Some(Taking {
            effect,
            command: &command.name,
            counter: self.counter_name(key, command),
            tested,
            restored,
            named,
        })
    }

    /// The other commands of a body on the same counter.
    fn others_on<'a>(
        &'a self,
        effect: &'a Effect,
        command: &'a RedisCommand,
        key: &'a Key,
    ) -> impl Iterator<Item = (&'a Effect, &'a RedisCommand)> {
        let field = field(command);
        self.program.effects(effect.site.body).iter().filter_map(move |other| {
            let EffectKind::Redis(found) = &other.kind else { return None };
            let same_key = found.keys.iter().any(|it| {
                it.template.same_text(&key.template) || it.value.is_some() && it.value == key.value
            });
            let other_field = match (field, field_of(found)) {
                (Some(left), Some(right)) => {
                    left.text.is_some() && right.text.is_some() && left.text != right.text
                }
                _ => false,
            };
            (other.site != effect.site && same_key && !other_field).then_some((other, found))
        })
    }

    /// Whether a name says that a counter is of what is left: of its key, as far out as callers say it,
    /// of its field, or of a variable.
    fn names_level(&self, body: &Body, effect: &Effect, command: &RedisCommand, key: &Key) -> bool {
        let mut names: BTreeSet<String> = words_of(&key.template);
        names.extend(key.value.and_then(|value| body.value(body.peel(value))?.name.clone()));
        for template in self.script_keys(effect.site, key) {
            names.extend(words_of(&template));
        }
        if let Some(field) = field(command) {
            names.extend(field.text.clone());
            names.extend(field.value.and_then(|value| body.value(value)?.name.clone()));
        }
        names.iter().any(|name| {
            (self.words.has(WordList::Stock, name) || self.words.has(WordList::Level, name))
                && !self.is_record(name)
        })
    }

    /// What the callers of a script give for a key of it.
    fn script_keys(&self, site: Site, key: &Key) -> Vec<KeyTemplate> {
        let program = self.program;
        let number = key.value.and_then(|value| {
            let body = &program.body(site.body)?.body;
            match body.kind(body.peel(value)) {
                ValueKind::ScriptKey(Some(number)) => (*number as usize).checked_sub(1),
                _ => None,
            }
        });
        let Some(number) = number else { return Vec::new() };
        let effects = self.graph.run_by(site.body).iter().flat_map(|caller| {
            program.effects(caller.body).iter().filter(move |effect| effect.site == *caller)
        });
        effects
            .filter_map(|effect| match &effect.kind {
                EffectKind::Script(call) => Some(call.keys.as_ref()?.get(number)?.template.clone()),
                _ => None,
            })
            .collect()
    }

    fn counter_name(&self, key: &Key, command: &RedisCommand) -> String {
        match field(command).and_then(|field| field.text.as_deref()) {
            Some(field) => format!("`{field}` of `{}`", key.template),
            None => format!("`{}`", key.template),
        }
    }
}

fn result(body: &Body, site: Site) -> Option<ValueId> {
    body.call(site.op).map(|call| call.result)
}

/// The field that a command on a hash changes.
fn field(command: &RedisCommand) -> Option<&Word> {
    command.is(&["HINCRBY", "HINCRBYFLOAT"]).then(|| command.words.get(1))?
}

fn field_of(command: &RedisCommand) -> Option<&Word> {
    command.is(&["HINCRBY", "HINCRBYFLOAT", "HGET", "HSET"]).then(|| command.words.get(1))?
}

/// Whether a command takes from a counter.
fn takes(body: &Body, command: &RedisCommand) -> bool {
    let amount = || command.words.last().filter(|_| command.words.len() > 1);
    if command.is(&TAKES) {
        return !amount().is_some_and(|amount| is_below_zero(body, amount));
    }
    command.is(&ADDS)
        && command.name != "INCR"
        && amount().is_some_and(|it| is_below_zero(body, it))
}

/// Whether a word is a number below zero: written so, or made so.
fn is_below_zero(body: &Body, word: &Word) -> bool {
    if let Some(text) = &word.text {
        return text.starts_with('-');
    }
    let Some(value) = word.value else { return false };
    match body.kind(body.peel(value)) {
        ValueKind::Literal(Literal::Integer(number)) => *number < 0,
        ValueKind::Literal(Literal::Float(number)) => *number < 0.0,
        ValueKind::Literal(Literal::Text(text)) => text.content.starts_with('-'),
        ValueKind::Binary { operator: Operator::Subtract, left, .. } => is_zero(body, *left),
        ValueKind::Template(parts) => matches!(parts.first(),
            Some(TemplatePart::Text(text)) if text.content.starts_with('-')),
        _ => false,
    }
}

fn is_zero(body: &Body, value: ValueId) -> bool {
    matches!(body.kind(body.peel(value)), ValueKind::Literal(Literal::Integer(0)))
}

/// Where a derived value is tested for being below zero.
fn below_nothing(analysis: &Analysis<'_>, derived: &Derived) -> Option<Span> {
    derived.iter().find_map(|(id, value)| {
        let body = &analysis.program.body(id)?.body;
        let ValueKind::Binary { operator, left, right } = body.kind(value) else { return None };
        let number = |side: ValueId| match body.kind(body.peel(side)) {
            ValueKind::Literal(Literal::Integer(number)) => Some(*number),
            _ => None,
        };
        let below = matches!(
            (operator, number(*left), number(*right)),
            (Operator::Less | Operator::GreaterOrEqual, None, Some(0))
                | (Operator::LessOrEqual | Operator::Greater | Operator::Equal, None, Some(-1))
                | (Operator::Greater | Operator::LessOrEqual, Some(0), None)
        );
        below.then(|| body.value(value).map(|value| value.span))?
    })
}

/// The texts and the names of the holes of a key.
fn words_of(template: &KeyTemplate) -> BTreeSet<String> {
    let part = |part: &KeyPart| match part {
        KeyPart::Text(text) => text.clone(),
        KeyPart::Hole(hole) => hole.label.rsplit('.').next().unwrap_or_default().to_owned(),
    };
    template.parts.iter().map(part).collect()
}
