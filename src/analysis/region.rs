//! Lease regions: where a lease may be held.
//!
//! A region starts at an acquire (a conditional command, a library's lock, or a call that hands a
//! lease out) and holds every operation that can run while the acquire is won and before the lease
//! is released. *Held* is may: one path is enough; a call that releases on some path of its own counts
//! as a release, for such a call asks itself what there is to release. A lease whose handle goes to a
//! call that is not resolved escapes, and the region ends there.

use std::collections::{BTreeMap, BTreeSet};

use super::callgraph::CallGraph;
use super::identity::KeyIdentity;
use super::lease::{KeyKind, KeyUse, Leases, UseId, ways_to};
use super::outcome::{Abstract, Answer, Assumption};
use crate::ir::body::{BlockId, Body, Call, Callee, Exit, OpId, OpKind, Terminator};
use crate::ir::effect::{BodyId, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::evaluate::{is_failure, workspace_type};
use crate::link::{Program, TypeId};

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
}

impl Regions {
    /// Finds all regions.
    #[must_use]
    pub fn new(program: &Program, graph: &CallGraph, leases: &Leases) -> Self {
        let releases = ReleaseSummaries::new(program, graph, leases);
        let finder = Finder { program, graph, leases, releases };
        let mut regions = Self::default();
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
            regions.by_body.entry(point.site.body).or_default().push(region);
        }
        for all in regions.by_body.values_mut() {
            all.sort_by_key(|region| (region.point.site, region.point.acquire));
        }
        regions
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
    releases: ReleaseSummaries,
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
        let handles = self.handles(body, point);
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
            match self.passes(body, point, site, handles) {
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

    /// What an operation does to a held lease.
    fn passes(
        &self,
        body: &Body,
        point: &AcquirePoint,
        site: Site,
        handles: &BTreeSet<ValueId>,
    ) -> Passing {
        let known = self.leases.identities_at(self.program, point);
        let released = match &known {
            Some(identities) => self.releases.at(site, identities),
            None => self.releases.any_at(self.graph, site, &self.all_identities(point)),
        };
        if released {
            return Passing::Released;
        }
        match body.op(site.op).map(|op| &op.kind) {
            Some(OpKind::ScopeEnd(values)) => {
                let identities = known.unwrap_or_else(|| self.all_identities(point));
                let dropped = values.iter().any(|value| {
                    handles.contains(value) && self.drop_releases(site.body, *value, &identities)
                });
                if dropped { Passing::Released } else { Passing::Held }
            }
            Some(OpKind::Call(call)) => {
                let given =
                    call.arguments.iter().map(|argument| argument.value).chain(call.receiver);
                let handed = given.into_iter().any(|value| handles.contains(&body.peel(value)));
                let targets = self.program.targets(site.body, site.op);
                let known = targets.is_some_and(|it| !it.bodies.is_empty() || !it.apis.is_empty());
                if handed && is_drop(call) {
                    return Passing::Released;
                }
                match handed
                    && !known
                    && !quiet(body, call)
                    && self.guards(site.body, call, handles)
                {
                    true => Passing::Escaped,
                    false => Passing::Held,
                }
            }
            _ => Passing::Held,
        }
    }

    /// The identities of the acquire for whoever calls it.
    fn all_identities(&self, point: &AcquirePoint) -> BTreeSet<KeyIdentity> {
        let acquire = self.leases.get(point.acquire);
        let all = acquire.into_iter().flat_map(|it| &it.identities);
        all.map(|one| one.identity.clone()).collect()
    }

    /// The values through which the body holds the lease: what the acquire gave back, unwrapped.
    fn handles(&self, body: &Body, point: &AcquirePoint) -> BTreeSet<ValueId> {
        let mut handles = BTreeSet::new();
        if point.chain.is_empty() && !self.leases.gives_handle(point.acquire) {
            return handles;
        }
        let op = body.call_behind(point.site.op);
        for (index, _) in body.values.iter().enumerate() {
            let value = ValueId(u32::try_from(index).unwrap_or(u32::MAX));
            let (_, source) = self.program.source_of(point.site.body, value);
            let from = matches!(body.kind(source), ValueKind::Result(from) if *from == op);
            if from {
                handles.insert(value);
            }
        }
        handles
    }

    /// Whether dropping a value releases the lease.
    fn drop_releases(
        &self,
        body: BodyId,
        value: ValueId,
        identities: &BTreeSet<KeyIdentity>,
    ) -> bool {
        let ty = self.program.type_of(body, value);
        if self.leases.library_guard(self.program, &ty) {
            return true;
        }
        let Some(ty) = workspace_type(&ty) else { return false };
        let Some(drop) = self.program.trait_method(ty, "Drop", "drop") else { return false };
        // A Drop can't wait: it often spawns the release, which is no part of what it runs.
        let mut waiting: Vec<BodyId> = self.program.function_body(drop).into_iter().collect();
        while let Some(body) = waiting.pop() {
            if self.releases.body(body, identities) {
                return true;
            }
            waiting.extend(self.program.nested_bodies(body));
        }
        false
    }

    /// Whether one of the handles that a call is given can release the lease: a library's guard, or
    /// a value of a type whose own methods release.
    fn guards(&self, body: BodyId, call: &Call, handles: &BTreeSet<ValueId>) -> bool {
        let given = call.arguments.iter().map(|argument| argument.value).chain(call.receiver);
        given.filter(|value| handles.contains(value)).any(|value| {
            let ty = self.program.type_of(body, value);
            if self.leases.library_guard(self.program, &ty) {
                return true;
            }
            workspace_type(&ty).is_some_and(|ty| self.releases.types.contains(&ty))
        })
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

/// What an operation does to a held lease.
enum Passing {
    Held,
    Released,
    Escaped,
}

fn is_drop(call: &Call) -> bool {
    call.callee.name() == Some("drop") && call.arguments.len() == 1
}

/// Calls that only look at what they are given or pass it through: macros (logging, formatting),
/// accessors, adapters.
fn quiet(body: &Body, call: &Call) -> bool {
    matches!(call.callee, Callee::Macro(_))
        || call.arguments.is_empty()
        || matches!(body.kind(call.result), ValueKind::Adapted { .. } | ValueKind::Converted { .. })
}

/// Which keys an operation releases, itself or through what it runs.
#[derive(Debug, Default)]
struct ReleaseSummaries {
    by_site: BTreeMap<Site, BTreeSet<KeyIdentity>>,
    by_body: BTreeMap<BodyId, BTreeSet<KeyIdentity>>,
    /// Types that have a method which releases.
    types: BTreeSet<TypeId>,
}

impl ReleaseSummaries {
    fn new(program: &Program, graph: &CallGraph, leases: &Leases) -> Self {
        let mut summaries = Self::default();
        let taken: BTreeSet<&KeyIdentity> =
            leases.acquires().flat_map(|(_, it)| &it.identities).map(|it| &it.identity).collect();
        for (_, release) in leases.releases() {
            for one in release.identities.iter().filter(|one| taken.contains(&one.identity)) {
                for (body, ops) in ways_to(program, graph, release, one) {
                    summaries.add(body, ops, &one.identity);
                }
            }
        }
        let sites = leases.releases().map(|(_, release)| release.site);
        let bodies = graph.leading_to(sites, usize::MAX).into_keys();
        summaries.types = bodies.filter_map(|body| program.owner_of(body)).collect();
        summaries
    }

    fn add(&mut self, body: BodyId, ops: BTreeSet<OpId>, identity: &KeyIdentity) {
        self.by_body.entry(body).or_default().insert(identity.clone());
        for op in ops {
            self.by_site.entry(Site { body, op }).or_default().insert(identity.clone());
        }
    }

    /// Whether a body releases one of these keys.
    fn body(&self, body: BodyId, identities: &BTreeSet<KeyIdentity>) -> bool {
        self.by_body.get(&body).is_some_and(|all| !all.is_disjoint(identities))
    }

    /// Whether an operation may, where it is not told of which key: it runs what releases one of these
    /// for somebody.
    fn any_at(&self, graph: &CallGraph, site: Site, identities: &BTreeSet<KeyIdentity>) -> bool {
        let runs = graph.runs_at(site).iter();
        self.at(site, identities) || runs.into_iter().any(|body| self.body(*body, identities))
    }

    /// Whether an operation does.
    fn at(&self, site: Site, identities: &BTreeSet<KeyIdentity>) -> bool {
        self.by_site.get(&site).is_some_and(|all| !all.is_disjoint(identities))
    }
}
