//! Effects of one-command wrappers, and answers of helpers, as their callers see them.
//!
//! `store.get(&key)` is a GET of `key` for whoever calls it, when all that `Store::get` does to
//! Redis is one GET of its parameter; `lease.is_mine()` is an owner comparison, when what it gives
//! back is one. Questions about one body (was the owner compared before this DEL?) are asked of its
//! own effects and of these.

use std::collections::BTreeMap;

use super::callgraph::CallGraph;
use super::guard::{Answer, Seen, answers_owner};
use crate::ir::body::Call;
use crate::ir::effect::{BodyId, Effect, EffectKind, Key, RedisCommand, Site, Word};
use crate::ir::index::TypeRef;
use crate::ir::key::{Hole, KeyPart, Origin};
use crate::link::Program;

/// How many wrappers deep.
const DEEPEST: u32 = 3;

/// Effects by body: its own and those of the wrappers it calls.
#[derive(Debug, Default)]
pub struct Lifted {
    by_body: BTreeMap<BodyId, Vec<Effect>>,
    answers: BTreeMap<BodyId, Vec<Answer>>,
}

impl Lifted {
    /// Lifts every one-command body to its callers.
    #[must_use]
    pub fn new(program: &Program, graph: &CallGraph) -> Self {
        let mut lifted = Self::default();
        for body in &program.bodies {
            let own = program.effects(body.id).to_vec();
            if !own.is_empty() {
                lifted.by_body.insert(body.id, own);
            }
        }
        let mut level: Vec<(BodyId, Effect)> = Vec::new();
        for (body, effects) in &lifted.by_body {
            if let Some(effect) = only_command(effects) {
                level.push((*body, effect.clone()));
            }
        }
        for _ in 0..DEEPEST {
            let mut next = Vec::new();
            for (body, effect) in level {
                for site in graph.run_by(body) {
                    let Some(seen) = seen_from(program, body, &effect, *site) else { continue };
                    lifted.by_body.entry(site.body).or_default().push(seen.clone());
                    if only_command(lifted.effects(site.body)).is_some() {
                        next.push((site.body, seen));
                    }
                }
            }
            level = next;
        }
        lifted.add_answers(program, graph);
        lifted
    }

    /// Adds what helpers answer to the bodies that ask them. Their answer says more than the reply
    /// that they read it off.
    fn add_answers(&mut self, program: &Program, graph: &CallGraph) {
        let mut asked: Vec<BodyId> =
            self.by_body.keys().copied().filter(|body| says_yes_or_no(program, *body)).collect();
        for _ in 0..DEEPEST {
            let found: Vec<(BodyId, Key)> = asked
                .iter()
                .flat_map(|helper| {
                    let keys = self.answered(program, *helper).into_iter();
                    keys.map(|key| (*helper, key))
                })
                .collect();
            asked.clear();
            for (helper, key) in found {
                for site in graph.run_by(helper) {
                    let Some(answer) = answer_at(program, helper, &key, *site) else { continue };
                    if let Some(effects) = self.by_body.get_mut(&site.body) {
                        effects.retain(|effect| effect.site.op != answer.op);
                    }
                    self.answers.entry(site.body).or_default().push(answer);
                    if says_yes_or_no(program, site.body) && !asked.contains(&site.body) {
                        asked.push(site.body);
                    }
                }
            }
        }
    }

    /// The keys of which a body answers whether the caller's token is in them.
    fn answered(&self, program: &Program, helper: BodyId) -> Vec<Key> {
        let Some(seen) = self.seen(program, helper) else { return Vec::new() };
        let Some(own) = program.body(helper) else { return Vec::new() };
        let read = self.effects(helper).iter().filter_map(|effect| match &effect.kind {
            EffectKind::Redis(command) if !effect.in_script() => Some(command.keys.iter()),
            _ => None,
        });
        let asked = self.answers.get(&helper).into_iter().flatten().filter_map(|answer| {
            let span = own.body.call(answer.op)?.name_span;
            Some(Key { value: None, template: answer.key.clone(), many: false, span })
        });
        let mut keys: Vec<Key> = Vec::new();
        for key in read.flatten().cloned().chain(asked) {
            let known = keys.iter().any(|other| other.template.same_text(&key.template));
            if !known && answers_owner(seen, &key) {
                keys.push(key);
            }
        }
        keys
    }

    /// What is seen of a body.
    #[must_use]
    pub fn seen<'l>(&'l self, program: &'l Program, body: BodyId) -> Option<Seen<'l>> {
        let answers = self.answers.get(&body).map_or(&[][..], Vec::as_slice);
        Some(Seen::of(program, body, self.effects(body))?.asking(answers))
    }

    /// The effects of a body, wrappers it calls included; its own first.
    #[must_use]
    pub fn effects(&self, body: BodyId) -> &[Effect] {
        self.by_body.get(&body).map_or(&[], Vec::as_slice)
    }
}

/// The one Redis command of a body that sends no other.
fn only_command(effects: &[Effect]) -> Option<&Effect> {
    let mut commands = effects.iter().filter(|effect| {
        matches!(effect.kind, EffectKind::Redis(_) | EffectKind::Script(_) | EffectKind::Lease(_))
    });
    let first = commands.next()?;
    let only = commands.next().is_none() && !first.in_script();
    (only && matches!(first.kind, EffectKind::Redis(_))).then_some(first)
}

/// Whether the result of a function or closure is a truth value.
pub(super) fn says_yes_or_no(program: &Program, body: BodyId) -> bool {
    let truth = |ty: &TypeRef| ty.name() == Some("bool");
    let declared = program.declared_result(body);
    declared.is_some_and(|ty| truth(ty) || ty.payload().is_some_and(truth))
}

/// A helper's answer as one call sees it.
fn answer_at(program: &Program, helper: BodyId, key: &Key, site: Site) -> Option<Answer> {
    let body = &program.body(site.body)?.body;
    let op = body.call_behind(site.op);
    body.call(op)?;
    let at = Site { body: site.body, op };
    Some(Answer { op, key: program.into_caller(&key.template, helper, at) })
}

/// A callee's effect as one call sees it.
fn seen_from(program: &Program, callee: BodyId, effect: &Effect, site: Site) -> Option<Effect> {
    let EffectKind::Redis(command) = &effect.kind else { return None };
    let body = &program.body(site.body)?.body;
    let call_op = body.call_behind(site.op);
    let call = body.call(call_op)?;
    let at = Site { body: site.body, op: call_op };
    let keys = command.keys.iter().map(|key| Key {
        value: None,
        template: program.into_caller(&key.template, callee, at),
        ..key.clone()
    });
    let words = command.words.iter().map(|word| word_from(program, callee, word, call, at));
    let command = RedisCommand {
        keys: keys.collect(),
        words: words.collect(),
        value: None,
        ..command.clone()
    };
    Some(Effect {
        site: at,
        span: call.name_span,
        kind: EffectKind::Redis(command),
        reply: Some(call.result),
        ..effect.clone()
    })
}

/// A word of a callee's command as a call passes it: the argument that stands for it, and its text.
fn word_from(program: &Program, callee: BodyId, word: &Word, call: &Call, at: Site) -> Word {
    let Some(own) = word.value else { return word.clone() };
    let seen = program.template(callee, own);
    let passed = match seen.parts.as_slice() {
        [KeyPart::Hole(Hole { origin: Origin::Parameter(index), steps, .. })]
            if steps.is_empty() && program.body(callee).is_some_and(|it| it.parent.is_none()) =>
        {
            program.bound_arguments(callee, call).0.get(*index as usize).copied()
        }
        _ => None,
    };
    let text = program.into_caller(&seen, callee, at).constant().map(str::to_owned);
    Word { value: passed, text: word.text.clone().or(text), ..word.clone() }
}
