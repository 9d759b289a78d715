//! Guarded writes inside stored functions and procedures, which ask for the row count by `FOUND` or
//! `ROW_COUNT`.
//!
//! A body is known as a list without its branches, so any question after the write is taken to be
//! one about it.

use super::{GuardedWrite, written};
use crate::analysis::Analysis;
use crate::analysis::row_guard::{Weight, row_guard};
use crate::config::Confidence;
use crate::ir::sql::{Statement, StatementKind, TableName};

/// A guarded write of a stored function whose row count nothing asks for.
#[derive(Clone, Debug)]
pub struct RoutineWrite<'a> {
    /// The function's name.
    pub name: &'a str,
    /// The statement.
    pub statement: &'a Statement,
    /// What is lost.
    pub write: GuardedWrite,
}

impl Analysis<'_> {
    /// Guarded writes of stored functions that nobody asks the row count of, in order of files. Of a
    /// function that migrations define again, only the last body counts.
    #[must_use]
    pub fn routine_writes(&self) -> Vec<RoutineWrite<'_>> {
        let mut found = Vec::new();
        for function in self.stored_functions() {
            let body = function.body;
            found.extend(body.iter().enumerate().filter_map(|(index, statement)| {
                let (before, after) = body.split_at_checked(index)?;
                let write = self.unasked(statement, before, after, function.path)?;
                Some(RoutineWrite { name: function.name, statement, write })
            }));
        }
        found
    }

    fn unasked(
        &self,
        statement: &Statement,
        before: &[Statement],
        after: &[Statement],
        path: &str,
    ) -> Option<GuardedWrite> {
        let asked = after.iter().any(|later| matches!(later.kind, StatementKind::RowCount));
        if asked || statement.gives_rows() {
            return None;
        }
        statement.parts().iter().find_map(|part| {
            let (verb, table) = written(part)?;
            let owned = || before.iter().flat_map(Statement::parts).any(|it| owns(it, table));
            if verb == "INSERT" || owned() {
                return None;
            }
            let guard = row_guard(part, self.schemas.table(table, path), self.words)?;
            (guard.guard.weight() == Weight::Full)
                .then(|| GuardedWrite::new(verb, &guard, Confidence::Medium))
        })
    }
}

/// Whether a statement locks or inserts a row of a table: then it is there for the rest of the
/// transaction.
pub(in crate::analysis) fn owns(statement: &Statement, table: &TableName) -> bool {
    match &statement.kind {
        StatementKind::Insert(insert) => insert.table.name == table.name,
        StatementKind::Select(select) => {
            select.lock.is_some_and(|lock| lock.exclusive)
                && select.tables.iter().any(|read| read.name == table.name)
        }
        _ => false,
    }
}
