//! Whether a caller gives a lease back once its callee has left without doing so.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::Analysis;
use crate::analysis::outcome::{Abstract, Assumption};
use crate::analysis::region::AcquirePoint;
use crate::ir::body::{BlockId, OpId, OpKind, Terminator};
use crate::ir::effect::{BodyId, Site};

/// How many calls up.
const MOST_CALLS_UP: u32 = 4;
/// How many callers in all; beyond them somebody is taken to release.
const MOST_CALLERS: usize = 1_000;

impl Analysis<'_> {
    /// Whether a caller may give the lease back after the body of an acquire was left with this value.
    pub(super) fn released_above(&self, point: &AcquirePoint, given: &Abstract) -> bool {
        self.callers_above(point).release(point, given, MOST_CALLS_UP)
    }

    /// Whether the lease may be given back after an operation that was under it, in that body or above.
    pub(super) fn released_after(&self, point: &AcquirePoint) -> bool {
        self.callers_above(point).one_releases(point, MOST_CALLS_UP)
    }

    fn callers_above(&self, point: &AcquirePoint) -> Callers<'_> {
        let acquire = self.leases.get(point.acquire).map(|acquire| acquire.site);
        let takes = self.graph.leading_to(acquire, usize::MAX);
        Callers { analysis: self, takes, seen: BTreeSet::new() }
    }
}

struct Callers<'a> {
    analysis: &'a Analysis<'a>,
    /// The operations that lead to the acquire: what they release they have taken themselves.
    takes: BTreeMap<BodyId, BTreeSet<OpId>>,
    /// The callers that were looked at.
    seen: BTreeSet<Site>,
}

impl Callers<'_> {
    /// Whether some caller may release after its call gave this.
    fn release(&mut self, point: &AcquirePoint, given: &Abstract, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let way = point.way();
        let analysis = self.analysis;
        let callers = analysis.graph.run_by(point.site.body).iter();
        let mut new = callers.filter(|site| !way.iter().any(|known| known.body == site.body));
        new.any(|site| {
            if !self.seen.insert(*site) {
                return false;
            }
            if self.seen.len() > MOST_CALLERS {
                return true;
            }
            let above = AcquirePoint {
                site: *site,
                chain: way.clone(),
                acquire: point.acquire,
                won: given.clone(),
            };
            self.one_releases(&above, depth)
        })
    }

    /// Whether the lease may be given back after an operation gave what it gave, here or further up.
    fn one_releases(&mut self, point: &AcquirePoint, depth: u32) -> bool {
        let program = self.analysis.program;
        let Some(own) = program.body(point.site.body) else { return false };
        let body = &own.body;
        let Some((start, index)) = body.position(point.site.op) else { return false };
        let op = body.call_behind(point.site.op);
        let assumption = Assumption::new(program, point.site.body, op, point.won.clone());
        let mut seen: BTreeSet<BlockId> = BTreeSet::new();
        let mut waiting = vec![(start, index + 1)];
        while let Some((id, from)) = waiting.pop() {
            let Some(block) = body.block(id) else { continue };
            let mut ops = block.ops.get(from..).unwrap_or_default().iter();
            if ops.any(|op| self.gives_back(point, Site { op: *op, ..point.site })) {
                return true;
            }
            if let Terminator::Return { value, .. } = &block.end {
                let given = value.map_or(Abstract::Unknown, |it| assumption.value(body, it));
                if self.release(point, &given, depth) {
                    return true;
                }
            }
            let next = assumption.successors(&block.end).into_iter();
            waiting.extend(next.filter(|next| seen.insert(*next)).map(|next| (next, 0)));
        }
        false
    }

    fn gives_back(&self, point: &AcquirePoint, site: Site) -> bool {
        let (program, leases) = (self.analysis.program, &self.analysis.leases);
        let holding = self.analysis.holding();
        let known = leases.identities_at(program, point);
        let identities = known.unwrap_or_else(|| holding.all_identities(point));
        let takes = self.takes.get(&site.body).is_some_and(|ops| ops.contains(&site.op));
        if !takes && holding.releases.any_at(&self.analysis.graph, site, &identities) {
            return true;
        }
        let op = program.body(site.body).and_then(|own| own.body.op(site.op));
        match op.map(|op| &op.kind) {
            Some(OpKind::ScopeEnd(values)) => {
                values.iter().any(|value| holding.drop_releases(site.body, *value, &identities))
            }
            _ => false,
        }
    }
}
