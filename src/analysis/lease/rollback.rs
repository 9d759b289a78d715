//! Releases that only undo an acquire: something failed after it, and the key is given back at once.
//!
//! Errs on the side of *no*: a way to the release that is not seen to be a failure makes it one that
//! a critical section ends with.

use std::collections::{BTreeMap, BTreeSet};

use super::KeyUse;
use crate::analysis::callgraph::CallGraph;
use crate::analysis::expiry::comes_after;
use crate::analysis::identity::KeyIdentity;
use crate::ir::body::{Block, BlockId, Body, OpId, Terminator, Test};
use crate::ir::effect::{BodyId, Site};
use crate::ir::value::{Pattern, SUCCESS, ValueKind};
use crate::link::Program;

/// How many calls above an acquire or a release are looked at.
const MOST_CALLS: usize = 2_000;

/// Whether a release only undoes acquires of the same key: every way to it leads over the failure
/// side of some result behind an acquire. Where the acquire itself failed, nobody knows whose key it
/// is.
pub(super) fn only_undoes(
    program: &Program,
    graph: &CallGraph,
    release: &KeyUse,
    identity: &KeyIdentity,
    acquires: &[&KeyUse],
) -> bool {
    let ways = release.identities.iter().filter(|one| one.identity == *identity);
    let taken = graph.leading_to(acquires.iter().map(|acquire| acquire.site), MOST_CALLS);
    let undoing = Undoing { program, graph, taken };
    let mut any = false;
    for way in ways {
        any = true;
        let calls = way.via.iter().copied().chain([release.site]).collect::<Vec<_>>();
        if !undoing.on(&calls) {
            return false;
        }
    }
    any
}

struct Undoing<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    taken: BTreeMap<BodyId, BTreeSet<OpId>>,
}

impl Undoing<'_> {
    /// Whether a chain of calls down to a release lies on the failure side of an acquire: in the
    /// innermost body that has one or below it, or in everything above.
    fn on(&self, calls: &[Site]) -> bool {
        let mut undoes = false;
        for site in calls.iter().rev() {
            match self.at(*site) {
                Some(answer) => return answer || undoes,
                None => undoes |= on_failure_only(self.program, *site, &BTreeSet::new()),
            }
        }
        let Some(outermost) = calls.first() else { return false };
        let mut seen: BTreeSet<Site> = BTreeSet::from([*outermost]);
        let mut waiting = vec![*outermost];
        while let Some(site) = waiting.pop() {
            let callers = self.graph.run_by(site.body);
            if callers.is_empty() || seen.len() > MOST_CALLS {
                return false;
            }
            for caller in callers.iter().filter(|caller| seen.insert(**caller)) {
                match self.at(*caller) {
                    Some(answer) if answer || undoes => {}
                    Some(_) => return false,
                    None => waiting.push(*caller),
                }
            }
        }
        true
    }

    /// Whether an operation lies on the failure side of what comes after an acquire in its body;
    /// `None` when none comes before it.
    fn at(&self, site: Site) -> Option<bool> {
        let before = |op: &OpId| comes_after(self.program, Site { op: *op, ..site }, site);
        let acquired: BTreeSet<OpId> =
            self.taken.get(&site.body)?.iter().copied().filter(before).collect();
        (!acquired.is_empty()).then(|| on_failure_only(self.program, site, &acquired))
    }
}

/// Whether every path to an operation passes the failure side of some result.
fn on_failure_only(program: &Program, site: Site, acquired: &BTreeSet<OpId>) -> bool {
    let Some(body) = program.body(site.body).map(|body| &body.body) else { return false };
    let Some((wanted, _)) = body.position(site.op) else { return false };
    let on = |block: &Block| successes(program, site.body, body, &block.end, acquired);
    !body.reachable(body.roots(), on).contains(&wanted)
}

/// The ways on that are not the failure side of a result.
fn successes(
    program: &Program,
    id: BodyId,
    body: &Body,
    end: &Terminator,
    acquired: &BTreeSet<OpId>,
) -> Vec<BlockId> {
    let Terminator::Branch { test, then, otherwise, .. } = end else { return end.successors() };
    if tests_acquire(program, id, body, test, acquired) {
        return end.successors();
    }
    match failure_side(body, test) {
        Some(true) => vec![*otherwise],
        Some(false) => vec![*then],
        None => vec![*then, *otherwise],
    }
}

/// Whether a test looks at the result of an acquire.
fn tests_acquire(
    program: &Program,
    id: BodyId,
    body: &Body,
    test: &Test,
    acquired: &BTreeSet<OpId>,
) -> bool {
    let value = match test {
        Test::Matches { value, .. } => *value,
        Test::True(value) => match body.kind(*value) {
            ValueKind::Matches { value, .. } => *value,
            _ => *value,
        },
        Test::Opaque(_) => return false,
    };
    let (_, source) = program.source_of(id, value);
    matches!(body.kind(source), ValueKind::Result(op)
        if acquired.iter().any(|acquired| body.call_behind(*acquired) == *op))
}

/// `Some(true)` when the test holds on failure, `Some(false)` when it fails on failure.
fn failure_side(body: &Body, test: &Test) -> Option<bool> {
    let pattern: &Pattern = match test {
        Test::Matches { pattern, .. } => pattern,
        Test::True(value) => match body.kind(*value) {
            ValueKind::Matches { pattern, .. } => pattern,
            _ => return None,
        },
        Test::Opaque(_) => return None,
    };
    match pattern.variant()? {
        "Err" => Some(true),
        "Ok" | SUCCESS => Some(false),
        _ => None,
    }
}
