//! Whether an intent is on record before a call leaves: a row that is written and committed.
//!
//! This is a *must* question: every path to the operation has written. A statement on a pool or a
//! bare connection is durable at once; one in a transaction once the transaction is committed.

use std::collections::BTreeMap;

use super::Analysis;
use crate::ir::body::{BlockId, Body, Exit, OpId, Terminator};
use crate::ir::effect::{BodyId, Boundary, Effect, EffectKind, Executor, Site};
use crate::ir::sql::{Statement, StatementKind};
use crate::link::evaluate::is_failure;

/// How many calls deep a write may lie.
const DEEPEST: usize = 16;

/// What every path so far has written, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Written {
    Nothing,
    /// In a transaction that is still open.
    Open,
    Durable,
}

impl Analysis<'_> {
    /// Whether a database row is written and committed on every path to the last call of a chain, in
    /// one of the bodies that the chain leads through.
    #[must_use]
    pub fn recorded_before(&self, chain: &[Site]) -> bool {
        let mut records = Records { analysis: self, by_body: BTreeMap::new() };
        chain.iter().any(|site| records.before(*site) == Written::Durable)
    }
}

struct Records<'a, 'p> {
    analysis: &'a Analysis<'p>,
    by_body: BTreeMap<BodyId, Written>,
}

impl Records<'_, '_> {
    /// What is written when an operation begins.
    fn before(&mut self, site: Site) -> Written {
        let program = self.analysis.program;
        let Some(own) = program.body(site.body) else { return Written::Nothing };
        let found = own.body.operations().find(|(_, op, _)| *op == site.op);
        let Some((at, ..)) = found else { return Written::Nothing };
        let entry = self.entries(site.body, &own.body, 0).get(at.0 as usize).copied().flatten();
        let ops = own.body.block(at).map(|block| block.ops.as_slice()).unwrap_or_default();
        let earlier = ops.iter().take_while(|op| **op != site.op);
        self.after(site.body, earlier, entry.unwrap_or(Written::Nothing), 0)
    }

    /// What is written where each block begins; `None` where no path comes.
    fn entries(&mut self, id: BodyId, body: &Body, depth: usize) -> Vec<Option<Written>> {
        let mut entries: Vec<Option<Written>> = vec![None; body.blocks.len()];
        let mut waiting: Vec<(BlockId, Written)> =
            body.roots().into_iter().map(|root| (root, Written::Nothing)).collect();
        while let Some((id_of_block, brought)) = waiting.pop() {
            let Some(entry) = entries.get_mut(id_of_block.0 as usize) else { continue };
            let least = entry.map_or(brought, |known| known.min(brought));
            let Some(block) = body.block(id_of_block).filter(|_| *entry != Some(least)) else {
                continue;
            };
            *entry = Some(least);
            let after = self.after(id, block.ops.iter(), least, depth);
            waiting.extend(block.end.successors().into_iter().map(|next| (next, after)));
        }
        entries
    }

    fn after<'o>(
        &mut self,
        body: BodyId,
        ops: impl Iterator<Item = &'o OpId>,
        before: Written,
        depth: usize,
    ) -> Written {
        ops.fold(before, |written, op| self.by(Site { body, op: *op }, written, depth))
    }

    /// What is written once an operation is done.
    fn by(&mut self, site: Site, before: Written, depth: usize) -> Written {
        let analysis = self.analysis;
        let callees = analysis.graph.runs_at(site).iter();
        let inside = callees.map(|body| self.in_body(*body, depth + 1)).min();
        let written = before.max(inside.unwrap_or(Written::Nothing));
        let effects = analysis.program.effects(site.body).iter();
        effects.filter(|effect| effect.site == site).fold(written, written_by)
    }

    /// What a body has written on every path that does not fail.
    fn in_body(&mut self, id: BodyId, depth: usize) -> Written {
        if let Some(known) = self.by_body.get(&id) {
            return *known;
        }
        let program = self.analysis.program;
        let Some(own) = program.body(id).filter(|_| depth <= DEEPEST) else {
            return Written::Nothing;
        };
        // A body that calls itself has written nothing before.
        self.by_body.insert(id, Written::Nothing);
        let entries = self.entries(id, &own.body, depth);
        let mut least: Option<Written> = None;
        for (block, entry) in own.body.blocks.iter().zip(entries) {
            let (Some(entry), Terminator::Return { value, exit, .. }) = (entry, &block.end) else {
                continue;
            };
            let failed = value.is_some_and(|value| is_failure(&own.body, value));
            if *exit != Exit::Propagated && !failed {
                let written = self.after(id, block.ops.iter(), entry, depth);
                least = Some(least.map_or(written, |other| other.min(written)));
            }
        }
        let least = least.unwrap_or(Written::Nothing);
        self.by_body.insert(id, least);
        least
    }
}

/// What is written after an effect.
fn written_by(before: Written, effect: &Effect) -> Written {
    match &effect.kind {
        EffectKind::Sql(call) if call.statements.iter().any(|statement| records(statement)) => {
            let open = call.executor == Executor::Transaction;
            before.max(if open { Written::Open } else { Written::Durable })
        }
        EffectKind::Transaction(call) => match (call.boundary, before) {
            (Boundary::Commit, Written::Open) => Written::Durable,
            // The closure that it runs has ended, and with it the transaction.
            (Boundary::Begin, Written::Open) if call.runs.is_some() => Written::Durable,
            (Boundary::Rollback, Written::Open) => Written::Nothing,
            _ => before,
        },
        _ => before,
    }
}

/// Whether a statement leaves a row behind.
fn records(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Insert(_) | StatementKind::Update(_) => true,
        StatementKind::Compound(parts) => parts.iter().any(records),
        _ => false,
    }
}
