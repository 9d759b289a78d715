//! Lease regions: where a lease may be held.
//!
//! A region starts at an acquire (a conditional command, a library's lock, or a call that hands a
//! lease out) and holds every operation that can run while the acquire is won and before the lease
//! is released. *Held* is may: one path is enough; a call that releases on some path of its own counts
//! as a release, for such a call asks itself what there is to release. A lease whose handle goes to a
//! call that is not resolved escapes, and the region ends there.

use std::collections::{BTreeMap, BTreeSet};

use super::Analysis;
use super::callgraph::CallGraph;
use super::lease::{KeyKind, KeyUse, Leases, UseId};
use super::outcome::{Abstract, Answer, Assumption};
use crate::ir::body::{BlockId, Body, Exit, OpId, Terminator};
use crate::ir::effect::{BodyId, Site};
use crate::ir::value::ValueId;
use crate::link::Program;
use crate::link::evaluate::is_failure;

pub mod exits;
mod holding;
mod releases;

use holding::{Holding, Passing};
use releases::ReleaseSummaries;

/// An acquire as one body sees it: the command itself, or a call that leads to it.
#[derive(Clone, Debug)]
pub struct AcquirePoint {
    /// The operation in the body whose region it starts.
    pub site: Site,
    /// Calls from that operation down to the acquire itself; empty when it is the acquire.
    pub chain: Vec<Site>,
    /// The key use that acquires.
    pub acquire: UseId,
    /// The result of the operation when the lease was won.
    pub won: Abstract,
}

impl AcquirePoint {
    /// The way from the operation down to the acquire, both included.
    #[must_use]
    pub fn way(&self) -> Vec<Site> {
        std::iter::once(self.site).chain(self.chain.iter().copied()).collect()
    }
}

/// A lease region in one body.
#[derive(Clone, Debug)]
pub struct Region {
    /// What starts it.
    pub point: AcquirePoint,
    /// The operations that may run while the lease is held, in the order they are first reached.
    pub held: Vec<OpId>,
    /// The operations that release it.
    pub releases: Vec<OpId>,
    /// The calls that are not known and are given its handle: what becomes of it is not known either.
    pub escapes: Vec<OpId>,
    /// Whether a return that is no failure is reached with the lease held.
    pub handed_out: bool,
}

/// How many calls a lease is handed up through.
const MOST_CALLS_UP: usize = 6;

/// All regions of the program, by body.
#[derive(Debug, Default)]
pub struct Regions {
    by_body: BTreeMap<BodyId, Vec<Region>>,
    releases: ReleaseSummaries,
}

impl Regions {
    /// Finds all regions.
    #[must_use]
    pub fn new(program: &Program, graph: &CallGraph, leases: &Leases) -> Self {
        let releases = ReleaseSummaries::new(program, graph, leases);
        let holding = Holding { program, graph, leases, releases: &releases };
        let finder = Finder { program, graph, leases, holding };
        let mut by_body: BTreeMap<BodyId, Vec<Region>> = BTreeMap::new();
        let mut seen: BTreeSet<(Site, UseId)> = BTreeSet::new();
        let mut waiting = finder.starts();
        while let Some(point) = waiting.pop() {
            if !seen.insert((point.site, point.acquire)) {
                continue;
            }
            let Some(region) = finder.region(&point) else { continue };
            if region.handed_out && point.chain.len() < MOST_CALLS_UP {
                waiting.extend(finder.handed_up(&point));
            }
            by_body.entry(point.site.body).or_default().push(region);
        }
        for all in by_body.values_mut() {
            all.sort_by_key(|region| (region.point.site, region.point.acquire));
        }
        Self { by_body, releases }
    }

    /// All regions in body order.
    pub fn iter(&self) -> impl Iterator<Item = &Region> {
        self.by_body.values().flatten()
    }
}

struct Finder<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    leases: &'a Leases,
    holding: Holding<'a>,
}

impl Finder<'_> {
    /// The acquires of leases, in reverse order (the worklist is a stack). A marker is not held.
    fn starts(&self) -> Vec<AcquirePoint> {
        let is_lease =
            |key_use: &KeyUse| key_use.library || self.leases.class(key_use).kind == KeyKind::Lease;
        let mut points: Vec<AcquirePoint> = self
            .leases
            .acquires()
            .filter(|(_, key_use)| is_lease(key_use) && self.leases.is_released(key_use))
            .map(|(id, key_use)| AcquirePoint {
                site: key_use.site,
                chain: Vec::new(),
                acquire: id,
                won: self.leases.won(self.program, key_use),
            })
            .collect();
        points.reverse();
        points
    }

    fn region(&self, point: &AcquirePoint) -> Option<Region> {
        let body = &self.program.body(point.site.body)?.body;
        let (start_block, start_index) = body.position(point.site.op)?;
        let assumption = Assumption::new(
            self.program,
            point.site.body,
            body.call_behind(point.site.op),
            point.won.clone(),
        );
        let mut region = Region {
            point: point.clone(),
            held: Vec::new(),
            releases: Vec::new(),
            escapes: Vec::new(),
            handed_out: false,
        };
        let handles = self.holding.handles(body, point);
        let mut seen: BTreeSet<BlockId> = BTreeSet::new();
        let mut waiting = vec![(start_block, start_index + 1)];
        while let Some((block_id, from)) = waiting.pop() {
            let Some(block) = body.block(block_id) else { continue };
            let rest = block.ops.get(from..).unwrap_or_default();
            if !self.run(body, point, rest, &handles, &mut region) {
                continue;
            }
            if let Terminator::Return { value, exit, .. } = &block.end {
                let failed =
                    *exit == Exit::Propagated || value.is_some_and(|value| is_failure(body, value));
                region.handed_out |= !failed;
            }
            for next in assumption.successors(&block.end) {
                if seen.insert(next) {
                    waiting.push((next, 0));
                }
            }
        }
        Some(region)
    }

    /// Walks operations while the lease is held; `false` once it is not any more.
    fn run(
        &self,
        body: &Body,
        point: &AcquirePoint,
        ops: &[OpId],
        handles: &BTreeSet<ValueId>,
        region: &mut Region,
    ) -> bool {
        for op in ops {
            let site = Site { body: point.site.body, op: *op };
            if site == point.site {
                return false;
            }
            match self.holding.passes(body, point, site, handles) {
                Passing::Held => {
                    if !region.held.contains(op) {
                        region.held.push(*op);
                    }
                }
                Passing::Released => {
                    if !region.releases.contains(op) {
                        region.releases.push(*op);
                    }
                    return false;
                }
                Passing::Escaped => {
                    if !region.escapes.contains(op) {
                        region.escapes.push(*op);
                    }
                    return false;
                }
            }
        }
        true
    }

    /// The same acquire as the callers of its function see it.
    fn handed_up(&self, point: &AcquirePoint) -> Vec<AcquirePoint> {
        let id = point.site.body;
        let mut way = vec![point.site];
        way.extend(point.chain.iter().copied());
        let leads = |site: &&Site| self.leases.takes_through(self.program, point, **site);
        let answer = Answer { won: point.won.clone(), lost: Abstract::Reply(false) };
        let up = self.graph.run_by(id).iter().filter(leads).filter_map(|site| {
            let won = answer.seen_by(self.program, point.site, *site)?.won;
            Some(AcquirePoint { site: *site, chain: way.clone(), acquire: point.acquire, won })
        });
        up.collect()
    }
}

impl Analysis<'_> {
    /// What operations do to a lease that is held.
    fn holding(&self) -> Holding<'_> {
        Holding {
            program: self.program,
            graph: &self.graph,
            leases: &self.leases,
            releases: &self.regions.releases,
        }
    }
}
