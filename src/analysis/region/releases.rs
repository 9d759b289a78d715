//! Which operations give back which keys, through all that they run.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::callgraph::CallGraph;
use crate::analysis::identity::KeyIdentity;
use crate::analysis::lease::{Leases, ways_to};
use crate::ir::body::OpId;
use crate::ir::effect::{BodyId, Site};
use crate::link::{Program, TypeId};

/// Which keys an operation releases, itself or through what it runs.
#[derive(Debug, Default)]
pub(super) struct ReleaseSummaries {
    by_site: BTreeMap<Site, BTreeSet<KeyIdentity>>,
    by_body: BTreeMap<BodyId, BTreeSet<KeyIdentity>>,
    /// Bodies that lead to a release of any key.
    bodies: BTreeSet<BodyId>,
    /// Types that have a method which releases.
    pub(super) types: BTreeSet<TypeId>,
}

impl ReleaseSummaries {
    pub(super) fn new(program: &Program, graph: &CallGraph, leases: &Leases) -> Self {
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
        summaries.bodies = graph.leading_to(sites, usize::MAX).into_keys().collect();
        let owners = summaries.bodies.iter().filter_map(|body| program.owner_of(*body));
        summaries.types = owners.collect();
        summaries
    }

    fn add(&mut self, body: BodyId, ops: BTreeSet<OpId>, identity: &KeyIdentity) {
        self.by_body.entry(body).or_default().insert(identity.clone());
        for op in ops {
            self.by_site.entry(Site { body, op }).or_default().insert(identity.clone());
        }
    }

    /// Whether a body releases one of these keys.
    pub(super) fn body(&self, body: BodyId, identities: &BTreeSet<KeyIdentity>) -> bool {
        self.by_body.get(&body).is_some_and(|all| !all.is_disjoint(identities))
    }

    /// Whether a body gives some key back, whichever.
    pub(super) fn leads_to_release(&self, body: BodyId) -> bool {
        self.bodies.contains(&body)
    }

    /// Whether an operation may, where it is not told of which key: it runs what releases one of these
    /// for somebody.
    pub(super) fn any_at(
        &self,
        graph: &CallGraph,
        site: Site,
        identities: &BTreeSet<KeyIdentity>,
    ) -> bool {
        let runs = graph.runs_at(site).iter();
        self.at(site, identities) || runs.into_iter().any(|body| self.body(*body, identities))
    }

    /// Whether an operation does.
    pub(super) fn at(&self, site: Site, identities: &BTreeSet<KeyIdentity>) -> bool {
        self.by_site.get(&site).is_some_and(|all| !all.is_disjoint(identities))
    }
}
