//! The keys of one unit as the function that sends it sees them, and where it is given them, as each of
//! its callers does: a pair that must differ for one caller is wrong, whatever others pass.

use std::collections::{BTreeSet, VecDeque};

use super::{Forms, Placed, elements_differ};
use crate::analysis::Analysis;
use crate::analysis::identity::{outer_template, sites_above};
use crate::ir::effect::{BodyId, Effect, Key, Site};
use crate::ir::key::KeyTemplate;

/// How many calls up keys are followed.
const MOST_CALLS_UP: usize = 6;
/// How many calls are looked at for one unit.
const MOST_CALLS: usize = 200;

/// Two keys that must differ in slot.
pub(super) struct Differing<'p> {
    pub left: Placed,
    pub right: Placed,
    /// The effect of the second.
    pub effect: &'p Effect,
    /// The calls that give the keys, outermost first.
    pub via: Vec<Site>,
}

/// The keys of a unit as one function sees them.
struct Seen {
    frame: BodyId,
    forms: Vec<Forms>,
    via: Vec<Site>,
}

impl<'p> Analysis<'p> {
    /// The first two keys of a unit that must differ in slot, nearest to where it is sent.
    pub(super) fn differing(&self, keys: &[(&'p Effect, &'p Key)]) -> Option<Differing<'p>> {
        let frame = keys.first()?.0.site.body;
        let forms = keys.iter().map(|(effect, key)| self.forms(effect, key)).collect();
        let mut waiting = VecDeque::from([Seen { frame, forms, via: Vec::new() }]);
        let mut looked: BTreeSet<Site> = BTreeSet::new();
        while let Some(seen) = waiting.pop_front() {
            if let Some((left, right, effect)) = pair(keys, &seen.forms) {
                return Some(Differing { left, right, effect, via: seen.via });
            }
            if seen.via.len() >= MOST_CALLS_UP || looked.len() >= MOST_CALLS {
                continue;
            }
            for site in self.sites_giving(&seen) {
                if looked.insert(site) {
                    waiting.extend(self.seen_by(&seen, site));
                }
            }
        }
        None
    }

    /// The calls one level up that give any of the keys.
    fn sites_giving(&self, seen: &Seen) -> Vec<Site> {
        let templates = seen.forms.iter().filter(|forms| forms.of_frame).flat_map(|it| &it.all);
        let mut sites: Vec<Site> =
            templates.flat_map(|it| sites_above(self.program, seen.frame, it)).collect();
        sites.sort_unstable();
        sites.dedup();
        sites
    }

    /// The keys as a caller sees them.
    fn seen_by(&self, seen: &Seen, site: Site) -> Option<Seen> {
        let outer = |forms: &Forms| {
            if !forms.of_frame {
                return Some(forms.clone());
            }
            let above = |it: &KeyTemplate| outer_template(self.program, seen.frame, it, site);
            let all = forms.all.iter().map(above).collect::<Option<Vec<_>>>()?;
            let made = match all.as_slice() {
                [only] => self.constructed_forms(site.body, only),
                _ => None,
            };
            Some(made.unwrap_or(Forms { all, of_frame: true }))
        };
        let forms = seen.forms.iter().map(outer).collect::<Option<Vec<_>>>()?;
        let via = std::iter::once(site).chain(seen.via.iter().copied()).collect();
        Some(Seen { frame: site.body, forms, via })
    }
}

/// The first two keys that must differ, and the effect of the second.
fn pair<'p>(
    keys: &[(&'p Effect, &'p Key)],
    forms: &[Forms],
) -> Option<(Placed, Placed, &'p Effect)> {
    for (index, ((effect, key), own)) in keys.iter().zip(forms).enumerate() {
        let element = own.all.iter().find(|it| key.many && elements_differ(it));
        if let Some(element) = element {
            let element = (element.clone(), key.span);
            return Some((element.clone(), element, effect));
        }
        for ((other_effect, other), other_forms) in keys.iter().zip(forms).skip(index + 1) {
            if let Some((left, right)) = own.differing(other_forms) {
                return Some(((left, key.span), (right, other.span), other_effect));
            }
        }
    }
    None
}
