//! SELECT, INSERT, UPDATE and DELETE of the parser to `ir` statements.

use sqlparser::ast::{
    self, AssignmentTarget, FromTable, LockClause, LockType, NonBlock, OnConflictAction, OnInsert,
    Query, SelectItem, SetExpr, SqliteOnConflict, TableFactor, TableObject, TableWithJoins,
    UpdateTableFromKind,
};

use super::condition::predicates;
use super::expression::{self, expression, last, name, table};
use super::merge;
use super::reader::Places;
use crate::ir::sql::{
    Assignment, Delete, Expression, Insert, OnConflict, Predicate, PredicateKind, RowLock, Select,
    StatementKind, TableName, Update,
};

/// How many branches of UNION are read.
const BRANCHES: usize = 64;

/// What a query reads: all its branches as one.
pub(super) fn select(query: &Query, places: Places<'_>) -> Select {
    let mut found = Select {
        lock: row_lock(&query.locks),
        limited: query.limit_clause.is_some() || query.fetch.is_some(),
        ..Select::default()
    };
    let mut waiting = vec![query.body.as_ref()];
    let mut branches = 0;
    while let Some(next) = waiting.pop() {
        branches += 1;
        if branches > BRANCHES {
            break;
        }
        match next {
            SetExpr::Select(one) => plain_select(one, places, &mut found),
            SetExpr::Query(inner) => merge(&mut found, select(inner, places)),
            SetExpr::SetOperation { left, right, .. } => {
                waiting.push(right);
                waiting.push(left);
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {}
            SetExpr::Values(_) | SetExpr::Table(_) => {}
        }
    }
    if let Some(with) = &query.with {
        let names: Vec<String> = with.cte_tables.iter().map(|cte| name(&cte.alias.name)).collect();
        for cte in &with.cte_tables {
            let inner = select(&cte.query, places);
            found.lock = found.lock.or(inner.lock);
            found.tables.extend(inner.tables);
        }
        found.tables.retain(|table| table.schema.is_some() || !names.contains(&table.name));
    }
    found
}

fn merge(into: &mut Select, from: Select) {
    into.tables.extend(from.tables);
    if into.columns.is_empty() {
        into.columns = from.columns;
    }
    into.predicates.extend(from.predicates);
    into.lock = into.lock.or(from.lock);
    into.limited |= from.limited;
}

fn plain_select(select: &ast::Select, places: Places<'_>, found: &mut Select) {
    for item in &select.from {
        tables_of(item, places, found);
    }
    if let Some(selection) = &select.selection {
        found.predicates.extend(predicates(selection, places));
    }
    if found.columns.is_empty() {
        found.columns = result_columns(&select.projection);
    }
    if let Some(into) = &select.into {
        found.into.extend(into.targets.iter().flat_map(expression::columns));
    }
}

/// Columns of a result; what an expression computes is there by its alias or its columns.
pub(super) fn result_columns(items: &[SelectItem]) -> Vec<String> {
    let mut names = Vec::new();
    for item in items {
        match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                names.extend(expression::columns(expr));
            }
            SelectItem::ExprWithAliases { expr, .. } => names.extend(expression::columns(expr)),
            SelectItem::QualifiedWildcard(..) | SelectItem::Wildcard(_) => {
                names.push("*".to_owned())
            }
        }
    }
    names
}

/// The tables that a source of rows reads.
pub(super) fn source(of: &TableFactor, places: Places<'_>) -> Vec<TableName> {
    let mut found = Select::default();
    factor(of, places, &mut found);
    found.tables
}

fn tables_of(item: &TableWithJoins, places: Places<'_>, found: &mut Select) {
    factor(&item.relation, places, found);
    for join in &item.joins {
        factor(&join.relation, places, found);
    }
}

fn factor(factor_: &TableFactor, places: Places<'_>, found: &mut Select) {
    match factor_ {
        TableFactor::Table { name, args: None, .. } => found.tables.push(table(name)),
        TableFactor::Derived { subquery, .. } => {
            let inner = select(subquery, places);
            found.lock = found.lock.or(inner.lock);
            found.tables.extend(inner.tables);
        }
        TableFactor::NestedJoin { table_with_joins, .. } => {
            tables_of(table_with_joins, places, found)
        }
        _ => {}
    }
}

fn row_lock(locks: &[LockClause]) -> Option<RowLock> {
    let lock = locks.first()?;
    Some(RowLock {
        exclusive: matches!(lock.lock_type, LockType::Update),
        skip_locked: matches!(lock.nonblock, Some(NonBlock::SkipLocked)),
        no_wait: matches!(lock.nonblock, Some(NonBlock::Nowait)),
    })
}

/// What a query statement does: its parts may write.
pub(super) fn statement(query: &Query, places: Places<'_>) -> StatementKind {
    let mut writes = Vec::new();
    let mut lock = None;
    let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
    for cte in ctes {
        match cte.query.body.as_ref() {
            SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::SetOperation { .. } => {
                lock = lock.or(select(&cte.query, places).lock);
            }
            body => {
                if let Some(kind) = write(body, places) {
                    writes.push(places.part(kind, ast::Spanned::span(body)));
                }
            }
        }
    }
    let mut main = write(&query.body, places).unwrap_or_else(|| {
        let mut found = select(query, places);
        found.functions = expression::functions(query);
        StatementKind::Select(found)
    });
    match &mut main {
        StatementKind::Update(update) => update.claims = update.claims.or(lock),
        StatementKind::Delete(delete) => delete.claims = delete.claims.or(lock),
        _ => {}
    }
    if writes.is_empty() {
        return main;
    }
    writes.push(places.part(main, ast::Spanned::span(query.body.as_ref())));
    StatementKind::Several(writes)
}

fn write(body: &SetExpr, places: Places<'_>) -> Option<StatementKind> {
    match body {
        SetExpr::Insert(ast::Statement::Insert(insert)) => Some(self::insert(insert, places)),
        SetExpr::Update(ast::Statement::Update(update)) => Some(self::update(update, places)),
        SetExpr::Delete(ast::Statement::Delete(delete)) => Some(self::delete(delete, places)),
        SetExpr::Merge(ast::Statement::Merge(merge)) => Some(merge::merge(merge, places)),
        _ => None,
    }
}

pub(super) fn returning(items: Option<&Vec<SelectItem>>) -> Vec<String> {
    let Some(items) = items else { return Vec::new() };
    let names = result_columns(items);
    // `RETURNING 1` gives a row too.
    if names.is_empty() && !items.is_empty() { vec![String::new()] } else { names }
}

pub(super) fn assignments(list: &[ast::Assignment]) -> Vec<Assignment> {
    let mut found = Vec::new();
    for assignment in list {
        match (&assignment.target, &assignment.value) {
            (AssignmentTarget::ColumnName(column), value) => {
                found.push(Assignment { column: last(column), value: expression(value) });
            }
            (AssignmentTarget::Tuple(columns), ast::Expr::Tuple(values))
                if columns.len() == values.len() =>
            {
                for (column, value) in columns.iter().zip(values) {
                    found.push(Assignment { column: last(column), value: expression(value) });
                }
            }
            (AssignmentTarget::Tuple(columns), value) => {
                let value = Expression::Other(expression::columns(value));
                found.extend(
                    columns
                        .iter()
                        .map(|column| Assignment { column: last(column), value: value.clone() }),
                );
            }
        }
    }
    found
}

/// The rows that sub-selects of a condition lock.
fn claimed(conjuncts: &[Predicate]) -> Option<RowLock> {
    conjuncts.iter().find_map(|predicate| match &predicate.kind {
        PredicateKind::In { subquery: Some(subquery), .. }
        | PredicateKind::Exists { subquery, .. } => subquery.lock,
        PredicateKind::Or(sides) => sides.iter().find_map(|side| claimed(side)),
        _ => None,
    })
}

/// The lock of a sub-select in `id = (SELECT … FOR UPDATE)`.
fn claimed_scalar(selection: Option<&ast::Expr>) -> Option<RowLock> {
    let mut found = None;
    let _ = sqlparser::ast::visit_expressions(selection?, |part: &ast::Expr| {
        if let ast::Expr::Subquery(query) = part
            && found.is_none()
        {
            found = row_lock(&query.locks);
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    found
}

/// UPDATE.
pub(super) fn update(update: &ast::Update, places: Places<'_>) -> StatementKind {
    let mut others = Select::default();
    let mut conditions = Vec::new();
    for join in &update.table.joins {
        factor(&join.relation, places, &mut others);
    }
    if let Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) =
        &update.from
    {
        for item in from {
            tables_of(item, places, &mut others);
        }
    }
    if let Some(selection) = &update.selection {
        conditions = predicates(selection, places);
    }
    let claims =
        claimed(&conditions).or(others.lock).or_else(|| claimed_scalar(update.selection.as_ref()));
    StatementKind::Update(Update {
        table: first_table(&update.table),
        sets: assignments(&update.assignments),
        claims,
        predicates: conditions,
        others: others.tables,
        returning: returning(update.returning.as_ref()),
        limited: update.limit.is_some(),
    })
}

fn first_table(item: &TableWithJoins) -> TableName {
    match &item.relation {
        TableFactor::Table { name, .. } => table(name),
        _ => TableName::default(),
    }
}

/// DELETE.
pub(super) fn delete(delete: &ast::Delete, places: Places<'_>) -> StatementKind {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let mut others = Select::default();
    for item in from.iter().skip(1).chain(delete.using.iter().flatten()) {
        tables_of(item, places, &mut others);
    }
    for join in from.iter().flat_map(|item| &item.joins) {
        factor(&join.relation, places, &mut others);
    }
    let conditions = delete
        .selection
        .as_ref()
        .map(|selection| predicates(selection, places))
        .unwrap_or_default();
    let claims =
        claimed(&conditions).or(others.lock).or_else(|| claimed_scalar(delete.selection.as_ref()));
    StatementKind::Delete(Delete {
        table: from.first().map(first_table).unwrap_or_default(),
        predicates: conditions,
        others: others.tables,
        returning: returning(delete.returning.as_ref()),
        claims,
        limited: delete.limit.is_some(),
    })
}

/// INSERT and REPLACE.
pub(super) fn insert(insert: &ast::Insert, places: Places<'_>) -> StatementKind {
    let mut columns: Vec<String> = insert.columns.iter().map(last).collect();
    columns.extend(assignments(&insert.assignments).into_iter().map(|set| set.column));
    StatementKind::Insert(Insert {
        table: match &insert.table {
            TableObject::TableName(name) => table(name),
            _ => TableName::default(),
        },
        columns,
        on_conflict: on_conflict(insert, places),
        returning: returning(insert.returning.as_ref()),
    })
}

fn on_conflict(insert: &ast::Insert, places: Places<'_>) -> Option<OnConflict> {
    match &insert.on {
        Some(OnInsert::DuplicateKeyUpdate(list)) => {
            Some(OnConflict::Update { sets: assignments(list), predicates: Vec::new() })
        }
        Some(OnInsert::OnConflict(conflict)) => Some(match &conflict.action {
            OnConflictAction::DoNothing => OnConflict::Nothing,
            OnConflictAction::DoUpdate(update) => {
                let condition = update.selection.as_ref();
                OnConflict::Update {
                    sets: assignments(&update.assignments),
                    predicates: condition.map(|it| predicates(it, places)).unwrap_or_default(),
                }
            }
        }),
        _ if insert.ignore || matches!(insert.or, Some(SqliteOnConflict::Ignore)) => {
            Some(OnConflict::Nothing)
        }
        _ if insert.replace_into || matches!(insert.or, Some(SqliteOnConflict::Replace)) => {
            Some(OnConflict::Update { sets: Vec::new(), predicates: Vec::new() })
        }
        _ => None,
    }
}
