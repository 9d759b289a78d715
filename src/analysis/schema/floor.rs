//! What the schema says of the numbers a column may hold.

use super::{Check, Table};
use crate::ir::sql::{Comparison, Expression, Predicate, PredicateKind};
use crate::link::sql_files::{Dialect, conjuncts_of};

impl Table {
    /// The CHECK that keeps a column from going below zero, or below another column. One that is NOT
    /// VALID counts: it holds for every write from then on.
    #[must_use]
    pub fn floor(&self, column: &str) -> Option<&Check> {
        self.checks.iter().find(|check| {
            let conditions = conjuncts_of(&check.text, Dialect::Postgres, check.span);
            conditions.iter().any(|condition| is_floor(&condition.kind, column))
        })
    }

    /// Whether a column's type has no numbers below zero.
    #[must_use]
    pub fn is_unsigned(&self, column: &str) -> bool {
        self.column(column).is_some_and(|column| column.ty.contains("unsigned"))
    }

    /// Whether a column's type is one of numbers; `false` when the table or column is not known.
    #[must_use]
    pub fn is_number(&self, column: &str) -> bool {
        const NUMBERS: [&str; 10] = [
            "int", "serial", "numeric", "decimal", "number", "real", "double", "float", "money",
            "dec",
        ];
        let found = self.column(column);
        found.is_some_and(|column| {
            let name = column.ty.trim_start_matches('`');
            let bare = name.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or("");
            let array = name.contains('[') || name.contains("range") || bare == "interval";
            !array && NUMBERS.iter().any(|number| bare.starts_with(number) || bare.ends_with("int"))
        })
    }
}

/// Whether a condition keeps a column from being too low. A condition on the column that is of another
/// form (a sum, a function) is taken to be one.
fn is_floor(kind: &PredicateKind, column: &str) -> bool {
    let own = |name: &str| name.eq_ignore_ascii_case(column);
    match kind {
        PredicateKind::Compare { column: left, comparison, value } if own(left) => {
            matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual)
                && !below_zero(value)
        }
        PredicateKind::Compare { comparison, value, .. } => {
            let mentioned = value.columns().into_iter().any(own);
            let plain = matches!(value, Expression::Column(_));
            let below = matches!(comparison, Comparison::Less | Comparison::LessOrEqual);
            mentioned && (!plain || below)
        }
        PredicateKind::Or(sides) => {
            let floor =
                |side: &Vec<Predicate>| side.iter().any(|part| is_floor(&part.kind, column));
            sides.iter().any(floor)
        }
        PredicateKind::In { column: left, values, negated: false, .. } => {
            own(left) && !values.iter().any(below_zero)
        }
        PredicateKind::Other(names) => names.iter().any(|name| own(name)),
        _ => false,
    }
}

fn below_zero(value: &Expression) -> bool {
    matches!(value, Expression::Number(number) if number.starts_with('-'))
}
