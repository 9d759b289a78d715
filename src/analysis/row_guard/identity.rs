//! Which conditions single out the row that is meant.

use crate::config::words::{WordList, split};
use crate::ir::sql::{Comparison, Expression, Predicate, PredicateKind};

use super::role::holds;
use super::write::Write;

/// Which conditions single out the row.
pub(super) struct Identity<'a> {
    /// Columns that do.
    pub columns: Vec<&'a str>,
    /// All columns that are fixed to a value and are no values that change.
    fixed: Vec<&'a str>,
    /// One row at most is meant.
    pub row: bool,
    /// The rows of one thing are meant: perhaps one.
    pub perhaps: bool,
    /// Only names that anything may have (`name`, `email`) say that it is the row.
    pub natural: bool,
    /// The row is of a table of secrets.
    pub of_secret: bool,
    /// A list of rows is meant: how many of them were hit says nothing of one.
    pub listed: bool,
}

impl<'a> Identity<'a> {
    /// Finds the identity among conditions.
    pub fn of(write: &Write<'_>, predicates: &'a [Predicate]) -> Self {
        let equal: Vec<&str> =
            predicates.iter().filter_map(|part| given(write, &part.kind)).collect();
        let of_secret = write.is(WordList::Secret, &write.name.name);
        let mut identity = Self {
            columns: Vec::new(),
            fixed: equal.iter().copied().filter(|column| !is_value(write, column)).collect(),
            row: write.conflict,
            perhaps: false,
            natural: false,
            of_secret,
            listed: false,
        };
        let known = write.table.filter(|table| table.keys().next().is_some());
        if let Some(table) = known {
            for key in table.keys() {
                if key
                    .iter()
                    .all(|part| equal.iter().any(|column| column.eq_ignore_ascii_case(part)))
                {
                    let of_key =
                        |column: &&&str| key.iter().any(|part| column.eq_ignore_ascii_case(part));
                    identity.columns.extend(equal.iter().filter(of_key).copied());
                    identity.row = true;
                }
            }
        }
        if !identity.row
            && known.is_none_or(|table| table.from_code || table.primary_key.is_empty())
        {
            identity.by_names(write, &equal);
        }
        identity.listed = predicates.iter().any(|part| match &part.kind {
            PredicateKind::In { column, negated: false, .. } => identity.has(column),
            _ => false,
        });
        if !identity.row {
            identity.perhaps = equal.iter().any(|column| !is_value(write, column));
        }
        identity
    }

    /// Without keys to go by: names of keys.
    fn by_names(&mut self, write: &Write<'_>, equal: &[&'a str]) {
        let keys: Vec<&str> =
            equal.iter().copied().filter(|column| names_row(write, column)).collect();
        let names = |column: &&str| {
            !is_value(write, column) && !write.is(WordList::Tenant, column) && !holds(write, column)
        };
        let natural: Vec<&str> = equal.iter().copied().filter(names).collect();
        if !keys.is_empty() {
            self.row = true;
            self.columns = keys;
        } else if !natural.is_empty() {
            self.row = true;
            self.natural = !natural.iter().any(|column| column.ends_with("id"));
            self.columns = natural;
        }
    }

    /// Whether more than one column says which row: with the holder's alone, all that it holds is
    /// meant.
    pub fn beside(&self, column: Option<&str>) -> bool {
        self.row && !self.columns.iter().all(|own| Some(*own) == column)
            || self.fixed.iter().any(|own| Some(*own) != column)
            || self.columns.is_empty() && self.row
    }

    /// Whether a column is part of the identity.
    pub fn has(&self, column: &str) -> bool {
        self.columns.contains(&column)
    }
}

/// The column that a condition fixes to a given value or list of values.
fn given<'a>(write: &Write<'_>, kind: &'a PredicateKind) -> Option<&'a str> {
    match kind {
        PredicateKind::Compare { column, comparison: Comparison::Equal, value } => {
            let joined = write.joins && matches!(value, Expression::Column(_));
            (joined || write.is_given(value)).then_some(column)
        }
        PredicateKind::In { column, negated: false, .. } => Some(column),
        _ => None,
    }
}

/// Whether a column is one of values that change rather than of names: no key.
pub(super) fn is_value(write: &Write<'_>, column: &str) -> bool {
    use WordList as W;
    let lists =
        [W::Version, W::Fence, W::Status, W::Expiry, W::Stock, W::Money, W::Heartbeat, W::Kind];
    lists.iter().any(|list| write.is(*list, column))
        || column.ends_with("_at")
        || write.set(column).is_some()
}

/// Whether a column's name says that it is the row's own key: `id`, `uuid`, `order_id` of `orders`.
fn names_row(write: &Write<'_>, column: &str) -> bool {
    let words = split(column);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["id" | "uuid" | "guid" | "uid" | "pk" | "key" | "slug" | "ctid" | "rowid"] => true,
        [stem @ .., "id" | "uuid" | "uid" | "key" | "no" | "number" | "code"] => {
            let table = split(&write.name.name);
            let stem = stem.concat();
            let table = table.concat();
            !stem.is_empty()
                && (table == stem
                    || table.strip_suffix('s') == Some(stem.as_str())
                    || table.ends_with(&stem)
                    || table.ends_with(&format!("{stem}s")))
        }
        _ => false,
    }
}
