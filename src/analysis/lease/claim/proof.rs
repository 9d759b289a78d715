//! What shows that a claim takes a lease: the reply decides who goes on, and who goes on gives back.
//!
//! Seen from the command or from a call that leads to it, a winner's every way out that is no failure
//! passes a release that no loser comes to; or a winner alone is handed a value whose type releases.
//! A counter's limit, a member that stays, a field that is only rolled back on failure, a release that
//! others come to as well: none of these is a lease. Errs on the side of *no*.

use std::collections::{BTreeMap, BTreeSet};

use super::super::rollback::only_undoes;
use super::super::{Action, KeyUse, answer, ways_to};
use super::Claim;
use crate::analysis::callgraph::CallGraph;
use crate::analysis::expiry::comes_after;
use crate::analysis::guard::returns;
use crate::analysis::identity::{Identified, KeyIdentity};
use crate::analysis::lock_words::has_lock_verb;
use crate::analysis::outcome::{Abstract, Assumption};
use crate::ir::body::{BlockId, Body, Exit, OpId, Terminator};
use crate::ir::effect::{BodyId, Site};
use crate::ir::index::TypeRef;
use crate::link::evaluate::is_failure;
use crate::link::{FunctionId, Program, TypeId};

/// How many calls above a claim are looked at.
const MOST_CALLS_UP: usize = 6;

/// The claims that are of leases, with the identities by which they are.
pub(in crate::analysis::lease) fn proved(
    program: &Program,
    graph: &CallGraph,
    claims: Vec<KeyUse>,
    uses: &[KeyUse],
) -> Vec<KeyUse> {
    let mut leases: BTreeSet<KeyIdentity> = BTreeSet::new();
    for take in claims.iter().filter(|it| it.action == Action::Acquire) {
        for one in &take.identities {
            let proof = Proof::of(program, graph, take, one, claims.iter().chain(uses));
            if !leases.contains(&one.identity) && proof.holds() {
                leases.insert(one.identity.clone());
            }
        }
    }
    let kept = claims.into_iter().filter_map(|mut claim| {
        claim.identities.retain(|one| leases.contains(&one.identity));
        (!claim.identities.is_empty()).then_some(claim)
    });
    kept.collect()
}

/// One claim of one key, and what gives the key back.
struct Proof<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    take: &'a KeyUse,
    one: &'a Identified,
    gives: Vec<&'a KeyUse>,
}

/// A claim as one body sees it: the command, or a call that leads to it.
struct Point {
    site: Site,
    won: Abstract,
    /// `None` where a loser does not come back.
    lost: Option<Abstract>,
}

impl<'a> Proof<'a> {
    fn of(
        program: &'a Program,
        graph: &'a CallGraph,
        take: &'a KeyUse,
        one: &'a Identified,
        uses: impl Iterator<Item = &'a KeyUse>,
    ) -> Self {
        let releases = uses.filter(|it| it.action == Action::Release);
        let gives = releases.filter(|it| it.identities.iter().any(|other| same_key(one, other)));
        Self { program, graph, take, one, gives: gives.collect() }
    }

    fn holds(&self) -> bool {
        if self.gives.is_empty() {
            return false;
        }
        let releasing = self.releasing();
        let answer = |won| answer(self.program, self.take, won);
        let mut points =
            vec![Point { site: self.take.site, won: answer(true), lost: Some(answer(false)) }];
        let mut calls = self.graph.chain(self.program, self.take.site.body, &self.one.via);
        calls.reverse();
        for depth in 0..=MOST_CALLS_UP {
            if points.iter().any(|point| self.decides(point, &releasing)) {
                return true;
            }
            let told: Vec<Point> = points.iter().filter_map(|it| self.told_by_caller(it)).collect();
            let verbs = depth == 0 && self.speaks_of_lock();
            if told.iter().any(|point| verbs || self.hands_out_releaser(point.site.body)) {
                return true;
            }
            let next = calls.pop();
            points = told.iter().flat_map(|point| self.above(point, next)).collect();
        }
        false
    }

    /// The same claim as the callers of its body see it: all of them, or the one by which its key is
    /// that key.
    fn above(&self, point: &Point, only: Option<Site>) -> Vec<Point> {
        let sites = self.graph.run_by(point.site.body).iter();
        let seen = sites.filter(|site| only.is_none_or(|only| only == **site));
        seen.map(|site| Point { site: *site, won: point.won.clone(), lost: point.lost.clone() })
            .collect()
    }

    /// What the body of a point gives back to winners and losers, where they can tell which they are.
    fn told_by_caller(&self, point: &Point) -> Option<Point> {
        let body = &self.program.body(point.site.body)?.body;
        let (from, _) = body.position(point.site.op)?;
        let won = self.assuming(point.site, &point.won).returned(from)?;
        let lost = match &point.lost {
            Some(lost) => {
                let assumption = self.assuming(point.site, lost);
                if only_panics(body, &assumption.reachable(body, from)) {
                    return None;
                }
                assumption.returned(from)
            }
            None => None,
        };
        let told = lost.as_ref().is_none_or(|lost| *lost != Abstract::Unknown && *lost != won);
        told.then_some(Point { site: point.site, won, lost })
    }

    fn assuming(&self, site: Site, result: &Abstract) -> Assumption<'a> {
        let body = self.program.body(site.body);
        let op = body.map_or(site.op, |own| own.body.call_behind(site.op));
        Assumption::new(self.program, site.body, op, result.clone())
    }

    /// Whether, in the body of a point, winners pass a release on every way out that is no failure,
    /// and losers never come to it.
    fn decides(&self, point: &Point, releasing: &BTreeMap<BodyId, BTreeSet<OpId>>) -> bool {
        let Some(own) = self.program.body(point.site.body) else { return false };
        let body = &own.body;
        let Some(ops) = releasing.get(&own.id) else { return false };
        let Some((start, index)) = body.position(point.site.op) else { return false };
        let lost: BTreeSet<BlockId> = match &point.lost {
            Some(lost) => self.assuming(point.site, lost).reachable(body, start),
            None => BTreeSet::new(),
        };
        let winners_alone = |op: &&OpId| {
            let block = body.position(**op).map(|(block, _)| block);
            comes_after(self.program, point.site, Site { op: **op, ..point.site })
                && block.is_some_and(|block| !lost.contains(&block))
        };
        let passed: BTreeSet<OpId> = ops.iter().filter(winners_alone).copied().collect();
        let won = self.assuming(point.site, &point.won);
        !passed.is_empty()
            && !only_panics(body, &lost)
            && always_passes(body, &won, (start, index + 1), &passed)
    }

    /// The operations that give the key back or lead to where it is, by body.
    fn releasing(&self) -> BTreeMap<BodyId, BTreeSet<OpId>> {
        let mut found: BTreeMap<BodyId, BTreeSet<OpId>> = BTreeMap::new();
        for give in &self.gives {
            for one in give.identities.iter().filter(|other| same_key(self.one, other)) {
                for (body, ops) in ways_to(self.program, self.graph, give, one) {
                    found.entry(body).or_default().extend(ops);
                }
            }
        }
        found
    }

    /// Whether the function of a body gives back a value whose type's methods give the key back.
    fn hands_out_releaser(&self, body: BodyId) -> bool {
        let Some(id) = self.program.enclosing_function(body) else { return false };
        let Some(function) = self.program.function(id) else { return false };
        let owners: BTreeSet<TypeId> =
            self.settled().filter_map(|give| self.program.owner_of(give.site.body)).collect();
        names_type(self.program, id, &function.returns, &owners)
    }

    /// Whether the functions that count a key to 1 and delete it say that they take and release a lock.
    fn speaks_of_lock(&self) -> bool {
        let speaks = |key_use: &KeyUse| {
            let id = self.program.enclosing_function(key_use.site.body);
            id.and_then(|id| self.program.function(id))
                .is_some_and(|function| has_lock_verb(&self.program.words, &function.name))
        };
        self.take.claim == Some(Claim::Count) && speaks(self.take) && self.settled().any(speaks)
    }

    /// The releases that are more than the undoing of a claim.
    fn settled(&self) -> impl Iterator<Item = &'a KeyUse> {
        let (program, graph, one, take) = (self.program, self.graph, self.one, self.take);
        let undoes = move |give: &KeyUse| only_undoes(program, graph, give, &one.identity, &[take]);
        self.gives.iter().copied().filter(move |give| !undoes(give))
    }
}

/// Whether two identified keys are one: the same kind of key, and where one function sees both, the
/// same text.
fn same_key(one: &Identified, other: &Identified) -> bool {
    one.identity == other.identity
        && (one.frame != other.frame || one.template.same_text(&other.template))
}

/// Whether runs through some blocks end in a panic and nowhere else, failures passed on aside: what is
/// expected of the reply is no decision.
fn only_panics(body: &Body, blocks: &BTreeSet<BlockId>) -> bool {
    let ends = || blocks.iter().filter_map(|id| body.block(*id)).map(|block| &block.end);
    let returns = |end: &Terminator| matches!(end, Terminator::Return { exit, .. } if *exit != Exit::Propagated);
    ends().any(|end| matches!(end, Terminator::Panic(_))) && !ends().any(returns)
}

/// Whether every way on from a place that ends without failure passes one of some operations.
fn always_passes(
    body: &Body,
    won: &Assumption<'_>,
    from: (BlockId, usize),
    passed: &BTreeSet<OpId>,
) -> bool {
    let exits: BTreeSet<BlockId> = returns(body)
        .into_iter()
        .filter(|(_, value)| !is_failure(body, *value))
        .map(|(block, _)| block)
        .collect();
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some((id, start)) = waiting.pop() {
        let Some(block) = body.block(id) else { continue };
        if block.ops.iter().skip(start).any(|op| passed.contains(op)) {
            continue;
        }
        if exits.contains(&id) || matches!(block.end, Terminator::Return { value: None, .. }) {
            return false;
        }
        let next = won.successors(&block.end).into_iter();
        waiting.extend(next.filter(|next| seen.insert(*next)).map(|next| (next, 0)));
    }
    true
}

/// Whether a written type names one of some types, at any depth.
fn names_type(
    program: &Program,
    function: FunctionId,
    ty: &TypeRef,
    wanted: &BTreeSet<TypeId>,
) -> bool {
    let inside = |ty: &TypeRef| names_type(program, function, ty, wanted);
    program.type_named(function, ty).is_some_and(|id| wanted.contains(&id))
        || match ty {
            TypeRef::Named { arguments, .. } => arguments.iter().any(inside),
            TypeRef::Bounds(all) | TypeRef::Tuple(all) => all.iter().any(inside),
            TypeRef::Slice(element) => inside(element),
            TypeRef::Function { .. } | TypeRef::Unknown => false,
        }
}
