//! Calls of which it is known why nothing is known of them.

use std::collections::BTreeMap;

use super::Resolved;
use super::matching::{self, Shape};
use crate::catalog::Api;
use crate::ir::body::{Call, Callee, OpId};
use crate::ir::effect::Site;
use crate::link::Program;
use crate::link::calls::InScope;
use crate::link::names::Resolution;

/// Why a call is not resolved.
#[derive(Clone, Copy, Debug)]
pub enum Unresolved {
    /// A trait's method that nothing that ships implements.
    NoImplementation,
    /// The receiver's type is not known; it may be this row, whose crate the scope speaks of.
    ReceiverUnknown(&'static Api),
}

/// The calls of one body that are not resolved, and why.
pub(in crate::link) type ByOperation = BTreeMap<OpId, Unresolved>;

impl Program {
    /// Why a call is not resolved; `None` when it is, or nothing more is known.
    #[must_use]
    pub fn unresolved(&self, site: Site) -> Option<Unresolved> {
        if self.targets(site.body, site.op).is_some() {
            return None;
        }
        self.calls.unresolved.get(site.body.0 as usize)?.get(&site.op).copied()
    }

    /// Why nothing was found for a call.
    pub(in crate::link) fn why_unresolved(
        &self,
        call: &Call,
        resolved: &Resolved,
        scope: &InScope,
    ) -> Option<Unresolved> {
        let Callee::Method(name) = &call.callee else { return None };
        if resolved.resolution == Resolution::Dispatch {
            return Some(Unresolved::NoImplementation);
        }
        let shape = Shape {
            name,
            arguments: call.arguments.len(),
            type_arguments: call.type_arguments.len(),
        };
        let row = matching::possible(self.catalog, shape, scope);
        row.filter(|_| resolved.receiver.is_unknown()).map(Unresolved::ReceiverUnknown)
    }
}
