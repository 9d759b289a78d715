//! Takes blocks out of a body that nothing runs and that hold nothing.
//!
//! Lowering makes a block wherever paths might part or meet. What is left: blocks that a path from
//! the entry reaches, blocks without content passed over, and blocks with operations that nothing
//! reaches (code behind a `return`).

use crate::ir::body::{BlockId, Body, Terminator};

/// Compacts the blocks of a body; their order stays.
pub(super) fn compact(body: &mut Body) {
    let forward: Vec<BlockId> = (0..body.blocks.len()).map(|index| passed(body, index)).collect();
    for block in &mut body.blocks {
        block.end.retarget(|id| forward.get(id.0 as usize).copied().unwrap_or(id));
    }
    let kept = kept(body);
    body.keep(&kept);
}

/// The first block with content that a block leads to.
fn passed(body: &Body, index: usize) -> BlockId {
    let mut id = BlockId(u32::try_from(index).unwrap_or(u32::MAX));
    // A loop of empty blocks ends where the count runs out: any block of it will do.
    for _ in 0..body.blocks.len() {
        match body.block(id) {
            Some(block) if block.ops.is_empty() && id.0 != 0 => match block.end {
                Terminator::Goto(next) => id = next,
                _ => break,
            },
            _ => break,
        }
    }
    id
}

/// The blocks to keep, in order.
fn kept(body: &Body) -> Vec<BlockId> {
    let mut keep = vec![false; body.blocks.len()];
    let with_content = body.blocks.iter().enumerate().filter(|(_, block)| !block.ops.is_empty());
    let mut next: Vec<usize> = with_content.map(|(index, _)| index).collect();
    next.push(0);
    while let Some(index) = next.pop() {
        let Some(seen) = keep.get_mut(index) else { continue };
        if std::mem::replace(seen, true) {
            continue;
        }
        let successors = body.blocks.get(index).map(|block| block.end.successors());
        next.extend(successors.unwrap_or_default().iter().map(|block| block.0 as usize));
    }
    let ids = keep.iter().enumerate().filter(|(_, keep)| **keep);
    ids.map(|(index, _)| BlockId(u32::try_from(index).unwrap_or(u32::MAX))).collect()
}
