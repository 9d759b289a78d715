//! What the operations of a body do to a lease that is held.

use std::collections::BTreeSet;

use super::AcquirePoint;
use super::releases::ReleaseSummaries;
use crate::analysis::callgraph::{CallGraph, call_site};
use crate::analysis::identity::KeyIdentity;
use crate::analysis::lease::Leases;
use crate::ir::body::{Body, Call, Callee, OpKind};
use crate::ir::effect::{BodyId, Effect, EffectKind, LeaseAction, Site};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;
use crate::link::evaluate::workspace_type;

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct Holding<'a> {
    pub program: &'a Program,
    pub graph: &'a CallGraph,
    pub leases: &'a Leases,
    pub releases: &'a ReleaseSummaries,
}

impl Holding<'_> {
    /// What an operation does to a held lease.
    pub(super) fn passes(
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
                let drops = |value: &ValueId| match self.library_drop(point) {
                    Some(releases) => releases,
                    None => self.drop_releases(site.body, *value, &identities),
                };
                let dropped = values.iter().any(|value| handles.contains(value) && drops(value));
                if dropped { Passing::Released } else { Passing::Held }
            }
            Some(OpKind::Call(call)) => {
                let given =
                    call.arguments.iter().map(|argument| argument.value).chain(call.receiver);
                let handed = given.into_iter().any(|value| handles.contains(&body.peel(value)));
                let targets = self.program.targets(site.body, site.op);
                let known = targets.is_some_and(|it| !it.bodies.is_empty() || !it.apis.is_empty());
                if handed && (is_drop(call) || self.is_library_release(site)) {
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

    /// Whether the lock library that the body itself calls releases when its handle is dropped; `None`
    /// where the body calls none.
    pub(super) fn library_drop(&self, point: &AcquirePoint) -> Option<bool> {
        let acquire = self.leases.get(point.acquire).filter(|_| point.chain.is_empty())?;
        self.leases.library_drop(self.program, acquire)
    }

    /// Whether a lock library gives back what it is handed at an operation.
    fn is_library_release(&self, site: Site) -> bool {
        let behind = |effect: &&Effect| call_site(self.program, effect.site) == site;
        self.program.effects(site.body).iter().filter(behind).any(|effect| match &effect.kind {
            EffectKind::Lease(call) => call.action == LeaseAction::Release,
            _ => false,
        })
    }

    /// The identities of the acquire for whoever calls it.
    pub(super) fn all_identities(&self, point: &AcquirePoint) -> BTreeSet<KeyIdentity> {
        let acquire = self.leases.get(point.acquire);
        let all = acquire.into_iter().flat_map(|it| &it.identities);
        all.map(|one| one.identity.clone()).collect()
    }

    /// The values through which the body holds the lease: what the acquire gave back, unwrapped.
    pub(super) fn handles(&self, body: &Body, point: &AcquirePoint) -> BTreeSet<ValueId> {
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
    pub(super) fn drop_releases(
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
    pub(super) fn guards(&self, body: BodyId, call: &Call, handles: &BTreeSet<ValueId>) -> bool {
        let given = call.arguments.iter().map(|argument| argument.value).chain(call.receiver);
        given.filter(|value| handles.contains(value)).any(|value| {
            let ty = self.program.type_of(body, value);
            if self.leases.library_guard(self.program, &ty) {
                return true;
            }
            workspace_type(&ty).is_some_and(|ty| self.releases.types.contains(&ty))
        })
    }
}

/// What an operation does to a held lease.
pub(super) enum Passing {
    Held,
    Released,
    Escaped,
}

fn is_drop(call: &Call) -> bool {
    call.callee.name() == Some("drop") && call.arguments.len() == 1
}

/// Calls that only look at what they are given or pass it through: macros (logging, formatting),
/// accessors, adapters.
pub(super) fn quiet(body: &Body, call: &Call) -> bool {
    matches!(call.callee, Callee::Macro(_))
        || call.arguments.is_empty()
        || matches!(body.kind(call.result), ValueKind::Adapted { .. } | ValueKind::Converted { .. })
}
