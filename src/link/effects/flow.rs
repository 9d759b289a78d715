//! Order and dominance inside one body.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::ir::body::{BlockId, Body, OpId};

/// Where each operation stands, and which block comes before which on every path.
#[derive(Debug, Default)]
pub(super) struct Flow {
    positions: BTreeMap<OpId, (BlockId, usize)>,
    successors: Vec<Vec<BlockId>>,
    /// Of each block that the entry reaches, the nearest one that every path to it passes.
    dominators: OnceCell<Vec<Option<usize>>>,
}

impl Flow {
    pub(super) fn of(body: &Body) -> Self {
        let mut positions = BTreeMap::new();
        for (index, block) in body.blocks.iter().enumerate() {
            let id = BlockId(u32::try_from(index).unwrap_or(u32::MAX));
            for (at, op) in block.ops.iter().enumerate() {
                positions.insert(*op, (id, at));
            }
        }
        Self {
            positions,
            successors: body.blocks.iter().map(|block| block.end.successors()).collect(),
            dominators: OnceCell::new(),
        }
    }

    /// Block and place in it.
    pub(super) fn position(&self, op: OpId) -> Option<(BlockId, usize)> {
        self.positions.get(&op).copied()
    }

    /// Whether every path from the entry to `later` passes `earlier`.
    pub(super) fn dominates(&self, earlier: OpId, later: OpId) -> bool {
        match (self.position(earlier), self.position(later)) {
            (Some((block, at)), Some((other, place))) if block == other => at <= place,
            (Some((block, _)), Some((other, _))) => self.block_dominates(block, other),
            _ => false,
        }
    }

    /// Whether every path from the entry to a block passes another.
    pub(super) fn block_dominates(&self, block: BlockId, other: BlockId) -> bool {
        let dominators = self.dominators.get_or_init(|| dominators(&self.successors));
        let of = |block: usize| dominators.get(block).copied().flatten();
        let (block, mut at) = (block.0 as usize, other.0 as usize);
        // No path leads to a block that is not reached.
        if of(at).is_none() {
            return true;
        }
        while at != block {
            match of(at) {
                Some(next) if next != at => at = next,
                _ => return false,
            }
        }
        true
    }

    /// Whether `later` can run after `earlier`.
    pub(super) fn reaches(&self, earlier: OpId, later: OpId) -> bool {
        let (Some((block, at)), Some((other, place))) =
            (self.position(earlier), self.position(later))
        else {
            return false;
        };
        if block == other && at < place {
            return true;
        }
        let next = self.successors.get(block.0 as usize).into_iter().flatten();
        next.into_iter().any(|from| self.reachable(*from, other))
    }

    /// Whether a path leads from one block to another.
    fn reachable(&self, from: BlockId, to: BlockId) -> bool {
        let mut seen = vec![false; self.successors.len()];
        let mut stack = vec![from];
        while let Some(block) = stack.pop() {
            if block == to {
                return true;
            }
            match seen.get_mut(block.0 as usize) {
                Some(flag) if !*flag => *flag = true,
                _ => continue,
            }
            let next = self.successors.get(block.0 as usize).into_iter().flatten();
            stack.extend(next.copied());
        }
        false
    }
}

/// The immediate dominator of each block, the entry's being itself; `None` for blocks that the entry
/// does not reach. After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
fn dominators(successors: &[Vec<BlockId>]) -> Vec<Option<usize>> {
    let order = reverse_postorder(successors);
    let mut place = vec![usize::MAX; successors.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); successors.len()];
    for (at, block) in order.iter().enumerate() {
        if let Some(place) = place.get_mut(*block) {
            *place = at;
        }
        for next in successors.get(*block).into_iter().flatten() {
            if let Some(before) = before.get_mut(next.0 as usize) {
                before.push(*block);
            }
        }
    }
    let mut found: Vec<Option<usize>> = vec![None; successors.len()];
    if let Some(entry) = found.first_mut() {
        *entry = Some(0);
    }
    let place = |block: usize| place.get(block).copied().unwrap_or(usize::MAX);
    let mut changed = true;
    while changed {
        changed = false;
        for block in order.iter().skip(1) {
            let of = |block: usize| found.get(block).copied().flatten();
            let known = before.get(*block).into_iter().flatten().copied();
            let meet = |mut left: usize, mut right: usize| {
                while left != right {
                    match place(left) > place(right) {
                        true => left = of(left).unwrap_or(0),
                        false => right = of(right).unwrap_or(0),
                    }
                }
                left
            };
            let nearest = known.filter(|before| of(*before).is_some()).reduce(meet);
            if let Some(place) = found.get_mut(*block)
                && *place != nearest
            {
                (*place, changed) = (nearest, true);
            }
        }
    }
    found
}

/// The blocks that the entry reaches, each before those that only it leads to.
fn reverse_postorder(successors: &[Vec<BlockId>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = vec![(0_usize, 0_usize)];
    if let Some(first) = seen.first_mut() {
        *first = true;
    }
    while let Some((block, edge)) = stack.pop() {
        match successors.get(block).and_then(|next| next.get(edge)) {
            Some(next) => {
                stack.push((block, edge + 1));
                let next = next.0 as usize;
                if let Some(seen) = seen.get_mut(next).filter(|seen| !**seen) {
                    *seen = true;
                    stack.push((next, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::body::{BodyKind, OpKind, Terminator, Test};
    use crate::ir::value::{Literal, ValueKind};
    use crate::source::{FileId, Span};

    /// `a; if t { b }; c`
    #[test]
    fn what_is_behind_a_branch_dominates_nothing_after_it() {
        let span = Span::new(FileId(0), 0, 0);
        let mut body = Body::new(BodyKind::Function, None, span);
        let value = body.add_value(ValueKind::Literal(Literal::Unit), span);
        let discard = OpKind::Discard { value, explicit: false };
        let (then, after) = (body.add_block(0), body.add_block(0));
        let a = body.add_op(BlockId(0), discard.clone(), span);
        let b = body.add_op(then, discard.clone(), span);
        let c = body.add_op(after, discard, span);
        body.end(
            BlockId(0),
            Terminator::Branch { test: Test::True(value), then, otherwise: after, span },
        );
        body.end(then, Terminator::Goto(after));
        let flow = Flow::of(&body);
        assert!(flow.dominates(a, c));
        assert!(!flow.dominates(b, c));
        assert!(flow.reaches(b, c));
        assert!(!flow.reaches(c, b));
    }

    /// Against the definition: a block dominates another if without it none leads there.
    #[test]
    fn dominators_are_what_every_path_passes() {
        let next = [vec![1, 2], vec![3], vec![3, 4], vec![1, 5], vec![5], vec![], vec![5]];
        let successors: Vec<Vec<BlockId>> =
            next.iter().map(|all| all.iter().map(|block| BlockId(*block)).collect()).collect();
        let flow = Flow { successors, ..Flow::default() };
        let reaches = |without: u32, to: u32| {
            let mut seen = vec![without];
            let mut open = vec![0];
            while let Some(block) = open.pop() {
                if !seen.contains(&block) {
                    seen.push(block);
                    open.extend(&next[block as usize]);
                }
            }
            without != to && seen.contains(&to)
        };
        for block in 0..7 {
            for other in 0..7 {
                let expected = block == other || !reaches(block, other);
                let found = flow.block_dominates(BlockId(block), BlockId(other));
                assert_eq!(found, expected, "{block} {other}");
            }
        }
    }
}
