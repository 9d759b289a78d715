//! Ways out of a section that stands in a function of its own: it is called with the lease held, and gives
//! it back on other ways.
//!
//! A function that only gives back has ways out as well: where it can't, and where there is nothing to give
//! back. So a way out counts only if what some work answers decides it, and the release does not need that
//! answer. Work is what has an effect or is the program's own.

use std::collections::BTreeSet;

use super::answers::{given, parts};
use super::walk::{Ends, Walk};
use super::{LeaseExit, failed_call, fails, succeeds};
use crate::analysis::Analysis;
use crate::analysis::callgraph::call_site;
use crate::analysis::outcome::Abstract;
use crate::analysis::region::AcquirePoint;
use crate::ir::body::{BlockId, Body, Callee, Exit, OpId, Terminator, Test};
use crate::ir::effect::{BodyId, Site};
use crate::ir::value::{ValueId, ValueKind};

/// How many calls down.
const MOST_CALLS_DOWN: u32 = 1;

impl<'p> Analysis<'p> {
    /// The ways out of what a body calls to give the lease back, on which it stays held.
    pub(super) fn exits_below(
        &self,
        walk: &Walk<'_>,
        seen: &Ends,
        handed_on: bool,
    ) -> Vec<LeaseExit> {
        let mut exits = Vec::new();
        self.collect_below(walk, seen, handed_on, MOST_CALLS_DOWN, &mut exits);
        exits
    }

    fn collect_below(
        &self,
        walk: &Walk<'_>,
        seen: &Ends,
        handed_on: bool,
        depth: u32,
        exits: &mut Vec<LeaseExit>,
    ) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for stop in &seen.stops {
            let call = Site { body: walk.id, op: *stop };
            let [called] = self.graph.runs_at(call) else { continue };
            if self.program.in_script(*called) || *called == walk.id {
                continue;
            }
            let Some(inner) = walk.within(*stop, *called) else { continue };
            let ends = inner.held();
            if ends.stops.is_empty() {
                continue;
            }
            self.own_exits(&inner, &ends, (call, handed_on), exits);
            self.collect_below(&inner, &ends, handed_on, depth, exits);
        }
    }

    /// The ways out of one body that is called at a site.
    fn own_exits(
        &self,
        walk: &Walk<'_>,
        ends: &Ends,
        (call, handed_on): (Site, bool),
        exits: &mut Vec<LeaseExit>,
    ) {
        let body = walk.body;
        let finishes = ends.released.iter().any(|at| succeeds(body, *at));
        for block in ends.held.difference(&ends.released) {
            let Some(Terminator::Return { value, exit, span }) =
                body.block(*block).map(|block| &block.end)
            else {
                continue;
            };
            let failed = fails(body, *value, *exit);
            let handed = || value.is_some_and(|value| walk.hands_out(value));
            let leaves = failed || *exit == Exit::Return && finishes && !handed_on && !handed();
            if !leaves || !self.is_decided_by_work(walk, ends, *block, *value) {
                continue;
            }
            let mut chain = walk.point.way();
            chain.push(call);
            let given = value.map_or(Abstract::Unknown, |value| walk.value(value));
            let above = AcquirePoint { site: call, chain, acquire: walk.point.acquire, won: given };
            if !self.released_after(&above) {
                exits.push(self.exit_at(walk.id, body, *value, *exit, *span));
            }
        }
    }

    /// Whether what some work answers decides that a body is left by a block.
    fn is_decided_by_work(
        &self,
        walk: &Walk<'_>,
        ends: &Ends,
        block: BlockId,
        value: Option<ValueId>,
    ) -> bool {
        let failed = value.and_then(|value| failed_call(self, walk.id, walk.body, value));
        let decided = match failed {
            Some(op) => BTreeSet::from([op]),
            None => deciding(walk.body, block)
                .map(|test| made_by(walk.body, tested(test)))
                .unwrap_or_default(),
        };
        let needed = ends.stops.iter().flat_map(|stop| needs(walk.body, *stop)).collect();
        decided.is_disjoint(&needed)
            && decided.iter().any(|op| !walk.is_asked(*op) && self.is_work(walk.id, *op))
    }

    /// Whether a call has an effect or is one of the program's own.
    fn is_work(&self, id: BodyId, op: OpId) -> bool {
        let site = Site { body: id, op };
        let effects = self.program.effects(id).iter();
        let mut behind = effects.filter(|effect| call_site(self.program, effect.site) == site);
        let own = self.program.targets(id, op);
        let by_value = || {
            let call = self.program.body(id).and_then(|own| own.body.call(op));
            call.is_some_and(|call| matches!(call.callee, Callee::Value(_)))
        };
        behind.next().is_some() || own.is_some_and(|it| !it.bodies.is_empty()) || by_value()
    }
}

/// The test that decides that a run comes to a block.
fn deciding(body: &Body, block: BlockId) -> Option<&Test> {
    let mut at = block;
    for _ in 0..body.blocks.len() {
        let mut before =
            body.blocks.iter().zip(0_u32..).filter(|(from, _)| from.end.successors().contains(&at));
        let (from, index) = before.next().filter(|_| before.next().is_none())?;
        match &from.end {
            Terminator::Branch { test, .. } => return Some(test),
            _ => at = BlockId(index),
        }
    }
    None
}

fn tested(test: &Test) -> Vec<ValueId> {
    match test {
        Test::True(value) | Test::Matches { value, .. } => vec![*value],
        Test::Opaque(_) => Vec::new(),
    }
}

/// The calls whose results go into some values.
fn made_by(body: &Body, mut waiting: Vec<ValueId>) -> BTreeSet<OpId> {
    let mut seen: BTreeSet<ValueId> = waiting.iter().copied().collect();
    let mut calls = BTreeSet::new();
    while let Some(value) = waiting.pop() {
        let inner = match body.kind(value) {
            ValueKind::Result(op) => {
                calls.insert(*op);
                body.call(*op).map(given).unwrap_or_default()
            }
            kind => parts(kind),
        };
        waiting.extend(inner.into_iter().filter(|value| seen.insert(*value)));
    }
    calls
}

/// The calls whose results an operation needs.
fn needs(body: &Body, op: OpId) -> BTreeSet<OpId> {
    body.call(body.call_behind(op)).map(|call| made_by(body, given(call))).unwrap_or_default()
}
