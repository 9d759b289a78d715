//! What shows that a release or renewal is the owner's own: a comparison on every way to it, by the
//! server or in the client, here or by every caller.

use crate::analysis::callgraph::call_site;
use crate::analysis::expiry::comes_after;
use crate::analysis::guard::{CheckKind, OwnerCheck, owner_compared, owner_of_key_checked};
use crate::analysis::identity::identities;
use crate::analysis::lifted::Lifted;
use crate::ir::body::OpId;
use crate::ir::effect::{BodyId, Condition, Effect, EffectKind, Key, RedisCommand, Site};
use crate::link::Program;
use crate::source::Span;

/// How a release or renewal is shown to be the owner's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerProof {
    /// Not at all.
    None,
    /// Nobody else holds the key there: it was not there, or has just been taken, in one step.
    Free,
    /// By a comparison that the server makes in one step with it: a script, IFEQ, WATCH and MULTI.
    Atomic,
    /// By a comparison in the client, in a command of its own.
    Client(Span),
    /// By the lock library.
    Library,
}

impl OwnerProof {
    /// Whether an owner was compared at all, in whatever way.
    #[must_use]
    pub fn compares(self) -> bool {
        !matches!(self, Self::None | Self::Free)
    }
}

/// What shows that a release or renewal is the owner's own.
pub(super) fn owner_proof(
    program: &Program,
    lifted: &Lifted,
    effect: &Effect,
    command: &RedisCommand,
    key: &Key,
) -> OwnerProof {
    if matches!(command.condition, Condition::IfEqual(_)) {
        return OwnerProof::Atomic;
    }
    let Some(seen) = lifted.seen(program, effect.site.body) else { return OwnerProof::None };
    let transaction = Transaction::of(effect, command);
    let atomic = transaction.covers(program, lifted, effect.site.body, key);
    match owner_of_key_checked(seen, queued_at(program, effect, command), key) {
        OwnerCheck::Checked { kind: CheckKind::Owner, .. } if atomic => OwnerProof::Atomic,
        OwnerCheck::Checked { .. } if atomic => OwnerProof::Free,
        OwnerCheck::Checked { by, kind: CheckKind::Owner } => OwnerProof::Client(by),
        OwnerCheck::Checked { .. } | OwnerCheck::Unchecked | OwnerCheck::Unknown => {
            compared_by_caller(program, lifted, effect, transaction, key)
                .unwrap_or(OwnerProof::None)
        }
    }
}

/// Where it is decided that a command runs: a client queues those of a batch before it sends them.
fn queued_at(program: &Program, effect: &Effect, command: &RedisCommand) -> OpId {
    let queued = || {
        let body = &program.body(effect.site.body)?.body;
        let written = |op: &OpId| body.call(*op).is_some_and(|call| call.name_span == effect.span);
        body.operations().map(|(_, op, _)| op).find(written)
    };
    let batched = command.batch.is_some() && !effect.in_script();
    batched.then(queued).flatten().unwrap_or(effect.site.op)
}

/// Whether what is read of a key is compared with an owner token in the same body.
pub(super) fn read_proof(
    program: &Program,
    lifted: &Lifted,
    effect: &Effect,
    key: &Key,
) -> OwnerProof {
    let Some(seen) = lifted.seen(program, effect.site.body) else { return OwnerProof::None };
    match owner_compared(seen, key) {
        Some(_) if effect.in_script() => OwnerProof::Atomic,
        Some(by) => OwnerProof::Client(by),
        None => OwnerProof::None,
    }
}

/// A wrapper's release, when every caller compares the owner before it calls.
fn compared_by_caller(
    program: &Program,
    lifted: &Lifted,
    effect: &Effect,
    transaction: Transaction,
    key: &Key,
) -> Option<OwnerProof> {
    let callers: Vec<Site> = identities(program, effect.site, &key.template)
        .iter()
        .filter_map(|one| one.via.last().copied())
        .collect();
    // A key that the wrapper builds itself is the same for every caller.
    let callers = if callers.is_empty() { program.callers(effect.site.body) } else { &callers };
    let above = Above { program, lifted, transaction };
    above.proof(effect.site.body, key, callers, 0)
}

/// How many calls up a comparison is looked for.
const MOST_CALLS_UP: u32 = 3;

/// A comparison before the calls that lead to a release.
#[derive(Clone, Copy)]
struct Above<'p> {
    program: &'p Program,
    lifted: &'p Lifted,
    transaction: Transaction,
}

impl Above<'_> {
    /// What all callers of a body show, the weakest of it; `None` when one shows nothing.
    fn proof(self, body: BodyId, key: &Key, callers: &[Site], depth: u32) -> Option<OwnerProof> {
        let proofs = callers.iter().map(|site| self.at(body, key, *site, depth));
        let proofs: Vec<OwnerProof> = proofs.collect::<Option<_>>()?;
        let client = proofs.iter().find(|proof| matches!(proof, OwnerProof::Client(_)));
        client.or(proofs.first()).copied()
    }

    fn at(self, body: BodyId, key: &Key, site: Site, depth: u32) -> Option<OwnerProof> {
        let Self { program, lifted, transaction } = self;
        let at = call_site(program, site);
        // What a client compares before it calls a script is no comparison of the script's.
        if program.in_script(body) != program.in_script(at.body) {
            return None;
        }
        let template = program.into_caller(&key.template, body, at);
        let key = Key { value: None, template, ..key.clone() };
        match owner_of_key_checked(lifted.seen(program, at.body)?, at.op, &key) {
            OwnerCheck::Checked { by, kind: CheckKind::Owner } => {
                let atomic = transaction.covers(program, lifted, at.body, &key);
                Some(if atomic { OwnerProof::Atomic } else { OwnerProof::Client(by) })
            }
            OwnerCheck::Checked { .. } => None,
            OwnerCheck::Unchecked | OwnerCheck::Unknown if depth < MOST_CALLS_UP => {
                self.proof(at.body, &key, program.callers(at.body), depth + 1)
            }
            OwnerCheck::Unchecked | OwnerCheck::Unknown => None,
        }
    }
}

/// What makes one of a comparison and a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transaction {
    /// Nothing.
    No,
    /// The script that both are in.
    Script,
    /// MULTI and EXEC, when the key was watched before it was read.
    Watched,
}

impl Transaction {
    fn of(effect: &Effect, command: &RedisCommand) -> Self {
        match command.batch.is_some_and(|batch| batch.atomic) {
            _ if effect.in_script() => Self::Script,
            true => Self::Watched,
            false => Self::No,
        }
    }

    /// Whether a comparison of a key in a body and the command are one.
    fn covers(self, program: &Program, lifted: &Lifted, body: BodyId, key: &Key) -> bool {
        match self {
            Self::No => false,
            Self::Script => true,
            Self::Watched => watched(program, lifted, body, key),
        }
    }
}

/// Whether a body watches a key before it reads it: then a comparison of what was read and the
/// transaction after it are one. A watch around a closure comes before all that it does, and its
/// captures have the names of the function around it.
fn watched(program: &Program, lifted: &Lifted, body: BodyId, key: &Key) -> bool {
    let on_key = |other: &Effect, names: &[&str]| match &other.kind {
        EffectKind::Redis(command) => {
            command.is(names) && command.keys.iter().any(|it| it.template.same_text(&key.template))
        }
        _ => false,
    };
    let own = lifted.effects(body);
    let watches = own.iter().filter(|other| on_key(other, &["WATCH"]));
    let reads = || own.iter().filter(|other| on_key(other, &["GET", "HGET", "HMGET", "HEXISTS"]));
    let mut before = watches.filter(|watch| {
        reads().any(|read| comes_after(program, watch.site, read.site))
            && !reads().any(|read| comes_after(program, read.site, watch.site))
    });
    let parent = |id: &BodyId| program.body(*id)?.parent;
    let around = std::iter::successors(parent(&body), parent);
    before.next().is_some()
        || around.flat_map(|id| program.effects(id)).any(|other| on_key(other, &["WATCH"]))
}
