//! What statements do to the schema: tables, columns, keys.

use super::{Statement, TableName};
use crate::source::Span;

/// A change of the schema.
#[derive(Clone, Debug)]
pub enum SchemaChange {
    /// CREATE TABLE.
    CreateTable {
        /// Which.
        table: TableName,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Columns.
        columns: Vec<Column>,
        /// Table constraints.
        constraints: Vec<Constraint>,
        /// LIKE, INHERITS, PARTITION OF: columns come from there too.
        like: Option<TableName>,
    },
    /// DROP TABLE.
    DropTable {
        /// Which.
        table: TableName,
    },
    /// RENAME TO.
    RenameTable {
        /// Old name.
        table: TableName,
        /// New name.
        to: String,
    },
    /// ADD COLUMN.
    AddColumn {
        /// Of which table.
        table: TableName,
        /// The column.
        column: Column,
    },
    /// DROP COLUMN.
    DropColumn {
        /// Of which table.
        table: TableName,
        /// Its name.
        column: String,
    },
    /// RENAME COLUMN.
    RenameColumn {
        /// Of which table.
        table: TableName,
        /// Old name.
        column: String,
        /// New name.
        to: String,
    },
    /// ALTER COLUMN: type, default, nullability; `None` leaves as it is.
    AlterColumn {
        /// Of which table.
        table: TableName,
        /// Its name.
        column: String,
        /// New type.
        ty: Option<String>,
        /// SET NOT NULL or DROP NOT NULL.
        not_null: Option<bool>,
        /// SET DEFAULT or DROP DEFAULT.
        default: Option<bool>,
    },
    /// ADD CONSTRAINT.
    AddConstraint {
        /// Of which table.
        table: TableName,
        /// The constraint.
        constraint: Constraint,
    },
    /// DROP CONSTRAINT.
    DropConstraint {
        /// Of which table.
        table: TableName,
        /// Its name.
        name: String,
    },
    /// VALIDATE CONSTRAINT.
    ValidateConstraint {
        /// Of which table.
        table: TableName,
        /// Its name.
        name: String,
    },
    /// CREATE INDEX and CREATE UNIQUE INDEX.
    CreateIndex {
        /// Of which table.
        table: TableName,
        /// Its name.
        name: Option<String>,
        /// Plain columns; empty for one over an expression.
        columns: Vec<String>,
        /// UNIQUE.
        unique: bool,
        /// WHERE: it covers only some rows.
        partial: bool,
    },
    /// DROP INDEX.
    DropIndex {
        /// Its name.
        name: String,
    },
    /// CREATE FUNCTION or PROCEDURE: its statements.
    CreateFunction {
        /// Its name.
        name: String,
        /// Statements of its body, in order.
        body: Vec<Statement>,
    },
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type, lower case, as written (`bigint`, `numeric(10,2)`).
    pub ty: String,
    /// NOT NULL or primary key.
    pub not_null: bool,
    /// Whether it has a default (identity, serial, generated count).
    pub default: bool,
    /// PRIMARY KEY on the column.
    pub primary_key: bool,
    /// UNIQUE on the column.
    pub unique: bool,
    /// CHECK on the column: its text.
    pub check: Option<String>,
    /// REFERENCES.
    pub references: Option<TableName>,
    /// Where.
    pub span: Span,
}

/// A table constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Its name.
    pub name: Option<String>,
    /// What it demands.
    pub kind: ConstraintKind,
    /// Where.
    pub span: Span,
}

/// What a constraint demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstraintKind {
    /// PRIMARY KEY.
    PrimaryKey(Vec<String>),
    /// UNIQUE.
    Unique(Vec<String>),
    /// UNIQUE or PRIMARY KEY USING INDEX.
    UsingIndex(String),
    /// CHECK: its text, and whether it is NOT VALID.
    Check {
        /// The condition's text.
        text: String,
        /// NOT VALID.
        not_valid: bool,
    },
    /// FOREIGN KEY.
    ForeignKey {
        /// Columns.
        columns: Vec<String>,
        /// The table referred to.
        references: TableName,
    },
    /// EXCLUDE and others.
    Other,
}
