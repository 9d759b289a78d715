//! Columns that count what is left of something (goods, places, money), and the writes that move them.
//!
//! What is left can't be less than nothing. A column whose name says that it is a difference, or a table
//! of what happened, is none.

use super::Analysis;
use super::row_guard::{Guard, Weight, row_guard};
use super::row_write::{Origin, RowWrite};
use super::schema::Table;
use crate::config::words::WordList;
use crate::ir::effect::Executor;
use crate::ir::sql::{Comparison, Expression, Fidelity, Predicate, PredicateKind, StatementKind};
use crate::ir::value::{ValueId, ValueKind};

/// How a statement moves a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// `x = x - n`.
    Subtracts,
    /// `x = greatest(x - n, 0)`: never below zero, whatever is taken.
    Clamps,
    /// `x = x + n`, where `n` is a value from outside.
    Adds,
}

/// A subtraction that nothing keeps above zero.
#[derive(Clone, Debug)]
pub struct Unguarded<'a> {
    /// The write.
    pub write: RowWrite<'a>,
    /// The column.
    pub column: &'a str,
    /// How it is moved: by a subtraction, or by a signed difference that is added.
    pub movement: Movement,
    /// Whether the schema refuses a number below zero.
    pub refused: bool,
}

/// Names that say nothing by themselves: of a table of goods, they count those.
const PLAIN: [&str; 5] = ["count", "amount", "units", "total", "number"];

/// Words of names that say how much there should be, or what a piece of it is like.
const BOUNDS: [&str; 24] = [
    "min",
    "max",
    "minimum",
    "maximum",
    "threshold",
    "limit",
    "default",
    "reorder",
    "alert",
    "price",
    "cost",
    "rate",
    "ratio",
    "percent",
    "pct",
    "type",
    "unit",
    "factor",
    "step",
    "target",
    "at",
    "id",
    "name",
    "initial",
];

/// How a value moves the column that it is set to; `None` when it does not start from the column.
#[must_use]
pub fn movement(column: &str, value: &Expression) -> Option<Movement> {
    let own = |side: &Expression| match side {
        Expression::Column(name) => name.eq_ignore_ascii_case(column),
        Expression::Call { name, arguments } => {
            matches!(name.as_str(), "coalesce" | "ifnull")
                && matches!(arguments.first(), Some(Expression::Column(name)) if name.eq_ignore_ascii_case(column))
        }
        _ => false,
    };
    match value {
        Expression::Binary { operator, left, right } => {
            let inner = if own(left) { None } else { Some(movement(column, left)?) };
            let down =
                matches!(right.as_ref(), Expression::Number(number) if number.starts_with('-'));
            match (operator.as_str(), inner) {
                ("-", _) | (_, Some(Movement::Subtracts)) => Some(Movement::Subtracts),
                ("+", _) if down => Some(Movement::Subtracts),
                ("+", _) => match right.as_ref() {
                    Expression::Placeholder(_) | Expression::Hole => Some(Movement::Adds),
                    _ => None,
                },
                _ => None,
            }
        }
        Expression::Call { name, arguments } if name == "greatest" || name == "max" => {
            let down = |part: &Expression| movement(column, part) == Some(Movement::Subtracts);
            arguments.iter().any(down).then_some(Movement::Clamps)
        }
        _ => None,
    }
}

impl Analysis<'_> {
    /// Whether a column counts what is left of something.
    #[must_use]
    pub fn is_level(&self, table: &str, column: &str) -> bool {
        let counts = |list| {
            let found = self.words.located(list, column);
            found.is_some_and(|found| {
                let mut around = found.before.iter().chain(&found.after);
                !around.any(|word| BOUNDS.contains(&word.as_str()))
            })
        };
        let named = counts(WordList::Stock)
            || counts(WordList::Level)
            || self.words.has(WordList::Stock, table) && PLAIN.contains(&column);
        named && !self.is_record(table)
    }

    /// Whether a table is of what happened, or of parts of an order. A word of goods in its name says
    /// that it is of goods after all.
    #[must_use]
    pub fn is_record(&self, table: &str) -> bool {
        let Some(found) = self.words.located(WordList::Record, table) else { return false };
        // `stock_items`, `order_stock`: what it is stands last.
        found.after.is_empty() || !self.words.has(WordList::Stock, &found.after.join("_"))
    }

    /// Whether the table has room for less than nothing by design: an overdraft, a limit of credit.
    pub(super) fn may_be_owed(table: Option<&Table>) -> bool {
        table.is_some_and(|table| {
            table.columns.iter().any(|column| {
                ["overdraft", "credit_limit", "allow_negative", "min_balance", "backorder"]
                    .iter()
                    .any(|word| column.name.contains(word))
            })
        })
    }

    /// Writes that take from what is left with nothing that keeps it above zero.
    #[must_use]
    pub fn unguarded_decrements(&self) -> Vec<Unguarded<'_>> {
        let writes = self.row_writes();
        let mut found: Vec<Unguarded<'_>> = Vec::new();
        for write in &writes {
            for set in write.sets() {
                let Some(movement) = movement(&set.column, &set.value) else { continue };
                let table = &write.name().name;
                let signed =
                    movement == Movement::Adds && self.is_only_added(&writes, write, &set.column);
                if !(movement == Movement::Subtracts || signed)
                    || !self.is_level(table, &set.column)
                    || Self::may_be_owed(write.table)
                    || self.is_kept_up(write, &set.column)
                {
                    continue;
                }
                let refused = write.table.is_some_and(|table| {
                    table.floor(&set.column).is_some() || table.is_unsigned(&set.column)
                });
                found.push(Unguarded { write: *write, column: &set.column, movement, refused });
                break;
            }
        }
        found
    }

    /// Whether a column of goods is changed by a given number here and taken from nowhere: then the
    /// number that is added is at times below zero.
    fn is_only_added(&self, writes: &[RowWrite<'_>], write: &RowWrite<'_>, column: &str) -> bool {
        let table = &write.name().name;
        let goods = self.words.has(WordList::Stock, table)
            && (PLAIN.contains(&column) || self.words.has(WordList::Stock, column));
        let taken = |other: &RowWrite<'_>| {
            other.name().name == *table
                && other.sets().iter().any(|set| {
                    set.column == *column
                        && movement(column, &set.value).is_none_or(|it| it != Movement::Adds)
                })
        };
        goods && matches!(write.origin, Origin::Query) && !writes.iter().any(taken)
    }

    /// Whether a condition, a lock or a look at what came out keeps a column above zero.
    fn is_kept_up(&self, write: &RowWrite<'_>, column: &str) -> bool {
        let StatementKind::Update(update) = &write.statement.kind else { return true };
        if write.statement.fidelity == Fidelity::Scanned
            || update.predicates.is_empty()
            || update.claims.is_some()
            || update.predicates.iter().any(|part| keeps_up(part, column))
        {
            return true;
        }
        let guard = row_guard(write.statement, write.table, self.words).map(|found| found.guard);
        let guarded = guard.is_some_and(|guard| {
            guard.weight() != Weight::None
                && !matches!(guard, Guard::Lookup | Guard::Quantity { .. })
                || matches!(guard, Guard::SetOnce | Guard::Monotonic | Guard::AlreadyInState)
        });
        guarded || self.row_is_locked(write) || self.is_looked_at(write, column)
    }

    /// Whether what is left is given back and compared before the transaction ends.
    fn is_looked_at(&self, write: &RowWrite<'_>, column: &str) -> bool {
        let gives = write.returning().iter().any(|name| name == column || name == "*");
        match write.origin {
            Origin::Routine(_, after) => {
                let tests = |kind: &StatementKind| matches!(kind, StatementKind::Test(_));
                let reads = |kind: &StatementKind| matches!(kind, StatementKind::Select(select) if select.columns.iter().any(|name| name == column));
                let read = gives || after.iter().any(|later| reads(&later.kind));
                read && after.iter().any(|later| tests(&later.kind))
            }
            Origin::Query => false,
            Origin::Call(effect, call) => {
                gives
                    && call.executor != Executor::Pool
                    && self.program.body(effect.site.body).is_some_and(|own| {
                        let named = |value: ValueId| match own.body.kind(own.body.peel(value)) {
                            ValueKind::Field { name, .. } => name == column,
                            _ => own.body.value(own.body.peel(value)).is_some_and(|value| {
                                let name = value.name.as_deref().unwrap_or_default();
                                name.contains(column)
                                    || name.contains("left")
                                    || name.contains("remaining")
                            }),
                        };
                        own.body.values.iter().any(|value| match &value.kind {
                            ValueKind::Binary { operator, left, right } => {
                                operator.compares() && (named(*left) || named(*right))
                            }
                            _ => false,
                        })
                    })
            }
        }
    }

    /// A write that takes from a column, guarded or not.
    #[must_use]
    pub fn taken_from<'a>(
        &'a self,
        writes: &[RowWrite<'a>],
        table: &Table,
        column: &str,
    ) -> Option<RowWrite<'a>> {
        let takes = |write: &&RowWrite<'_>| {
            write.table.is_some_and(|own| own.created_at == table.created_at)
                && write.sets().iter().any(|set| {
                    set.column.eq_ignore_ascii_case(column)
                        && matches!(
                            movement(column, &set.value),
                            Some(Movement::Subtracts | Movement::Clamps)
                        )
                })
        };
        writes.iter().find(takes).copied()
    }
}

/// Whether a condition bounds a column from below, or may.
fn keeps_up(predicate: &Predicate, column: &str) -> bool {
    let own = |name: &str| name.eq_ignore_ascii_case(column);
    match &predicate.kind {
        PredicateKind::Compare { column: left, comparison, .. } if own(left) => {
            !matches!(comparison, Comparison::Less | Comparison::LessOrEqual)
        }
        PredicateKind::Null { .. } => false,
        PredicateKind::Exists { .. } => true,
        PredicateKind::In { subquery: Some(select), .. } => {
            select.lock.is_some() || select.predicates.iter().any(|part| keeps_up(part, column))
        }
        PredicateKind::Or(sides) => sides.iter().flatten().any(|part| keeps_up(part, column)),
        PredicateKind::Other(names) => names.is_empty() || names.iter().any(|name| own(name)),
        kind => kind.columns().into_iter().any(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str) -> Box<Expression> {
        Box::new(Expression::Column(name.to_owned()))
    }

    fn binary(operator: &str, left: Box<Expression>, right: Expression) -> Expression {
        Expression::Binary { operator: operator.to_owned(), left, right: Box::new(right) }
    }

    #[test]
    fn movements_are_read_from_the_value() {
        let minus = binary("-", column("n"), Expression::Placeholder(0));
        assert_eq!(movement("n", &minus), Some(Movement::Subtracts));
        assert_eq!(movement("m", &minus), None);
        let added = binary("+", column("n"), Expression::Placeholder(0));
        assert_eq!(movement("n", &added), Some(Movement::Adds));
        let negative = binary("+", column("n"), Expression::Number("-1".to_owned()));
        assert_eq!(movement("n", &negative), Some(Movement::Subtracts));
        let zero = Expression::Number("0".to_owned());
        let call =
            Expression::Call { name: "greatest".to_owned(), arguments: vec![minus.clone(), zero] };
        assert_eq!(movement("n", &call), Some(Movement::Clamps));
        let twice = binary("+", Box::new(minus), Expression::Placeholder(1));
        assert_eq!(movement("n", &twice), Some(Movement::Subtracts));
        let other = binary("-", column("m"), Expression::Placeholder(0));
        assert_eq!(movement("n", &other), None);
    }
}
