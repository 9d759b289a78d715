//! Applies the changes of a migration set one after another.

use std::collections::BTreeMap;

use super::{Check, Routine, Schema, Table, Unique, changes};
use crate::ir::sql::{Column, Constraint, ConstraintKind, SchemaChange, TableName};
use crate::link::sql_files::{MigrationSet, SqlFile};
use crate::source::{FileId, Span};

/// A name without the schema that a database takes when none is said.
pub(super) fn usual(name: &TableName) -> TableName {
    let schema = name.schema.as_ref().filter(|schema| {
        !matches!(schema.as_str(), "public" | "main" | "dbo" | "") && !schema.contains(['"', '`'])
    });
    TableName { schema: schema.cloned(), name: name.name.clone() }
}

/// What a migration set leaves.
pub(super) fn fold(set: MigrationSet, files: &BTreeMap<FileId, SqlFile>) -> Schema {
    let mut folder = Folder::default();
    for file in &set.files {
        let statements = files.get(file).map_or(&[][..], |file| &file.parsed.statements);
        for (change, span) in changes(statements) {
            folder.apply(change, span);
        }
    }
    Schema { set, tables: folder.tables, routines: folder.routines }
}

#[derive(Default)]
struct Folder {
    tables: BTreeMap<TableName, Table>,
    routines: BTreeMap<String, Routine>,
}

impl Folder {
    /// The key of a table as it stands now, under the name or, when that is unknown, under the same
    /// name in the only other schema that has it.
    fn key(&self, name: &TableName) -> TableName {
        let name = usual(name);
        if self.tables.contains_key(&name) {
            return name;
        }
        let mut same = self.tables.keys().filter(|key| key.name == name.name);
        match (same.next(), same.next()) {
            (Some(only), None) if name.schema.is_none() || only.schema.is_none() => only.clone(),
            _ => name,
        }
    }

    fn table(&mut self, name: &TableName) -> Option<&mut Table> {
        let key = self.key(name);
        self.tables.get_mut(&key)
    }

    fn apply(&mut self, change: &SchemaChange, span: Span) {
        match change {
            SchemaChange::CreateTable { .. } => self.create(change, span),
            SchemaChange::DropTable { table } => {
                let key = self.key(table);
                self.tables.remove(&key);
            }
            SchemaChange::RenameTable { table, to } => self.rename(table, to),
            SchemaChange::CreateFunction { name, body } => {
                self.routines.insert(name.clone(), Routine { body: body.clone(), span });
            }
            SchemaChange::DropIndex { name } => {
                for table in self.tables.values_mut() {
                    table.uniques.retain(|unique| unique.name.as_ref() != Some(name));
                }
            }
            SchemaChange::AddColumn { table, .. }
            | SchemaChange::DropColumn { table, .. }
            | SchemaChange::RenameColumn { table, .. }
            | SchemaChange::AlterColumn { table, .. }
            | SchemaChange::AddConstraint { table, .. }
            | SchemaChange::DropConstraint { table, .. }
            | SchemaChange::ValidateConstraint { table, .. }
            | SchemaChange::CreateIndex { table, .. } => {
                if let Some(table) = self.table(table) {
                    alter(table, change);
                }
            }
        }
    }

    fn create(&mut self, change: &SchemaChange, span: Span) {
        let SchemaChange::CreateTable { table: name, if_not_exists, columns, constraints, like } =
            change
        else {
            return;
        };
        let name = usual(name);
        if *if_not_exists && self.tables.contains_key(&name) {
            return;
        }
        let model = like.as_ref().and_then(|like| self.table(like)).cloned();
        let mut table = Table {
            name: name.clone(),
            columns: Vec::new(),
            primary_key: Vec::new(),
            uniques: Vec::new(),
            checks: Vec::new(),
            created_at: span,
            from_code: false,
        };
        if let Some(model) = model {
            table.columns = model.columns;
            table.primary_key = model.primary_key;
            table.checks = model.checks;
            table.uniques = model.uniques;
        }
        for column in columns {
            add_column(&mut table, column);
        }
        for constraint in constraints {
            add_constraint(&mut table, constraint);
        }
        self.tables.insert(name, table);
    }

    fn rename(&mut self, from: &TableName, to: &str) {
        let key = self.key(from);
        if let Some(mut table) = self.tables.remove(&key) {
            let name = TableName { schema: key.schema, name: to.to_owned() };
            table.name = name.clone();
            self.tables.insert(name, table);
        }
    }
}

fn add_column(table: &mut Table, column: &Column) {
    if table.column(&column.name).is_some() {
        return;
    }
    let name = column.name.clone();
    if column.primary_key {
        table.primary_key = vec![name.clone()];
    }
    if column.unique {
        let constraint = format!("{}_{name}_key", table.name.name);
        table.uniques.push(Unique {
            name: Some(constraint),
            columns: vec![name.clone()],
            partial: false,
        });
    }
    if let Some(text) = &column.check {
        let constraint = format!("{}_{name}_check", table.name.name);
        table.checks.push(Check {
            name: Some(constraint),
            text: text.clone(),
            valid: true,
            span: column.span,
        });
    }
    table.columns.push(column.clone());
}

fn add_constraint(table: &mut Table, constraint: &Constraint) {
    match &constraint.kind {
        ConstraintKind::PrimaryKey(columns) => {
            for column in &mut table.columns {
                if columns.contains(&column.name) {
                    column.not_null = true;
                    column.primary_key = true;
                }
            }
            table.primary_key.clone_from(columns);
        }
        ConstraintKind::Unique(columns) => {
            let usual = || format!("{}_{}_key", table.name.name, columns.join("_"));
            let name = constraint.name.clone().unwrap_or_else(usual);
            table.uniques.push(Unique {
                name: Some(name),
                columns: columns.clone(),
                partial: false,
            });
        }
        ConstraintKind::UsingIndex(index) => {
            let unique =
                table.uniques.iter_mut().find(|unique| unique.name.as_ref() == Some(index));
            if let (Some(unique), Some(name)) = (unique, &constraint.name) {
                unique.name = Some(name.clone());
            }
        }
        ConstraintKind::Check { text, not_valid } => {
            table.checks.push(Check {
                name: constraint.name.clone(),
                text: text.clone(),
                valid: !not_valid,
                span: constraint.span,
            });
        }
        ConstraintKind::ForeignKey { .. } | ConstraintKind::Other => {}
    }
}

fn alter(table: &mut Table, change: &SchemaChange) {
    match change {
        SchemaChange::AddColumn { column, .. } => {
            add_column(table, column);
        }
        SchemaChange::DropColumn { column, .. } => drop_column(table, column),
        SchemaChange::RenameColumn { column, to, .. } => rename_column(table, column, to),
        SchemaChange::AlterColumn { column, ty, not_null, default, .. } => {
            let found = table.columns.iter_mut().find(|own| own.name.eq_ignore_ascii_case(column));
            if let Some(found) = found {
                found.ty = ty.clone().unwrap_or_else(|| found.ty.clone());
                found.not_null = not_null.unwrap_or(found.not_null);
                found.default = default.unwrap_or(found.default);
            }
        }
        SchemaChange::AddConstraint { constraint, .. } => add_constraint(table, constraint),
        SchemaChange::DropConstraint { name, .. } => drop_constraint(table, name),
        SchemaChange::ValidateConstraint { name, .. } => {
            let checks = table.checks.iter_mut();
            checks
                .filter(|check| check.name.as_ref() == Some(name))
                .for_each(|check| check.valid = true);
        }
        SchemaChange::CreateIndex { name, columns, unique: true, partial, .. } => {
            let unique = Unique { name: name.clone(), columns: columns.clone(), partial: *partial };
            if !table.uniques.iter().any(|own| own.name.is_some() && own.name == unique.name) {
                table.uniques.push(unique);
            }
        }
        _ => {}
    }
}

/// Whether a condition's text names a column.
fn names(text: &str, column: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.into_iter().any(|word| word.eq_ignore_ascii_case(column))
}

fn drop_column(table: &mut Table, column: &str) {
    table.columns.retain(|own| !own.name.eq_ignore_ascii_case(column));
    table.uniques.retain(|unique| !unique.columns.iter().any(|part| part == column));
    table.checks.retain(|check| !names(&check.text, column));
    if table.primary_key.iter().any(|part| part == column) {
        table.primary_key.clear();
    }
}

fn rename_column(table: &mut Table, column: &str, to: &str) {
    let rename = |name: &mut String| {
        if name.eq_ignore_ascii_case(column) {
            to.clone_into(name);
        }
    };
    table.columns.iter_mut().for_each(|own| rename(&mut own.name));
    table.primary_key.iter_mut().for_each(rename);
    table.uniques.iter_mut().flat_map(|unique| &mut unique.columns).for_each(rename);
    for check in table.checks.iter_mut().filter(|check| names(&check.text, column)) {
        check.text = replace_word(&check.text, column, to);
    }
}

/// The text with one name put for another.
fn replace_word(text: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for letter in text.chars().chain(['\0']) {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        out.push_str(if word.eq_ignore_ascii_case(from) { to } else { &word });
        word.clear();
        if letter != '\0' {
            out.push(letter);
        }
    }
    out
}

fn drop_constraint(table: &mut Table, name: &str) {
    let usual = format!("{}_pkey", table.name.name);
    if name == "primary" || name == usual {
        table.primary_key.clear();
        table.columns.iter_mut().for_each(|column| column.primary_key = false);
    }
    table.uniques.retain(|unique| unique.name.as_deref() != Some(name));
    table.checks.retain(|check| check.name.as_deref() != Some(name));
}
