//! Blocks, edges, and what each variable holds where edges meet.

use std::collections::BTreeMap;

use super::{Lowerer, Terminator, Test};
use crate::ir::body::BlockId;
use crate::ir::value::{ValueId, ValueKind};
use crate::source::Span;

/// Stands for "no value yet" among the values of variables.
pub(super) const UNSET: ValueId = ValueId(u32::MAX);

/// Where lowering is, and what the variables hold there.
#[derive(Clone)]
pub(super) struct Flow {
    /// The block being written.
    pub block: BlockId,
    /// Whether a path from the entry comes here.
    pub reachable: bool,
    /// The value of each variable, by its number; [`UNSET`] where it has none.
    pub values: Vec<ValueId>,
    /// What the variables hold on the edges into blocks that are not begun yet.
    pub pending: BTreeMap<BlockId, Vec<Vec<ValueId>>>,
}

impl Flow {
    /// At the entry of a body.
    pub fn new() -> Self {
        Self { block: BlockId(0), reachable: true, values: Vec::new(), pending: BTreeMap::new() }
    }
}

impl Lowerer<'_> {
    /// Ends the block being written.
    pub(super) fn end(&mut self, end: Terminator) {
        let block = self.flow.block;
        self.body().end(block, end);
    }

    /// A block in as many loops as the one being written.
    pub(super) fn new_block(&mut self) -> BlockId {
        let depth = self.loop_depth;
        self.body().add_block(depth)
    }

    /// From here on nothing runs, until a block is begun that an edge leads to.
    pub(super) fn unreachable(&mut self) {
        self.flow.reachable = false;
        self.flow.block = self.new_block();
    }

    /// Goes on in a block that is begun later.
    pub(super) fn jump(&mut self, target: BlockId) {
        if self.flow.reachable {
            self.end(Terminator::Goto(target));
            self.edge(target);
        }
        self.unreachable();
    }

    /// Goes on in one of two blocks that are begun later.
    pub(super) fn branch(&mut self, test: Test, then: BlockId, otherwise: BlockId, span: Span) {
        if self.flow.reachable {
            self.end(Terminator::Branch { test, then, otherwise, span });
            self.edge(then);
            self.edge(otherwise);
        }
    }

    fn edge(&mut self, target: BlockId) {
        let values = self.flow.values.clone();
        self.flow.pending.entry(target).or_default().push(values);
    }

    /// Begins a block that edges lead to: variables that differ are joined.
    pub(super) fn enter(&mut self, block: BlockId, span: Span) {
        let edges = self.flow.pending.remove(&block).unwrap_or_default();
        self.flow.block = block;
        self.flow.reachable = !edges.is_empty();
        let count = edges.iter().map(Vec::len).max().unwrap_or(self.flow.values.len());
        let mut values = Vec::with_capacity(count);
        for variable in 0..count {
            let incoming: Vec<ValueId> =
                edges.iter().map(|edge| edge.get(variable).copied().unwrap_or(UNSET)).collect();
            values.push(self.join(incoming, span));
        }
        if self.flow.reachable {
            self.flow.values = values;
        }
    }

    /// One value for what several paths bring.
    pub(super) fn join(&mut self, incoming: Vec<ValueId>, span: Span) -> ValueId {
        let Some(first) = incoming.first().copied() else { return UNSET };
        if incoming.iter().all(|value| *value == first) {
            return first;
        }
        if incoming.contains(&UNSET) {
            return UNSET;
        }
        let name = incoming
            .iter()
            .find_map(|value| self.bodies.get(self.current)?.value(*value)?.name.clone());
        let joined = self.add(ValueKind::Join(incoming), span);
        self.name(joined, name.as_deref());
        joined
    }
}
