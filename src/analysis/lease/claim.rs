//! Claims: what a client takes otherwise than by writing a key that is not there. A count that it
//! begins (`INCR` answers 1), a field that was not there (`HSETNX`), a member that is new (`SADD`,
//! `ZADD … NX`); given back by `DEL`, `DECR`, `HDEL`, `SREM`, `ZREM`.
//!
//! The same commands count requests, fill records and keep presence. A claim takes a lease only where
//! the program shows it by what it makes of the reply: see [`proof`].

use super::{Action, KeyUse, OwnerProof};
use crate::analysis::callgraph::{CallGraph, call_site};
use crate::analysis::identity::{Identified, KeyIdentity, identities};
use crate::ir::effect::{BodyId, Condition, Effect, EffectKind, RedisCommand, Word};
use crate::ir::key::{KeyPart, KeyTemplate};
use crate::link::Program;
use crate::link::types::Ty;

mod proof;

pub(super) use proof::proved;

/// What of a key a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The key itself: whoever counts it to 1 has it.
    Count,
    /// A share of it: one of its count, a field, a member.
    Share,
}

/// Whether the reply of a claim is a count, of which 1 is the first.
pub(super) fn counts(program: &Program, acquire: &KeyUse) -> bool {
    let effect = program.effects(acquire.site.body).get(acquire.effect);
    acquire.claim.is_some()
        && matches!(effect.map(|effect| &effect.kind), Some(EffectKind::Redis(command))
            if command.is(&["INCR", "INCRBY", "HINCRBY"]))
}

/// What an effect may take or give back of a key: one use for each.
pub(super) fn of(
    program: &Program,
    graph: &CallGraph,
    effect: &Effect,
    index: usize,
) -> Vec<KeyUse> {
    let EffectKind::Redis(command) = &effect.kind else { return Vec::new() };
    let [key] = command.keys.as_slice() else { return Vec::new() };
    if effect.in_script() || command.batch.is_some() || key.many {
        return Vec::new();
    }
    let Some(form) = form(command) else { return Vec::new() };
    let body = effect.site.body;
    let uses = form.ways.iter().filter_map(|way| {
        let known = identities(program, effect.site, &key.template).into_iter();
        let same = known.filter_map(|one| {
            if let Some(amount) = form.amount {
                let amount = carried(program, graph, body, word(program, body, amount), &one);
                (amount.constant()? == way.amount).then_some(())?;
            }
            match form.part {
                Some(part) if is_several(program, body, part) => None,
                Some(part) => {
                    let part = carried(program, graph, body, word(program, body, part), &one);
                    Some(part_of(one, &part))
                }
                None => Some(one),
            }
        });
        let identities: Vec<Identified> = same.collect();
        let claim = if way.whole { Claim::Count } else { Claim::Share };
        (!identities.is_empty()).then(|| KeyUse {
            site: effect.site,
            effect: index,
            action: way.action,
            key: Some(key.clone()),
            identities,
            owner: OwnerProof::None,
            library: false,
            claim: Some(claim),
        })
    });
    uses.collect()
}

/// A command that may claim: the word of the part that it names, the word of the amount that decides
/// which way it goes.
struct Form<'c> {
    part: Option<&'c Word>,
    amount: Option<&'c Word>,
    ways: &'static [Way],
}

/// What a command does to what it claims, by this amount.
struct Way {
    action: Action,
    amount: &'static str,
    whole: bool,
}

const FIRST: Way = Way { action: Action::Acquire, amount: "1", whole: true };
const FIRST_OF_FIELD: Way = Way { whole: false, ..FIRST };
const LAST: Way = Way { action: Action::Release, amount: "-1", whole: false };
const TAKES: Way = Way { action: Action::Acquire, amount: "", whole: false };
const GIVES: Way = Way { action: Action::Release, amount: "", whole: false };

fn form(command: &RedisCommand) -> Option<Form<'_>> {
    let none = Form { part: None, amount: None, ways: &[] };
    Some(match (command.name.as_str(), command.words.as_slice()) {
        ("INCR", [_]) => Form { ways: &[FIRST], ..none },
        ("INCRBY", [_, amount]) => Form { amount: Some(amount), ways: &[FIRST, LAST], ..none },
        ("DECR", [_]) => Form { ways: &[GIVES], ..none },
        ("DECRBY", [_, amount]) => {
            Form { amount: Some(amount), ways: &[Way { amount: "1", ..LAST }], ..none }
        }
        ("HINCRBY", [_, field, amount]) => {
            Form { part: Some(field), amount: Some(amount), ways: &[FIRST_OF_FIELD, LAST] }
        }
        ("HSETNX", [_, part, _]) | ("SADD", [_, part]) => {
            Form { part: Some(part), ways: &[TAKES], ..none }
        }
        ("ZADD", [_, _, _, part]) if command.condition == Condition::IfAbsent => {
            Form { part: Some(part), ways: &[TAKES], ..none }
        }
        ("HDEL" | "SREM" | "ZREM", [_, part]) => Form { part: Some(part), ways: &[GIVES], ..none },
        _ => return None,
    })
}

/// Whether a word stands for any number of them.
fn is_several(program: &Program, body: BodyId, word: &Word) -> bool {
    word.value.is_some_and(|value| match program.type_of(body, value) {
        Ty::List(element) => element.name() != Some("u8"),
        _ => false,
    })
}

fn word(program: &Program, body: BodyId, word: &Word) -> KeyTemplate {
    match (&word.text, word.value) {
        (Some(text), _) => KeyTemplate::text(text.clone()),
        (None, Some(value)) => program.template(body, value),
        (None, None) => KeyTemplate { parts: Vec::new() },
    }
}

/// A template of a body in the frame in which the body's key is identified: what the calls pass on the
/// way stands for its parameters.
fn carried(
    program: &Program,
    graph: &CallGraph,
    body: BodyId,
    template: KeyTemplate,
    one: &Identified,
) -> KeyTemplate {
    let (mut frame, mut seen) = (body, template);
    // A key that a type's maker sets is identified by calls that lead elsewhere: no chain.
    for site in graph.chain(program, body, &one.via) {
        let written = call_site(program, site);
        seen = program.into_caller(&seen, frame, written);
        frame = site.body;
    }
    seen
}

/// A part of an identified key.
fn part_of(key: Identified, part: &KeyTemplate) -> Identified {
    let space = KeyPart::Text(" ".to_owned());
    let parts = key.template.parts.iter().chain([&space]).chain(&part.parts);
    Identified {
        identity: KeyIdentity::Part(Box::new(key.identity), part.skeleton()),
        template: KeyTemplate::new(parts.cloned()),
        ..key
    }
}
