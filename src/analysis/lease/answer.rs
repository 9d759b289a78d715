//! What an acquire's operation gives: when the lease was won, and when it was lost.

use super::{KeyUse, Leases, absent, claim};
use crate::analysis::outcome::{Abstract, Answer, NilRead, nil_read, script_call};
use crate::catalog::Loss;
use crate::ir::effect::{Effect, EffectKind, Site};
use crate::link::Program;

impl Leases {
    /// What the acquire's operation gives when it won: a reply, wrapped as clients wrap it.
    #[must_use]
    pub fn won(&self, program: &Program, key_use: &KeyUse) -> Abstract {
        answer(program, key_use, true)
    }

    /// What the acquire's operation gives when it won and when it lost; `None` where it can't be lost: a
    /// library's call that waits until it is won, or does not say how it is lost.
    #[must_use]
    pub fn answer(&self, program: &Program, key_use: &KeyUse) -> Option<Answer> {
        let told = !matches!(loss(program, key_use), Some(Loss::Never) | None);
        let [won, lost] = [true, false].map(|won| answer(program, key_use, won));
        (told || !key_use.library).then_some(Answer { won, lost })
    }

    /// The answer of an acquire at a site, the acquire's own or that of a call which leads to it, as an
    /// operation that runs the site's body sees it.
    #[must_use]
    pub fn seen_by(
        &self,
        program: &Program,
        acquire: &KeyUse,
        (site, answer): (Site, &Answer),
        caller: Site,
    ) -> Option<Answer> {
        let call = script_call(program, caller, site.body).filter(|_| site == acquire.site);
        match (call, absent::given_back(program, acquire)) {
            // The reply of the write says nothing.
            (Some(call), Some(given)) => given.sent(program, call),
            _ => answer.seen_by(program, site, caller),
        }
    }
}

/// What an acquire's operation gives when it won, and when it lost: a reply, wrapped as clients wrap
/// it. A script's is bare.
pub(super) fn answer(program: &Program, acquire: &KeyUse, won: bool) -> Abstract {
    let effect = program.effects(acquire.site.body).get(acquire.effect);
    let nil = effect.filter(|_| !won && answers_nil(acquire, effect));
    let reply = match (acquire.library, won) {
        (true, true) => Abstract::Present,
        (true, false) => match loss(program, acquire) {
            Some(Loss::Nothing) => Abstract::Nothing,
            Some(Loss::Failure | Loss::Never) => return Abstract::Err,
            None => Abstract::Unknown,
        },
        // What was there before, which is nothing for a winner.
        (_, true) if gives_old(program, acquire) => Abstract::Nothing,
        (_, false) if gives_old(program, acquire) => Abstract::Some(Box::new(Abstract::Present)),
        (_, won) if claim::counts(program, acquire) => Abstract::Number(if won { 1 } else { 2 }),
        _ if nil.and_then(|effect| nil_read(program, effect)) == Some(NilRead::Failure) => {
            return Abstract::Err;
        }
        (_, won) => Abstract::Reply(won),
    };
    match program.in_script(acquire.site.body) {
        true => reply,
        false => Abstract::Ok(Box::new(reply)),
    }
}

/// Whether a lost acquire has no reply at all: `SET … NX`, not one that answers by a number.
fn answers_nil(acquire: &KeyUse, effect: Option<&Effect>) -> bool {
    acquire.claim.is_none()
        && effect.is_some_and(|effect| match &effect.kind {
            EffectKind::Redis(command) => {
                !effect.in_script()
                    && crate::catalog::redis::command(&command.name)
                        .is_some_and(|row| row.may_be_missing)
            }
            _ => false,
        })
}

/// How a library's acquire says that it was lost.
fn loss(program: &Program, acquire: &KeyUse) -> Option<Loss> {
    let effect = program.effects(acquire.site.body).get(acquire.effect)?;
    program.catalog.row(&effect.api)?.loss
}

fn gives_old(program: &Program, acquire: &KeyUse) -> bool {
    let effect = program.effects(acquire.site.body).get(acquire.effect);
    matches!(effect.map(|effect| &effect.kind), Some(EffectKind::Redis(command)) if command.gives_old())
}
