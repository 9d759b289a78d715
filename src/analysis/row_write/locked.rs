//! Whether a write's rows are locked by its own transaction, so that what was read of them still holds.
//!
//! Errs on the side of *locked*: a lock that a caller or a function called before takes counts, and so
//! does anything that lets one transaction at a time through.

use super::{Origin, RowWrite};
use crate::analysis::Analysis;
use crate::analysis::expiry::comes_after;
use crate::analysis::writes::owns;
use crate::ir::effect::{BodyId, EffectKind, Executor, Site, SqlCall};
use crate::ir::sql::{Statement, StatementKind, TableName};
use crate::ir::value::{ValueId, ValueKind};

/// How many calls up and down a lock is looked for.
const MOST_CALLS: usize = 4;

/// Words of statements and values that let one transaction at a time through.
const ALONE: [&str; 8] = [
    "pg_advisory",
    "pg_try_advisory",
    "get_lock(",
    "lock table",
    "serializable",
    "begin immediate",
    "begin exclusive",
    "sp_getapplock",
];

impl Analysis<'_> {
    /// Whether the transaction of a write has locked or inserted its row before, or is alone.
    #[must_use]
    pub fn row_is_locked(&self, write: &RowWrite<'_>) -> bool {
        let table = write.name();
        match write.origin {
            Origin::Routine(before, _) => {
                let mut parts = before.iter().flat_map(Statement::parts);
                parts.any(|part| owns(part, table) || alone(part))
            }
            Origin::Query => false,
            Origin::Call(effect, call) => {
                call.executor != Executor::Pool
                    && (self.owned_by_transaction(effect, call, write.statement, table)
                        || self.locked_around(effect.site, call, table, MOST_CALLS))
                    || self.is_alone(effect.site)
            }
        }
    }

    /// Whether the calls before an operation, or those that led to its function, lock rows of a table on
    /// the executor that it is given.
    fn locked_around(&self, site: Site, call: &SqlCall, table: &TableName, depth: usize) -> bool {
        let Some(executor) = call.executor_value else { return false };
        self.locked_before(site, self.program.source_of(site.body, executor), table, depth)
    }

    fn locked_before(
        &self,
        site: Site,
        executor: (BodyId, ValueId),
        table: &TableName,
        depth: usize,
    ) -> bool {
        let program = self.program;
        let Some(own) = program.body(site.body) else { return false };
        let given = |op, call: &crate::ir::body::Call| {
            let mut passed =
                call.arguments.iter().map(|argument| argument.value).chain(call.receiver);
            passed.any(|value| program.source_of(site.body, value) == executor)
                && comes_after(program, Site { body: site.body, op }, site)
        };
        let mut calls = own.body.calls();
        if calls.any(|(_, op, call)| {
            given(op, call) && self.locks_within(Site { body: site.body, op }, table, depth)
        }) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        // The executor is the function's own parameter: its callers hold the transaction.
        let Some(holder) = program.body(executor.0) else { return false };
        let ValueKind::Parameter(number) = holder.body.kind(executor.1) else { return false };
        self.graph.run_by(executor.0).iter().any(|caller| {
            self.locks_at(*caller, table)
                || program.body(caller.body).is_some_and(|outer| {
                    let call = outer.body.call(outer.body.call_behind(caller.op));
                    let argument = call.and_then(|call| call.arguments.get(*number as usize));
                    argument.is_some_and(|argument| {
                        let source = program.source_of(caller.body, argument.value);
                        self.locked_before(*caller, source, table, depth)
                    })
                })
        })
    }

    /// Whether a statement that runs before an operation, in its body, locks rows of a table.
    fn locks_at(&self, site: Site, table: &TableName) -> bool {
        self.program.effects(site.body).iter().any(|other| match &other.kind {
            EffectKind::Sql(call) => {
                call.executor != Executor::Pool
                    && comes_after(self.program, other.site, site)
                    && call.statements.iter().flat_map(|it| it.parts()).any(|it| owns(it, table))
            }
            _ => false,
        })
    }

    /// Whether what a call runs locks rows of a table.
    fn locks_within(&self, site: Site, table: &TableName, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let mut run: Vec<BodyId> = self.graph.runs_at(site).to_vec();
        let targets = self.program.targets(site.body, site.op);
        run.extend(targets.into_iter().flat_map(|it| it.bodies.iter().copied()));
        run.into_iter().any(|body| {
            let locks = self.program.effects(body).iter().any(|effect| match &effect.kind {
                EffectKind::Sql(call) => {
                    let mut parts = call.statements.iter().flat_map(|it| it.parts());
                    parts.any(|part| owns(part, table))
                }
                _ => false,
            });
            locks
                || self.program.body(body).is_some_and(|own| {
                    let mut calls = own.body.calls();
                    calls.any(|(_, op, _)| self.locks_within(Site { body, op }, table, depth))
                })
        })
    }

    /// Whether a statement or value of the function around lets one transaction at a time through.
    pub(in crate::analysis) fn is_alone(&self, site: Site) -> bool {
        let around =
            std::iter::successors(Some(site.body), |body| self.program.body(*body)?.parent);
        around.into_iter().any(|body| {
            let told = self.program.effects(body).iter().any(|effect| match &effect.kind {
                EffectKind::Sql(call) => call.statements.iter().any(|it| alone(it)),
                _ => false,
            });
            told || self.program.body(body).is_some_and(|own| {
                own.body.values.iter().any(|value| match &value.kind {
                    ValueKind::Path(path) => path.last() == Some("Serializable"),
                    _ => false,
                }) || own.body.calls().any(|(_, _, call)| {
                    let name = call.callee.name().unwrap_or_default();
                    matches!(
                        name,
                        "serializable" | "immediate_transaction" | "exclusive_transaction"
                    )
                })
            })
        })
    }
}

/// Whether a statement lets one transaction at a time through.
fn alone(statement: &Statement) -> bool {
    let kind = matches!(
        statement.kind,
        StatementKind::Other | StatementKind::Select(_) | StatementKind::Begin
    );
    kind && {
        let text = statement.text.to_lowercase();
        ALONE.iter().any(|words| text.contains(words))
    }
}
