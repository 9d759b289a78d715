//! A WHERE condition to its conjuncts.

use sqlparser::ast::{BinaryOperator, Expr, InTarget, Spanned, UnaryOperator};

use super::expression::{columns, expression};
use super::normalise::{Numbering, normalise};
use super::reader::{Lines, Places, parse_expression, too_much};
use super::{Dialect, query, token};
use crate::ir::sql::{Comparison, Expression, Predicate, PredicateKind};
use crate::ir::value::Text;
use crate::source::Span;

/// How deep OR and NOT are followed.
const DEPTH: usize = 24;

/// The conjuncts of a condition that stands alone, as a CHECK keeps it; empty when it can't be read.
/// `place` is where they are said to stand.
#[must_use]
pub fn conjuncts_of(condition: &str, dialect: Dialect, place: Span) -> Vec<Predicate> {
    let tokens = token::tokens(condition, dialect);
    if too_much(condition, &tokens) {
        return Vec::new();
    }
    let text = Text::verbatim(condition, place);
    let mut numbering = Numbering::new(condition, &tokens);
    let normalised = normalise(condition, &tokens, dialect, &mut numbering);
    let lines = Lines::new(&normalised.text);
    let places = Places { text: &text, normalised: &normalised, lines: &lines, whole: place };
    let read = parse_expression(dialect, &normalised.text);
    let mut found = read.map(|expr| predicates(&expr, places)).unwrap_or_default();
    found.iter_mut().for_each(|predicate| predicate.span = place);
    found
}

/// The conjuncts of a condition, in order.
pub(super) fn predicates(expr: &Expr, places: Places<'_>) -> Vec<Predicate> {
    conjuncts(expr, places, DEPTH)
}

fn conjuncts(expr: &Expr, places: Places<'_>, depth: usize) -> Vec<Predicate> {
    let mut found = Vec::new();
    let mut waiting = vec![expr];
    while let Some(next) = waiting.pop() {
        match next {
            Expr::Nested(inner) => waiting.push(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                waiting.push(right);
                waiting.push(left);
            }
            other => {
                let span = places.span(other.span());
                for kind in kinds(other, places, depth.saturating_sub(1)) {
                    found.push(Predicate { kind, span });
                }
            }
        }
    }
    found
}

fn kinds(expr: &Expr, places: Places<'_>, depth: usize) -> Vec<PredicateKind> {
    let one = |kind: Option<PredicateKind>| {
        vec![kind.unwrap_or_else(|| PredicateKind::Other(columns(expr)))]
    };
    if depth == 0 {
        return one(None);
    }
    match expr {
        Expr::BinaryOp { op: BinaryOperator::Or, .. } => vec![either(expr, places, depth)],
        Expr::BinaryOp { .. }
        | Expr::IsNotDistinctFrom(..)
        | Expr::IsDistinctFrom(..)
        | Expr::Between { negated: false, .. } => compared(expr).unwrap_or_else(|| one(None)),
        Expr::IsNull(inner) => one(null(inner, false)),
        Expr::IsNotNull(inner) => one(null(inner, true)),
        Expr::IsTrue(inner) | Expr::IsNotFalse(inner) => one(truth(inner, true)),
        Expr::IsFalse(inner) | Expr::IsNotTrue(inner) => one(truth(inner, false)),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => one(truth(expr, true)),
        Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => {
            one(negated(inner, places, depth - 1))
        }
        Expr::In { expr: inner, target, negated, .. } => {
            membership(expr, inner, target, *negated, places)
        }
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => {
            one(any(left, right, false, places))
        }
        Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } => {
            one(any(left, right, true, places))
        }
        Expr::Like { negated: false, expr: inner, pattern, .. }
        | Expr::ILike { negated: false, expr: inner, pattern, .. }
        | Expr::SimilarTo { negated: false, expr: inner, pattern, .. }
        | Expr::RLike { negated: false, expr: inner, pattern, .. } => {
            one(compare(&expression(inner), Comparison::Match, &expression(pattern)))
        }
        Expr::Exists { subquery, negated } => {
            let subquery = Box::new(query::select(subquery, places));
            one(Some(PredicateKind::Exists { subquery, negated: *negated }))
        }
        _ => one(None),
    }
}

/// A comparison of two sides, or of one with two bounds.
fn compared(expr: &Expr) -> Option<Vec<PredicateKind>> {
    match expr {
        Expr::BinaryOp { left, op, right } => {
            Some(compare_rows(expr, left, comparison(op)?, right))
        }
        Expr::IsNotDistinctFrom(left, right) => {
            Some(compare_rows(expr, left, Comparison::Equal, right))
        }
        Expr::IsDistinctFrom(left, right) => {
            Some(compare_rows(expr, left, Comparison::NotEqual, right))
        }
        Expr::Between { expr: inner, low, high, .. } => {
            let bound =
                |comparison, value| compare(&expression(inner), comparison, &expression(value));
            let low = bound(Comparison::GreaterOrEqual, low)?;
            Some(vec![low, bound(Comparison::LessOrEqual, high)?])
        }
        _ => None,
    }
}

/// `a OR b OR c`, flattened.
fn either(expr: &Expr, places: Places<'_>, depth: usize) -> PredicateKind {
    let mut sides = Vec::new();
    let mut waiting = vec![expr];
    while let Some(next) = waiting.pop() {
        match next {
            Expr::Nested(inner) => waiting.push(inner),
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
                waiting.push(right);
                waiting.push(left);
            }
            side => sides.push(conjuncts(side, places, depth - 1)),
        }
    }
    PredicateKind::Or(sides)
}

fn comparison(op: &BinaryOperator) -> Option<Comparison> {
    Some(match op {
        BinaryOperator::Eq | BinaryOperator::Spaceship | BinaryOperator::Is => Comparison::Equal,
        BinaryOperator::NotEq | BinaryOperator::IsNot => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::LtEq => Comparison::LessOrEqual,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::GtEq => Comparison::GreaterOrEqual,
        BinaryOperator::PGRegexMatch
        | BinaryOperator::PGRegexIMatch
        | BinaryOperator::PGLikeMatch
        | BinaryOperator::PGILikeMatch
        | BinaryOperator::PGStartsWith
        | BinaryOperator::AtArrow
        | BinaryOperator::ArrowAt
        | BinaryOperator::AtAt
        | BinaryOperator::PGOverlap
        | BinaryOperator::Regexp
        | BinaryOperator::Glob
        | BinaryOperator::Match => Comparison::Match,
        _ => return None,
    })
}

/// The comparison seen from the other side.
fn turned(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same => same,
    }
}

fn compare_rows(
    whole: &Expr,
    left: &Expr,
    comparison: Comparison,
    right: &Expr,
) -> Vec<PredicateKind> {
    if let (Expr::Tuple(lefts), Expr::Tuple(rights)) = (left, right)
        && comparison == Comparison::Equal
        && lefts.len() == rights.len()
    {
        let pairs = lefts.iter().zip(rights);
        return pairs
            .map(|(left, right)| {
                compare(&expression(left), comparison, &expression(right))
                    .unwrap_or_else(|| PredicateKind::Other(columns(left)))
            })
            .collect();
    }
    let compared = compare(&expression(left), comparison, &expression(right));
    vec![compared.unwrap_or_else(|| PredicateKind::Other(columns(whole)))]
}

fn compare(left: &Expression, comparison: Comparison, right: &Expression) -> Option<PredicateKind> {
    let is_null = |side: &Expression| matches!(side, Expression::Null);
    if let (Some((column, value)), false) = (bare(left, right), is_null(right)) {
        return Some(PredicateKind::Compare { column, comparison, value });
    }
    if let Some((column, value)) = bare(right, left).filter(|_| !is_null(left)) {
        return Some(PredicateKind::Compare { column, comparison: turned(comparison), value });
    }
    // `x IS NOT DISTINCT FROM NULL`
    if let (Expression::Column(column), true) = (left, is_null(right)) {
        let negated = comparison == Comparison::NotEqual;
        return Some(PredicateKind::Null { column: column.clone(), negated });
    }
    None
}

/// A side that is a column at heart, and what the column itself is compared with:
/// `coalesce(fence, 0) < 5` compares `fence`, `stock - 3 >= 0` compares `stock` with 3.
fn bare(side: &Expression, other: &Expression) -> Option<(String, Expression)> {
    match side {
        Expression::Column(column) if !column.is_empty() => Some((column.clone(), other.clone())),
        Expression::Call { name, arguments } if name == "coalesce" || name == "ifnull" => {
            match arguments.as_slice() {
                [
                    Expression::Column(column),
                    Expression::Number(_) | Expression::Text(_) | Expression::Boolean(_),
                ] => Some((column.clone(), other.clone())),
                _ => None,
            }
        }
        Expression::Binary { operator, left, right } if operator == "-" => {
            match (left.as_ref(), other) {
                (Expression::Column(column), Expression::Number(zero)) if zero == "0" => {
                    Some((column.clone(), right.as_ref().clone()))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn column_of(expr: &Expr) -> Option<String> {
    match expression(expr) {
        Expression::Column(column) if !column.is_empty() => Some(column),
        _ => None,
    }
}

fn null(expr: &Expr, negated: bool) -> Option<PredicateKind> {
    column_of(expr).map(|column| PredicateKind::Null { column, negated })
}

fn truth(expr: &Expr, value: bool) -> Option<PredicateKind> {
    let value = Expression::Boolean(value);
    column_of(expr).map(|column| PredicateKind::Compare {
        column,
        comparison: Comparison::Equal,
        value,
    })
}

/// NOT of one predicate, where that is a predicate too.
fn negated(expr: &Expr, places: Places<'_>, depth: usize) -> Option<PredicateKind> {
    if let Expr::Identifier(_) | Expr::CompoundIdentifier(_) = expr {
        return truth(expr, false);
    }
    let mut inner = match expr {
        Expr::Nested(inner) => return negated(inner, places, depth.checked_sub(1)?),
        other => kinds(other, places, depth),
    };
    if inner.len() != 1 {
        return None;
    }
    Some(match inner.pop()? {
        PredicateKind::Compare { column, comparison, value } => {
            let comparison = match comparison {
                Comparison::Equal => Comparison::NotEqual,
                Comparison::NotEqual => Comparison::Equal,
                Comparison::Less => Comparison::GreaterOrEqual,
                Comparison::LessOrEqual => Comparison::Greater,
                Comparison::Greater => Comparison::LessOrEqual,
                Comparison::GreaterOrEqual => Comparison::Less,
                Comparison::Match => return None,
            };
            PredicateKind::Compare { column, comparison, value }
        }
        PredicateKind::In { column, values, subquery, negated } => {
            PredicateKind::In { column, values, subquery, negated: !negated }
        }
        PredicateKind::Null { column, negated } => {
            PredicateKind::Null { column, negated: !negated }
        }
        PredicateKind::Exists { subquery, negated } => {
            PredicateKind::Exists { subquery, negated: !negated }
        }
        PredicateKind::Or(_) | PredicateKind::Other(_) => return None,
    })
}

fn membership(
    whole: &Expr,
    left: &Expr,
    target: &InTarget,
    negated: bool,
    places: Places<'_>,
) -> Vec<PredicateKind> {
    let (values, mut subquery) = match target {
        InTarget::List(list) => (list.iter().take(64).map(expression).collect(), None),
        InTarget::Subquery(query) => (Vec::new(), Some(Box::new(query::select(query, places)))),
        InTarget::Unnest(_) | InTarget::Table { .. } => (Vec::new(), None),
    };
    let parts: Vec<&Expr> = match left {
        Expr::Tuple(parts) => parts.iter().collect(),
        other => vec![other],
    };
    let tuple = parts.len() > 1;
    let columns_in: Option<Vec<String>> = parts.into_iter().map(column_of).collect();
    let Some(columns_in) = columns_in else { return vec![PredicateKind::Other(columns(whole))] };
    let values: Vec<_> = if tuple { Vec::new() } else { values };
    columns_in
        .into_iter()
        // The first column of a row stands for the row's sub-select.
        .map(|column| PredicateKind::In {
            column,
            values: values.clone(),
            subquery: subquery.take(),
            negated,
        })
        .collect()
}

fn any(left: &Expr, right: &Expr, negated: bool, places: Places<'_>) -> Option<PredicateKind> {
    let column = column_of(left)?;
    let subquery = match right {
        Expr::Subquery(query) => Some(Box::new(query::select(query, places))),
        _ => None,
    };
    let values = match right {
        Expr::Array(array) => array.elem.iter().take(64).map(expression).collect(),
        _ => Vec::new(),
    };
    Some(PredicateKind::In { column, values, subquery, negated })
}
