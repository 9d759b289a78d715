//! What the WHERE of a write protects, so that zero affected rows mean something.
//!
//! A write addresses rows (its identity) and may add conditions. Which of these reject a stale or
//! losing writer, and which only say which rows are meant, decides whether a dropped row count is
//! a fault. Keys of the schema are subtracted first; without a schema, names decide. Where a
//! condition is of no known kind, it is no guard.

use crate::config::words::{WordList, Words};
use crate::ir::sql::{OnConflict, Predicate, Statement, StatementKind};
use crate::source::Span;

use super::schema::Table;

mod identity;
mod role;
mod write;

use identity::Identity;
use role::Role;
use write::Write;

/// What a write's conditions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// No row is singled out: a sweep, a clean-up, or no WHERE at all. Any number of rows is right.
    None,
    /// The key of a row and nothing else.
    IdentityOnly,
    /// The row's version is the one that was read.
    Version,
    /// The row's fencing number is older than the writer's.
    Fence,
    /// The writer still holds the row, or takes it while nobody does.
    Owner,
    /// A holder lets its own row go: it has nothing to let go any more when it had lost it before.
    OwnRelease,
    /// A holder lets go whatever it holds: perhaps nothing.
    OwnRows,
    /// A value for one use (token, code) is spent.
    Secret,
    /// The row's key is looked up by something else, which may not be known.
    Lookup,
    /// There is enough left.
    Quantity {
        /// Whether it is money, stock or a quota, and no mere count.
        scarce: bool,
    },
    /// The row is in a state from which this step is allowed.
    Status {
        /// Whether money, stock or leases are at stake.
        money_or_lease_table: bool,
    },
    /// A lease or offer has or has not run out.
    Expiry,
    /// A column still has the value that was read.
    OldValue,
    /// Set once (`IS NULL`): whoever comes second changes nothing and loses nothing.
    SetOnce,
    /// Only forward: zero rows mean that it is further already.
    Monotonic,
    /// Zero rows mean that the row is as wanted already.
    AlreadyInState,
    /// The key, and whose rows they are.
    TenantScope,
    /// Only marks that nobody misses (last seen) are written.
    Touch,
    /// INSERT that does nothing when the row is there: whoever comes second is not told.
    InsertOnce,
}

/// How much a dropped row count matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Zero rows are no news.
    None,
    /// Zero rows may be news.
    Doubtful,
    /// Zero rows are a refusal.
    Full,
}

impl Guard {
    /// How much a dropped row count matters.
    #[must_use]
    pub fn weight(self) -> Weight {
        match self {
            Self::Version
            | Self::Fence
            | Self::Owner
            | Self::Secret
            | Self::Quantity { scarce: true }
            | Self::Expiry
            | Self::OldValue
            | Self::Status { money_or_lease_table: true } => Weight::Full,
            Self::Status { money_or_lease_table: false }
            | Self::Quantity { scarce: false }
            | Self::OwnRelease
            | Self::Lookup
            | Self::InsertOnce => Weight::Doubtful,
            _ => Weight::None,
        }
    }

    /// The guard in words, for a message: "version check".
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Version => "version check",
            Self::Fence => "fencing check",
            Self::Owner | Self::OwnRelease => "owner check",
            Self::Secret => "single-use check",
            Self::Quantity { .. } => "quantity check",
            Self::Status { .. } => "state check",
            Self::Expiry => "expiry check",
            Self::OldValue => "comparison with the old value",
            Self::InsertOnce => "conflict clause",
            Self::Lookup => "look-up",
            _ => "condition",
        }
    }
}

/// A write's guard and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowGuard {
    /// The guard.
    pub guard: Guard,
    /// The column it is on.
    pub column: Option<String>,
    /// The condition.
    pub span: Option<Span>,
}

/// The guard of UPDATE, DELETE, or INSERT with a conflict clause; `None` for other statements. The
/// parts of a compound statement are asked one by one.
#[must_use]
pub fn row_guard(statement: &Statement, table: Option<&Table>, words: &Words) -> Option<RowGuard> {
    match &statement.kind {
        StatementKind::Update(update) => {
            let mut found = decide(&Write::of_update(update, table, words), &update.predicates);
            let next_in_line =
                update.claims.is_some() || reads_itself(statement, &update.table.name);
            if found.guard == Guard::Lookup && next_in_line {
                // The next row in line: when there is none, there is nothing to do.
                found = RowGuard { guard: Guard::None, column: None, span: None };
            }
            Some(found)
        }
        StatementKind::Delete(delete) => {
            Some(decide(&Write::of_delete(delete, table, words), &delete.predicates))
        }
        StatementKind::Insert(insert) => match insert.on_conflict.as_ref()? {
            OnConflict::Nothing => Some(RowGuard {
                guard: Guard::InsertOnce,
                column: None,
                span: Some(statement.span),
            }),
            OnConflict::Update { sets, predicates } => {
                let write = Write::of_conflict(insert, sets, table, words);
                Some(decide(&write, predicates))
            }
        },
        _ => None,
    }
}

/// Whether a sub-select of a statement reads the table that it writes.
fn reads_itself(statement: &Statement, table: &str) -> bool {
    let words: Vec<&str> = statement.text.split_whitespace().collect();
    words.iter().zip(words.iter().skip(1)).any(|(before, name)| {
        let name = name.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
        before.eq_ignore_ascii_case("from") && name.rsplit('.').next() == Some(table)
    })
}

/// A condition and what it is.
struct Condition<'p> {
    role: Role,
    column: Option<&'p str>,
    span: Span,
}

fn decide(write: &Write<'_>, predicates: &[Predicate]) -> RowGuard {
    if predicates.is_empty() {
        let guard = if write.conflict { Guard::IdentityOnly } else { Guard::None };
        return RowGuard { guard, column: None, span: None };
    }
    let identity = Identity::of(write, predicates);
    let mut conditions: Vec<Condition<'_>> = predicates
        .iter()
        .map(|predicate| {
            let (role, column) = role::role(write, &identity, &predicate.kind);
            Condition { role, column, span: predicate.span }
        })
        .collect();
    settle(write, &identity, &mut conditions);
    let found = conditions
        .iter()
        .filter_map(|condition| Some((guard_of(write, &identity, condition)?, condition)))
        .min_by_key(|(guard, _)| rank(*guard));
    let (guard, condition) = match found {
        Some((guard, condition)) => (guard, Some(condition)),
        None => (rest(write, &identity, &conditions), None),
    };
    RowGuard {
        guard,
        column: condition.and_then(|condition| condition.column).map(str::to_owned),
        span: condition.map(|condition| condition.span),
    }
}

/// Roles that depend on the other conditions. A secret or a flag alone counts for less, and a condition
/// counts for more only where the SET shows a claim or a secret spent: a guard is rather missed than
/// reported where there is none.
fn settle(write: &Write<'_>, identity: &Identity<'_>, conditions: &mut [Condition<'_>]) {
    let has = |conditions: &[Condition<'_>], role: Role| {
        conditions.iter().any(|condition| condition.role == role)
    };
    let spends = write.spends(has(conditions, Role::Secret) || identity.of_secret && identity.row)
        && (has(conditions, Role::Alive)
            || has(conditions, Role::Once)
            || has(conditions, Role::Flag)
            || write.delete && has(conditions, Role::Secret)
            || write.clears_secret());
    for condition in conditions {
        condition.role = match condition.role {
            Role::Secret | Role::Once | Role::Alive if spends => Role::Spent,
            Role::Secret => Role::Key,
            Role::Once if write.claims() => Role::Owner,
            Role::Forward if write.claims() => Role::OldValue,
            Role::Flag if !(identity.row && write.at_stake()) => Role::Already,
            role => role,
        };
    }
}

/// The guard that one condition makes; `None` when it makes none.
fn guard_of(
    write: &Write<'_>,
    identity: &Identity<'_>,
    condition: &Condition<'_>,
) -> Option<Guard> {
    let singled = identity.row || identity.perhaps;
    let status = Guard::Status { money_or_lease_table: write.at_stake() };
    Some(match condition.role {
        Role::Fence if singled => Guard::Fence,
        Role::Version if singled => Guard::Version,
        Role::Owner if write.releases() && !identity.beside(condition.column) => Guard::OwnRows,
        Role::Owner if write.releases() => Guard::OwnRelease,
        Role::Alive if write.delete && write.releases() => Guard::OwnRelease,
        Role::Owner if identity.beside(condition.column) => Guard::Owner,
        Role::Spent => Guard::Secret,
        Role::Quantity if singled => Guard::Quantity { scarce: write.is_scarce(condition.column) },
        Role::OldValue if identity.row => Guard::OldValue,
        Role::TakenOver => Guard::Expiry,
        Role::Alive if identity.row && !write.undoes() && write.is_late() => Guard::Expiry,
        Role::State | Role::Flag if identity.row && !identity.listed => status,
        Role::State if identity.perhaps && write.at_stake() && write.moves() => status,
        Role::LookedUp if singled && !write.delete && !write.only_touches() => Guard::Lookup,
        Role::Once if singled => Guard::SetOnce,
        Role::Forward if singled => Guard::Monotonic,
        Role::Already if singled => Guard::AlreadyInState,
        _ => return None,
    })
}

/// Which of several guards is told of: the lower.
fn rank(guard: Guard) -> u8 {
    match guard {
        Guard::Fence => 0,
        Guard::Version => 1,
        Guard::Owner => 2,
        Guard::Secret => 3,
        Guard::Quantity { .. } => 4,
        Guard::OwnRelease | Guard::OwnRows => 5,
        Guard::OldValue => 6,
        Guard::Expiry => 7,
        Guard::Status { .. } => 8,
        Guard::Monotonic => 9,
        Guard::SetOnce => 10,
        Guard::AlreadyInState => 11,
        Guard::Lookup => 12,
        _ => 13,
    }
}

/// The class of a write none of whose conditions is a guard.
fn rest(write: &Write<'_>, identity: &Identity<'_>, conditions: &[Condition<'_>]) -> Guard {
    if !identity.row && !identity.perhaps {
        return Guard::None;
    }
    if write.only_touches() {
        return Guard::Touch;
    }
    let ranged = conditions
        .iter()
        .any(|condition| matches!(condition.role, Role::Range | Role::Filter | Role::State));
    let scoped = conditions.iter().any(|condition| condition.role == Role::Scope);
    match (identity.row, ranged, scoped) {
        (false, true, _) => Guard::None,
        (_, _, true) => Guard::TenantScope,
        _ => Guard::IdentityOnly,
    }
}

/// Whether a name is of a list.
fn is(words: &Words, list: WordList, name: &str) -> bool {
    words.has(list, name)
}

#[cfg(test)]
mod tests;
