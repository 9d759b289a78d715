//! First expiries: a key that was taken without one gets its expiry. That is no renewal, and says
//! nothing of whether the key is a lease.

use super::{Action, KeyUse, Leases};
use crate::analysis::expiry::{all_sites, comes_after, every_site};
use crate::analysis::outcome::{Abstract, Assumption};
use crate::analysis::result_use::{ResultUse, result_use};
use crate::ir::body::BodyKind;
use crate::ir::effect::{Effect, EffectKind, Expiry, RedisCommand, Site};
use crate::link::Program;

/// Whether an expiry is the first of the key that an acquire took: it runs for winners only, or the
/// client sends both as one.
pub(crate) fn is_first_expiry(program: &Program, renew: &KeyUse, acquire: &KeyUse) -> bool {
    let script = in_script(program, acquire);
    let lost = super::answer(program, acquire, false);
    let winners = || {
        meetings(program, renew, acquire)
            .any(|(early, late)| only_when_won(program, early, late, &lost))
    };
    match script {
        true => winners(),
        false => {
            let expires = command_of(program, renew).is_some_and(|(_, it)| it.name != "PERSIST");
            expires
                && lacks_expiry(program, acquire)
                && (shares_batch(program, renew, acquire) || winners())
        }
    }
}

/// Whether an expiry says nothing of what the key is: it is the first one, or it follows an acquire
/// of the same run and comes no more often than that. Where the function reads the key too, the
/// expiry hangs on what it holds.
pub(super) fn belongs(
    program: &Program,
    uses: &[&KeyUse],
    renew: &KeyUse,
    acquire: &KeyUse,
) -> bool {
    let reads = |body| uses.iter().any(|it| it.action == Action::Read && it.site.body == body);
    let goes_on = || {
        meetings(program, renew, acquire)
            .any(|(early, late)| goes_on_to(program, early, late) && !reads(late.body))
    };
    match in_script(program, acquire) {
        true => in_winning_script(program, renew, acquire),
        false => {
            lacks_expiry(program, acquire)
                && (is_first_expiry(program, renew, acquire) || goes_on())
        }
    }
}

/// Whether nobody looks at what an acquire answered.
pub(crate) fn is_unasked(program: &Program, acquire: &KeyUse) -> bool {
    let queued = command_of(program, acquire).is_some_and(|(_, command)| command.batch.is_some());
    match effect_of(program, acquire) {
        Some(effect) if queued && !effect.in_script() => effect.reply.is_none(),
        _ => all_sites(program, acquire).iter().all(|site| is_dropped(program, *site)),
    }
}

impl Leases {
    /// Whether another expiry of the key comes between an acquire and a renewal of one run.
    pub(crate) fn expires_between(
        &self,
        program: &Program,
        acquire: &KeyUse,
        renew: &KeyUse,
    ) -> bool {
        self.others(renew, Action::Renew).any(|(_, other)| {
            (other.site, other.effect) != (renew.site, renew.effect)
                && meetings(program, other, acquire).any(|(early, between)| {
                    comes_after(program, early, between)
                        && every_site(program, renew)
                            .iter()
                            .any(|late| comes_after(program, between, *late))
                })
        })
    }
}

/// Whether two commands leave as one: in one pipeline, or between one MULTI and its EXEC.
pub(crate) fn shares_batch(program: &Program, left: &KeyUse, right: &KeyUse) -> bool {
    let batch = |it| command_of(program, it).and_then(|(_, command)| command.batch);
    left.site.body == right.site.body && batch(left).is_some() && batch(left) == batch(right)
}

/// The places of one body that two uses are seen from: of the acquire, and of the other.
fn meetings(
    program: &Program,
    other: &KeyUse,
    acquire: &KeyUse,
) -> impl Iterator<Item = (Site, Site)> {
    let early = every_site(program, acquire);
    every_site(program, other).into_iter().flat_map(move |late| {
        let same: Vec<Site> = early.iter().copied().filter(|it| it.body == late.body).collect();
        same.into_iter().map(move |early| (early, late))
    })
}

/// Whether an operation can't be reached from a lost acquire.
fn only_when_won(program: &Program, early: Site, late: Site, lost: &Abstract) -> bool {
    let Some(own) = program.body(early.body) else { return false };
    let (Some((from, _)), Some((to, _))) =
        (own.body.position(early.op), own.body.position(late.op))
    else {
        return false;
    };
    let op = own.body.call_behind(early.op);
    let assumption = Assumption::new(program, early.body, op, lost.clone());
    from != to
        && comes_after(program, early, late)
        && !assumption.reachable(&own.body, from).contains(&to)
}

/// Whether an operation comes after another, and in no deeper loop: what a loop does again and again
/// is more than the first time.
fn goes_on_to(program: &Program, early: Site, late: Site) -> bool {
    let depth = |site: Site| {
        let body = &program.body(site.body)?.body;
        Some(body.block(body.position(site.op)?.0)?.loop_depth)
    };
    comes_after(program, early, late) && depth(late) <= depth(early)
}

/// Whether a script that takes a key goes on, where it was won, to a use of it.
fn in_winning_script(program: &Program, renew: &KeyUse, acquire: &KeyUse) -> bool {
    let Some(own) = program.body(renew.site.body) else { return false };
    if own.body.kind != BodyKind::Script || renew.site.body != acquire.site.body {
        return false;
    }
    let (Some((from, _)), Some((to, _))) =
        (own.body.position(acquire.site.op), own.body.position(renew.site.op))
    else {
        return true;
    };
    let won = Assumption::new(program, own.id, acquire.site.op, Abstract::Reply(true));
    won.reachable(&own.body, from).contains(&to)
}

/// Whether an acquire plainly sets no expiry in its own command.
pub(crate) fn lacks_expiry(program: &Program, acquire: &KeyUse) -> bool {
    command_of(program, acquire)
        .is_some_and(|(_, command)| matches!(command.expiry, Expiry::None | Expiry::Keep))
}

fn is_dropped(program: &Program, site: Site) -> bool {
    result_use(program, site) == ResultUse::Dropped
}

fn in_script(program: &Program, key_use: &KeyUse) -> bool {
    effect_of(program, key_use).is_some_and(Effect::in_script)
}

fn effect_of<'p>(program: &'p Program, key_use: &KeyUse) -> Option<&'p Effect> {
    program.effects(key_use.site.body).get(key_use.effect)
}

fn command_of<'p>(
    program: &'p Program,
    key_use: &KeyUse,
) -> Option<(&'p Effect, &'p RedisCommand)> {
    let effect = effect_of(program, key_use)?;
    match &effect.kind {
        EffectKind::Redis(command) => Some((effect, command)),
        _ => None,
    }
}
