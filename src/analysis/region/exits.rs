//! Ways out of a body on which a lease stays held although other ways give it back.
//!
//! *Released* is judged way by way, and this errs on the side of *released*. A way out counts only if
//! every run that comes there from the won acquire holds the lease; if what decides the way is no
//! answer about the lease itself (a renewal that failed says that it is lost); if the lease does not
//! leave by it, in a value, a field, a task or a value that releases when it is dropped; and if no
//! caller releases after it.

use std::collections::BTreeSet;

use super::Region;
use crate::analysis::Analysis;
use crate::analysis::lease::{Action, KeyUse};
use crate::analysis::outcome::Abstract;
use crate::ir::body::{Block, BlockId, Body, Exit, OpId, Terminator};
use crate::ir::effect::{BodyId, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::evaluate::is_failure;
use crate::source::Span;

mod above;
mod answers;
mod below;
mod dropped;
mod walk;

#[cfg(test)]
mod tests;

use answers::parts;
use walk::Walk;

/// How many calls down the cause of a failure is looked for.
const MOST_CAUSES: u32 = 4;

/// A way out of a body that leaves the lease held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseExit {
    /// What leaves: the call that failed, or the `return`.
    pub span: Span,
    /// How.
    pub how: Leaving,
    /// What fails in the function that is called, where that is one call.
    pub cause: Option<Span>,
}

/// How a body is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// A failure is passed on.
    Propagated,
    /// An explicit return, or the end of the body.
    Returned,
}

impl Analysis<'_> {
    /// The ways out of a region's body that leave the lease held, in the order of their places.
    #[must_use]
    pub fn lease_exits(&self, region: &Region) -> Vec<LeaseExit> {
        let id = region.point.site.body;
        let Some(own) = self.program.body(id).filter(|_| !self.program.in_script(id)) else {
            return Vec::new();
        };
        // Of a key that nobody asks for it is not known that it is held.
        if self.leases.get(region.point.acquire).is_none_or(|acquire| self.is_unheeded(acquire)) {
            return Vec::new();
        }
        let body = &own.body;
        let owned = !region.releases.is_empty();
        if !owned && self.released_by_caller(region).is_none() {
            return Vec::new();
        }
        let Some(walk) = Walk::new(self, region) else { return Vec::new() };
        let seen = walk.held();
        let finishes = owned && seen.released.iter().any(|at| succeeds(body, *at));
        let handed_on = finishes && self.is_given_back_elsewhere(region);
        let mut exits: Vec<LeaseExit> = self.exits_below(&walk, &seen, handed_on);
        for block in seen.held.difference(&seen.released) {
            let Some(Terminator::Return { value, exit, span }) =
                body.block(*block).map(|block| &block.end)
            else {
                continue;
            };
            let failed = fails(body, *value, *exit);
            let leaves = match failed {
                true => true,
                false => {
                    let handed = value.is_some_and(|value| walk.hands_out(value));
                    *exit == Exit::Return && finishes && !handed_on && !handed
                }
            };
            let given = value.map_or(Abstract::Unknown, |value| walk.value(value));
            if leaves && !self.released_above(&region.point, &given) {
                exits.push(self.exit_at(id, body, *value, *exit, *span));
            }
        }
        exits.sort_by_key(|exit| exit.span);
        exits.dedup();
        exits
    }

    /// Whether nobody asks whether an acquire was won.
    fn is_unheeded(&self, acquire: &KeyUse) -> bool {
        !acquire.library
            && !self.program.in_script(acquire.site.body)
            && !answers::is_asked(self.program, acquire.site)
    }

    /// The first operation in the order of the source that gives the lease back on other ways: in the
    /// region's body, else in a caller that it is handed out to.
    #[must_use]
    pub fn skipped_release(&self, region: &Region) -> Option<Site> {
        let own = region.releases.iter().map(|op| Site { body: region.point.site.body, op: *op });
        own.min_by_key(|site| self.place(*site)).or_else(|| self.released_by_caller(region))
    }

    /// Where a caller gives back what this body hands out to it.
    fn released_by_caller(&self, region: &Region) -> Option<Site> {
        let above = self.regions.iter().find(|other| {
            other.point.acquire == region.point.acquire
                && other.point.chain.contains(&region.point.site)
                && !other.releases.is_empty()
        })?;
        let releases = above.releases.iter();
        let sites = releases.map(|op| Site { body: above.point.site.body, op: *op });
        sites.min_by_key(|site| self.place(*site))
    }

    /// Whether somebody else may give the lease back once this body is left: a caller it is handed out
    /// to, or code that finishes what was begun under it.
    fn is_given_back_elsewhere(&self, region: &Region) -> bool {
        if self.released_by_caller(region).is_some() {
            return true;
        }
        let Some(acquire) = self.leases.get(region.point.acquire) else { return true };
        let ends: BTreeSet<Site> = self
            .regions
            .iter()
            .flat_map(|it| it.releases.iter().map(|op| Site { body: it.point.site.body, op: *op }))
            .collect();
        self.leases.others(acquire, Action::Release).any(|(_, release)| {
            let mut same = release.identities.iter().filter(|one| {
                acquire.identities.iter().any(|other| other.identity == one.identity)
            });
            same.any(|one| {
                let chain = self.graph.chain(self.program, release.site.body, &one.via);
                let outermost = chain.last().copied().unwrap_or(release.site);
                !ends.contains(&release.site) && self.is_reached_past(&ends, outermost)
            })
        })
    }

    /// Whether a run may come to an operation without passing one of some others above it.
    fn is_reached_past(&self, ends: &BTreeSet<Site>, site: Site) -> bool {
        let mut seen: BTreeSet<Site> = BTreeSet::from([site]);
        let mut waiting = vec![site];
        while let Some(site) = waiting.pop() {
            let callers = self.graph.run_by(site.body);
            if !ends.contains(&site) && callers.is_empty() {
                return true;
            }
            if !ends.contains(&site) {
                waiting.extend(callers.iter().copied().filter(|caller| seen.insert(*caller)));
            }
        }
        false
    }

    fn exit_at(
        &self,
        id: BodyId,
        body: &Body,
        value: Option<ValueId>,
        exit: Exit,
        span: Span,
    ) -> LeaseExit {
        let how = if exit == Exit::Propagated { Leaving::Propagated } else { Leaving::Returned };
        // What a macro writes stands elsewhere, and serves others.
        let outside = |place: Span| {
            place.file != body.span.file
                || place.start < body.span.start
                || place.end > body.span.end
        };
        let failed = value.and_then(|value| failed_call(self, id, body, value));
        let call = failed.filter(|_| how == Leaving::Propagated || outside(span));
        let place = call.and_then(|op| self.place(Site { body: id, op }));
        let span = place.filter(|place| !outside(*place)).unwrap_or(span);
        let cause = failed.and_then(|op| self.cause(Site { body: id, op }, MOST_CAUSES));
        LeaseExit { span, how, cause }
    }

    /// What a call runs, there or where it is awaited.
    fn run_behind(&self, call: Site) -> BTreeSet<BodyId> {
        let Some(own) = self.program.body(call.body).map(|own| &own.body) else {
            return BTreeSet::new();
        };
        let ops = own.operations().filter(|(_, op, _)| own.call_behind(*op) == call.op);
        let runs = ops.flat_map(|(_, op, _)| self.graph.runs_at(Site { op, ..call }));
        runs.copied().collect()
    }

    /// What fails where a call of the program's own fails: the one call whose failure is passed on.
    fn cause(&self, call: Site, depth: u32) -> Option<Span> {
        let depth = depth.checked_sub(1)?;
        let mut failing: BTreeSet<Option<Site>> = BTreeSet::new();
        for called in self.run_behind(call) {
            let body = &self.program.body(called)?.body;
            for block in &body.blocks {
                if let Terminator::Return { value, exit, .. } = &block.end
                    && fails(body, *value, *exit)
                {
                    let op = value.and_then(|value| failed_call(self, called, body, value));
                    failing.insert(op.map(|op| Site { body: called, op }));
                }
            }
        }
        let site = failing.pop_first().filter(|_| failing.is_empty())??;
        self.cause(site, depth).or_else(|| self.place(site))
    }
}

/// The call whose failure a value passes on.
fn failed_call(analysis: &Analysis<'_>, id: BodyId, body: &Body, value: ValueId) -> Option<OpId> {
    let mut seen = BTreeSet::from([value]);
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        if let ValueKind::Payload { of, .. } = body.kind(value) {
            let (origin, source) = analysis.program.source_of(id, *of);
            if let ValueKind::Result(op) = body.kind(source)
                && origin == id
            {
                return Some(*op);
            }
        }
        waiting.extend(parts(body.kind(value)).into_iter().filter(|part| seen.insert(*part)));
    }
    None
}

/// Whether a way out is a failure.
fn fails(body: &Body, value: Option<ValueId>, exit: Exit) -> bool {
    exit == Exit::Propagated || value.is_some_and(|value| is_failure(body, value))
}

/// Whether a block leaves the body, and not by a failure.
fn succeeds(body: &Body, block: BlockId) -> bool {
    match body.block(block) {
        Some(Block { end: Terminator::Return { value, exit, .. }, .. }) => {
            !fails(body, *value, *exit)
        }
        _ => false,
    }
}
