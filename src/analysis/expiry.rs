//! When a lease key gets its expiry: with the acquire, later, on some paths, or never.

use std::collections::BTreeSet;

use super::Analysis;
use super::lease::{Action, KeyUse, UseId, first_expiry, presence};
use super::outcome::Assumption;
use crate::ir::body::{Block, BlockId, Body, OpId, Terminator};
use crate::ir::effect::{BodyId, Condition, Effect, EffectKind, Expiry, RedisCommand, Site};
use crate::ir::value::{Literal, ValueId, ValueKind};
use crate::link::Program;
use crate::source::Span;

/// Commands that give a key an expiry and do nothing else.
pub const EXPIRES: [&str; 4] = ["EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"];

/// A call that leaves the expiry out: the optional value is plainly absent.
#[derive(Clone, Debug)]
pub struct Omission {
    /// The call from which the absent value comes.
    pub site: Site,
    /// The absent value, or the place where it should be.
    pub span: Span,
    /// Calls from there down to the command.
    pub chain: Vec<Site>,
}

impl Analysis<'_> {
    /// Whether an acquire plainly sets no expiry in its own command.
    #[must_use]
    pub fn never_expires(&self, acquire: &KeyUse) -> bool {
        first_expiry::lacks_expiry(self.program, acquire)
    }

    /// A later expiry of the same key by a command of its own, in a run of the same function.
    #[must_use]
    pub fn later_expiry<'a>(&'a self, acquire: &'a KeyUse) -> Option<(UseId, &'a KeyUse)> {
        if !self.never_expires(acquire) {
            return None;
        }
        let sites = every_site(self.program, acquire);
        self.leases.others(acquire, Action::Renew).find(|(_, renew)| {
            // Commands of one batch leave at one place, in the order in which they were queued.
            let batched = renew.site == acquire.site && renew.effect > acquire.effect;
            let later =
                |late: &Site| sites.iter().any(|early| comes_after(self.program, *early, *late));
            self.sets_expiry(acquire, renew)
                && (batched || every_site(self.program, renew).iter().any(later))
        })
    }

    /// Whether the acquire's own transaction gives the key a first expiry: EXPIRE … NX leaves that
    /// of another holder alone.
    #[must_use]
    pub fn expires_in_transaction(&self, acquire: &KeyUse) -> bool {
        let batch = self.command_of(acquire).and_then(|(_, command)| command.batch);
        let first = |renew: &KeyUse| {
            let command = self.command_of(renew).map(|(_, command)| command);
            renew.effect > acquire.effect
                && first_expiry::shares_batch(self.program, renew, acquire)
                && command.is_some_and(|it| it.condition == Condition::IfPersistent)
        };
        batch.is_some_and(|batch| batch.atomic)
            && self.leases.others(acquire, Action::Renew).any(|(_, renew)| first(renew))
    }

    /// Whether a renewal gives the key, which has no expiry, one too late: in the acquire's own
    /// transaction, one that spares a holder's is in time.
    fn sets_expiry(&self, acquire: &KeyUse, renew: &KeyUse) -> bool {
        let Some((_, command)) = self.command_of(renew) else { return false };
        let atomic = command.batch.is_some_and(|batch| batch.atomic);
        let spares = atomic && first_expiry::shares_batch(self.program, renew, acquire);
        let sets = match command.is(&EXPIRES) {
            true => gives_first(command),
            false => matches!(command.expiry, Expiry::Set { .. }),
        };
        sets && !(spares && command.condition == Condition::IfPersistent)
    }

    /// Whether a script gives the key an expiry on every path on which its acquire won.
    #[must_use]
    pub fn expires_in_script(&self, acquire: &KeyUse) -> bool {
        if !self.in_script(acquire) {
            return false;
        }
        let Some(own) = self.program.body(acquire.site.body) else { return false };
        let expiring = self.expiring_ops(acquire);
        // In a script there is no failure around a reply.
        let won = super::outcome::Abstract::Reply(true);
        !leaves_without(self.program, &own.body, acquire.site, won, &expiring)
    }

    /// Whether a use of a key is a script's.
    #[must_use]
    pub fn in_script(&self, key_use: &KeyUse) -> bool {
        self.effect_of(key_use).is_some_and(Effect::in_script)
    }

    /// The operations of the same script that give the acquired key an expiry.
    fn expiring_ops(&self, acquire: &KeyUse) -> BTreeSet<OpId> {
        let Some(key) = &acquire.key else { return BTreeSet::new() };
        let effects = self.program.effects(acquire.site.body).iter();
        let sets = |effect: &&Effect| match &effect.kind {
            EffectKind::Redis(command) => {
                let sets = matches!(command.expiry, Expiry::Set { .. });
                (gives_first(command) || sets)
                    && command.keys.iter().any(|it| it.template.same_text(&key.template))
            }
            _ => false,
        };
        effects.filter(sets).map(|effect| effect.site.op).collect()
    }

    /// Whether an expiry is the first one of a key that was taken without: no renewal. Every way to
    /// it leads over an acquire.
    #[must_use]
    pub fn is_first_expiry(&self, renew: &KeyUse) -> bool {
        let program = self.program;
        let acquires: Vec<&KeyUse> =
            self.leases.others(renew, Action::Acquire).map(|(_, acquire)| acquire).collect();
        acquires.iter().any(|acquire| {
            first_expiry::is_first_expiry(program, renew, acquire)
                && (self.in_script(renew) || !self.leases.expires_between(program, acquire, renew))
                && (first_expiry::shares_batch(program, renew, acquire)
                    || self.only_behind(&acquires, renew))
        })
    }

    /// Whether nobody looks at what an acquire answered.
    #[must_use]
    pub fn is_unasked(&self, acquire: &KeyUse) -> bool {
        first_expiry::is_unasked(self.program, acquire)
    }

    /// Whether the key of an acquire is one of many that hold nothing but that they are there.
    #[must_use]
    pub fn says_only_that_it_is_there(&self, acquire: &KeyUse) -> bool {
        presence::is_presence(self.program, &self.leases, acquire)
    }

    /// Whether, in one of the bodies that a use is seen from, every way to it leads over one of some
    /// others.
    fn only_behind(&self, others: &[&KeyUse], renew: &KeyUse) -> bool {
        let sites: BTreeSet<Site> =
            others.iter().flat_map(|other| every_site(self.program, other)).collect();
        every_site(self.program, renew).into_iter().any(|late| {
            let early = sites.iter().filter(|early| early.body == late.body);
            self.passes(&early.map(|early| early.op).collect(), late)
        })
    }

    /// Whether every way to an operation passes one of some others.
    fn passes(&self, passed: &BTreeSet<OpId>, late: Site) -> bool {
        let Some(own) = self.program.body(late.body) else { return false };
        let stops = |block: &Block| match block.ops.iter().any(|op| passed.contains(op)) {
            true => Vec::new(),
            false => block.end.successors(),
        };
        let others = own.body.reachable(own.body.roots(), stops);
        let behind = |(to, at): (BlockId, usize)| {
            let ops = own.body.block(to).map(|block| block.ops.as_slice()).unwrap_or_default();
            let first = ops.iter().position(|op| passed.contains(op));
            !others.contains(&to) || first.is_some_and(|first| first < at)
        };
        own.body.position(late.op).is_some_and(behind)
    }

    /// The calls that give no expiry to an acquire whose expiry depends on an optional value.
    #[must_use]
    pub fn omissions(&self, acquire: &KeyUse) -> Vec<Omission> {
        let Some((_, command)) = self.command_of(acquire) else { return Vec::new() };
        let Expiry::WhenPresent { decides } = command.expiry else { return Vec::new() };
        let mut found = Vec::new();
        absent_at(self.program, acquire.site.body, decides, Vec::new(), &mut found);
        found
    }
}

/// How many calls up an optional value is followed.
const MOST_CALLS_UP: usize = 5;

/// Follows an optional value up through callers to where it is plainly absent.
fn absent_at(
    program: &Program,
    body: BodyId,
    value: ValueId,
    chain: Vec<Site>,
    found: &mut Vec<Omission>,
) {
    if chain.len() > MOST_CALLS_UP || found.len() > 16 {
        return;
    }
    let (body, value) = program.source_of(body, value);
    let Some(own) = program.body(body) else { return };
    match own.body.kind(value) {
        ValueKind::Literal(Literal::Nothing) => {
            push_omission(own.body.value(value).map(|v| v.span), chain, found)
        }
        ValueKind::Path(path) if path.last() == Some("None") => {
            push_omission(own.body.value(value).map(|v| v.span), chain, found);
        }
        ValueKind::Parameter(index) => {
            for site in program.callers(body).to_vec() {
                let Some(argument) = argument_of(program, body, site, *index) else { continue };
                let mut longer = vec![site];
                longer.extend(chain.iter().copied());
                absent_at(program, site.body, argument, longer, found);
            }
        }
        ValueKind::Field { base, name } => {
            absent_field(program, body, *base, name, chain, found);
        }
        _ => {}
    }
}

fn push_omission(span: Option<Span>, chain: Vec<Site>, found: &mut Vec<Omission>) {
    if let (Some(span), Some(site)) = (span, chain.first().copied()) {
        found.push(Omission { site, span, chain });
    }
}

/// An optional field of a parameter: looked up where callers build the struct.
fn absent_field(
    program: &Program,
    body: BodyId,
    base: ValueId,
    name: &str,
    chain: Vec<Site>,
    found: &mut Vec<Omission>,
) {
    let (base_body, base) = program.source_of(body, base);
    let Some(own) = program.body(base_body) else { return };
    match own.body.kind(base) {
        ValueKind::Aggregate { fields, base: rest, .. } => {
            match fields.iter().find(|(field, _)| field == name) {
                Some((_, value)) => absent_at(program, base_body, *value, chain, found),
                // `..Default::default()`: the default of an option is to be absent.
                None if rest.is_some_and(|rest| is_default(&own.body, rest)) => {
                    push_omission(own.body.value(base).map(|value| value.span), chain, found);
                }
                None => {}
            }
        }
        ValueKind::Parameter(index) => {
            for site in program.callers(base_body).to_vec() {
                let Some(argument) = argument_of(program, base_body, site, *index) else {
                    continue;
                };
                let mut longer = vec![site];
                longer.extend(chain.iter().copied());
                if longer.len() <= MOST_CALLS_UP {
                    absent_field(program, site.body, argument, name, longer, found);
                }
            }
        }
        ValueKind::Result(_) if is_default(&own.body, base) => {
            push_omission(own.body.value(base).map(|value| value.span), chain, found);
        }
        _ => {}
    }
}

/// Whether a value is the derived default of its type.
fn is_default(body: &Body, value: ValueId) -> bool {
    match body.kind(body.peel(value)) {
        ValueKind::Result(op) => body
            .call(*op)
            .is_some_and(|call| call.callee.name() == Some("default") && call.arguments.is_empty()),
        _ => false,
    }
}

/// The n-th argument that a call passes to a body's function.
fn argument_of(program: &Program, callee: BodyId, site: Site, index: u32) -> Option<ValueId> {
    let call = program.body(site.body)?.body.call(site.op)?;
    program.bound_arguments(callee, call).0.get(index as usize).copied()
}

/// Whether EXPIRE or a kin of it gives a key an expiry that has none.
fn gives_first(command: &RedisCommand) -> bool {
    let changes = matches!(command.condition, Condition::IfExpiring | Condition::IfLater);
    command.is(&EXPIRES) && !changes
}

/// Where a use is seen from: itself and every call that leads to it, those of a closure around it
/// included.
pub(super) fn all_sites(program: &Program, key_use: &KeyUse) -> BTreeSet<Site> {
    let via = key_use.identities.iter().flat_map(|one| one.via.iter().copied());
    let mut sites: BTreeSet<Site> = via.chain([key_use.site]).collect();
    let mut waiting: Vec<Site> = sites.iter().copied().collect();
    while let Some(site) = waiting.pop() {
        if program.body(site.body).is_some_and(|own| own.parent.is_some()) {
            let calls = program.callers(site.body).iter().copied();
            waiting.extend(calls.filter(|call| sites.insert(*call)));
        }
    }
    sites
}

/// How many calls above a function that builds the key itself are looked at.
const MOST_SITES: usize = 64;
/// How many calls up.
const MOST_LEVELS: usize = 2;

/// [`all_sites`], and the calls of functions that build the key themselves, which are the same to whoever
/// calls as if the key were passed.
pub(super) fn every_site(program: &Program, key_use: &KeyUse) -> BTreeSet<Site> {
    let mut sites = all_sites(program, key_use);
    let builds = |site: &Site| {
        key_use.identities.iter().any(|one| one.frame == site.body && one.template.has_literal())
    };
    let mut level: Vec<Site> = sites.iter().copied().filter(builds).collect();
    for _ in 0..MOST_LEVELS {
        let around = |site: &Site| {
            let own =
                program.enclosing_function(site.body).and_then(|id| program.function_body(id));
            own.map(|own| program.callers(own)).unwrap_or_default()
        };
        let above: Vec<Site> = level.iter().flat_map(around).copied().take(MOST_SITES).collect();
        level = above.into_iter().filter(|site| sites.insert(*site)).collect();
    }
    sites
}

/// Whether one operation can run after another in one run of the same body.
#[must_use]
pub fn comes_after(program: &Program, early: Site, late: Site) -> bool {
    if early.body != late.body || early.op == late.op {
        return false;
    }
    let Some(body) = program.body(early.body).map(|own| &own.body) else { return false };
    let (Some((from, first)), Some((to, second))) =
        (body.position(early.op), body.position(late.op))
    else {
        return false;
    };
    if from == to {
        return first < second;
    }
    body.reachable([from], |block| block.end.successors()).contains(&to)
}

/// Whether the body can be left after a won acquire without passing one of the operations.
fn leaves_without(
    program: &Program,
    body: &Body,
    acquire: Site,
    won: super::outcome::Abstract,
    passing: &BTreeSet<OpId>,
) -> bool {
    let assumption = Assumption::new(program, acquire.body, acquire.op, won);
    let Some((start, _)) = body.position(acquire.op) else { return false };
    let mut seen = BTreeSet::new();
    let mut waiting = vec![(start, true)];
    while let Some((id, first)) = waiting.pop() {
        let Some(block) = body.block(id) else { continue };
        let after =
            block.ops.iter().position(|op| first && *op == acquire.op).map_or(0, |at| at + 1);
        let rest = block.ops.get(after..).unwrap_or_default();
        if rest.iter().any(|op| passing.contains(op)) {
            continue;
        }
        if matches!(block.end, Terminator::Return { .. } | Terminator::Unreachable) {
            return true;
        }
        for next in assumption.successors(&block.end) {
            if seen.insert(next) {
                waiting.push((next, false));
            }
        }
    }
    false
}
