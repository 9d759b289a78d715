//! Conditions and expressions of query builders: `lots::revision.eq(seen)`,
//! `Column::Status.eq("APPROVED")`, `Expr::col(Column::Qty).sub(n)`, `lots::qty - n`.

use super::follow::{At, sources};
use crate::ir::body::{Call, Callee};
use crate::ir::index::TableDeclaration;
use crate::ir::sql::{Assignment, Comparison, Expression, Predicate, PredicateKind};
use crate::ir::value::{Adapter, Literal, Operator, ValueId, ValueKind};
use crate::link::Program;
use crate::link::evaluate::is_success;
use crate::source::Span;

/// Variants and functions that only wrap a value: `Set(x)`, `SimpleExpr::Value(Value::Bool(Some(x)))`.
const WRAPPERS: [&str; 15] = [
    "Set",
    "Unchanged",
    "Some",
    "Value",
    "Constant",
    "Bool",
    "TinyInt",
    "SmallInt",
    "Int",
    "BigInt",
    "SmallUnsigned",
    "Unsigned",
    "BigUnsigned",
    "String",
    "Enum",
];
/// How deep expressions are read.
const MOST_DEPTH: usize = 16;

/// Columns of a table: name in code, name in the database.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    names: Vec<(String, String)>,
    key: Option<String>,
}

impl Columns {
    pub(super) fn of(declared: Option<&TableDeclaration>) -> Self {
        let names = declared.map(|table| {
            table.columns.iter().map(|(code, name, _)| (code.clone(), name.clone())).collect()
        });
        let key = declared.and_then(|table| table.primary_key.first().cloned());
        Self { names: names.unwrap_or_default(), key }
    }

    fn database(&self, code: &str) -> Option<&str> {
        self.names.iter().find(|(name, _)| name == code).map(|(_, name)| name.as_str())
    }
}

/// Reads the expressions of one statement and collects what is bound.
pub(super) struct Reader<'p> {
    pub(super) program: &'p Program,
    columns: Columns,
    /// Values of the asking body; `None` for one of another body.
    pub(super) parameters: Vec<Option<ValueId>>,
    depth: usize,
}

impl<'p> Reader<'p> {
    pub(super) fn new(program: &'p Program, columns: Columns) -> Self {
        Self { program, columns, parameters: Vec::new(), depth: 0 }
    }

    /// `key = value`.
    pub(super) fn by_key(&mut self, value: &At, key: Option<&str>, span: Span) -> Predicate {
        let column = key.map(str::to_owned).or_else(|| self.columns.key.clone());
        let value = self.expression(value);
        let kind = PredicateKind::Compare {
            column: column.unwrap_or_else(|| "id".to_owned()),
            comparison: Comparison::Equal,
            value,
        };
        Predicate { kind, span }
    }

    /// The column that a value names.
    pub(super) fn column(&self, at: &At) -> Option<String> {
        match at.kind(self.program) {
            ValueKind::Path(path) => {
                let (last, before) = path.0.split_last()?;
                if before.last().is_some_and(|owner| owner == "Column") {
                    let code = snake_case(last);
                    return Some(self.columns.database(&code).map_or(code, str::to_owned));
                }
                match self.columns.database(last) {
                    Some(name) => Some(name.to_owned()),
                    // A table that is declared elsewhere: `lots::qty`.
                    None => (self.columns.names.is_empty()
                        && !before.is_empty()
                        && last.chars().all(|c| c.is_lowercase() || c.is_numeric() || c == '_'))
                    .then(|| last.clone()),
                }
            }
            // `(Entity, Column::Qty)`
            ValueKind::List(values) => self.column(&at.with(*values.last()?)),
            ValueKind::Result(_) => {
                let (_, call) = at.call(self.program)?;
                let column =
                    matches!(call.callee.name(), Some("col" | "column" | "into_expr" | "nullable"));
                let inner = match call.receiver {
                    Some(receiver) => Some(receiver),
                    None => call.arguments.first().map(|argument| argument.value),
                };
                inner.filter(|_| column).and_then(|inner| self.column(&at.with(inner)))
            }
            _ => None,
        }
    }

    /// All columns in a tuple or alone.
    pub(super) fn columns_of(&self, at: &At) -> Vec<String> {
        match at.kind(self.program) {
            ValueKind::List(values) => {
                values.iter().filter_map(|value| self.column(&at.with(*value))).collect()
            }
            _ => vec![self.column(at).unwrap_or_else(|| "*".to_owned())],
        }
    }

    /// `(a.eq(1), b.eq(2))`, a struct of changes, an active model.
    pub(super) fn assignments(&mut self, at: &At) -> Vec<Assignment> {
        if self.depth > MOST_DEPTH {
            return Vec::new();
        }
        self.depth += 1;
        let sets = self.assignments_inner(at);
        self.depth -= 1;
        sets
    }

    fn assignments_inner(&mut self, at: &At) -> Vec<Assignment> {
        let program = self.program;
        match at.kind(program) {
            ValueKind::List(values) => {
                values.iter().flat_map(|value| self.assignments(&at.with(*value))).collect()
            }
            ValueKind::Aggregate { path, fields, .. } if !path.last().is_some_and(is_success) => {
                fields
                    .iter()
                    .map(|(name, value)| Assignment {
                        column: self.columns.database(name).unwrap_or(name).to_owned(),
                        value: self.expression(&at.with(*value)),
                    })
                    .collect()
            }
            ValueKind::Result(_) => match at.call(program) {
                Some((_, call)) if call.callee.name() == Some("eq") => {
                    let column = call.receiver.and_then(|column| self.column(&at.with(column)));
                    let value = call.arguments.first().map(|value| at.with(value.value));
                    match (column, value) {
                        (Some(column), Some(value)) => {
                            vec![Assignment { column, value: self.expression(&value) }]
                        }
                        _ => Vec::new(),
                    }
                }
                _ => self.followed(at),
            },
            _ => self.followed(at),
        }
    }

    /// A field of a struct of changes.
    pub(super) fn assignment(&mut self, field: &str, value: &At) -> Assignment {
        let column = self.columns.database(field).unwrap_or(field).to_owned();
        Assignment { column, value: self.expression(value) }
    }

    fn followed(&mut self, at: &At) -> Vec<Assignment> {
        match sources(self.program, at).as_slice() {
            [source] if source != at => self.assignments(source),
            _ => Vec::new(),
        }
    }

    /// The conjuncts of a condition.
    pub(super) fn conjuncts(&mut self, at: &At) -> Vec<Predicate> {
        if self.depth > MOST_DEPTH {
            return Vec::new();
        }
        self.depth += 1;
        let found = self.conjuncts_inner(at);
        self.depth -= 1;
        found
    }

    fn conjuncts_inner(&mut self, at: &At) -> Vec<Predicate> {
        let program = self.program;
        // `a.or(b)` looks like an option's.
        if let ValueKind::Adapted {
            value, adapter: Adapter::OrElse, argument: Some(other), ..
        } = at.kind(program)
        {
            let span = self.other(at).span;
            let sides = vec![self.conjuncts(&at.with(*value)), self.conjuncts(&at.with(*other))];
            return vec![Predicate { kind: PredicateKind::Or(sides), span }];
        }
        let Some((_, call)) = at.call(program) else {
            return match sources(program, at).as_slice() {
                [source] if source != at => self.conjuncts(source),
                _ => vec![self.other(at)],
            };
        };
        let span = at.code(program).and_then(|body| body.value(at.value)).map(|value| value.span);
        let span = span.unwrap_or(call.name_span);
        let name = call.callee.name().unwrap_or_default();
        let argument = |index: usize| call.arguments.get(index).map(|value| at.with(value.value));
        let receiver = call.receiver.map(|receiver| at.with(receiver));
        match (name, &receiver) {
            ("and" | "add", Some(left)) if !self.is_arithmetic(left) => {
                let mut all = match self.is_any(left) {
                    true => return vec![self.any_of(at, span)],
                    false => self.conjuncts(left),
                };
                all.extend(argument(0).into_iter().flat_map(|right| self.conjuncts(&right)));
                all
            }
            ("or", Some(left)) => {
                let left = self.conjuncts(left);
                let right = argument(0).map(|right| self.conjuncts(&right)).unwrap_or_default();
                vec![Predicate { kind: PredicateKind::Or(vec![left, right]), span }]
            }
            ("all" | "any", None) => Vec::new(),
            _ => vec![self.comparison(at, call, span)],
        }
    }

    /// Whether a value is a number expression, so that `add` is a sum and no condition.
    fn is_arithmetic(&self, at: &At) -> bool {
        self.column(at).is_some()
    }

    /// Whether a chain of `add` starts at `Condition::any()`.
    fn is_any(&self, at: &At) -> bool {
        let mut at = at.clone();
        for _ in 0..MOST_DEPTH {
            let Some((_, call)) = at.call(self.program) else { return false };
            match call.receiver {
                Some(receiver) => at = at.with(receiver),
                None => return call.callee.name() == Some("any"),
            }
        }
        false
    }

    /// The sides of `Condition::any().add(a).add(b)`.
    fn any_of(&mut self, at: &At, span: Span) -> Predicate {
        let mut sides = Vec::new();
        let mut at = at.clone();
        for _ in 0..MOST_DEPTH {
            let Some((_, call)) = at.call(self.program) else { break };
            let Some(receiver) = call.receiver else { break };
            if let Some(side) = call.arguments.first() {
                sides.push(self.conjuncts(&at.with(side.value)));
            }
            at = at.with(receiver);
        }
        sides.reverse();
        Predicate { kind: PredicateKind::Or(sides), span }
    }

    fn comparison(&mut self, at: &At, call: &Call, span: Span) -> Predicate {
        let comparison = match call.callee.name().unwrap_or_default() {
            "eq" | "is_not_distinct_from" => Comparison::Equal,
            "ne" | "is_distinct_from" => Comparison::NotEqual,
            "lt" => Comparison::Less,
            "le" | "lte" => Comparison::LessOrEqual,
            "gt" => Comparison::Greater,
            "ge" | "gte" => Comparison::GreaterOrEqual,
            "like" | "ilike" | "contains" | "starts_with" | "ends_with" => Comparison::Match,
            name => return self.special(at, call, name, span),
        };
        let left = call.receiver.map(|receiver| at.with(receiver));
        let right = call.arguments.first().map(|value| at.with(value.value));
        let (Some(left), Some(right)) = (left, right) else { return self.other(at) };
        if let Some(column) = self.column(&left) {
            let value = self.expression(&right);
            return Predicate { kind: PredicateKind::Compare { column, comparison, value }, span };
        }
        let columns: Vec<String> = [self.expression(&left), self.expression(&right)]
            .iter()
            .flat_map(|side| side.columns().into_iter().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        // `qty - n >= 0` is the guard `qty >= n`.
        if let (Expression::Binary { operator, left, right: amount }, true) =
            (self.expression(&left), comparison == Comparison::GreaterOrEqual)
            && let Expression::Column(column) = *left
            && operator == "-"
        {
            let kind = PredicateKind::Compare { column, comparison, value: *amount };
            return Predicate { kind, span };
        }
        Predicate { kind: PredicateKind::Other(columns), span }
    }

    fn special(&mut self, at: &At, call: &Call, name: &str, span: Span) -> Predicate {
        let column = call.receiver.and_then(|receiver| self.column(&at.with(receiver)));
        let Some(column) = column else { return self.other(at) };
        let kind = match name {
            "is_null" => PredicateKind::Null { column, negated: false },
            "is_not_null" => PredicateKind::Null { column, negated: true },
            "eq_any" | "is_in" | "ne_all" | "is_not_in" => {
                let listed = call.arguments.first().map(|value| at.with(value.value));
                let values = match listed.as_ref().map(|at| at.kind(self.program)) {
                    Some(ValueKind::List(values)) => {
                        let at = listed.as_ref().cloned();
                        let at = at.into_iter().flat_map(|at| {
                            values.iter().map(move |value| at.with(*value)).collect::<Vec<_>>()
                        });
                        at.map(|value| self.expression(&value)).collect()
                    }
                    _ => Vec::new(),
                };
                let negated = matches!(name, "ne_all" | "is_not_in");
                PredicateKind::In { column, values, subquery: None, negated }
            }
            _ => PredicateKind::Other(vec![column]),
        };
        Predicate { kind, span }
    }

    fn other(&self, at: &At) -> Predicate {
        let span =
            at.code(self.program).and_then(|body| body.value(at.value)).map(|value| value.span);
        let span = span.unwrap_or_else(|| super::facts::start_of(self.program, at.body));
        Predicate { kind: PredicateKind::Other(Vec::new()), span }
    }

    /// An expression.
    pub(super) fn expression(&mut self, at: &At) -> Expression {
        if self.depth > MOST_DEPTH {
            return Expression::Other(Vec::new());
        }
        self.depth += 1;
        let expression = self.expression_inner(at);
        self.depth -= 1;
        expression
    }

    fn expression_inner(&mut self, at: &At) -> Expression {
        if let Some(column) = self.column(at) {
            return Expression::Column(column);
        }
        match at.kind(self.program) {
            ValueKind::Literal(Literal::Integer(number)) => Expression::Number(number.to_string()),
            ValueKind::Literal(Literal::Float(number)) => Expression::Number(number.to_string()),
            ValueKind::Literal(Literal::Text(text)) => Expression::Text(text.content.clone()),
            ValueKind::Literal(Literal::Boolean(truth)) => Expression::Boolean(*truth),
            ValueKind::Literal(Literal::Nothing) => Expression::Null,
            ValueKind::Binary { operator, left, right } => {
                let names_column =
                    [left, right].iter().any(|side| !self.peek(&at.with(**side)).is_empty());
                if !names_column {
                    return self.bound(at);
                }
                self.binary(sign(*operator), &at.with(*left), &at.with(*right))
            }
            ValueKind::Result(_) => self.called(at),
            ValueKind::Path(path) if path.last() == Some("now") => {
                Expression::Call { name: "now".to_owned(), arguments: Vec::new() }
            }
            ValueKind::Path(path) => match variant(&path.0) {
                Some(name) => Expression::Text(name),
                None => self.bound(at),
            },
            _ => self.bound(at),
        }
    }

    /// The columns an expression names, without binding anything.
    fn peek(&mut self, at: &At) -> Vec<String> {
        let before = self.parameters.len();
        let columns = self.expression(at).columns().into_iter().map(str::to_owned).collect();
        self.parameters.truncate(before);
        columns
    }

    fn called(&mut self, at: &At) -> Expression {
        let Some((_, call)) = at.call(self.program) else { return self.bound(at) };
        let argument = |index: usize| call.arguments.get(index).map(|value| at.with(value.value));
        let receiver = call.receiver.map(|receiver| at.with(receiver));
        let name = call.callee.name().unwrap_or_default();
        match (name, receiver, argument(0)) {
            ("add" | "sub" | "mul" | "div", Some(left), Some(right)) => {
                let operator = match name {
                    "add" => "+",
                    "sub" => "-",
                    "mul" => "*",
                    _ => "/",
                };
                self.binary(operator, &left, &right)
            }
            ("value" | "val" | "into_sql" | "as_sql", None, Some(inner)) => self.expression(&inner),
            (name, None, Some(inner)) if WRAPPERS.contains(&name) => self.expression(&inner),
            ("current_timestamp" | "now", None, None) => {
                Expression::Call { name: "now".to_owned(), arguments: Vec::new() }
            }
            ("cust", None, Some(text)) => {
                Expression::Other(text.constant(self.program).into_iter().collect())
            }
            _ if matches!(&call.callee, Callee::Path(path) if path.last() == Some("excluded")) => {
                Expression::Other(Vec::new())
            }
            _ => self.bound(at),
        }
    }

    fn binary(&mut self, operator: &str, left: &At, right: &At) -> Expression {
        Expression::Binary {
            operator: operator.to_owned(),
            left: Box::new(self.expression(left)),
            right: Box::new(self.expression(right)),
        }
    }

    /// A value of the program: a placeholder.
    fn bound(&mut self, at: &At) -> Expression {
        if let ValueKind::Aggregate { path, fields, .. } = at.kind(self.program)
            && let [(_, inner)] = fields.as_slice()
            && path.last().is_some_and(|last| WRAPPERS.contains(&last))
        {
            return self.expression(&at.with(*inner));
        }
        let position = u32::try_from(self.parameters.len()).unwrap_or(u32::MAX);
        self.parameters.push(at.local(self.program));
        Expression::Placeholder(position)
    }
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Remainder => "%",
        _ => "?",
    }
}

/// The word that stands for a variant (`OrderState::InTransit`) in the database, as far as a name
/// tells; `None` for other paths.
fn variant(path: &[String]) -> Option<String> {
    let (last, before) = path.split_last()?;
    let camel =
        |name: &str| name.starts_with(char::is_uppercase) && name.chars().any(char::is_lowercase);
    (camel(last) && before.last().is_some_and(|owner| camel(owner))).then(|| snake_case(last))
}

/// `AmountCents` to `amount_cents`.
pub(super) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (index, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_columns_in_snake_case() {
        assert_eq!(snake_case("AmountCents"), "amount_cents");
        assert_eq!(snake_case("Id"), "id");
    }
}
