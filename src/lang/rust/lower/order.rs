//! Puts the blocks of a finished body in reverse postorder, so that they read from top to bottom.

use crate::ir::body::{Block, BlockId, Body, Terminator};

/// The body with its blocks in the order of the control flow; blocks that nothing leads to come
/// last, and are left out when they hold no operation.
pub(super) fn ordered(mut body: Body) -> Body {
    thread_jumps(&mut body);
    let mut order = reverse_postorder(&body);
    let mut seen = vec![false; body.blocks.len()];
    for block in &order {
        mark(&mut seen, *block);
    }
    for (index, block) in body.blocks.iter().enumerate() {
        let id = BlockId(u32::try_from(index).unwrap_or(u32::MAX));
        if !seen.get(index).copied().unwrap_or(true) && !block.ops.is_empty() {
            order.push(id);
        }
    }
    renumber(body, &order)
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

/// Where a jump to a block really ends up: empty blocks that only go on are passed by.
fn destination(body: &Body, mut at: BlockId) -> BlockId {
    for _ in 0..64 {
        match body.block(at) {
            Some(Block { ops, end: Terminator::Goto(next), .. }) if ops.is_empty() => at = *next,
            _ => break,
        }
    }
    at
}

fn thread_jumps(body: &mut Body) {
    for index in 0..body.blocks.len() {
        let Some(end) = body.blocks.get(index).map(|block| block.end.clone()) else { continue };
        let end = redirect(end, |block| destination(body, block));
        if let Some(block) = body.blocks.get_mut(index) {
            block.end = end;
        }
    }
}

fn redirect(end: Terminator, to: impl Fn(BlockId) -> BlockId) -> Terminator {
    match end {
        Terminator::Goto(block) => Terminator::Goto(to(block)),
        Terminator::Branch { test, then, otherwise, span } => {
            Terminator::Branch { test, then: to(then), otherwise: to(otherwise), span }
        }
        Terminator::Choice(blocks) => Terminator::Choice(blocks.into_iter().map(to).collect()),
        end => end,
    }
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

fn renumber(mut body: Body, order: &[BlockId]) -> Body {
    let mut new_ids = vec![None; body.blocks.len()];
    for (index, old) in order.iter().enumerate() {
        if let Some(slot) = new_ids.get_mut(old.0 as usize) {
            *slot = Some(BlockId(u32::try_from(index).unwrap_or(u32::MAX)));
        }
    }
    let new_id = |old: BlockId| new_ids.get(old.0 as usize).copied().flatten();
    let mut old: Vec<Option<Block>> = body.blocks.into_iter().map(Some).collect();
    body.blocks = order
        .iter()
        .filter_map(|id| old.get_mut(id.0 as usize)?.take())
        .map(|block| {
            let lost = block.end.successors().into_iter().any(|next| new_id(next).is_none());
            let end = if lost {
                Terminator::Unreachable
            } else {
                redirect(block.end, |id| new_id(id).unwrap_or(id))
            };
            Block { end, ..block }
        })
        .collect();
    body
}
