//! Leases: which keys are lease keys, by what the program does with them.
//!
//! A lease key is taken conditionally by some code **and** its value is compared, or it is deleted
//! or renewed after a section, or a lock library owns it. A marker is taken the same way and left to
//! lapse. Names (`lock`, `lease`, `mutex`, …) raise confidence and decide nothing alone; where the
//! acquire is out of sight, an owner token at hand *and* a name together stand in for it.

use std::collections::{BTreeMap, BTreeSet};

use super::callgraph::{CallGraph, call_site};
use super::identity::{Identified, KeyIdentity, MOST_IDENTITIES, identities};
use super::labels::last_name;
use super::lifted::Lifted;
use super::lock_words::has_owner_word;
use super::region::AcquirePoint;
use crate::catalog::ApiEffect;
use crate::config::words::Words;
use crate::ir::body::OpId;
use crate::ir::effect::{
    BodyId, Condition, Effect, EffectKind, Expiry, Key, LeaseAction, RedisCommand, Site, Word,
};
use crate::link::Program;
use crate::link::types::Ty;

mod absent;
mod answer;
mod claim;
mod evidence;
pub(super) mod first_expiry;
mod owner;
pub(crate) mod presence;
mod rollback;

#[cfg(test)]
mod tests;

pub(super) use absent::taken as written_where_free;
use answer::answer;
pub use claim::Claim;
pub use evidence::{KeyClass, KeyKind};
pub use owner::OwnerProof;
use owner::{owner_proof, read_proof};

/// A use of a key, by its position among all uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UseId(pub u32);

/// What a use does to the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Takes it if it is free.
    Acquire,
    /// Deletes it, or leaves it without a value.
    Release,
    /// Gives it a new expiry.
    Renew,
    /// Reads it.
    Read,
    /// Writes it whatever was there.
    Write,
}

/// One use of a key.
#[derive(Clone, Debug)]
pub struct KeyUse {
    /// Where.
    pub site: Site,
    /// The effect: its position among the body's effects, those of wrappers after its own.
    pub effect: usize,
    /// What it does.
    pub action: Action,
    /// The key; `None` for a library's lock whose key the call does not name.
    pub key: Option<Key>,
    /// What makes it that key; empty when nothing tells it from others.
    pub identities: Vec<Identified>,
    /// How it is shown that the caller still owns the key, for releases and renewals.
    pub owner: OwnerProof,
    /// Whether a lock library does it.
    pub library: bool,
    /// What of the key it takes or gives back, where that shows only by what the client makes of the
    /// reply.
    pub claim: Option<Claim>,
}

/// All uses of Redis keys that could matter to a lease.
#[derive(Debug)]
pub struct Leases {
    uses: Vec<KeyUse>,
    by_identity: BTreeMap<KeyIdentity, Vec<UseId>>,
    class: BTreeMap<KeyIdentity, KeyClass>,
    /// What wrappers do for their callers, by the callers' bodies.
    wrapped: BTreeMap<(BodyId, usize), Effect>,
}

impl Leases {
    /// Finds all key uses and decides which keys are leases.
    #[must_use]
    pub fn new(program: &Program, graph: &CallGraph) -> Self {
        let lifted = Lifted::new(program, graph);
        let mut uses = Vec::new();
        let mut claims = Vec::new();
        let mut wrapped = BTreeMap::new();
        for body in &program.bodies {
            let own = program.effects(body.id);
            for (index, effect) in own.iter().enumerate() {
                uses.extend(key_uses(program, &lifted, effect, index));
                claims.extend(claim::of(program, graph, effect, index));
            }
            for (index, effect) in lifted.effects(body.id).iter().enumerate().skip(own.len()) {
                if let Some(emptying) = emptied_by_wrapper(program, &lifted, effect, index) {
                    uses.push(emptying);
                    wrapped.insert((body.id, index), effect.clone());
                }
            }
        }
        uses.extend(claim::proved(program, graph, claims, &uses));
        uses.sort_by_key(|key_use| (key_use.site.body, key_use.effect));
        let mut by_identity: BTreeMap<KeyIdentity, Vec<UseId>> = BTreeMap::new();
        for (index, key_use) in uses.iter().enumerate() {
            let id = UseId(u32::try_from(index).unwrap_or(u32::MAX));
            let all: BTreeSet<&KeyIdentity> =
                key_use.identities.iter().map(|one| &one.identity).collect();
            for identity in all {
                by_identity.entry(identity.clone()).or_default().push(id);
            }
        }
        let mut leases = Self { uses, by_identity, class: BTreeMap::new(), wrapped };
        leases.class = evidence::classify(program, graph, &leases);
        leases
    }

    /// A use.
    #[must_use]
    pub fn get(&self, id: UseId) -> Option<&KeyUse> {
        self.uses.get(id.0 as usize)
    }

    /// What a wrapper does at a use; `None` where the body does it itself.
    #[must_use]
    pub fn wrapped(&self, key_use: &KeyUse) -> Option<&Effect> {
        self.wrapped.get(&(key_use.site.body, key_use.effect))
    }

    /// All uses, numbered.
    pub fn iter(&self) -> impl Iterator<Item = (UseId, &KeyUse)> {
        self.uses
            .iter()
            .enumerate()
            .map(|(index, key_use)| (UseId(u32::try_from(index).unwrap_or(u32::MAX)), key_use))
    }

    /// All uses that take a key if it is free.
    pub fn acquires(&self) -> impl Iterator<Item = (UseId, &KeyUse)> {
        self.iter().filter(|(_, key_use)| key_use.action == Action::Acquire)
    }

    /// All uses that delete a key.
    pub fn releases(&self) -> impl Iterator<Item = (UseId, &KeyUse)> {
        self.iter().filter(|(_, key_use)| key_use.action == Action::Release)
    }

    /// The uses of the same key that do one thing, in order.
    pub fn others<'l>(
        &'l self,
        key_use: &'l KeyUse,
        action: Action,
    ) -> impl Iterator<Item = (UseId, &'l KeyUse)> {
        let mut ids: Vec<UseId> = Vec::new();
        for one in &key_use.identities {
            ids.extend(self.by_identity.get(&one.identity).into_iter().flatten());
        }
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
            .filter_map(|id| Some((id, self.get(id)?)))
            .filter(move |(_, other)| other.action == action)
    }

    /// What the key of a use is, the strongest of its identities first.
    #[must_use]
    pub fn class(&self, key_use: &KeyUse) -> KeyClass {
        let all = key_use.identities.iter().filter_map(|one| self.class.get(&one.identity));
        all.max().cloned().unwrap_or_default()
    }

    /// What a key is.
    #[must_use]
    pub fn class_of(&self, identity: &KeyIdentity) -> KeyClass {
        self.class.get(identity).cloned().unwrap_or_default()
    }

    /// The identity by which a use's key is what [`Leases::class`] says.
    #[must_use]
    pub fn telling_identity<'l>(&self, key_use: &'l KeyUse) -> Option<&'l Identified> {
        key_use.identities.iter().max_by_key(|one| {
            let class = self.class.get(&one.identity).cloned().unwrap_or_default();
            (class, std::cmp::Reverse(one.via.len()))
        })
    }

    /// Whether a release only undoes acquires of its own run after something else failed.
    #[must_use]
    pub fn only_undoes(&self, program: &Program, graph: &CallGraph, release: &KeyUse) -> bool {
        let mut taken = false;
        for one in &release.identities {
            let uses = self.uses_of(&one.identity);
            let acquires: Vec<&KeyUse> =
                uses.into_iter().filter(|it| it.action == Action::Acquire).collect();
            if acquires.is_empty() {
                continue;
            }
            if !rollback::only_undoes(program, graph, release, &one.identity, &acquires) {
                return false;
            }
            taken = true;
        }
        taken
    }

    /// The key uses of one effect of a body.
    #[must_use]
    pub fn uses_at(&self, body: BodyId, effect: usize) -> &[KeyUse] {
        // Uses were found in the order of bodies and their effects.
        let place = |key_use: &KeyUse| (key_use.site.body, key_use.effect);
        let start = self.uses.partition_point(|it| place(it) < (body, effect));
        let end = self.uses.partition_point(|it| place(it) <= (body, effect));
        self.uses.get(start..end).unwrap_or_default()
    }

    /// The uses of a key.
    #[must_use]
    pub fn uses_of(&self, identity: &KeyIdentity) -> Vec<&KeyUse> {
        let ids = self.by_identity.get(identity).into_iter().flatten();
        ids.filter_map(|id| self.get(*id)).collect()
    }

    /// Whether the key of a use holds the owner token itself: whoever knows the key owns it.
    #[must_use]
    pub fn names_owner(&self, words: &Words, key_use: &KeyUse) -> bool {
        let telling = self.telling_identity(key_use).map(|one| &one.template);
        let own = key_use.key.as_ref().map(|key| &key.template);
        [telling, own].into_iter().flatten().any(|template| {
            template.has_literal()
                && template.holes().any(|hole| has_owner_word(words, last_name(&hole.label)))
        })
    }

    /// Whether some code releases the key of an acquire (a lease that is only left to lapse has no
    /// critical section to speak of).
    #[must_use]
    pub fn is_released(&self, key_use: &KeyUse) -> bool {
        key_use.library || self.others(key_use, Action::Release).next().is_some()
    }

    /// Whether the acquire itself gives back a handle (a library's guard) rather than a reply.
    #[must_use]
    pub fn gives_handle(&self, id: UseId) -> bool {
        self.get(id).is_some_and(|key_use| key_use.library)
    }

    /// The identities an acquire has as one body sees it; `None` where that body does not tell which of
    /// the keys it takes.
    #[must_use]
    pub fn identities_at(
        &self,
        program: &Program,
        point: &AcquirePoint,
    ) -> Option<BTreeSet<KeyIdentity>> {
        let key_use = self.get(point.acquire)?;
        let sites = std::iter::once(&point.site).chain(&point.chain);
        let calls: Vec<Site> = sites.map(|site| call_site(program, *site)).collect();
        let through = |one: &&Identified| {
            one.via.is_empty()
                || one.via.iter().any(|site| calls.contains(&call_site(program, *site)))
        };
        let seen: BTreeSet<KeyIdentity> =
            key_use.identities.iter().filter(through).map(|one| one.identity.clone()).collect();
        (!seen.is_empty()).then_some(seen)
    }

    /// Whether an acquire as one body sees it is that of a lease for the caller at a site too: a wrapper
    /// may count other keys for others.
    #[must_use]
    pub fn takes_through(&self, program: &Program, point: &AcquirePoint, caller: Site) -> bool {
        let Some(key_use) = self.get(point.acquire) else { return false };
        let way = point.way();
        let inner = way.iter().rev().skip(1).chain([&caller]).map(|site| call_site(program, *site));
        let calls: Vec<Site> = inner.collect();
        let agrees = |one: &Identified| {
            let via = one.via.iter().rev().map(|site| call_site(program, *site));
            via.zip(&calls).all(|(left, right)| left == *right)
        };
        key_use.claim.is_none() || key_use.identities.iter().any(agrees)
    }

    /// Whether what a lock library gives back for an acquire releases when it is dropped; `None` for a
    /// command.
    #[must_use]
    pub fn library_drop(&self, program: &Program, acquire: &KeyUse) -> Option<bool> {
        let effect = program.effects(acquire.site.body).get(acquire.effect)?;
        let row = program.catalog.row(&effect.api).filter(|_| acquire.library)?;
        Some(row.on_drop.as_deref().is_some_and(|what| what.contains("release")))
    }

    /// Whether a type is a lock library's guard that releases when it is dropped.
    #[must_use]
    pub fn library_guard(&self, program: &Program, ty: &Ty) -> bool {
        let library = ty.root().and_then(|root| program.catalog.library_of_root(root));
        library.is_some_and(|library| {
            program.catalog.rows.iter().any(|row| {
                row.library == library.id
                    && row.effect == ApiEffect::LockAcquire
                    && row.on_drop.as_deref().is_some_and(|what| what.contains("release"))
            })
        })
    }
}

/// The key uses of an effect.
fn key_uses(program: &Program, lifted: &Lifted, effect: &Effect, index: usize) -> Vec<KeyUse> {
    match &effect.kind {
        EffectKind::Redis(command) => {
            let held = absent::names_holder(program, effect, command);
            let Some(action) = action_of(command).or(held.then_some(Action::Write)) else {
                return Vec::new();
            };
            let uses = command.keys.iter().filter_map(|key| {
                let taken = action == Action::Write && absent::taken(program, effect, key);
                let action = match action {
                    Action::Write if taken => Action::Acquire,
                    Action::Write if empties(command) => Action::Release,
                    action => action,
                };
                let counts = taken || !held;
                counts.then(|| redis_use(program, lifted, effect, index, action, key))
            });
            uses.collect()
        }
        EffectKind::Lease(call) => {
            let action = match call.action {
                LeaseAction::Acquire => Action::Acquire,
                LeaseAction::Release => Action::Release,
                LeaseAction::Renew => Action::Renew,
            };
            let ids =
                call.key.iter().flat_map(|key| identities(program, effect.site, &key.template));
            vec![KeyUse {
                site: effect.site,
                effect: index,
                action,
                key: call.key.clone(),
                identities: ids.collect(),
                owner: if call.checks_owner { OwnerProof::Library } else { OwnerProof::None },
                library: true,
                claim: None,
            }]
        }
        _ => Vec::new(),
    }
}

fn redis_use(
    program: &Program,
    lifted: &Lifted,
    effect: &Effect,
    index: usize,
    action: Action,
    key: &Key,
) -> KeyUse {
    let owner = match (&effect.kind, action) {
        (EffectKind::Redis(command), Action::Release | Action::Renew | Action::Write) => {
            owner_proof(program, lifted, effect, command, key)
        }
        (EffectKind::Redis(_), Action::Read) => read_proof(program, lifted, effect, key),
        _ => OwnerProof::None,
    };
    KeyUse {
        site: effect.site,
        effect: index,
        action,
        key: Some(key.clone()),
        identities: identities(program, effect.site, &key.template),
        owner,
        library: false,
        claim: None,
    }
}

/// A wrapper's write that leaves a key without a value by what one call passes to it, as that call
/// sees it.
fn emptied_by_wrapper(
    program: &Program,
    lifted: &Lifted,
    effect: &Effect,
    index: usize,
) -> Option<KeyUse> {
    let EffectKind::Redis(command) = &effect.kind else { return None };
    let passed = stored(command).is_some_and(|word| word.value.is_some());
    let [key] = command.keys.as_slice() else { return None };
    let action = if empties(command) { Action::Release } else { Action::Write };
    (passed && stores_nothing(command))
        .then(|| redis_use(program, lifted, effect, index, action, key))
}

/// The operations that lead to a use of one identified key, the use itself first, by body: of a wrapper
/// that is given the key, only the calls that give it this one.
pub(super) fn ways_to(
    program: &Program,
    graph: &CallGraph,
    key_use: &KeyUse,
    one: &Identified,
) -> BTreeMap<BodyId, BTreeSet<OpId>> {
    // Where there were more keys than are kept, a call may give any of them.
    let all = key_use.identities.len() >= MOST_IDENTITIES;
    let calls = if all { Vec::new() } else { graph.chain(program, key_use.site.body, &one.via) };
    let outermost = calls.last().copied().unwrap_or(key_use.site);
    let mut found = graph.leading_to([outermost], usize::MAX);
    for site in calls.into_iter().chain([key_use.site]) {
        found.entry(site.body).or_default().insert(site.op);
    }
    found
}

/// What a command does to a lease key; `None` for commands on other kinds of keys.
fn action_of(command: &RedisCommand) -> Option<Action> {
    let action = match command.name.as_str() {
        "SETNX" | "MSETNX" => Action::Acquire,
        "SET" | "MSETEX" => match (&command.condition, &command.expiry) {
            (Condition::IfAbsent | Condition::MaybeIfAbsent, _) => Action::Acquire,
            (Condition::IfPresent | Condition::IfEqual(_), expiry)
                if !matches!(expiry, Expiry::None | Expiry::Keep) =>
            {
                Action::Renew
            }
            _ => Action::Write,
        },
        "DEL" | "UNLINK" | "GETDEL" | "DELEX" | "DELIFEQ" => Action::Release,
        "EXPIRE" | "PEXPIRE" | "EXPIREAT" | "PEXPIREAT" | "PERSIST" => Action::Renew,
        "GETEX" if command.expiry != Expiry::None => Action::Renew,
        "GET" | "EXISTS" | "GETEX" | "TTL" | "PTTL" => Action::Read,
        "SETEX" | "PSETEX" | "GETSET" | "MSET" => Action::Write,
        _ => return None,
    };
    Some(action)
}

/// Whether a command leaves its key with an empty value for good: nobody is named in it any more. With
/// an expiry it is a lease like any other, written over whoever held it.
pub(crate) fn empties(command: &RedisCommand) -> bool {
    stores_nothing(command) && matches!(command.expiry, Expiry::None | Expiry::Keep)
}

/// Whether a command stores an empty value.
#[must_use]
pub fn stores_nothing(command: &RedisCommand) -> bool {
    let is_empty = |word: &Word| !word.optional && word.text.as_deref() == Some("");
    command.is(&["SET", "SETEX", "PSETEX", "GETSET"]) && stored(command).is_some_and(is_empty)
}

/// The word that a command stores.
pub(super) fn stored(command: &RedisCommand) -> Option<&Word> {
    let place = crate::catalog::redis::command(&command.name)?.value?;
    command.words.get(place.checked_sub(1)?)
}
