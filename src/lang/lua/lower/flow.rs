//! Blocks, edges, and what each variable holds where edges meet.
//!
//! A branch on a join of constants, right where paths meet, is decided path by path: after
//! `if a == b then ok = true else ok = false end`, `if ok then …` goes on from the path that knows.
//! So does `if helper(…) == 1`, whose helper returned 1 on one of its paths.

use std::collections::BTreeMap;

use super::{Lowerer, Terminator, Test};
use crate::ir::body::BlockId;
use crate::ir::given::GivenId;
use crate::ir::value::{Literal, Operator, ValueId, ValueKind};
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
    pub pending: BTreeMap<BlockId, Vec<Edge>>,
    /// What was decided on every way here.
    pub given: Option<GivenId>,
    /// The edges that met where the block being written began; none after a loop's head.
    pub met: Vec<Edge>,
}

/// An edge into a block that is not begun yet.
#[derive(Clone)]
pub(super) struct Edge {
    from: BlockId,
    values: Vec<ValueId>,
    given: Option<GivenId>,
}

/// A value that one of several ways brings, and what was decided on that way.
pub(super) type Way = (ValueId, Option<GivenId>);

impl Flow {
    /// At the entry of a body.
    pub fn new() -> Self {
        Self {
            block: BlockId(0),
            reachable: true,
            values: Vec::new(),
            pending: BTreeMap::new(),
            given: None,
            met: Vec::new(),
        }
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
            self.edge(target, self.flow.given);
        }
        self.unreachable();
    }

    /// Goes on in one of two blocks that are begun later.
    pub(super) fn branch(&mut self, test: Test, then: BlockId, otherwise: BlockId, span: Span) {
        if !self.flow.reachable {
            return;
        }
        if let Test::True(value) = &test
            && self.all_decided(*value, then, otherwise)
        {
            self.flow.reachable = false;
            return;
        }
        let value = if let Test::True(value) = &test { Some(*value) } else { None };
        self.end(Terminator::Branch { test, then, otherwise, span });
        for (target, holds) in [(then, true), (otherwise, false)] {
            let given = value.and_then(|value| self.decided(value, holds));
            self.edge(target, given.or(self.flow.given));
        }
    }

    /// Goes on in any of several blocks that are begun later.
    pub(super) fn choose(&mut self, blocks: &[BlockId]) {
        if self.flow.reachable {
            self.end(Terminator::Choice(blocks.to_vec()));
            for block in blocks {
                self.edge(*block, self.flow.given);
            }
        }
    }

    /// What is decided here once a value was tested.
    pub(super) fn decided(&mut self, value: ValueId, holds: bool) -> Option<GivenId> {
        let before = self.flow.given;
        Some(self.body().givens.add(value, holds, before))
    }

    fn edge(&mut self, target: BlockId, given: Option<GivenId>) {
        let edge = Edge { from: self.flow.block, values: self.flow.values.clone(), given };
        self.flow.pending.entry(target).or_default().push(edge);
    }

    /// Sends each path that knows the answer straight on; whether that were all of them.
    fn all_decided(&mut self, value: ValueId, then: BlockId, otherwise: BlockId) -> bool {
        let block = self.flow.block;
        let empty = self.body().block(block).is_some_and(|block| block.ops.is_empty());
        let edges = std::mem::take(&mut self.flow.met);
        if !empty || edges.len() < 2 {
            return false;
        }
        let mut left = edges.len();
        for (position, edge) in edges.iter().enumerate() {
            let Some(truth) = self.truth(value, position, edges.len()) else { continue };
            let target = if truth { then } else { otherwise };
            if self.redirect(edge.from, block, target) {
                self.flow.pending.entry(target).or_default().push(edge.clone());
                left -= 1;
            }
        }
        left == 0
    }

    /// Whether a value is true on the n-th of the edges that met, when that is constant.
    fn truth(&self, value: ValueId, position: usize, count: usize) -> Option<bool> {
        match self.kind(value) {
            ValueKind::Not(value) => self.truth(*value, position, count).map(|truth| !truth),
            ValueKind::Binary { operator, left, right } => {
                let left = self.constant(*left, position, count)?;
                let right = self.constant(*right, position, count)?;
                match (operator, left, right) {
                    (Operator::Equal, left, right) => Some(same(left, right)),
                    (Operator::NotEqual, left, right) => Some(!same(left, right)),
                    (Operator::Less, Literal::Integer(a), Literal::Integer(b)) => Some(a < b),
                    (Operator::Greater, Literal::Integer(a), Literal::Integer(b)) => Some(a > b),
                    _ => None,
                }
            }
            ValueKind::Join(_) => {
                let constant = self.constant(value, position, count)?;
                Some(!matches!(constant, Literal::Nothing | Literal::Boolean(false)))
            }
            _ => None,
        }
    }

    fn constant(&self, value: ValueId, position: usize, count: usize) -> Option<&Literal> {
        let value = match self.kind(value) {
            ValueKind::Join(incoming) if incoming.len() == count => *incoming.get(position)?,
            _ => value,
        };
        match self.kind(value) {
            ValueKind::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// Lets an edge lead elsewhere; `false` when a block has two edges to the same place.
    fn redirect(&mut self, from: BlockId, to: BlockId, target: BlockId) -> bool {
        let Some(block) = self.body().blocks.get_mut(from.0 as usize) else { return false };
        match &mut block.end {
            Terminator::Goto(next) if *next == to => *next = target,
            Terminator::Branch { then, otherwise, .. } if *then == to && *otherwise != to => {
                *then = target;
            }
            Terminator::Branch { then, otherwise, .. } if *otherwise == to && *then != to => {
                *otherwise = target;
            }
            _ => return false,
        }
        true
    }

    /// Begins a block that edges lead to: variables that differ are joined.
    pub(super) fn enter(&mut self, block: BlockId, span: Span) {
        let edges = self.flow.pending.remove(&block).unwrap_or_default();
        self.flow.block = block;
        self.flow.reachable = !edges.is_empty();
        if edges.is_empty() {
            return;
        }
        let count = edges.iter().map(|edge| edge.values.len()).max().unwrap_or(0);
        let mut values = Vec::with_capacity(count);
        for variable in 0..count {
            let value = |edge: &Edge| edge.values.get(variable).copied().unwrap_or(UNSET);
            let incoming: Vec<Way> = edges.iter().map(|edge| (value(edge), edge.given)).collect();
            values.push(self.join(incoming, span));
        }
        self.flow.values = values;
        self.flow.given = self.shared(&edges);
        self.flow.met = edges;
    }

    /// What was decided on each of several edges.
    fn shared(&mut self, edges: &[Edge]) -> Option<GivenId> {
        let mut edges = edges.iter().map(|edge| edge.given);
        let first = edges.next().flatten();
        edges.fold(first, |shared, given| self.body().givens.shared(shared, given))
    }

    /// One value for what several paths bring.
    pub(super) fn join(&mut self, ways: Vec<Way>, span: Span) -> ValueId {
        let Some((first, _)) = ways.first().copied() else { return UNSET };
        if ways.iter().all(|(value, _)| *value == first) {
            return first;
        }
        let (incoming, givens): (Vec<_>, Vec<_>) = ways.into_iter().unzip();
        if incoming.contains(&UNSET) {
            return UNSET;
        }
        let name = incoming
            .iter()
            .find_map(|value| self.bodies.get(self.current)?.value(*value)?.name.clone());
        let joined = self.add(ValueKind::Join(incoming), span);
        self.body().givens.joined(joined, givens);
        self.name(joined, name.as_deref());
        joined
    }
}

fn same(left: &Literal, right: &Literal) -> bool {
    match (left, right) {
        (Literal::Text(left), Literal::Text(right)) => left.content == right.content,
        (left, right) => left == right,
    }
}
