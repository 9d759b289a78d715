//! Tables as the whole migration history leaves them.
//!
//! Every migration set is folded in order into a [`Schema`] of its own: a monorepo has several
//! `users` tables. Tables that code declares stand in where no migration is found. A lookup that
//! finds nothing says so; it never takes a table of another name.

use std::collections::BTreeMap;

use crate::ir::index::{FileIndex, TableDeclaration};
use crate::ir::sql::{Column, SchemaChange, Statement, StatementKind, TableName};
use crate::link::Program;
pub use crate::link::sql_files::Dialect;
use crate::link::sql_files::{MigrationSet, SqlFile, SqlFiles};
use crate::source::{FileId, SourceFile, Span, Tree};

mod floor;
mod fold;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name; the schema is left out when it is the usual one.
    pub name: TableName,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Columns of the primary key; empty when there is none or none is known.
    pub primary_key: Vec<String>,
    /// Unique keys other than the primary.
    pub uniques: Vec<Unique>,
    /// CHECK constraints, those of columns included.
    pub checks: Vec<Check>,
    /// Where it is created or declared.
    pub created_at: Span,
    /// Whether only code declares it: then keys, checks and nullability are not known in full.
    pub from_code: bool,
}

/// A unique key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unique {
    /// Its name.
    pub name: Option<String>,
    /// Its columns; empty when it is over an expression.
    pub columns: Vec<String>,
    /// Whether it covers only some rows.
    pub partial: bool,
}

/// A CHECK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: Option<String>,
    /// Its condition.
    pub text: String,
    /// Whether rows that were there before obey it too (not NOT VALID, or validated since).
    pub valid: bool,
    /// Where it was added.
    pub span: Span,
}

/// A stored function or procedure.
#[derive(Clone, Debug)]
pub struct Routine {
    /// Statements of its body, in order.
    pub body: Vec<Statement>,
    /// Where it is defined.
    pub span: Span,
}

/// What the migrations of one folder leave.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The migrations.
    pub set: MigrationSet,
    /// Tables by name.
    pub tables: BTreeMap<TableName, Table>,
    /// Functions and procedures by name: the last definition of each.
    pub routines: BTreeMap<String, Routine>,
}

/// All schemas of a tree.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    /// One for each migration set, by folder.
    pub sets: Vec<Schema>,
    /// Every SQL file, migrations or not, and every query that `sqlx` checked (`.sqlx`).
    pub files: BTreeMap<FileId, SqlFile>,
    /// Tables that code declares, with the file's path.
    declared: Vec<(String, Table)>,
}

impl Table {
    /// A column by name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The primary key and the unique keys that cover all rows.
    pub fn keys(&self) -> impl Iterator<Item = &[String]> {
        let whole = self.uniques.iter().filter(|unique| !unique.partial);
        let uniques = whole.map(|unique| unique.columns.as_slice());
        std::iter::once(self.primary_key.as_slice())
            .chain(uniques)
            .filter(|columns| !columns.is_empty())
    }
}

impl Schema {
    /// A table by name; without a schema in the name, the only one of that name.
    #[must_use]
    pub fn table(&self, name: &TableName) -> Option<&Table> {
        let name = fold::usual(name);
        if let Some(table) = self.tables.get(&name) {
            return Some(table);
        }
        let mut same = self.tables.values().filter(|table| table.name.name == name.name);
        let first = same.next()?;
        let matches = name.schema.is_none() || first.name.schema.is_none();
        (matches && same.next().is_none()).then_some(first)
    }
}

impl Schemas {
    /// Folds the migrations among SQL files. `indexes` give the tables that code declares.
    #[must_use]
    pub fn new<'i>(
        sql: SqlFiles,
        tree: &Tree,
        indexes: impl Iterator<Item = &'i FileIndex>,
    ) -> Self {
        let SqlFiles { sets, files } = sql;
        let sets = sets.into_iter().map(|set| fold::fold(set, &files)).collect();
        let declared = indexes.flat_map(|index| declared(tree, index)).collect();
        Self { sets, files, declared }
    }

    /// The schemas of a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        Self::new(SqlFiles::of(program), &program.tree, program.files.iter().flatten())
    }

    /// The table of a statement in a file at `from`: of the nearest migration set that has it,
    /// then as code declares it.
    #[must_use]
    pub fn table(&self, name: &TableName, from: &str) -> Option<&Table> {
        if name.name.is_empty() {
            return None;
        }
        let of_set = self.sets.iter().filter_map(|schema| {
            let in_tests = schema.set.fixture && !inside(&schema.set.root, from);
            Some(((in_tests, distance(&schema.set.root, from)), schema.table(name)?))
        });
        if let Some((_, table)) = of_set.min_by_key(|(rank, _)| *rank) {
            return Some(table);
        }
        let of_code = self.declared.iter().filter(|(_, table)| table.name.name == name.name);
        of_code.min_by_key(|(path, _)| distance(folder(path), from)).map(|(_, table)| table)
    }

    /// How many statements of SQL files there are, and of how many only words were read.
    #[must_use]
    pub fn coverage(&self) -> (usize, usize) {
        let files = self.files.values();
        files.fold((0, 0), |(total, scanned), file| {
            (total + file.parsed.total, scanned + file.parsed.scanned())
        })
    }
}

/// Whether a path lies in a folder.
fn inside(root: &str, path: &str) -> bool {
    root.is_empty() || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// How many folders lie between a folder and a file: up to what they share, and down.
fn distance(root: &str, path: &str) -> usize {
    let up: Vec<&str> = root.split('/').filter(|part| !part.is_empty()).collect();
    let down: Vec<&str> = folder(path).split('/').filter(|part| !part.is_empty()).collect();
    let shared = up.iter().zip(&down).take_while(|(left, right)| left == right).count();
    up.len() + down.len() - 2 * shared
}

/// Tables that a file declares in code.
fn declared(tree: &Tree, index: &FileIndex) -> Vec<(String, Table)> {
    let path = tree.file(index.file).map(|file: &SourceFile| file.path.clone()).unwrap_or_default();
    index.tables.iter().map(|table| (path.clone(), from_code(table))).collect()
}

fn from_code(declaration: &TableDeclaration) -> Table {
    let (schema, name) = match declaration.table.rsplit_once('.') {
        Some((schema, name)) => (Some(schema.to_owned()), name.to_owned()),
        None => (None, declaration.table.clone()),
    };
    let column = |(_, name, ty): &(String, String, String)| Column {
        name: name.clone(),
        ty: ty.to_lowercase(),
        not_null: !ty.contains("Nullable") && !ty.contains("Option"),
        default: false,
        primary_key: declaration.primary_key.contains(name),
        unique: false,
        check: None,
        references: None,
        span: declaration.span,
    };
    Table {
        name: TableName { schema, name },
        columns: declaration.columns.iter().map(column).collect(),
        primary_key: declaration.primary_key.clone(),
        uniques: Vec::new(),
        checks: Vec::new(),
        created_at: declaration.span,
        from_code: true,
    }
}

/// Every change of the schema in statements, those of DO blocks included, in order, with the
/// statement's place.
fn changes(statements: &[Statement]) -> Vec<(&SchemaChange, Span)> {
    let mut found = Vec::new();
    let mut waiting: Vec<&Statement> = statements.iter().rev().collect();
    while let Some(next) = waiting.pop() {
        match &next.kind {
            StatementKind::Schema(changes) => {
                found.extend(changes.iter().map(|change| (change, next.span)));
            }
            StatementKind::Compound(parts) => waiting.extend(parts.iter().rev()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests;
