//! The parser's expressions to `ir` expressions.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectName, ObjectNamePart, UnaryOperator, Value,
};

use super::normalise::HOLE_NAME;
use crate::ir::sql::{Expression, TableName};
use crate::ir::value::HOLE;

/// How deep conversion follows an expression; below that only "something else" is known.
const DEPTH: usize = 40;

/// A name as the database folds it; empty when a hole stands in it.
pub(super) fn name(ident: &Ident) -> String {
    if ident.value.contains(HOLE_NAME) || ident.value.contains(HOLE) {
        String::new()
    } else if ident.quote_style.is_some() {
        ident.value.clone()
    } else {
        ident.value.to_lowercase()
    }
}

fn part(part: &ObjectNamePart) -> String {
    match part {
        ObjectNamePart::Identifier(ident) => name(ident),
        ObjectNamePart::Function(function) => name(&function.name),
    }
}

/// The last part of a dotted name.
pub(super) fn last(object: &ObjectName) -> String {
    object.0.last().map(part).unwrap_or_default()
}

/// A table name with the schema before it.
pub(super) fn table(object: &ObjectName) -> TableName {
    let schema = object.0.len().checked_sub(2).and_then(|index| object.0.get(index)).map(part);
    TableName { schema: schema.filter(|schema| !schema.is_empty()), name: last(object) }
}

/// A function's name in lower case, with its schema when it has one.
fn function_name(object: &ObjectName) -> String {
    let parts: Vec<String> = object.0.iter().map(|piece| part(piece).to_lowercase()).collect();
    match parts.as_slice() {
        [schema, rest @ ..] if schema == "pg_catalog" || schema == "public" => rest.join("."),
        parts => parts.join("."),
    }
}

/// What an expression is.
pub(super) fn expression(expr: &Expr) -> Expression {
    convert(expr, DEPTH)
}

fn convert(expr: &Expr, depth: usize) -> Expression {
    let Some(depth) = depth.checked_sub(1) else { return Expression::Other(Vec::new()) };
    match expr {
        Expr::Identifier(ident) => column(ident),
        Expr::CompoundIdentifier(parts) => compound(parts),
        Expr::Nested(inner)
        | Expr::Collate { expr: inner, .. }
        | Expr::Cast { expr: inner, .. } => convert(inner, depth),
        Expr::Convert { expr: inner, .. } => convert(inner, depth),
        Expr::Value(value) => literal(&value.value),
        Expr::TypedString(typed) => literal(&typed.value.value),
        Expr::UnaryOp { op, expr } => unary(*op, expr, depth),
        Expr::BinaryOp { left, op, right } => Expression::Binary {
            operator: operator(op),
            left: Box::new(convert(left, depth)),
            right: Box::new(convert(right, depth)),
        },
        Expr::Function(function) => call(function, depth),
        Expr::Interval(interval) => Expression::Call {
            name: "interval".to_owned(),
            arguments: vec![convert(&interval.value, depth)],
        },
        Expr::AtTimeZone { timestamp, .. } => convert(timestamp, depth),
        Expr::Subquery(query) => Expression::Subquery(columns(query.as_ref())),
        Expr::Tuple(parts) if parts.len() == 1 => {
            parts.first().map_or(Expression::Null, |part| convert(part, depth))
        }
        other => Expression::Other(columns(other)),
    }
}

fn column(ident: &Ident) -> Expression {
    let folded = ident.value.to_lowercase();
    if ident.value.contains(HOLE_NAME) {
        return Expression::Hole;
    }
    if ident.quote_style.is_none() {
        // MySQL's names may begin with a dollar, so its parser takes `$1` for a column.
        if let Some(number) = folded.strip_prefix('$').and_then(|it| it.parse::<u32>().ok()) {
            return Expression::Placeholder(number.saturating_sub(1));
        }
        match folded.as_str() {
            "current_timestamp" | "current_date" | "current_time" | "localtimestamp"
            | "current_user" => {
                return Expression::Call { name: folded, arguments: Vec::new() };
            }
            "default" | "null" => return Expression::Null,
            "true" => return Expression::Boolean(true),
            "false" => return Expression::Boolean(false),
            _ => {}
        }
    }
    Expression::Column(name(ident))
}

fn compound(parts: &[Ident]) -> Expression {
    let Some(last) = parts.last() else { return Expression::Other(Vec::new()) };
    let qualifier = parts.len().checked_sub(2).and_then(|index| parts.get(index));
    let inner = column(last);
    match qualifier {
        Some(row) if row.value.eq_ignore_ascii_case("excluded") => {
            Expression::Call { name: "excluded".to_owned(), arguments: vec![inner] }
        }
        _ => inner,
    }
}

/// A literal, placeholder or hole.
pub(super) fn literal(value: &Value) -> Expression {
    match value {
        Value::Number(number, _) => Expression::Number(number.clone()),
        Value::Boolean(value) => Expression::Boolean(*value),
        Value::Null => Expression::Null,
        Value::Placeholder(text) => text
            .trim_start_matches(['$', '?', ':', '@'])
            .parse::<u32>()
            .map_or(Expression::Hole, |number| Expression::Placeholder(number.saturating_sub(1))),
        other => match other.clone().into_string() {
            Some(text) if text.contains(HOLE) => Expression::Hole,
            Some(text) => Expression::Text(text),
            None => Expression::Other(Vec::new()),
        },
    }
}

fn unary(op: UnaryOperator, expr: &Expr, depth: usize) -> Expression {
    match (op, convert(expr, depth)) {
        (UnaryOperator::Minus, Expression::Number(number)) => {
            Expression::Number(format!("-{number}"))
        }
        (UnaryOperator::Plus, inner) => inner,
        (UnaryOperator::Minus, inner) => Expression::Binary {
            operator: "-".to_owned(),
            left: Box::new(Expression::Number("0".to_owned())),
            right: Box::new(inner),
        },
        (_, inner) => Expression::Other(inner.columns().into_iter().map(str::to_owned).collect()),
    }
}

/// An operator as written.
fn operator(op: &BinaryOperator) -> String {
    op.to_string()
}

fn call(function: &Function, depth: usize) -> Expression {
    let name = function_name(&function.name);
    let arguments: Vec<Expression> =
        arguments(function).map(|argument| convert(argument, depth)).collect();
    // MySQL's name for the row that was to be inserted.
    let name = if name == "values" { "excluded".to_owned() } else { name };
    Expression::Call { name, arguments }
}

/// The expressions among a function's arguments.
pub(super) fn arguments(function: &Function) -> impl Iterator<Item = &Expr> {
    let list = match &function.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        FunctionArguments::None | FunctionArguments::Subquery(_) => &[],
    };
    list.iter().filter_map(|argument| match argument {
        FunctionArg::Named { arg, .. }
        | FunctionArg::ExprNamed { arg, .. }
        | FunctionArg::Unnamed(arg) => match arg {
            FunctionArgExpr::Expr(expr) => Some(expr),
            _ => None,
        },
    })
}

/// All columns that a part of a statement names, in order, without repeats.
pub(super) fn columns<V: sqlparser::ast::Visit>(expr: &V) -> Vec<String> {
    let mut found = Vec::new();
    let _ = sqlparser::ast::visit_expressions(expr, |part: &Expr| {
        let column = match part {
            Expr::Identifier(ident) => column(ident),
            Expr::CompoundIdentifier(parts) => compound(parts),
            _ => return std::ops::ControlFlow::<()>::Continue(()),
        };
        if let Expression::Column(name) = column
            && !name.is_empty()
            && !found.contains(&name)
            && found.len() < 200
        {
            found.push(name);
        }
        std::ops::ControlFlow::Continue(())
    });
    found
}

/// Names of the functions that a part of a statement calls, in order, without repeats.
pub(super) fn functions<V: sqlparser::ast::Visit>(part: &V) -> Vec<String> {
    let mut found = Vec::new();
    let _ = sqlparser::ast::visit_expressions(part, |part: &Expr| {
        if let Expr::Function(function) = part {
            let name = function_name(&function.name);
            if !found.contains(&name) && found.len() < 200 {
                found.push(name);
            }
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    found
}
