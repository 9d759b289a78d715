//! What a key is, by everything the program does with it.

use std::collections::{BTreeMap, BTreeSet};

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::rollback::only_undoes;
use super::{Action, KeyUse, Leases, OwnerProof, absent, first_expiry};
use crate::analysis::callgraph::CallGraph;
use crate::analysis::expiry::{all_sites, comes_after};
use crate::analysis::identity::KeyIdentity;
use crate::analysis::lock_words::{has_lock_word, has_owner_word};
use crate::config::Confidence;
use crate::ir::effect::EffectKind;
use crate::ir::value::ValueKind;
use crate::link::{FunctionId, Program};

/// What kind of key it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyKind {
    /// Nothing says that it is taken conditionally.
    #[default]
    Plain,
    /// Taken conditionally and left to lapse, or rolled back on failure only.
    Marker,
    /// A lease.
    Lease,
}

/// What a key is and how sure that is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyClass {
    /// What it is.
    pub kind: KeyKind,
    /// How sure.
    pub confidence: Confidence,
    /// Whether a name says so too.
    pub named: bool,
    /// Whether the acquire was seen (otherwise an owner token at hand stands in for it).
    pub acquired: bool,
    /// Whether some release or renewal compares the owner.
    pub compared: bool,
}

impl Default for KeyClass {
    fn default() -> Self {
        Self {
            kind: KeyKind::Plain,
            confidence: Confidence::Low,
            named: false,
            acquired: false,
            compared: false,
        }
    }
}

/// Decides every identity.
pub(super) fn classify(
    program: &Program,
    graph: &CallGraph,
    leases: &Leases,
) -> BTreeMap<KeyIdentity, KeyClass> {
    let told = told_keys(program);
    let classes = leases.by_identity.iter().map(|(identity, ids)| {
        let uses: Vec<&KeyUse> = ids.iter().filter_map(|id| leases.get(*id)).collect();
        let class = match is_told(&told, &uses) {
            true => certain_lease(&uses),
            false => class_of(program, graph, identity, &uses),
        };
        (identity.clone(), class)
    });
    classes.collect()
}

/// The settings' patterns of keys that are leases although no code here takes them. The command
/// line has refused patterns that are none.
fn told_keys(program: &Program) -> GlobSet {
    let mut patterns = GlobSetBuilder::new();
    for pattern in &program.settings.lock_keys {
        if let Ok(pattern) = Glob::new(pattern) {
            patterns.add(pattern);
        }
    }
    patterns.build().unwrap_or_default()
}

/// Whether a pattern of the settings matches a key, any text in place of its holes.
fn is_told(told: &GlobSet, uses: &[&KeyUse]) -> bool {
    !told.is_empty()
        && uses
            .iter()
            .flat_map(|it| &it.identities)
            .any(|one| one.template.has_literal() && told.is_match(one.template.to_string()))
}

/// What a key is that the settings call a lease.
fn certain_lease(uses: &[&KeyUse]) -> KeyClass {
    KeyClass {
        kind: KeyKind::Lease,
        confidence: Confidence::High,
        named: true,
        acquired: uses.iter().any(|it| it.action == Action::Acquire),
        compared: uses.iter().any(|it| it.owner.compares()),
    }
}

fn class_of(
    program: &Program,
    graph: &CallGraph,
    identity: &KeyIdentity,
    uses: &[&KeyUse],
) -> KeyClass {
    let taking = uses.iter().filter(|it| it.action == Action::Acquire);
    let acquires: Vec<&KeyUse> = taking.copied().collect();
    let changes = || uses.iter().filter(|it| matches!(it.action, Action::Release | Action::Renew));
    let compared = uses.iter().any(|it| it.action != Action::Write && it.owner.compares());
    let named = is_named(program, identity, uses);
    let acquired = !acquires.is_empty();
    let library = uses.iter().any(|it| it.library);
    let settled = changes().any(|it| match it.action {
        Action::Renew => {
            !acquires.iter().any(|acquire| first_expiry::belongs(program, uses, it, acquire))
        }
        _ => !only_undoes(program, graph, it, identity, &acquires),
    });
    // A client compares cached values with parameters too: without an acquire only a name, or a
    // server-side compare-and-delete, makes that an owner comparison.
    let guarded =
        changes().any(|it| it.action == Action::Release && it.owner == OwnerProof::Atomic);
    let server = uses.iter().any(|it| it.owner == OwnerProof::Atomic);
    // Sets and hashes hold data of every kind: a member that only its own adder goes on with may be
    // any of them.
    let part = matches!(identity, KeyIdentity::Part(..));
    let certain = match (named, part) {
        (true, false) => Confidence::High,
        (true, true) | (false, false) => Confidence::Medium,
        (false, true) => Confidence::Low,
    };
    let (kind, confidence) = if library || (acquired && compared && (named || server)) {
        (KeyKind::Lease, Confidence::High)
    } else if acquired && (settled || compared) {
        (KeyKind::Lease, certain)
    } else if compared && (named || guarded) {
        (KeyKind::Lease, if named { Confidence::High } else { Confidence::Medium })
    } else if acquired {
        (KeyKind::Marker, certain)
    } else if held_by_client(program, graph, identity, uses) {
        (KeyKind::Lease, if named { Confidence::Medium } else { Confidence::Low })
    } else if changes().any(|it| {
        let functions = functions_around(program, it);
        functions.iter().any(|id| token_at_hand(program, *id))
            && (named || named_around(program, it))
    }) {
        (KeyKind::Lease, Confidence::Medium)
    } else {
        (KeyKind::Plain, Confidence::Low)
    };
    KeyClass { kind, confidence, named, acquired, compared }
}

/// Whether a client writes the key where it found nothing, and deletes it in the same run.
fn held_by_client(
    program: &Program,
    graph: &CallGraph,
    identity: &KeyIdentity,
    uses: &[&KeyUse],
) -> bool {
    let deletes = |write: &KeyUse| {
        uses.iter().filter(|it| it.action == Action::Release).any(|release| {
            leads_to(program, identity, write, release)
                && !only_undoes(program, graph, release, identity, &[write])
        })
    };
    let mut writes = uses.iter().filter(|it| it.action == Action::Write);
    writes.any(|write| deletes(write) && absent::taken_by_client(program, write))
}

/// Whether a release, or a call that leads to it with the key, comes after a write.
fn leads_to(program: &Program, identity: &KeyIdentity, write: &KeyUse, release: &KeyUse) -> bool {
    let ways = release.identities.iter().filter(|one| one.identity == *identity);
    let calls = ways.flat_map(|one| one.via.iter().copied());
    let around = program.callers(release.site.body).iter().copied();
    let mut sites = calls.chain(around).chain([release.site]);
    sites.any(|site| comes_after(program, write.site, site))
}

/// Whether the key's own text, its builder, field or constant bears a lock word.
fn is_named(program: &Program, identity: &KeyIdentity, uses: &[&KeyUse]) -> bool {
    let takes = |it: &&&KeyUse| it.action == Action::Acquire;
    names_lock(program, identity)
        || uses.iter().filter(takes).any(|it| {
            let owner = program.qualified_name(it.site.body);
            has_lock_word(&program.words, &owner)
        })
}

/// Whether what makes a key that key bears a lock word.
fn names_lock(program: &Program, identity: &KeyIdentity) -> bool {
    let speaks = |text: &str| has_lock_word(&program.words, text);
    match identity {
        KeyIdentity::Template(text) | KeyIdentity::Constant(text) => speaks(text),
        KeyIdentity::Field(owner, name) | KeyIdentity::Named(owner, name) => {
            speaks(owner) || speaks(name)
        }
        KeyIdentity::Parameter(function, index) => {
            let header = program.function(*function);
            let name = header.and_then(|it| it.parameters.get(*index as usize));
            name.is_some_and(|parameter| speaks(&parameter.name))
        }
        KeyIdentity::ScriptKey(..) => false,
        KeyIdentity::Part(key, part) => names_lock(program, key) || speaks(part),
    }
}

/// Whether the code around a use speaks of a lock: function, type, constants of the command, log.
fn named_around(program: &Program, key_use: &KeyUse) -> bool {
    let Some(body) = program.body(key_use.site.body) else { return false };
    let speaks = |text: &str| has_lock_word(&program.words, text);
    if speaks(&program.qualified_name(key_use.site.body)) {
        return true;
    }
    let spoken = program.effects(key_use.site.body).iter().any(|effect| match &effect.kind {
        EffectKind::Log { values } => values
            .iter()
            .any(|value| speaks(&program.template(key_use.site.body, *value).literals())),
        _ => false,
    });
    spoken
        || body.body.values.iter().any(|value| match &value.kind {
            ValueKind::Path(path) => path.last().is_some_and(&speaks),
            _ => false,
        })
}

/// The functions that a use is seen from. A script has what it is to compare among its own arguments:
/// who calls it says nothing.
fn functions_around(program: &Program, key_use: &KeyUse) -> BTreeSet<FunctionId> {
    if program.in_script(key_use.site.body) {
        return BTreeSet::new();
    }
    let sites = all_sites(program, key_use);
    sites.into_iter().filter_map(|site| program.enclosing_function(site.body)).collect()
}

/// Whether a function has an owner token at hand: a parameter or a field of its type.
fn token_at_hand(program: &Program, id: FunctionId) -> bool {
    let Some(function) = program.function(id) else { return false };
    if function.parameters.iter().any(|parameter| has_owner_word(&program.words, &parameter.name)) {
        return true;
    }
    let owner = function.owner.as_ref().and_then(|owner| program.type_named(id, owner));
    let fields = owner.and_then(|owner| program.ty(owner)).map(|ty| ty.fields.as_slice());
    fields.unwrap_or_default().iter().any(|(name, _)| has_owner_word(&program.words, name))
}
