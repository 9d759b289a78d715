//! Every write of rows, wherever it stands: a call in code, a statement of a stored function, or one of
//! a query file that is compiled to functions.
//!
//! Statements that migrations run once (a backfill) are none: nothing runs beside them.

use std::collections::BTreeSet;

use super::Analysis;
use super::row_guard::{Guard, row_guard};
use super::schema::Table;
use super::writes::annotation_of;
use crate::config::words::WordList;
use crate::finding::Step;
use crate::ir::effect::{Effect, EffectKind, SqlCall};
use crate::ir::sql::{
    Assignment, Comparison, Expression, OnConflict, Predicate, PredicateKind, SchemaChange,
    Statement, StatementKind, TableName,
};
use crate::source::{FileId, Span};

mod locked;

/// Where a write stands.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// A call in code runs it.
    Call(&'a Effect, &'a SqlCall),
    /// A stored function or procedure: its statements before and after.
    Routine(&'a [Statement], &'a [Statement]),
    /// A query file.
    Query,
}

/// A write of rows.
#[derive(Clone, Copy, Debug)]
pub struct RowWrite<'a> {
    /// What writes: a part of `whole` where that writes in several.
    pub statement: &'a Statement,
    /// The whole statement.
    pub whole: &'a Statement,
    /// Where it stands.
    pub origin: Origin<'a>,
    /// The function around it; of a query file, the statement's own name.
    pub function: Option<&'a str>,
    /// The table, as the migrations leave it.
    pub table: Option<&'a Table>,
    /// The file from which the table was looked up.
    pub path: &'a str,
}

/// A stored function.
#[derive(Clone, Copy, Debug)]
pub struct StoredFunction<'a> {
    /// Its name.
    pub name: &'a str,
    /// The statements of its body, in order, without its branches.
    pub body: &'a [Statement],
    /// The path of its file.
    pub path: &'a str,
}

impl<'a> RowWrite<'a> {
    /// The place that a finding shows: the statement where it is written, or the call.
    #[must_use]
    pub fn place(&self) -> Span {
        match self.origin {
            Origin::Call(effect, _) => effect.span,
            Origin::Routine(..) | Origin::Query => self.statement.span,
        }
    }

    /// The client library, `sql` in SQL files.
    #[must_use]
    pub fn client(&self) -> &'a str {
        match self.origin {
            Origin::Call(effect, _) => &effect.client,
            Origin::Routine(..) | Origin::Query => "sql",
        }
    }

    /// The name of the table written.
    #[must_use]
    pub fn name(&self) -> &'a TableName {
        match &self.statement.kind {
            StatementKind::Update(update) => &update.table,
            StatementKind::Insert(insert) => &insert.table,
            StatementKind::Delete(delete) => &delete.table,
            _ => const { &TableName { schema: None, name: String::new() } },
        }
    }

    /// What it sets: of UPDATE, or of INSERT where the row is there.
    #[must_use]
    pub fn sets(&self) -> &'a [Assignment] {
        match &self.statement.kind {
            StatementKind::Update(update) => &update.sets,
            StatementKind::Insert(insert) => match &insert.on_conflict {
                Some(OnConflict::Update { sets, .. }) => sets,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// Its conditions.
    #[must_use]
    pub fn predicates(&self) -> &'a [Predicate] {
        match &self.statement.kind {
            StatementKind::Update(update) => &update.predicates,
            StatementKind::Delete(delete) => &delete.predicates,
            StatementKind::Insert(insert) => match &insert.on_conflict {
                Some(OnConflict::Update { predicates, .. }) => predicates,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// The columns given back.
    #[must_use]
    pub fn returning(&self) -> &'a [String] {
        match &self.statement.kind {
            StatementKind::Update(update) => &update.returning,
            StatementKind::Delete(delete) => &delete.returning,
            StatementKind::Insert(insert) => &insert.returning,
            _ => &[],
        }
    }

    /// The statement on one line, for fingerprints.
    #[must_use]
    pub fn subject(&self) -> String {
        self.whole.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The name that the table has in a message.
    #[must_use]
    pub fn table_text(&self) -> String {
        let name = &self.name().name;
        if name.is_empty() { "the table".to_owned() } else { format!("`{name}`") }
    }
}

impl Analysis<'_> {
    /// All writes of rows: those of code in body order, then those of SQL files in order.
    #[must_use]
    pub fn row_writes(&self) -> Vec<RowWrite<'_>> {
        let mut found = Vec::new();
        let mut run: BTreeSet<(FileId, u32)> = BTreeSet::new();
        for body in &self.program.bodies {
            for effect in self.program.effects(body.id) {
                let EffectKind::Sql(call) = &effect.kind else { continue };
                let path = self.path(effect.span.file);
                for whole in &call.statements {
                    run.insert((whole.span.file, whole.span.start));
                    let origin = Origin::Call(effect, call);
                    self.add(&mut found, whole, origin, None, path);
                }
            }
        }
        for function in self.stored_functions() {
            for (index, whole) in function.body.iter().enumerate() {
                let before = function.body.get(..index).unwrap_or_default();
                let after = function.body.get(index + 1..).unwrap_or_default();
                let origin = Origin::Routine(before, after);
                self.add(&mut found, whole, origin, Some(function.name), function.path);
            }
        }
        for (name, _, whole, path) in self.annotated_statements() {
            if !run.contains(&(whole.span.file, whole.span.start)) {
                self.add(&mut found, whole, Origin::Query, Some(name), path);
            }
        }
        found
    }

    fn add<'a>(
        &'a self,
        found: &mut Vec<RowWrite<'a>>,
        whole: &'a Statement,
        origin: Origin<'a>,
        function: Option<&'a str>,
        path: &'a str,
    ) {
        for statement in whole.parts() {
            let mut write = RowWrite { statement, whole, origin, function, table: None, path };
            let writes = matches!(
                statement.kind,
                StatementKind::Update(_) | StatementKind::Insert(_) | StatementKind::Delete(_)
            );
            if writes {
                write.table = self.schemas.table(write.name(), path);
                found.push(write);
            }
        }
    }

    fn path(&self, file: FileId) -> &str {
        self.program.tree.file(file).map_or("", |file| file.path.as_str())
    }

    /// The stored functions of all SQL files, in order of files. Of one that migrations define again,
    /// only the last is there.
    #[must_use]
    pub fn stored_functions(&self) -> Vec<StoredFunction<'_>> {
        let mut found = Vec::new();
        for (id, sql) in &self.schemas.files {
            let Some(file) = self.program.tree.file(*id) else { continue };
            for statement in &sql.parsed.statements {
                let StatementKind::Schema(changes) = &statement.kind else { continue };
                found.extend(changes.iter().filter_map(|change| match change {
                    SchemaChange::CreateFunction { name, body }
                        if !self.is_superseded(*id, name, statement.span) =>
                    {
                        Some(StoredFunction { name, body, path: &file.path })
                    }
                    _ => None,
                }));
            }
        }
        found
    }

    /// Whether a later migration of the same set defines the function anew.
    fn is_superseded(&self, file: FileId, name: &str, span: Span) -> bool {
        let mut sets = self.schemas.sets.iter().filter(|schema| schema.set.files.contains(&file));
        sets.any(|schema| schema.routines.get(name).is_some_and(|last| last.span != span))
    }

    /// The statements of query files that are compiled to functions: name, annotation, statement and
    /// path, in order of files.
    #[must_use]
    pub fn annotated_statements(&self) -> Vec<(&str, &str, &Statement, &str)> {
        let mut found = Vec::new();
        for (id, sql) in &self.schemas.files {
            let Some(file) = self.program.tree.file(*id) else { continue };
            let mut from = 0;
            for statement in &sql.parsed.statements {
                let until = statement.span.end as usize;
                let text = file.text.get(from..until).unwrap_or_default();
                from = until;
                let Some((name, annotation)) = annotation_of(text) else { continue };
                found.push((name, annotation, statement, file.path.as_str()));
            }
        }
        found
    }

    /// Whether a write asks for its rows and nothing else: by a key, or by values that are no state.
    #[must_use]
    pub fn asks_for_row_alone(&self, write: &RowWrite<'_>) -> bool {
        let guard = row_guard(write.statement, write.table, self.words).map(|found| found.guard);
        let (mut equal, mut other) = (0_usize, 0_usize);
        for part in write.predicates() {
            match &part.kind {
                PredicateKind::Compare { value: Expression::Subquery(_), .. } => other += 1,
                PredicateKind::Compare { column, comparison: Comparison::Equal, .. } => {
                    let state = self.words.has(WordList::Status, column)
                        || self.words.has(WordList::Kind, column);
                    *(if state { &mut other } else { &mut equal }) += 1;
                }
                PredicateKind::In { subquery: None, negated: false, .. } => equal += 1,
                PredicateKind::Null { column, negated: false }
                    if self.words.has(WordList::Undo, column) => {}
                _ => other += 1,
            }
        }
        match guard {
            Some(Guard::IdentityOnly | Guard::TenantScope) => true,
            Some(Guard::None) => equal > 0 && other == 0,
            _ => false,
        }
    }

    /// Where the statement of a call is written, when that is not the call's own place.
    #[must_use]
    pub fn statement_step(&self, write: &RowWrite<'_>) -> Option<Step> {
        let Origin::Call(effect, _) = write.origin else { return None };
        let span = write.whole.span;
        let apart = span.file != effect.span.file || !span.covers(effect.span);
        apart.then(|| Step { span, message: "the statement".to_owned() })
    }

    /// The function around a write, for findings.
    #[must_use]
    pub fn function_around(&self, write: &RowWrite<'_>) -> Option<String> {
        match write.origin {
            Origin::Call(effect, _) => self.function_name(effect.site.body),
            _ => write.function.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests;
