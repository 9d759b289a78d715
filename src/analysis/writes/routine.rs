//! Guarded writes inside stored functions and procedures, which ask for the row count by `FOUND` or
//! `ROW_COUNT`.
//!
//! A body is known as a list without its branches, so any question after the write is taken to be
//! one about it.

use super::{GuardedWrite, written};
use crate::analysis::Analysis;
use crate::analysis::row_guard::{Weight, row_guard};
use crate::config::Confidence;
use crate::ir::sql::{SchemaChange, Statement, StatementKind, TableName};
use crate::source::{FileId, Span};

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
        for (id, sql) in &self.schemas.files {
            let Some(file) = self.program.tree.file(*id) else { continue };
            for statement in &sql.parsed.statements {
                let StatementKind::Schema(changes) = &statement.kind else { continue };
                for change in changes {
                    let SchemaChange::CreateFunction { name, body } = change else { continue };
                    if self.is_superseded(*id, name, statement.span) {
                        continue;
                    }
                    found.extend(body.iter().enumerate().filter_map(|(index, statement)| {
                        let (before, after) = body.split_at_checked(index)?;
                        let write = self.unasked(statement, before, after, &file.path)?;
                        Some(RoutineWrite { name, statement, write })
                    }));
                }
            }
        }
        found
    }

    /// Whether a later migration of the same set defines the function anew.
    fn is_superseded(&self, file: FileId, name: &str, span: Span) -> bool {
        let mut sets = self.schemas.sets.iter().filter(|schema| schema.set.files.contains(&file));
        sets.any(|schema| schema.routines.get(name).is_some_and(|last| last.span != span))
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
pub(super) fn owns(statement: &Statement, table: &TableName) -> bool {
    match &statement.kind {
        StatementKind::Insert(insert) => insert.table.name == table.name,
        StatementKind::Select(select) => {
            select.lock.is_some_and(|lock| lock.exclusive)
                && select.tables.iter().any(|read| read.name == table.name)
        }
        _ => false,
    }
}
