//! Statements that a query builder makes (diesel, sea-orm), as the SQL they stand for.

use std::sync::Arc;

use super::builder_expression::{Columns, Reader, snake_case};
use super::chain::{Chain, Link};
use super::context::Context;
use super::follow::At;
use super::sql::Statements;
use crate::ir::body::{OpId, OpKind};
use crate::ir::index::{TableDeclaration, TypeRef};
use crate::ir::sql::{
    Assignment, Comparison, Delete, Expression, Fidelity, Insert, OnConflict, Predicate,
    PredicateKind, RowLock, Select, Statement, StatementKind, TableName, Update,
};
use crate::ir::value::ValueKind;
use crate::link::Program;
use crate::source::Span;

/// What a builder's first call makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Select,
    Insert,
    Update,
    Delete,
}

/// The statement of a chain that ends in `terminal`; `None` when it is no builder's.
pub(super) fn of_chain(
    context: &Context<'_>,
    op: OpId,
    terminal: &str,
    whole: &Chain,
) -> Option<Statements> {
    let program = context.program;
    if let Some(found) = active_model(context, op, terminal, whole) {
        return Some(found);
    }
    let (verb, table, mut links, span) = head(context, whole)?;
    let mut reader = Reader::new(program, table.columns);
    let mut parts = Parts::default();
    links.extend(whole.links.iter().cloned());
    for link in &links {
        parts.take(&mut reader, link);
    }
    if matches!(terminal, "get_result" | "get_results" | "exec_with_returning")
        && verb != Verb::Select
    {
        parts.returning.push("*".to_owned());
    }
    if let Some(target) = table.primary_of {
        parts.predicates.push(reader.by_key(&target, table.key.as_deref(), span));
    }
    let statement_span = context.body.op(op).map_or(span, |op| op.span);
    let kind = parts.into_kind(verb, table.name);
    let text = describe(&kind);
    let statement = Statement { kind, span: statement_span, text, fidelity: Fidelity::Parsed };
    let parameters = reader.parameters.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default();
    Some(Statements { statements: vec![Arc::new(statement)], parameters, span: Some(span) })
}

/// sea-orm's `model.update(db)`: the fields that are set, the row by its key.
fn active_model(
    context: &Context<'_>,
    op: OpId,
    terminal: &str,
    whole: &Chain,
) -> Option<Statements> {
    let program = context.program;
    let verb = match terminal {
        "update" | "save" => Verb::Update,
        "insert" => Verb::Insert,
        "delete" => Verb::Delete,
        _ => return None,
    };
    let body = whole.root.code(program)?;
    let written = body.value(whole.root.value)?.ty.as_ref();
    let path = match (whole.root.kind(program), written) {
        (ValueKind::Aggregate { path, .. }, _) => path,
        (_, Some(TypeRef::Named { path, .. })) => path,
        _ => return None,
    };
    if path.last() != Some("ActiveModel") {
        return None;
    }
    let table = entity(context, &path.parent().join("Entity").0)?;
    let mut reader = Reader::new(program, table.columns);
    let mut sets = reader.assignments(&whole.root);
    for operation in &body.ops {
        if let OpKind::Store { place, value } = &operation.kind
            && let ValueKind::Field { base, name } = body.kind(*place)
            && body.peel(*base) == whole.root.value
        {
            sets.push(reader.assignment(name, &whole.root.with(*value)));
        }
    }
    let key = table.key.clone().unwrap_or_else(|| "id".to_owned());
    let mut parts = Parts::default();
    let span = context.body.call(op)?.name_span;
    let (keys, sets): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| set.column == key);
    parts.sets = sets;
    if verb != Verb::Insert {
        let value = keys.into_iter().next().map_or(Expression::Other(Vec::new()), |set| set.value);
        let comparison = Comparison::Equal;
        let kind = PredicateKind::Compare { column: key, comparison, value };
        parts.predicates.push(Predicate { kind, span });
    }
    let kind = parts.into_kind(verb, table.name);
    let text = describe(&kind);
    let whole_span = context.body.op(op).map_or(span, |op| op.span);
    // Fields that other code sets before are not seen.
    let statement = Statement { kind, span: whole_span, text, fidelity: Fidelity::Recovered };
    let parameters = reader.parameters.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default();
    Some(Statements { statements: vec![Arc::new(statement)], parameters, span: Some(span) })
}

/// The table of a builder and what its first call already says.
struct Table {
    name: TableName,
    columns: Columns,
    /// The key column, when known.
    key: Option<String>,
    /// The value that the key is compared with (`find(id)`, `delete_by_id(id)`).
    primary_of: Option<At>,
}

/// Verb, table, links on the target, and where the statement begins.
fn head(context: &Context<'_>, whole: &Chain) -> Option<(Verb, Table, Vec<Link>, Span)> {
    let program = context.program;
    if let Some((site, call)) = whole.root.call(program) {
        let path = super::facts::called_path(program, site, call)?;
        let name = path.last()?;
        let first = call.arguments.first().map(|argument| whole.root.with(argument.value));
        let diesel = path.0.len() == 1 || path.first() == Some("diesel");
        let verb = match name {
            "update" | "update_many" => Verb::Update,
            "delete" | "delete_many" | "delete_by_id" => Verb::Delete,
            "insert_into" | "insert_or_ignore_into" | "replace_into" | "insert" | "insert_many" => {
                Verb::Insert
            }
            "find" | "find_by_id" => Verb::Select,
            _ => return None,
        };
        if diesel
            && matches!(
                name,
                "update" | "delete" | "insert_into" | "insert_or_ignore_into" | "replace_into"
            )
        {
            let (table, links) = target(context, &first?)?;
            return Some((verb, table, links, call.name_span));
        }
        let mut table = entity(context, &path.parent().0)?;
        match name {
            "delete_by_id" | "find_by_id" => table.primary_of = first,
            // `Entity::update(active_model)`, `Entity::insert(active_model)`
            "update" | "insert" => {}
            _ => {}
        }
        return Some((verb, table, Vec::new(), call.name_span));
    }
    // `lots::table.filter(…).first(conn)`
    if let ValueKind::Path(path) = whole.root.kind(program) {
        let table = diesel_table(program, &path.0)?;
        let span = whole.root.code(program)?.value(whole.root.value)?.span;
        return Some((Verb::Select, table, Vec::new(), span));
    }
    None
}

/// The target of `diesel::update(…)`: a table, or a filtered one, perhaps in a local.
fn target(context: &Context<'_>, at: &At) -> Option<(Table, Vec<Link>)> {
    let program = context.program;
    let inner = Context::new(program, at.body)?;
    let whole = super::chain::behind(&inner, at);
    let ValueKind::Path(path) = whole.root.kind(program) else { return None };
    Some((diesel_table(program, &path.0)?, whole.links))
}

/// The table that a path of `diesel::table!` names: `lots::table`, or `lots` of its `dsl`.
fn diesel_table(program: &Program, path: &[String]) -> Option<Table> {
    let (last, before) = path.split_last()?;
    let name = match last.as_str() {
        "table" => before.last()?,
        name => name,
    };
    let declared = declaration(program, name);
    if declared.is_none() && last != "table" {
        return None;
    }
    Some(table(name, declared))
}

/// The table of a sea-orm entity: `refund::Entity`, `Refund`, or `Entity` inside its module.
fn entity(context: &Context<'_>, owner: &[String]) -> Option<Table> {
    let program = context.program;
    let (last, before) = owner.split_last()?;
    let name = match (last.as_str(), before.last()) {
        ("Entity", Some(module)) => module.clone(),
        ("Entity", None) => {
            let scope = &super::facts::function_of(program, context.id)?.scope;
            scope.last()?.to_owned()
        }
        (alias, _) => snake_case(alias),
    };
    let declared = declaration(program, &name);
    if declared.is_none() && last != "Entity" {
        return None;
    }
    Some(table(&name, declared))
}

fn declaration<'p>(program: &'p Program, name: &str) -> Option<&'p TableDeclaration> {
    let tables = || program.files.iter().flatten().flat_map(|index| index.tables.iter());
    tables()
        .find(|table| table.module.last() == Some(name))
        .or_else(|| tables().find(|table| table.table == name))
}

fn table(name: &str, declared: Option<&TableDeclaration>) -> Table {
    let database = declared.map_or(name, |declared| declared.table.as_str());
    let (schema, table) = match database.split_once('.') {
        Some((schema, table)) => (Some(schema.to_owned()), table),
        None => (None, database),
    };
    Table {
        name: TableName { schema, name: table.to_owned() },
        columns: Columns::of(declared),
        key: declared.and_then(|declared| declared.primary_key.first().cloned()),
        primary_of: None,
    }
}

/// What the links of a builder say.
#[derive(Default)]
struct Parts {
    predicates: Vec<Predicate>,
    sets: Vec<Assignment>,
    columns: Vec<String>,
    returning: Vec<String>,
    on_conflict: Option<OnConflict>,
    lock: Option<RowLock>,
    limited: bool,
}

impl Parts {
    fn take(&mut self, reader: &mut Reader<'_>, link: &Link) {
        let program = reader.program;
        let (Some(name), Some(call)) = (link.name(program), link.call(program)) else { return };
        let first = link.argument(program, 0);
        let second = link.argument(program, 1);
        match (name, first) {
            ("filter" | "and_filter" | "having", Some(condition)) => {
                let conjuncts = reader.conjuncts(&condition);
                match &mut self.on_conflict {
                    Some(OnConflict::Update { predicates, .. }) => predicates.extend(conjuncts),
                    _ => self.predicates.extend(conjuncts),
                }
            }
            ("or_filter", Some(condition)) => {
                let other = reader.conjuncts(&condition);
                let before = std::mem::take(&mut self.predicates);
                let kind = PredicateKind::Or(vec![before, other]);
                self.predicates.push(Predicate { kind, span: call.name_span });
            }
            ("find", Some(key)) => {
                let predicate = reader.by_key(&key, None, call.name_span);
                self.predicates.push(predicate);
            }
            ("set" | "values" | "set_opt", Some(changes)) => {
                let sets = reader.assignments(&changes);
                match &mut self.on_conflict {
                    Some(OnConflict::Update { sets: updated, .. }) => updated.extend(sets),
                    _ => self.sets.extend(sets),
                }
            }
            ("col_expr", Some(column)) => {
                if let (Some(column), Some(value)) = (reader.column(&column), second) {
                    let value = reader.expression(&value);
                    self.sets.push(Assignment { column, value });
                }
            }
            ("select" | "returning", Some(columns)) => {
                let named = reader.columns_of(&columns);
                let into = if name == "select" { &mut self.columns } else { &mut self.returning };
                into.extend(named);
            }
            ("limit", _) => self.limited = true,
            ("do_update", _) => {
                self.on_conflict =
                    Some(OnConflict::Update { sets: Vec::new(), predicates: Vec::new() });
            }
            ("do_nothing" | "on_conflict_do_nothing", _) => {
                self.on_conflict = Some(OnConflict::Nothing);
            }
            _ => self.lock(name),
        }
    }

    fn lock(&mut self, name: &str) {
        let none = RowLock { exclusive: false, skip_locked: false, no_wait: false };
        let lock = self.lock.unwrap_or(none);
        self.lock = match name {
            "for_update" | "for_no_key_update" | "lock_exclusive" | "lock"
            | "lock_with_behavior" => Some(RowLock { exclusive: true, ..lock }),
            "for_share" | "for_key_share" | "lock_shared" => Some(lock),
            "skip_locked" => Some(RowLock { skip_locked: true, ..lock }),
            "no_wait" => Some(RowLock { no_wait: true, ..lock }),
            _ => return,
        };
    }

    fn into_kind(self, verb: Verb, table: TableName) -> StatementKind {
        match verb {
            Verb::Select => StatementKind::Select(Select {
                tables: vec![table],
                columns: if self.columns.is_empty() { vec!["*".to_owned()] } else { self.columns },
                predicates: self.predicates,
                lock: self.lock,
                limited: self.limited,
                ..Select::default()
            }),
            Verb::Insert => StatementKind::Insert(Insert {
                table,
                columns: self.sets.into_iter().map(|set| set.column).collect(),
                on_conflict: self.on_conflict,
                returning: self.returning,
            }),
            Verb::Update => StatementKind::Update(Update {
                table,
                sets: self.sets,
                predicates: self.predicates,
                returning: self.returning,
                limited: self.limited,
                ..Update::default()
            }),
            Verb::Delete => StatementKind::Delete(Delete {
                table,
                predicates: self.predicates,
                returning: self.returning,
                limited: self.limited,
                ..Delete::default()
            }),
        }
    }
}

/// The statement in short, for fingerprints: verb, table, columns set, columns compared.
fn describe(kind: &StatementKind) -> String {
    let names = |predicates: &[Predicate]| {
        let names = predicates.iter().flat_map(|predicate| {
            predicate.kind.columns().into_iter().map(str::to_owned).collect::<Vec<_>>()
        });
        names.collect::<Vec<_>>().join(", ")
    };
    let sets = |sets: &[Assignment]| {
        sets.iter()
            .map(|set| format!("{} = {}", set.column, shown(&set.value)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match kind {
        StatementKind::Select(select) => {
            let table = select.tables.first().map_or("", |table| table.name.as_str());
            format!(
                "SELECT {} FROM {table} WHERE {}",
                select.columns.join(", "),
                names(&select.predicates)
            )
        }
        StatementKind::Insert(insert) => {
            format!("INSERT INTO {} ({})", insert.table.name, insert.columns.join(", "))
        }
        StatementKind::Update(update) => {
            format!(
                "UPDATE {} SET {} WHERE {}",
                update.table.name,
                sets(&update.sets),
                names(&update.predicates)
            )
        }
        StatementKind::Delete(delete) => {
            format!("DELETE FROM {} WHERE {}", delete.table.name, names(&delete.predicates))
        }
        _ => String::new(),
    }
}

fn shown(expression: &Expression) -> String {
    match expression {
        Expression::Column(name) => name.clone(),
        Expression::Number(number) => number.clone(),
        Expression::Binary { operator, left, right } => {
            format!("{} {operator} {}", shown(left), shown(right))
        }
        _ => "?".to_owned(),
    }
}
