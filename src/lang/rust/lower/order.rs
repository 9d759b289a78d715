//! The last step of a body: straight runs become one block, and blocks are put in reverse
//! postorder, so that they read from top to bottom.

use crate::ir::body::{Block, BlockId, Body, Terminator};
use crate::ir::value::{Conversion, ValueId, ValueKind};

/// A join, and for each of its ways the block that the way comes from.
pub(super) type JoinSources = (ValueId, Vec<BlockId>);

/// The body with its blocks in the order of the control flow. Blocks that nothing leads to come
/// last, and are left out when they hold no operation. The ways of a join are put in the order of
/// the blocks they come from; the ways of one branch keep theirs.
pub(super) fn ordered(mut body: Body, joins: &[JoinSources]) -> Body {
    simplify(&mut body, joins);
    let absorbed = join_runs(&mut body);
    let mut order = reverse_postorder(&body);
    let mut seen = vec![false; body.blocks.len()];
    for block in &order {
        mark(&mut seen, *block);
    }
    for (index, block) in body.blocks.iter().enumerate() {
        let unreached = !seen.get(index).copied().unwrap_or(true);
        if unreached && !block.ops.is_empty() {
            order.push(id(index));
        }
    }
    let numbers = body.keep(&order);
    sort_joins(&mut body, joins, &absorbed, &numbers);
    body
}

/// A join whose ways are all itself or one other value is that value.
fn simplify(body: &mut Body, joins: &[JoinSources]) {
    for (join, _) in joins {
        let ValueKind::Join(ways) = body.kind(*join) else { continue };
        let mut others = ways.iter().copied().filter(|way| way != join);
        let Some(value) = others.next() else { continue };
        if others.all(|way| way == value)
            && let Some(slot) = body.values.get_mut(join.0 as usize)
        {
            slot.kind = ValueKind::Converted { value, conversion: Conversion::Same };
        }
    }
}

fn id(index: usize) -> BlockId {
    BlockId(u32::try_from(index).unwrap_or(u32::MAX))
}

fn mark(seen: &mut [bool], block: BlockId) -> bool {
    match seen.get_mut(block.0 as usize) {
        Some(flag) if !*flag => {
            *flag = true;
            true
        }
        _ => false,
    }
}

/// Appends to each block the one that it alone goes on to and that nothing else leads to. Gives for
/// every block the one it is part of now.
fn join_runs(body: &mut Body) -> Vec<BlockId> {
    let mut leading = vec![0_u32; body.blocks.len()];
    for block in &body.blocks {
        for next in block.end.successors() {
            if let Some(count) = leading.get_mut(next.0 as usize) {
                *count = count.saturating_add(1);
            }
        }
    }
    let mut owner: Vec<BlockId> = (0..body.blocks.len()).map(id).collect();
    for index in 0..body.blocks.len() {
        if owner.get(index) != Some(&id(index)) {
            continue;
        }
        while let Some(next) = only_successor(body, index, &leading) {
            let Some(taken) = body.blocks.get_mut(next.0 as usize).map(take_block) else { break };
            if let Some(block) = body.blocks.get_mut(index) {
                block.ops.extend(taken.ops);
                block.end = taken.end;
            }
            if let Some(slot) = owner.get_mut(next.0 as usize) {
                *slot = id(index);
            }
        }
    }
    resolved(owner)
}

/// Leaves an empty block that nothing leads to.
fn take_block(block: &mut Block) -> Block {
    let empty = Block { ops: Vec::new(), end: Terminator::Unreachable, ..block.clone() };
    std::mem::replace(block, empty)
}

fn only_successor(body: &Body, index: usize, leading: &[u32]) -> Option<BlockId> {
    let block = body.blocks.get(index)?;
    let Terminator::Goto(next) = block.end else { return None };
    let target = body.blocks.get(next.0 as usize)?;
    let alone = leading.get(next.0 as usize) == Some(&1);
    let same_loop = target.loop_depth == block.loop_depth;
    (alone && same_loop && next.0 != 0 && next.0 as usize != index).then_some(next)
}

/// A block taken into one that was itself taken belongs to the last.
fn resolved(mut owner: Vec<BlockId>) -> Vec<BlockId> {
    for index in 0..owner.len() {
        let mut at = id(index);
        for _ in 0..owner.len() {
            match owner.get(at.0 as usize) {
                Some(next) if *next != at => at = *next,
                _ => break,
            }
        }
        if let Some(slot) = owner.get_mut(index) {
            *slot = at;
        }
    }
    owner
}

/// Depth first without recursion; the last successor first, so that the first comes out earlier.
fn reverse_postorder(body: &Body) -> Vec<BlockId> {
    let mut seen = vec![false; body.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(BlockId(0), false)];
    while let Some((block, done)) = stack.pop() {
        if done {
            order.push(block);
            continue;
        }
        if !mark(&mut seen, block) {
            continue;
        }
        stack.push((block, true));
        let Some(node) = body.block(block) else { continue };
        for next in node.end.successors() {
            stack.push((next, false));
        }
    }
    order.reverse();
    order
}

fn sort_joins(
    body: &mut Body,
    joins: &[JoinSources],
    absorbed: &[BlockId],
    numbers: &[Option<BlockId>],
) {
    let number = |source: &BlockId| {
        let owner = absorbed.get(source.0 as usize)?;
        *numbers.get(owner.0 as usize)?
    };
    for (join, sources) in joins {
        let Some(value) = body.values.get_mut(join.0 as usize) else { continue };
        let ValueKind::Join(ways) = &mut value.kind else { continue };
        if ways.len() != sources.len() {
            continue;
        }
        let mut sorted: Vec<(Option<BlockId>, ValueId)> =
            sources.iter().map(number).zip(ways.iter().copied()).collect();
        sorted.sort_by_key(|(block, _)| *block);
        *ways = sorted.iter().map(|(_, way)| *way).collect();
        let known: Option<Vec<BlockId>> = sorted.into_iter().map(|(block, _)| block).collect();
        body.ways.extend(known.map(|known| (*join, known)));
    }
}
