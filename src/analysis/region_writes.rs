//! Database writes that run while a lease is held and that a holder which has lost it gets through.

use std::collections::BTreeSet;

use super::Analysis;
use super::region::Region;
use super::row_write::{Origin, RowWrite};
use crate::config::words::WordList;
use crate::ir::effect::{BodyId, Site};
use crate::ir::sql::{PredicateKind, StatementKind};

/// A write by key alone while a lease is held.
#[derive(Clone, Debug)]
pub struct HeldWrite<'a> {
    /// The region.
    pub region: &'a Region,
    /// Calls from the region's function down to the write.
    pub chain: Vec<Site>,
    /// The write.
    pub write: RowWrite<'a>,
    /// Whether money, goods or a state is at stake.
    pub at_stake: bool,
}

/// How many calls deep a write is looked for, and how many functions in all.
const DEEPEST: usize = 8;
const MOST_BODIES: usize = 400;

impl Analysis<'_> {
    /// Writes by key alone that run while a lease is held.
    #[must_use]
    pub fn unfenced_writes(&self) -> Vec<HeldWrite<'_>> {
        let writes = self.row_writes();
        let open: Vec<&RowWrite<'_>> =
            writes.iter().filter(|write| self.lets_stale_in(write)).collect();
        let mut found: Vec<HeldWrite<'_>> = Vec::new();
        if open.is_empty() {
            return found;
        }
        for region in self.regions.iter() {
            for (site, chain) in self.run_while_held(region) {
                for write in &open {
                    let Origin::Call(effect, _) = write.origin else { continue };
                    let known = found.iter().any(|it| it.write.place() == write.place());
                    if effect.site == site && !known {
                        let at_stake = self.is_at_stake(write);
                        found.push(HeldWrite {
                            region,
                            chain: chain.clone(),
                            write: **write,
                            at_stake,
                        });
                    }
                }
            }
        }
        found
    }

    /// The operations that run while a lease is held, with the calls that lead to them.
    pub(super) fn run_while_held(&self, region: &Region) -> Vec<(Site, Vec<Site>)> {
        let mut found = Vec::new();
        let mut seen: BTreeSet<BodyId> = BTreeSet::from([region.point.site.body]);
        let mut waiting: Vec<(Site, Vec<Site>)> = Vec::new();
        let held = region.held.iter().rev();
        waiting.extend(held.map(|op| (Site { body: region.point.site.body, op: *op }, Vec::new())));
        while let Some((site, chain)) = waiting.pop() {
            found.push((site, chain.clone()));
            if chain.len() >= DEEPEST || seen.len() > MOST_BODIES {
                continue;
            }
            for body in self.graph.runs_at(site) {
                if !seen.insert(*body) {
                    continue;
                }
                let Some(own) = self.program.body(*body) else { continue };
                let mut way = chain.clone();
                way.push(site);
                let inner =
                    own.body.operations().map(|(_, op, _)| (Site { body: *body, op }, way.clone()));
                waiting.extend(inner);
            }
        }
        found
    }

    /// Whether a write asks for its row alone, and writes more than marks that nobody misses.
    fn lets_stale_in(&self, write: &RowWrite<'_>) -> bool {
        let StatementKind::Update(update) = &write.statement.kind else { return false };
        let plain = self.asks_for_row_alone(write);
        let opaque = update.predicates.iter().any(|part| {
            matches!(
                part.kind,
                PredicateKind::Exists { .. } | PredicateKind::In { subquery: Some(_), .. }
            )
        });
        let name = &write.name().name;
        plain
            && !opaque
            && update.claims.is_none()
            && !name.contains("cache")
            && !write.sets().iter().all(|set| self.words.has(WordList::Touch, &set.column))
            && !write.whole.text.to_lowercase().contains("for update")
            && !self.row_is_locked(write)
    }

    fn is_at_stake(&self, write: &RowWrite<'_>) -> bool {
        let lists = [
            WordList::Money,
            WordList::Stock,
            WordList::Status,
            WordList::Payment,
            WordList::Level,
        ];
        let named = |name: &str| lists.iter().any(|list| self.words.has(*list, name));
        let order = crate::config::words::split(&write.name().name);
        named(&write.name().name)
            || order.iter().any(|word| word.strip_suffix('s').unwrap_or(word) == "order")
            || write.sets().iter().any(|set| named(&set.column))
    }
}
