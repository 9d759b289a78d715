//! What was decided on the way to a value: the tests that every path to it has passed.
//!
//! Tests are nodes of a tree: the ways that part after a test share what was decided before it, and
//! where ways meet, what they share is left. A front-end that records none loses nothing else.

use std::collections::BTreeMap;

use super::value::ValueId;

/// A node of [`Givens`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GivenId(u32);

/// One decided test.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// The value tested for truth.
    pub value: ValueId,
    /// Whether it was true.
    pub holds: bool,
    /// What was decided before.
    pub before: Option<GivenId>,
    /// How many tests lie before this one.
    depth: u32,
}

/// The decided tests of one body.
#[derive(Clone, Debug, Default)]
pub struct Givens {
    nodes: Vec<Given>,
    made: BTreeMap<ValueId, GivenId>,
    ways: BTreeMap<ValueId, Vec<Option<GivenId>>>,
}

impl Givens {
    /// One more decided test.
    pub fn add(&mut self, value: ValueId, holds: bool, before: Option<GivenId>) -> GivenId {
        let depth = before.and_then(|id| self.node(id)).map_or(0, |node| node.depth + 1);
        let id = GivenId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Given { value, holds, before, depth });
        id
    }

    /// A value is made where this was decided.
    pub fn made(&mut self, value: ValueId, given: GivenId) {
        self.made.insert(value, given);
    }

    /// What was decided on each of the ways that meet in a join.
    pub fn joined(&mut self, join: ValueId, ways: Vec<Option<GivenId>>) {
        self.ways.insert(join, ways);
    }

    /// What was decided where a value is made.
    #[must_use]
    pub fn of(&self, value: ValueId) -> Option<GivenId> {
        self.made.get(&value).copied()
    }

    /// What was decided on the n-th way into a join.
    #[must_use]
    pub fn on_way(&self, join: ValueId, way: usize) -> Option<GivenId> {
        self.ways.get(&join).and_then(|ways| ways.get(way).copied().flatten())
    }

    /// A node.
    #[must_use]
    pub fn node(&self, id: GivenId) -> Option<&Given> {
        self.nodes.get(id.0 as usize)
    }

    /// Every decided test.
    pub fn all(&self) -> impl Iterator<Item = &Given> {
        self.nodes.iter()
    }

    /// The decided tests from a node on, the last first.
    pub fn from(&self, id: Option<GivenId>) -> impl Iterator<Item = (GivenId, &Given)> {
        let with_node = |id: GivenId| Some((id, self.node(id)?));
        std::iter::successors(id.and_then(with_node), move |(_, node)| {
            node.before.and_then(with_node)
        })
    }

    /// What two ways share.
    #[must_use]
    pub fn shared(&self, left: Option<GivenId>, right: Option<GivenId>) -> Option<GivenId> {
        let (mut left, mut right) = (left?, right?);
        while left != right {
            let (l, r) = (self.node(left)?, self.node(right)?);
            if l.depth >= r.depth {
                left = l.before?;
            } else {
                right = r.before?;
            }
        }
        Some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_that_part_share_what_came_before() {
        let mut givens = Givens::default();
        let first = givens.add(ValueId(0), true, None);
        let yes = givens.add(ValueId(1), true, Some(first));
        let no = givens.add(ValueId(1), false, Some(first));
        let further = givens.add(ValueId(2), true, Some(no));
        assert_eq!(givens.shared(Some(yes), Some(further)), Some(first));
        assert_eq!(givens.shared(Some(yes), None), None);
        assert_eq!(givens.shared(Some(no), Some(further)), Some(no));
        givens.made(ValueId(3), further);
        let tests: Vec<_> = givens
            .from(givens.of(ValueId(3)))
            .map(|(_, given)| (given.value.0, given.holds))
            .collect();
        assert_eq!(tests, [(2, true), (1, false), (0, true)]);
    }
}
