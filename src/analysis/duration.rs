//! How long things may take: the time of a lease, the limit of a call under it, renewals.

use super::Analysis;
use super::callgraph::call_site;
use super::lease::{Action, KeyUse};
use super::reach::Reached;
use super::region::{AcquirePoint, Region};
use crate::ir::effect::{EffectKind, Expiry, Site, Timeout};

impl Analysis<'_> {
    /// The time of the lease that an acquire takes as one body sees it, in milliseconds, when constant.
    #[must_use]
    pub fn lease_milliseconds(&self, point: &AcquirePoint) -> Option<u64> {
        let acquire = self.leases.get(point.acquire)?;
        match &self.effect_of(acquire)?.kind {
            EffectKind::Redis(command) => match command.expiry {
                Expiry::Set { milliseconds: Some(milliseconds), .. } => Some(milliseconds),
                Expiry::Set { amount: Some(amount), unit, .. } => {
                    let way = point.way();
                    let (_, calls) = way.split_last()?;
                    self.program.milliseconds_through(calls, acquire.site.body, amount, unit)
                }
                _ => None,
            },
            EffectKind::Lease(call) => call.lease_milliseconds,
            _ => None,
        }
    }

    /// Whether something prolongs the lease while its holder works: a renewal of its key, or the
    /// lock library by itself.
    #[must_use]
    pub fn is_renewed(&self, region: &Region) -> bool {
        let Some(acquire) = self.leases.get(region.point.acquire) else { return false };
        let by_hand = self
            .leases
            .others(acquire, Action::Renew)
            .any(|(_, renew)| renew.site != acquire.site && !self.is_first_expiry(renew));
        by_hand || self.is_renewed_by_library(acquire)
    }

    fn is_renewed_by_library(&self, acquire: &KeyUse) -> bool {
        let Some(effect) = self.effect_of(acquire) else { return false };
        let EffectKind::Lease(call) = &effect.kind else { return false };
        match self.program.catalog.row(&effect.api).and_then(|row| row.renewal.as_deref()) {
            Some("auto") => true,
            Some("auto_if_no_lease") => !call.lease_given,
            _ => false,
        }
    }

    /// How the time limits of an external call stand to the lease (milliseconds): its own, and those
    /// of the calls that lead to it.
    #[must_use]
    pub fn call_limit(&self, reached: &Reached, lease: Option<u64>) -> CallLimit {
        let own = reached.effect(self.program);
        let own = own.map_or(Timeout::Unknown, |effect| {
            self.program.time_limit_along(&reached.chain, effect)
        });
        let ways = (1..=reached.chain.len()).filter_map(|end| reached.chain.get(..end));
        let around = ways.filter_map(|way| self.limit_around(way));
        let limits: Vec<Timeout> = std::iter::once(own).chain(around).collect();
        CallLimit::of(&limits, lease)
    }

    /// The limit that an operation gives to the future it runs, as calls lead to it; the operation is the
    /// last of them.
    pub(super) fn limit_around(&self, way: &[Site]) -> Option<Timeout> {
        let site = *way.last()?;
        let call = call_site(self.program, site);
        let mut effects = self.program.effects(site.body).iter();
        let limit = effects.find(|effect| {
            matches!(effect.kind, EffectKind::TimeLimit { .. })
                && (effect.site == site || call_site(self.program, effect.site) == call)
        })?;
        Some(self.program.time_limit_along(way, limit))
    }
}

/// How the time limit of a call under a lease stands to the lease's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallLimit {
    /// Shown to have none.
    None,
    /// Shown to be as long as the lease or longer: the limit in milliseconds.
    Beyond(u64),
    /// Shown to be shorter than the lease.
    Below,
    /// There may be one; how long is not known, or how long the lease is.
    Unknown,
}

impl CallLimit {
    /// What limits around one call come to: the tightest holds.
    fn of(limits: &[Timeout], lease: Option<u64>) -> Self {
        let known = limits.iter().filter_map(|limit| match limit {
            Timeout::Milliseconds(milliseconds) => Some(*milliseconds),
            _ => None,
        });
        let tightest = known.min();
        match (tightest, lease) {
            (Some(limit), Some(lease)) if limit < lease => Self::Below,
            _ if limits.iter().any(|limit| matches!(limit, Timeout::Some | Timeout::Unknown)) => {
                Self::Unknown
            }
            (Some(limit), Some(_)) => Self::Beyond(limit),
            (Some(_), None) => Self::Unknown,
            (None, _) => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_holds() {
        let (short, long) = (Timeout::Milliseconds(5_000), Timeout::Milliseconds(60_000));
        assert_eq!(CallLimit::of(&[long, short], Some(30_000)), CallLimit::Below);
        assert_eq!(CallLimit::of(&[Timeout::Unknown, short], Some(30_000)), CallLimit::Below);
        assert_eq!(CallLimit::of(&[Timeout::None, long], Some(30_000)), CallLimit::Beyond(60_000));
        assert_eq!(CallLimit::of(&[long], Some(60_000)), CallLimit::Beyond(60_000));
        assert_eq!(CallLimit::of(&[Timeout::None], None), CallLimit::None);
    }

    #[test]
    fn a_limit_that_is_not_known_may_be_the_tightest() {
        let long = Timeout::Milliseconds(60_000);
        assert_eq!(CallLimit::of(&[long, Timeout::Some], Some(30_000)), CallLimit::Unknown);
        assert_eq!(CallLimit::of(&[Timeout::None, Timeout::Unknown], None), CallLimit::Unknown);
        assert_eq!(CallLimit::of(&[long], None), CallLimit::Unknown);
    }
}
