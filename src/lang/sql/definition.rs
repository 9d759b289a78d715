//! Changes of the schema: CREATE, ALTER and DROP of the parser to `ir`.

use sqlparser::ast::{
    self, AlterColumnOperation, AlterTableOperation, ColumnDef, ColumnOption, CreateTableLikeKind,
    DataType, Expr, Ident, IndexColumn, ObjectType, RenameTableNameKind, Spanned, TableConstraint,
};

use super::expression::{last, name, table};
use super::reader::Places;
use crate::ir::sql::{Column, Constraint, ConstraintKind, SchemaChange, TableName};
use crate::source::Span;

/// The changes that a statement makes; `None` when it is no change of a schema.
pub(super) fn changes(statement: &ast::Statement, places: Places<'_>) -> Option<Vec<SchemaChange>> {
    use ast::Statement;
    Some(match statement {
        Statement::CreateTable(create) => vec![create_table(create, places)],
        Statement::AlterTable(alter) => {
            let target = table(&alter.name);
            alter
                .operations
                .iter()
                .flat_map(|operation| alter_table(&target, operation, places))
                .collect()
        }
        Statement::CreateIndex(create) => vec![SchemaChange::CreateIndex {
            table: table(&create.table_name),
            name: create.name.as_ref().map(last),
            columns: plain_columns(&create.columns),
            unique: create.unique,
            partial: create.predicate.is_some(),
        }],
        Statement::Drop { object_type, names, .. } => match object_type {
            ObjectType::Table => {
                names.iter().map(|name| SchemaChange::DropTable { table: table(name) }).collect()
            }
            ObjectType::Index => {
                names.iter().map(|name| SchemaChange::DropIndex { name: last(name) }).collect()
            }
            _ => Vec::new(),
        },
        Statement::RenameTable(renames) => renames
            .iter()
            .map(|rename| SchemaChange::RenameTable {
                table: table(&rename.old_name),
                to: last(&rename.new_name),
            })
            .collect(),
        _ => return None,
    })
}

fn create_table(create: &ast::CreateTable, places: Places<'_>) -> SchemaChange {
    let like = match &create.like {
        Some(CreateTableLikeKind::Parenthesized(like) | CreateTableLikeKind::Plain(like)) => {
            Some(&like.name)
        }
        None => create
            .partition_of
            .as_ref()
            .or_else(|| create.inherits.as_ref().and_then(|list| list.first())),
    };
    let mut columns: Vec<Column> =
        create.columns.iter().map(|column| column_of(column, places)).collect();
    if columns.is_empty()
        && let Some(query) = &create.query
    {
        let names = super::query::select(query, places).columns;
        columns = names.into_iter().map(|name| bare_column(name, places.whole())).collect();
    }
    let mut constraints: Vec<Constraint> = create
        .constraints
        .iter()
        .filter_map(|constraint| constraint_of(constraint, false, places))
        .collect();
    for definition in &create.columns {
        constraints.extend(column_constraints(definition, places));
    }
    SchemaChange::CreateTable {
        table: table(&create.name),
        if_not_exists: create.if_not_exists,
        columns,
        constraints,
        like: like.map(table),
    }
}

fn bare_column(name: String, span: Span) -> Column {
    Column {
        name,
        ty: String::new(),
        not_null: false,
        default: false,
        primary_key: false,
        unique: false,
        check: None,
        references: None,
        span,
    }
}

/// Named constraints of a column, so that a later DROP CONSTRAINT finds them.
fn column_constraints(definition: &ColumnDef, places: Places<'_>) -> Vec<Constraint> {
    let column = name(&definition.name);
    let named = definition
        .options
        .iter()
        .filter_map(|option| Some((option.name.as_ref()?, &option.option)));
    named
        .filter_map(|(constraint, option)| {
            let kind = match option {
                ColumnOption::Unique(_) => ConstraintKind::Unique(vec![column.clone()]),
                ColumnOption::PrimaryKey(_) => ConstraintKind::PrimaryKey(vec![column.clone()]),
                ColumnOption::Check(check) => {
                    ConstraintKind::Check { text: check.expr.to_string(), not_valid: false }
                }
                _ => return None,
            };
            Some(Constraint {
                name: Some(name(constraint)),
                kind,
                span: places.span(definition.span()),
            })
        })
        .collect()
}

fn column_of(definition: &ColumnDef, places: Places<'_>) -> Column {
    let (ty, counted) = type_name(&definition.data_type);
    let mut column = Column {
        ty,
        not_null: counted,
        default: counted,
        ..bare_column(name(&definition.name), places.span(definition.span()))
    };
    for option in &definition.options {
        column_option(&mut column, option.name.is_some(), &option.option);
    }
    column
}

/// Reads one option; a named UNIQUE, PRIMARY KEY or CHECK is a constraint of the table instead.
fn column_option(column: &mut Column, named: bool, option: &ColumnOption) {
    match option {
        ColumnOption::NotNull => column.not_null = true,
        ColumnOption::Default(value) => column.default = !is_null(value),
        ColumnOption::PrimaryKey(_) => {
            column.not_null = true;
            column.primary_key = !named;
        }
        ColumnOption::Unique(_) => column.unique = !named,
        ColumnOption::Check(check) if !named => {
            let text = check.expr.to_string();
            column.check = Some(match column.check.take() {
                Some(before) => format!("({before}) AND ({text})"),
                None => text,
            });
        }
        ColumnOption::ForeignKey(key) => column.references = Some(table(&key.foreign_table)),
        ColumnOption::Generated { .. } => column.default = true,
        ColumnOption::Identity(_) => {
            column.default = true;
            column.not_null = true;
        }
        ColumnOption::DialectSpecific(tokens) => {
            let words =
                tokens.iter().map(|token| token.to_string().to_lowercase().replace('_', ""));
            if words.into_iter().any(|word| word == "autoincrement") {
                column.default = true;
            }
        }
        _ => {}
    }
}

fn is_null(value: &Expr) -> bool {
    matches!(super::expression::expression(value), crate::ir::sql::Expression::Null)
}

/// A type in lower case, and whether it counts by itself (serial).
fn type_name(ty: &DataType) -> (String, bool) {
    let text = ty.to_string().to_lowercase();
    let counted = text.contains("serial");
    (text, counted)
}

/// Columns of a key; empty when one of them is an expression.
fn plain_columns(columns: &[IndexColumn]) -> Vec<String> {
    let plain: Option<Vec<String>> = columns
        .iter()
        .map(|column| match &column.column.expr {
            Expr::Identifier(ident) => Some(name(ident)),
            Expr::CompoundIdentifier(parts) => parts.last().map(name),
            // MySQL's prefix length: `name(20)`.
            Expr::Function(function) => {
                let mut arguments = super::expression::arguments(function);
                let number = matches!(arguments.next(), Some(Expr::Value(value)) if matches!(value.value, ast::Value::Number(..)));
                number.then(|| last(&function.name))
            }
            _ => None,
        })
        .collect();
    plain.unwrap_or_default()
}

fn names(idents: &[Ident]) -> Vec<String> {
    idents.iter().map(name).collect()
}

fn constraint_of(
    constraint: &TableConstraint,
    not_valid: bool,
    places: Places<'_>,
) -> Option<Constraint> {
    let span = places.span(constraint.span());
    let (constraint_name, kind) = match constraint {
        TableConstraint::Unique(unique) => (
            unique.name.as_ref().or(unique.index_name.as_ref()),
            ConstraintKind::Unique(plain_columns(&unique.columns)),
        ),
        TableConstraint::PrimaryKey(key) => {
            (key.name.as_ref(), ConstraintKind::PrimaryKey(plain_columns(&key.columns)))
        }
        TableConstraint::Check(check) => {
            (check.name.as_ref(), ConstraintKind::Check { text: check.expr.to_string(), not_valid })
        }
        TableConstraint::ForeignKey(key) => (
            key.name.as_ref(),
            ConstraintKind::ForeignKey {
                columns: names(&key.columns),
                references: table(&key.foreign_table),
            },
        ),
        TableConstraint::PrimaryKeyUsingIndex(using) | TableConstraint::UniqueUsingIndex(using) => {
            (using.name.as_ref(), ConstraintKind::UsingIndex(name(&using.index_name)))
        }
        TableConstraint::Exclude(_) => (None, ConstraintKind::Other),
        TableConstraint::Index(_) | TableConstraint::FulltextOrSpatial(_) => return None,
    };
    Some(Constraint { name: constraint_name.map(name), kind, span })
}

fn alter_table(
    target: &TableName,
    operation: &AlterTableOperation,
    places: Places<'_>,
) -> Vec<SchemaChange> {
    let table = || target.clone();
    match operation {
        AlterTableOperation::AddConstraint { constraint, not_valid } => {
            constraint_of(constraint, *not_valid, places)
                .map(|constraint| SchemaChange::AddConstraint { table: table(), constraint })
                .into_iter()
                .collect()
        }
        AlterTableOperation::AddColumn { column_def, .. } => {
            let column =
                SchemaChange::AddColumn { table: table(), column: column_of(column_def, places) };
            let constraint =
                |constraint| SchemaChange::AddConstraint { table: table(), constraint };
            let constraints = column_constraints(column_def, places).into_iter().map(constraint);
            std::iter::once(column).chain(constraints).collect()
        }
        AlterTableOperation::RenameTable { table_name } => {
            let (RenameTableNameKind::As(to) | RenameTableNameKind::To(to)) = table_name;
            vec![SchemaChange::RenameTable { table: table(), to: last(to) }]
        }
        AlterTableOperation::ValidateConstraint { name: constraint } => {
            vec![SchemaChange::ValidateConstraint { table: table(), name: name(constraint) }]
        }
        other => dropped(target, other).unwrap_or_else(|| alter_columns(target, other)),
    }
}

/// What an operation takes away; `None` when it takes nothing.
fn dropped(target: &TableName, operation: &AlterTableOperation) -> Option<Vec<SchemaChange>> {
    let table = || target.clone();
    Some(match operation {
        AlterTableOperation::DropConstraint { name: constraint, .. }
        | AlterTableOperation::DropForeignKey { name: constraint, .. } => {
            vec![SchemaChange::DropConstraint { table: table(), name: name(constraint) }]
        }
        AlterTableOperation::DropPrimaryKey { .. } => {
            vec![SchemaChange::DropConstraint { table: table(), name: "primary".to_owned() }]
        }
        AlterTableOperation::DropIndex { name: index } => {
            vec![SchemaChange::DropIndex { name: name(index) }]
        }
        AlterTableOperation::DropColumn { column_names, .. } => column_names
            .iter()
            .map(|column| SchemaChange::DropColumn { table: table(), column: name(column) })
            .collect(),
        _ => return None,
    })
}

/// Changes of a column that is there.
fn alter_columns(target: &TableName, operation: &AlterTableOperation) -> Vec<SchemaChange> {
    let table = || target.clone();
    match operation {
        AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
            vec![SchemaChange::RenameColumn {
                table: table(),
                column: name(old_column_name),
                to: name(new_column_name),
            }]
        }
        AlterTableOperation::AlterColumn { column_name, op } => {
            alter_column(target, &name(column_name), op).into_iter().collect()
        }
        AlterTableOperation::ModifyColumn { col_name, data_type, options, .. } => {
            vec![redefine(target, &name(col_name), data_type, options)]
        }
        AlterTableOperation::ChangeColumn { old_name, new_name, data_type, options, .. } => vec![
            SchemaChange::RenameColumn {
                table: table(),
                column: name(old_name),
                to: name(new_name),
            },
            redefine(target, &name(new_name), data_type, options),
        ],
        _ => Vec::new(),
    }
}

fn alter_column(
    target: &TableName,
    column: &str,
    operation: &AlterColumnOperation,
) -> Option<SchemaChange> {
    let (mut ty, mut not_null, mut default) = (None, None, None);
    match operation {
        AlterColumnOperation::SetNotNull => not_null = Some(true),
        AlterColumnOperation::DropNotNull => not_null = Some(false),
        AlterColumnOperation::SetDefault { value } => default = Some(!is_null(value)),
        AlterColumnOperation::DropDefault => default = Some(false),
        AlterColumnOperation::SetDataType { data_type, .. } => ty = Some(type_name(data_type).0),
        AlterColumnOperation::AddGenerated { .. } => default = Some(true),
        AlterColumnOperation::GenericOptions { .. } => return None,
    }
    Some(SchemaChange::AlterColumn {
        table: target.clone(),
        column: column.to_owned(),
        ty,
        not_null,
        default,
    })
}

/// MySQL's MODIFY: the column is defined anew.
fn redefine(
    target: &TableName,
    column: &str,
    ty: &DataType,
    options: &[ColumnOption],
) -> SchemaChange {
    let not_null = options
        .iter()
        .any(|option| matches!(option, ColumnOption::NotNull | ColumnOption::PrimaryKey(_)));
    let default = options
        .iter()
        .any(|option| matches!(option, ColumnOption::Default(value) if !is_null(value)));
    SchemaChange::AlterColumn {
        table: target.clone(),
        column: column.to_owned(),
        ty: Some(type_name(ty).0),
        not_null: Some(not_null),
        default: Some(default),
    }
}
