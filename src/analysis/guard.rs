//! Whether an owner comparison stands before a command on a lease key.
//!
//! This is a *must* question: [`OwnerCheck::Checked`] means that every path from the body's entry
//! to the operation passes the side of a test on which the lease is the caller's own. It knows no
//! language: a Lua script that compares before DEL and a client that reads, compares, returns early
//! and deletes are the same shape. Whether comparison and command are one atomic unit is for the
//! caller to say: in a script they are, in client code they are not.
//!
//! What counts, for a key: a value read from it equals one that came from outside (an argument, a
//! parameter, a field), on either side, through locals, converted, as a field of decoded JSON; an
//! outside field or member is in it (HEXISTS, HGET, SISMEMBER, ZSCORE, ZREM of one); it was just
//! taken (SET NX won); it is not there at all. GETDEL, GETSET and DEL compare nothing.
//!
//! A body is looked at alone, with the closures that its own tests run. For the closure that an
//! operation stands in, ask again at the operation that creates it in the body around it; for a
//! helper, at its calls.

use std::cmp::Reverse;

use crate::ir::body::{BlockId, Body, BodyIndex, Exit, OpId, Terminator, Test};
use crate::ir::effect::{BodyId, Effect, Key};
use crate::ir::key::KeyTemplate;
use crate::ir::value::{Literal, ValueId, ValueKind};
use crate::link::Program;
use crate::link::evaluate::is_failure;
use crate::source::Span;

mod inside;
mod test;
mod value;

use value::Values;

/// What is looked at: a body, the effects that count in it, and the program it is of, which knows
/// its closures.
#[derive(Clone, Copy)]
pub struct Seen<'b> {
    body: &'b Body,
    effects: &'b [Effect],
    answers: &'b [Answer],
    program: Option<(&'b Program, BodyId)>,
}

/// A call that answers yes only where the caller's token is in a key.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The call.
    pub op: OpId,
    /// The key, as the calling body sees it.
    pub key: KeyTemplate,
}

impl<'b> Seen<'b> {
    /// A body of a program with the effects that count in it.
    #[must_use]
    pub fn of(program: &'b Program, id: BodyId, effects: &'b [Effect]) -> Option<Self> {
        let body = &program.body(id)?.body;
        Some(Self { body, effects, answers: &[], program: Some((program, id)) })
    }

    /// The same, with the helpers that the body asks whether it is the owner.
    #[must_use]
    pub fn asking(self, answers: &'b [Answer]) -> Self {
        Self { answers, ..self }
    }

    /// The body of a closure.
    fn nested(&self, index: BodyIndex) -> Option<&'b Body> {
        let (program, id) = self.program?;
        Some(&program.body(program.nested(id, index)?)?.body)
    }
}

/// Whether every path to an operation has compared the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerCheck {
    /// Yes.
    Checked {
        /// The test; where paths have different ones, the strongest, then the first.
        by: Span,
        /// What it says.
        kind: CheckKind,
    },
    /// Some path has not.
    Unchecked,
    /// Some path has only a test whose meaning is out of sight (a helper that was not resolved, a
    /// closure, a script's answer); or the operation is no command with a key.
    Unknown,
}

/// What a test says of the lease, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckKind {
    /// Nobody holds it.
    Absent,
    /// The caller has just taken it.
    Acquired,
    /// The caller's token is in it.
    Owner,
}

/// What is known on every path to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    kind: CheckKind,
    by: Span,
    /// Whether the test's meaning is out of sight.
    opaque: bool,
}

impl Fact {
    /// Both hold, one after the other.
    fn and(self, other: Self) -> Self {
        match (self.opaque, other.opaque) {
            (true, false) => other,
            (false, true) => self,
            _ => self.stronger(other),
        }
    }

    /// One holds on some paths, the other on the rest.
    fn meet(self, other: Self) -> Self {
        Self { opaque: self.opaque || other.opaque, ..self.stronger(other) }
    }

    fn stronger(self, other: Self) -> Self {
        let rank = |fact: &Self| (fact.kind, Reverse(fact.by));
        if rank(&other) > rank(&self) { other } else { self }
    }
}

/// Whether the owner in this key was compared on every path to an operation.
#[must_use]
pub fn owner_of_key_checked(seen: Seen<'_>, at: OpId, key: &Key) -> OwnerCheck {
    let Some((block, _)) = seen.body.position(at) else { return OwnerCheck::Unknown };
    let values = Values::new(seen, key);
    match facts(&values).get(block.0 as usize) {
        Some(Some(Some(fact))) if !fact.opaque => {
            OwnerCheck::Checked { by: fact.by, kind: fact.kind }
        }
        Some(Some(None)) => OwnerCheck::Unchecked,
        // No path from the entry comes there, or the test is out of sight.
        _ => OwnerCheck::Unknown,
    }
}

/// The first test of a body by which the owner in a key is compared, wherever it stands.
#[must_use]
pub fn owner_compared(seen: Seen<'_>, key: &Key) -> Option<Span> {
    let values = Values::new(seen, key);
    let facts = edges(&values).into_iter().filter_map(|edge| edge.fact);
    facts.filter(|fact| fact.kind == CheckKind::Owner && !fact.opaque).map(|fact| fact.by).min()
}

/// Whether a body gives back true only where the owner in a key was compared and is the caller.
#[must_use]
pub fn answers_owner(seen: Seen<'_>, key: &Key) -> bool {
    let values = Values::new(seen, key);
    let facts = facts(&values);
    let mut said = false;
    for (at, value) in returns(seen.body) {
        let value = values.peel(value);
        if matches!(values.kind(value), ValueKind::Literal(Literal::Boolean(false))) {
            continue;
        }
        let known = facts.get(at.0 as usize).copied().flatten().flatten();
        let compared = known.is_some_and(|fact| fact.kind == CheckKind::Owner && !fact.opaque);
        if !compared && test::said_by(&values, value, true) != Some(CheckKind::Owner) {
            return false;
        }
        said = true;
    }
    said
}

/// What a body gives back where it does not fail, and a block that leads there with it.
pub(super) fn returns(body: &Body) -> Vec<(BlockId, ValueId)> {
    let mut all = Vec::new();
    for (index, block) in body.blocks.iter().enumerate() {
        let Terminator::Return { value: Some(value), exit, .. } = block.end else { continue };
        let at = BlockId(u32::try_from(index).unwrap_or(u32::MAX));
        if exit == Exit::Propagated || is_failure(body, value) {
            continue;
        }
        let before = body.leading_to(at);
        let joined = opened(body, value);
        match (body.incoming(at, joined), body.kind(joined)) {
            (Some(ways), _) => all.extend(ways),
            // A front-end that does not say where values come from: one value a way that leads there.
            (None, ValueKind::Join(values))
                if !body.ways.contains_key(&joined) && values.len() == before.len() =>
            {
                all.extend(before.into_iter().zip(values.iter().copied()));
            }
            _ => all.push((at, value)),
        }
    }
    all
}

/// The content of `Ok(…)`, conversions peeled.
fn opened(body: &Body, value: ValueId) -> ValueId {
    match body.kind(body.peel(value)) {
        ValueKind::Aggregate { fields, base: None, .. } => match fields.as_slice() {
            [(_, inner)] => body.peel(*inner),
            _ => value,
        },
        _ => body.peel(value),
    }
}

/// What is known at a place: `None` as long as no path is known to come there, `Some(None)` when
/// some path brings nothing.
type Known = Option<Option<Fact>>;

/// What is known where each block begins.
fn facts(values: &Values<'_>) -> Vec<Known> {
    let count = values.body.blocks.len();
    let mut edges = edges(values);
    if values.any_of_several() {
        for exit in loop_exits(values, &edges) {
            let same = |edge: &&mut Edge| edge.from == exit.from && edge.to == exit.to;
            edges.iter_mut().filter(same).for_each(|edge| edge.fact = exit.fact);
        }
    }
    spread(count, &edges, &values.body.roots())
}

/// What is known where each block begins, on paths that start at some blocks with nothing known.
fn spread(count: usize, edges: &[Edge], starts: &[BlockId]) -> Vec<Known> {
    let mut facts: Vec<Known> = vec![None; count];
    for start in starts {
        if let Some(entry) = facts.get_mut(start.0 as usize) {
            *entry = Some(None);
        }
    }
    // Facts only get weaker, block by block; the bound is for bodies that no front-end makes.
    for _ in 0..count.saturating_add(2) {
        let mut changed = false;
        // A start that is also a loop's head keeps what its first way in brings: nothing.
        for edge in edges.iter().filter(|edge| !starts.contains(&edge.to)) {
            let Some(brought) = edge.brings(&facts) else { continue };
            let Some(slot) = facts.get_mut(edge.to.0 as usize) else { continue };
            let after = meet(*slot, brought);
            changed |= *slot != after;
            *slot = after;
        }
        if !changed {
            break;
        }
    }
    facts
}

fn meet(known: Known, brought: Option<Fact>) -> Known {
    Some(match known {
        None => brought,
        Some(known) => known.zip(brought).map(|(known, brought)| known.meet(brought)),
    })
}

/// Where the lease key is any of several keys, a loop that every round leaves unless the owner
/// matches has compared them all once it ends: the edges out of such loops, with what they say.
/// That the loop has a round at all is taken for granted, as it is for the command itself.
fn loop_exits(values: &Values<'_>, edges: &[Edge]) -> Vec<Edge> {
    let heads = values.body.blocks.iter().enumerate().filter_map(|(index, block)| {
        let head = BlockId(u32::try_from(index).ok()?);
        match &block.end {
            Terminator::Branch { test: Test::Opaque(_), then, otherwise, .. } => {
                Some((head, *then, *otherwise))
            }
            _ => None,
        }
    });
    heads
        .filter_map(|(head, then, otherwise)| {
            let inside: Vec<Edge> =
                edges.iter().filter(|edge| edge.from != head).copied().collect();
            let facts = spread(values.body.blocks.len(), &inside, &[then]);
            let back = inside.iter().filter(|edge| edge.to == head);
            let rounds = back.filter_map(|edge| edge.brings(&facts));
            let fact = rounds.fold(None, meet).flatten()?;
            Some(Edge { from: head, to: otherwise, fact: Some(fact) })
        })
        .collect()
}

/// A way from block to block, and what taking it says.
#[derive(Clone, Copy)]
struct Edge {
    from: BlockId,
    to: BlockId,
    fact: Option<Fact>,
}

impl Edge {
    /// What is known at its end; `None` when no path is known to come along.
    fn brings(&self, facts: &[Known]) -> Known {
        let before = facts.get(self.from.0 as usize).copied().flatten()?;
        Some(match (before, self.fact) {
            (Some(before), Some(fact)) => Some(before.and(fact)),
            (before, fact) => before.or(fact),
        })
    }
}

fn edges(values: &Values<'_>) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (index, block) in values.body.blocks.iter().enumerate() {
        let from = BlockId(u32::try_from(index).unwrap_or(u32::MAX));
        let Terminator::Branch { test, then, otherwise, span } = &block.end else {
            let successors = block.end.successors().into_iter();
            edges.extend(successors.map(|to| Edge { from, to, fact: None }));
            continue;
        };
        for (to, truth) in [(*then, true), (*otherwise, false)] {
            edges.push(Edge { from, to, fact: test::fact(values, test, truth, *span) });
        }
    }
    edges
}

#[cfg(test)]
mod tests;
