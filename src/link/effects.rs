//! Effects: what the calls of the program do outside the process.
//!
//! A catalog row says what a call is; this module finds the rest: the words of the command, the
//! text of the script or statement, the expiry, the limit of time, and where it runs. An effect
//! belongs to the body whose code makes it happen; one that a future stands for happens where the
//! future is awaited. Embedded scripts become bodies of the program here, once for each place that
//! a text is written.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::catalog::{Api, ApiEffect};
use crate::ir::body::{BodyKind, Call, Callee, OpId};
use crate::ir::effect::{Batch, BodyId, Effect, EffectKind, Site};
use crate::ir::value::ValueId;
use crate::link::Program;
use crate::source::Span;

mod along;
mod builder_expression;
mod builder_sql;
mod chain;
mod context;
pub mod describe;
mod executor;
mod external;
mod facts;
mod flow;
mod follow;
mod lease;
mod options;
mod other;
mod pipeline;
mod redis;
mod script;
mod scripts;
mod sql;
mod store;
mod words;

#[cfg(test)]
mod tests;

pub use describe::describe;

use context::{Context, Run};

/// An effect, and the script texts that are not bodies yet.
struct Draft {
    effect: Effect,
    texts: Vec<script::Source>,
    /// The call that made it, when it runs elsewhere: its place among the effects of one site.
    queued_at: OpId,
}

impl Draft {
    /// The effect of one call: what comes back is what the call gives.
    fn of(
        context: &Context<'_>,
        op: OpId,
        call: &Call,
        run: Run,
        api: &Api,
        kind: EffectKind,
    ) -> Self {
        let effect = Effect {
            site: run.site,
            span: call.name_span,
            client: api.library.clone(),
            api: api.id.clone(),
            kind,
            reply: Some(run.reply),
            reply_type: context.reply_type(run.reply),
        };
        Self { effect, texts: Vec::new(), queued_at: op }
    }

    /// The effect of a command or script that was sent.
    fn sent(op: OpId, span: Span, sent: &redis::Sent, api: &Api, kind: EffectKind) -> Self {
        let effect = Effect {
            site: sent.run.site,
            span,
            client: api.library.clone(),
            api: api.id.clone(),
            kind,
            reply: sent.reply,
            reply_type: sent.reply_type.clone(),
        };
        Self { effect, texts: Vec::new(), queued_at: op }
    }
}

impl Program {
    /// The effects of a body, in the order its operations stand.
    #[must_use]
    pub fn effects(&self, body: BodyId) -> &[Effect] {
        self.effects.get(body.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The operations that invoke a script, sorted.
    #[must_use]
    pub fn script_callers(&self, script: BodyId) -> &[Site] {
        self.script_sites.get(&script).map_or(&[], Vec::as_slice)
    }

    /// Whether a body runs on the server: a script, or a function inside one.
    #[must_use]
    pub fn in_script(&self, id: BodyId) -> bool {
        let mut next = Some(id);
        for _ in 0..64 {
            let Some(body) = next.and_then(|id| self.body(id)) else { return false };
            if body.body.kind == BodyKind::Script {
                return true;
            }
            next = body.parent;
        }
        false
    }

    /// ARGV of a script as an operation invokes it; `None` when it does not, or they are not known.
    #[must_use]
    pub fn script_arguments(&self, site: Site, script: BodyId) -> Option<&[ValueId]> {
        self.effects(site.body).iter().find_map(|effect| match &effect.kind {
            EffectKind::Script(call) if effect.site == site && call.scripts.contains(&script) => {
                call.arguments.as_deref()
            }
            _ => None,
        })
    }

    /// Finds the effects of all bodies; adds the bodies of embedded scripts.
    pub(super) fn link_effects(&mut self) {
        let found: Vec<Vec<Draft>> =
            self.bodies.par_iter().map(|body| drafts(self, body.id)).collect();
        let mut registry = scripts::Registry::of(self);
        let mut effects = Vec::new();
        for drafts in found {
            effects.push(drafts.into_iter().map(|draft| registry.settle(self, draft)).collect());
        }
        registry.add_loose(self);
        if effects.len() < self.bodies.len() {
            self.link_bodies(effects.len());
        }
        for index in effects.len()..self.bodies.len() {
            let body = BodyId(u32::try_from(index).unwrap_or(u32::MAX));
            let found = drafts(self, body);
            effects.push(found.into_iter().map(|draft| draft.effect).collect());
        }
        self.effects = effects;
        self.script_sites = script_sites(self);
    }
}

/// Where each script is invoked.
fn script_sites(program: &Program) -> BTreeMap<BodyId, Vec<Site>> {
    let mut sites: BTreeMap<BodyId, Vec<Site>> = BTreeMap::new();
    for effect in program.effects.iter().flatten() {
        if let EffectKind::Script(call) = &effect.kind {
            for script in &call.scripts {
                sites.entry(*script).or_default().push(effect.site);
            }
        }
    }
    sites
}

/// The effects of one body, in order.
fn drafts(program: &Program, id: BodyId) -> Vec<Draft> {
    let Some(context) = Context::new(program, id) else { return Vec::new() };
    let mut found = Vec::new();
    for (_, op, call) in context.body.calls() {
        if program.in_script(id) {
            in_script(&context, op, call, &mut found);
        } else {
            of_call(&context, op, call, &mut found);
        }
    }
    let mut ordered: Vec<_> = found
        .into_iter()
        .enumerate()
        .map(|(index, draft)| {
            let place = |op: OpId| context.flow().position(op);
            ((place(draft.effect.site.op), place(draft.queued_at), index), draft)
        })
        .collect();
    ordered.sort_by_key(|(key, _)| *key);
    let mut drafts: Vec<Draft> = ordered.into_iter().map(|(_, draft)| draft).collect();
    mark_multi(&mut drafts);
    drafts
}

fn in_script(context: &Context<'_>, op: OpId, call: &Call, out: &mut Vec<Draft>) {
    let Some(row) = context.apis(op).into_iter().next() else { return };
    match row.effect {
        ApiEffect::RedisCommand => redis::of_script(context, op, call, row, out),
        ApiEffect::LogCall => other::log(context, op, call, row, out),
        _ => {}
    }
}

/// The row that says what a call outside of a script does.
fn row_of(context: &Context<'_>, op: OpId, call: &Call) -> Option<&'static Api> {
    let count = call.arguments.len();
    let rows = context.apis(op);
    // A trait method called by path has its receiver among the arguments.
    let fits = |row: &&&Api| {
        row.accepts(count) || call.receiver.is_none() && count > 0 && row.accepts(count - 1)
    };
    if let Some(row) = rows.iter().find(fits) {
        return Some(row);
    }
    let queued = rows.is_empty()
        && matches!(call.callee, Callee::Method(_))
        && call.receiver.is_some_and(|on| pipeline::of_receiver(context, on).is_some());
    let name = call.callee.name().filter(|_| queued);
    let by_name = name.and_then(|name| pipeline::row_by_name(context.program.catalog, name, count));
    by_name.or_else(|| external::unlisted(context, op, call))
}

fn of_call(context: &Context<'_>, op: OpId, call: &Call, out: &mut Vec<Draft>) {
    let Some(row) = row_of(context, op, call) else { return };
    match row.effect {
        ApiEffect::RedisCommand => command(context, op, call, row, out),
        // `cmd("EVAL")` is read with the chain it begins.
        ApiEffect::ScriptInvoke if call.receiver.is_none() => {}
        ApiEffect::ScriptInvoke => script::invoke(context, op, call, row, out),
        ApiEffect::LockAcquire | ApiEffect::LockRelease | ApiEffect::LockRenew => {
            lease::call(context, op, call, row, out);
        }
        ApiEffect::SqlExec | ApiEffect::SqlRead => sql::call(context, op, call, row, out),
        ApiEffect::TxBegin if row.domain.as_deref() == Some("redis") => {
            redis::watch(context, op, call, row, out);
        }
        ApiEffect::TxBegin | ApiEffect::TxCommit | ApiEffect::TxRollback => {
            other::transaction(context, op, call, row, out);
        }
        ApiEffect::HttpCall => external::call(context, op, call, row, out),
        // Builders of a cloud's interface: the end of the chain publishes.
        ApiEffect::Publish if row.library == "aws-sdk" => {}
        ApiEffect::Publish => other::publish(context, op, call, row, out),
        ApiEffect::Modifier if row.argument("body").is_some() => {
            other::time_limit(context, op, call, row, out);
        }
        ApiEffect::Sleep => other::sleep(context, op, call, row, out),
        ApiEffect::LogCall => other::log(context, op, call, row, out),
        ApiEffect::Spawn => other::spawn(context, op, call, row, out),
        _ => {}
    }
}

/// A Redis command: queued, sent by the end of a chain, or sent at once.
fn command(context: &Context<'_>, op: OpId, call: &Call, row: &Api, out: &mut Vec<Draft>) {
    if facts::called_path(context.program, Site { body: context.id, op }, call)
        .is_some_and(|path| path.parent().last() == Some("Cmd"))
    {
        return;
    }
    let pipeline = call.receiver.and_then(|receiver| pipeline::of_receiver(context, receiver));
    let sends = row.command.as_deref() == Some("from_arg") && row.argument("connection").is_some();
    match (pipeline, sends) {
        // The end of a pipeline: what it sends was queued before.
        (Some(_), true) => {}
        (Some(pipeline), false) => pipeline::queued(context, op, call, row, pipeline, out),
        (None, true) => redis::terminal(context, op, call, row, out),
        (None, false) => redis::direct(context, op, call, row, out),
    }
}

/// Commands between a plain MULTI and its EXEC are one atomic batch.
fn mark_multi(drafts: &mut [Draft]) {
    let mut open: Option<(u32, crate::ir::effect::Store)> = None;
    for draft in drafts {
        let number = draft.effect.site.op.0;
        let EffectKind::Redis(command) = &mut draft.effect.kind else { continue };
        match command.name.as_str() {
            "MULTI" if command.batch.is_none() => {
                open = Some((u32::MAX - number, command.store.clone()));
            }
            "EXEC" | "DISCARD" => open = None,
            _ => {
                if let Some((number, store)) = &open
                    && command.batch.is_none()
                    && command.store == *store
                {
                    command.batch = Some(Batch { number: *number, atomic: true });
                }
            }
        }
    }
}
