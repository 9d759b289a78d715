//! What one condition is for. What is of no known kind is a filter: a guard that is missed is a lesser
//! evil than a filter that is reported as one.

use crate::config::words::WordList;
use crate::ir::sql::{Comparison, Expression, Predicate, PredicateKind};

use super::identity::{Identity, is_value};
use super::write::Write;

/// What a condition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Part of the key.
    Key,
    /// Part of the key, looked up by a sub-select.
    LookedUp,
    /// Whose rows.
    Scope,
    /// The fencing number.
    Fence,
    /// The version.
    Version,
    /// The holder.
    Owner,
    /// A secret is known.
    Secret,
    /// A secret is still good, and is spent here.
    Spent,
    /// Enough is left.
    Quantity,
    /// A column has the value that was read.
    OldValue,
    /// A lease ran out and is taken over, or is prolonged while it lasts.
    TakenOver,
    /// Something has not run out yet.
    Alive,
    /// The state allows the step.
    State,
    /// A flag has the other value.
    Flag,
    /// The column is still empty.
    Once,
    /// Only forward.
    Forward,
    /// The row is not yet as wanted.
    Already,
    /// A range or age.
    Range,
    /// Anything else.
    Filter,
}

/// The role of a condition and the column it is on.
pub(super) fn role<'p>(
    write: &Write<'_>,
    identity: &Identity<'_>,
    kind: &'p PredicateKind,
) -> (Role, Option<&'p str>) {
    match kind {
        PredicateKind::Compare { column, .. } | PredicateKind::In { column, .. }
            if write.is_of_other(column) =>
        {
            (Role::Filter, Some(column))
        }
        PredicateKind::Compare { column, comparison, value } => {
            (compared(write, identity, column, *comparison, value), Some(column))
        }
        PredicateKind::In { column, negated, values, .. } => {
            (member(write, identity, column, *negated, values), Some(column))
        }
        PredicateKind::Null { column, negated } => (null(write, column, *negated), Some(column)),
        PredicateKind::Or(sides) => either(write, identity, sides),
        PredicateKind::Exists { .. } | PredicateKind::Other(_) => (Role::Filter, None),
    }
}

/// What is part of the key is asked for before what guards: a guard taken for a key is missed, a key
/// taken for a guard would be a false report on every plain update.
fn compared(
    write: &Write<'_>,
    identity: &Identity<'_>,
    column: &str,
    comparison: Comparison,
    value: &Expression,
) -> Role {
    match comparison {
        Comparison::Equal
            if matches!(value, Expression::Subquery(_)) && !is_value(write, column) =>
        {
            Role::LookedUp
        }
        Comparison::Equal if identity.has(column) => {
            if write.is_secret(column) {
                Role::Secret
            } else {
                Role::Key
            }
        }
        Comparison::Equal => equal(write, identity, column, value),
        Comparison::NotEqual => different(write, column, value),
        Comparison::Match => Role::Filter,
        _ if rest_of_key(write, identity, column) => Role::Range,
        _ => ordered(write, column, comparison, value),
    }
}

/// Whether a column, bounded but not fixed, is the rest of a key whose other columns are fixed: then
/// all rows in the range are meant.
fn rest_of_key(write: &Write<'_>, identity: &Identity<'_>, column: &str) -> bool {
    let part =
        |key: &[String]| key.len() > 1 && key.iter().any(|part| part.eq_ignore_ascii_case(column));
    !identity.row
        && write.set(column).is_none()
        && write.table.is_some_and(|table| table.keys().any(part))
}

fn equal(write: &Write<'_>, identity: &Identity<'_>, column: &str, value: &Expression) -> Role {
    if !write.is_given(value) {
        return if write.joins { Role::Key } else { Role::Filter };
    }
    let literal =
        matches!(value, Expression::Text(_) | Expression::Number(_) | Expression::Boolean(_));
    if write.is(WordList::Fence, column) {
        return Role::Fence;
    }
    if write.is(WordList::Version, column) {
        let checked = write.set(column).is_some() || identity.row && !identity.natural;
        return if checked { Role::Version } else { Role::Key };
    }
    if holds(write, column) && !literal {
        return Role::Owner;
    }
    if write.is(WordList::Observed, column) && write.set(column).is_some() {
        return Role::Already;
    }
    if let Expression::Boolean(wanted) = value {
        return match write.set(column) {
            Some(Expression::Boolean(new)) if new == wanted => Role::Filter,
            Some(Expression::Boolean(_)) => Role::Flag,
            Some(_) => Role::OldValue,
            None if write.is(WordList::Status, column) && identity.row => Role::State,
            None => Role::Filter,
        };
    }
    if write.is(WordList::Status, column) {
        return match write.set(column) {
            Some(new) if new == value => Role::Filter,
            _ => Role::State,
        };
    }
    if write.is_secret(column) {
        return Role::Secret;
    }
    match write.set(column) {
        Some(new) if new == value => Role::Key,
        Some(_) if literal => Role::State,
        Some(_) => Role::OldValue,
        None if literal => Role::Filter,
        None if column.ends_with("_at") && identity.row => Role::OldValue,
        None if write.is(WordList::Tenant, column) => Role::Scope,
        None => Role::Key,
    }
}

/// Whether a column says who holds the row, in a table where that is a lease.
pub(super) fn holds(write: &Write<'_>, column: &str) -> bool {
    let plain = matches!(column, "owner" | "owner_id" | "node_id" | "instance_id" | "process_id");
    write.is(WordList::Owner, column)
        && (write.is(WordList::Lease, column)
            || !plain && !key_of_other(column)
            || write.is_lease_table())
}

/// `worker_id`, `runner_id` may be the key of the worker's own row.
fn key_of_other(column: &str) -> bool {
    matches!(
        column,
        "worker"
            | "worker_id"
            | "runner"
            | "runner_id"
            | "consumer"
            | "consumer_id"
            | "leader_id"
            | "worker_name"
            | "executor"
    )
}

fn different(write: &Write<'_>, column: &str, value: &Expression) -> Role {
    match write.set(column) {
        Some(new) if new == value => Role::Already,
        _ if write.is(WordList::Status, column) => Role::State,
        _ => Role::Filter,
    }
}

fn ordered(write: &Write<'_>, column: &str, comparison: Comparison, value: &Expression) -> Role {
    let below = matches!(comparison, Comparison::Less | Comparison::LessOrEqual);
    let set = write.set(column);
    if write.is(WordList::Fence, column) {
        // Rows of later numbers that get none of their own: what came after, to be undone.
        let later = !below && set.is_none();
        return if write.delete || later { Role::Range } else { Role::Fence };
    }
    if write.is(WordList::Version, column) {
        return if set.is_some() { Role::Version } else { Role::Range };
    }
    let ends = write.is(WordList::Expiry, column) || write.is(WordList::Heartbeat, column);
    let moment = ends || write.is_moment(column, value);
    if let Some(new) = set {
        return match new {
            // What is alive is ended: `SET expired_at = now() WHERE expired_at > now()`.
            _ if ends && !below && write.is_moment("", new) && !later(new) => Role::Alive,
            _ if new == value => Role::Forward,
            Expression::Binary { left, .. } if moment && !names(left, column) => Role::TakenOver,
            Expression::Binary { .. } if counts(new, column) => Role::Quantity,
            _ if moment && (ends || write.is_lease_table()) => Role::TakenOver,
            _ => Role::Forward,
        };
    }
    if moment {
        let takes = write.claims() && write.is_lease_table();
        return match (below, ends) {
            (true, _) if takes => Role::TakenOver,
            (false, true) => Role::Alive,
            _ => Role::Range,
        };
    }
    if write.is(WordList::Stock, column) || write.is(WordList::Money, column) {
        return if write.delete { Role::Range } else { Role::Quantity };
    }
    Role::Range
}

/// Whether an expression is the clock and something more: a new end.
fn later(value: &Expression) -> bool {
    matches!(value, Expression::Binary { .. } | Expression::Placeholder(_))
}

/// Whether an expression adds to or takes from a column.
fn counts(value: &Expression, column: &str) -> bool {
    match value {
        Expression::Binary { operator, left, right } if operator == "+" || operator == "-" => {
            names(left, column) || names(right, column)
        }
        _ => false,
    }
}

fn names(value: &Expression, column: &str) -> bool {
    value.columns().iter().any(|name| name.eq_ignore_ascii_case(column))
}

fn member(
    write: &Write<'_>,
    identity: &Identity<'_>,
    column: &str,
    negated: bool,
    values: &[Expression],
) -> Role {
    if identity.has(column) && !negated {
        return Role::Key;
    }
    if write.is(WordList::Status, column) {
        return Role::State;
    }
    let literal =
        values.iter().any(|value| matches!(value, Expression::Text(_) | Expression::Number(_)));
    if negated || literal || is_value(write, column) { Role::Filter } else { Role::Key }
}

fn null(write: &Write<'_>, column: &str, negated: bool) -> Role {
    let set = write.set(column);
    if negated {
        // Only what was put away may be deleted.
        let put_away = write.delete && write.is(WordList::Undo, column);
        return match set {
            Some(_) => Role::Already,
            None if put_away => Role::State,
            None => Role::Filter,
        };
    }
    if set.is_some() {
        return Role::Once;
    }
    let lease = write.is(WordList::Lease, column) || write.is(WordList::Owner, column);
    if lease && write.claims() {
        return Role::Once;
    }
    let ended = write.words.located(WordList::Ended, column);
    if ended.is_some_and(|found| found.after.is_empty()) { Role::State } else { Role::Filter }
}

/// `locked_until IS NULL OR locked_until < now()` and the like.
fn either<'p>(
    write: &Write<'_>,
    identity: &Identity<'_>,
    sides: &'p [Vec<Predicate>],
) -> (Role, Option<&'p str>) {
    let roles: Vec<(Role, Option<&str>)> =
        sides.iter().flatten().take(32).map(|part| role(write, identity, &part.kind)).collect();
    let strong =
        [Role::Fence, Role::Version, Role::TakenOver, Role::Owner, Role::Quantity, Role::Forward];
    for wanted in strong {
        if let Some(found) = roles.iter().find(|(role, _)| *role == wanted) {
            return *found;
        }
    }
    let lone = |role: Role| roles.iter().all(|(own, _)| *own == role);
    if !roles.is_empty() && (lone(Role::State) || lone(Role::Once)) {
        return roles.first().copied().unwrap_or((Role::Filter, None));
    }
    (Role::Filter, None)
}
