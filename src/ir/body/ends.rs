//! Where a block leads.

use super::{BlockId, Terminator};

impl Terminator {
    /// Leads elsewhere: each block it can go to is replaced.
    pub fn retarget(&mut self, to: impl Fn(BlockId) -> BlockId) {
        match self {
            Self::Goto(next) => *next = to(*next),
            Self::Branch { then, otherwise, .. } => {
                *then = to(*then);
                *otherwise = to(*otherwise);
            }
            Self::Choice(blocks) => blocks.iter_mut().for_each(|block| *block = to(*block)),
            Self::Return { .. } | Self::Panic(_) | Self::Unreachable => {}
        }
    }

    /// The blocks it can go to.
    #[must_use]
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Self::Goto(block) => vec![*block],
            Self::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Self::Choice(blocks) => blocks.clone(),
            Self::Return { .. } | Self::Panic(_) | Self::Unreachable => Vec::new(),
        }
    }
}
