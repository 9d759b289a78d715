//! Where the analysis gave up on an acquire, a release or a row count, and why: asked of what it did
//! not find, not of the source.

use super::Analysis;
use super::lease::{Action, KeyUse};
use super::lock_words::{has_lock_verb, has_lock_word};
use super::result_use::{ResultUse, result_use};
use crate::catalog::{Api, ApiEffect, RowCount};
use crate::finding::unfollowed::{Followed, Reason, Unfollowed};
use crate::ir::body::{Call, Callee};
use crate::ir::effect::{BodyId, Effect, EffectKind, ScriptCall, Site, SqlCall, ZeroRows};
use crate::link::calls::unresolved::Unresolved;
use crate::source::Span;

/// Commands that take a key.
const TAKES: [&str; 3] = ["SETNX", "MSETNX", "SET"];
/// Commands that give a key back.
const GIVES: [&str; 5] = ["DEL", "UNLINK", "GETDEL", "DELEX", "DELIFEQ"];

impl Analysis<'_> {
    /// Every place where an acquire, a release or a row count could not be followed, in path order.
    #[must_use]
    pub fn unfollowed(&self) -> Vec<Unfollowed> {
        let mut all: Vec<Unfollowed> = Vec::new();
        for (_, key_use) in self.leases.iter() {
            all.extend(self.unfollowed_key(key_use));
            all.extend(self.unfollowed_reply(key_use));
        }
        for region in self.regions.iter() {
            for op in &region.escapes {
                let site = Site { op: *op, ..region.point.site };
                all.extend(self.at_call(site, Followed::Release, Reason::LeaseEscapes));
            }
        }
        for effect in self.effects() {
            all.extend(self.unfollowed_text(effect));
        }
        for own in &self.program.bodies {
            for (_, op, call) in own.body.calls() {
                all.extend(self.unfollowed_call(Site { body: own.id, op }, call));
            }
        }
        let path =
            |one: &Unfollowed| self.program.tree.file(one.span.file).map(|file| file.path.clone());
        all.sort_by_cached_key(|one| (path(one), one.span.start, one.what, one.reason));
        all.dedup();
        all
    }

    fn told(
        &self,
        body: BodyId,
        span: Span,
        name: &str,
        (what, reason): (Followed, Reason),
    ) -> Unfollowed {
        let function = self.function_name(body);
        Unfollowed { span, what, reason, name: name.to_owned(), function }
    }

    fn at_call(&self, site: Site, what: Followed, reason: Reason) -> Option<Unfollowed> {
        let name = self.call_name(site)?;
        Some(self.told(site.body, self.place(site)?, &name, (what, reason)))
    }

    /// A command whose key is not known.
    fn unfollowed_key(&self, key_use: &KeyUse) -> Option<Unfollowed> {
        let what = followed(key_use.action)?;
        let (effect, command) = self.command_of(key_use)?;
        let reason = match key_use.identities.len() {
            0 => Reason::KeyNotIdentified,
            many if many >= super::identity::MOST_IDENTITIES => Reason::TooManyKeys,
            _ => return None,
        };
        Some(self.told(effect.site.body, effect.span, &command.name, (what, reason)))
    }

    /// An acquire whose outcome is decided where it is not looked at.
    fn unfollowed_reply(&self, key_use: &KeyUse) -> Option<Unfollowed> {
        if key_use.action != Action::Acquire || key_use.library {
            return None;
        }
        let (effect, command) = self.command_of(key_use)?;
        let leaves = !effect.in_script()
            && matches!(result_use(self.program, effect.site), ResultUse::Passed(_));
        let given_up = (Followed::Acquire, Reason::ReplyLeavesSight);
        leaves.then(|| self.told(effect.site.body, effect.span, &command.name, given_up))
    }

    /// A script or statement of which nothing can be read, and a count that leaves sight.
    fn unfollowed_text(&self, effect: &Effect) -> Option<Unfollowed> {
        let given_up = match &effect.kind {
            EffectKind::Script(ScriptCall { scripts, .. }) if scripts.is_empty() => {
                (Followed::Lease, Reason::ScriptTextUnknown)
            }
            EffectKind::Sql(call) if call.statements.is_empty() && counts(call) => {
                (Followed::RowCount, Reason::StatementTextUnknown)
            }
            EffectKind::Sql(call) if self.count_leaves_sight(effect, call) => {
                (Followed::RowCount, Reason::ReplyLeavesSight)
            }
            _ => return None,
        };
        let name = self.call_name(effect.site).unwrap_or_else(|| effect.client.clone());
        Some(self.told(effect.site.body, effect.span, &name, given_up))
    }

    /// A call that may take, give back or write, and of which nothing is known.
    fn unfollowed_call(&self, site: Site, call: &Call) -> Option<Unfollowed> {
        let name = call.callee.name()?;
        let locks = || has_lock_verb(self.words, name) || has_lock_word(self.words, name);
        if matches!(call.callee, Callee::Macro(_)) {
            let targets = self.program.targets(site.body, site.op);
            let known = targets.is_some_and(|it| !it.apis.is_empty() || !it.bodies.is_empty());
            // Without arguments it is given no key and no client.
            return (!known && !call.arguments.is_empty() && locks())
                .then(|| self.at_call(site, Followed::Lease, Reason::MacroNotExpanded))?;
        }
        match self.program.unresolved(site)? {
            Unresolved::NoImplementation if locks() => {
                self.at_call(site, Followed::Lease, Reason::NoImplementation)
            }
            Unresolved::ReceiverUnknown(row) => {
                self.at_call(site, followed_row(row)?, Reason::ClientTypeUnknown)
            }
            Unresolved::NoImplementation => None,
        }
    }
}

/// What is to be followed of a key use.
fn followed(action: Action) -> Option<Followed> {
    match action {
        Action::Acquire => Some(Followed::Acquire),
        Action::Release => Some(Followed::Release),
        Action::Renew | Action::Read | Action::Write => None,
    }
}

/// What is to be followed of a call that may be a row's.
fn followed_row(row: &Api) -> Option<Followed> {
    let sends = |names: &[&str]| row.commands().iter().any(|name| names.contains(name));
    match row.effect {
        ApiEffect::RedisCommand if sends(&GIVES) => Some(Followed::Release),
        ApiEffect::RedisCommand if sends(&TAKES) && may_be_conditional(row) => {
            Some(Followed::Acquire)
        }
        ApiEffect::LockAcquire => Some(Followed::Acquire),
        ApiEffect::LockRelease => Some(Followed::Release),
        ApiEffect::SqlExec if matches!(row.rowcount, Some(RowCount::Return | RowCount::In(_))) => {
            Some(Followed::RowCount)
        }
        _ => None,
    }
}

/// Whether a row's command may take a key only if it is free.
fn may_be_conditional(row: &Api) -> bool {
    row.commands().iter().any(|name| name.ends_with("NX"))
        || ["condition", "options"].iter().any(|role| row.place(role).is_some())
}

/// Whether a database call would tell how many rows it hit.
fn counts(call: &SqlCall) -> bool {
    matches!(call.zero_rows, ZeroRows::Count | ZeroRows::CountIn(_))
}
