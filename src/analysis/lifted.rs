//! Effects of one-command wrappers, as their callers see them.
//!
//! `store.get(&key)` is a GET of `key` for whoever calls it, when all that `Store::get` does to
//! Redis is one GET of its parameter. Questions about one body (was the owner compared before this
//! DEL?) are asked of its own effects and of these.

use std::collections::BTreeMap;

use super::callgraph::{CallGraph, call_behind};
use crate::ir::effect::{BodyId, Effect, EffectKind, Key, RedisCommand, Site};
use crate::link::Program;

/// How many wrappers deep.
const DEEPEST: u32 = 3;

/// Effects by body: its own and those of the wrappers it calls.
#[derive(Debug, Default)]
pub struct Lifted {
    by_body: BTreeMap<BodyId, Vec<Effect>>,
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
        lifted
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
    let only = commands.next().is_none() && first.client != "lua";
    (only && matches!(first.kind, EffectKind::Redis(_))).then_some(first)
}

/// A callee's effect as one call sees it.
fn seen_from(program: &Program, callee: BodyId, effect: &Effect, site: Site) -> Option<Effect> {
    let EffectKind::Redis(command) = &effect.kind else { return None };
    let body = &program.body(site.body)?.body;
    let call_op = call_behind(body, site.op);
    let call = body.call(call_op)?;
    let at = Site { body: site.body, op: call_op };
    let keys = command.keys.iter().map(|key| Key {
        value: None,
        template: program.into_caller(&key.template, callee, at),
        ..key.clone()
    });
    let command = RedisCommand { keys: keys.collect(), value: None, ..command.clone() };
    Some(Effect {
        site: at,
        span: call.name_span,
        kind: EffectKind::Redis(command),
        reply: Some(call.result),
        ..effect.clone()
    })
}
