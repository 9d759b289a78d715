//! Order and dominance inside one body.

use std::collections::BTreeMap;

use crate::ir::body::{BlockId, Body, OpId};

/// Where each operation stands, and which block comes before which on every path.
#[derive(Debug, Default)]
pub(super) struct Flow {
    positions: BTreeMap<OpId, (BlockId, usize)>,
    successors: Vec<Vec<BlockId>>,
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
        block == other || !self.reachable(BlockId(0), other, Some(block))
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
        next.into_iter().any(|from| self.reachable(*from, other, None))
    }

    /// Whether a path leads from one block to another without passing `avoided`.
    fn reachable(&self, from: BlockId, to: BlockId, avoided: Option<BlockId>) -> bool {
        if avoided == Some(from) {
            return false;
        }
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
            stack.extend(next.copied().filter(|block| avoided != Some(*block)));
        }
        false
    }
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
}
