//! Rows that somebody holds for a time, and writes to them that do not ask who.
//!
//! What a row lease is, behaviour decides: some statement takes rows of the table on a condition (nobody
//! holds them, the time has run out, or it skips those that others have locked), or a procedure compares
//! who holds them. A `locked_until` of a user's account is no lease.

use std::collections::BTreeMap;

use super::Analysis;
use super::lock_words::has_force_word;
use super::row_write::{Origin, RowWrite};
use super::schema::Table;
use crate::config::words::{WordList, Words};
use crate::ir::effect::{Effect, EffectKind, Executor};
use crate::ir::sql::{
    Assignment, Expression, Predicate, PredicateKind, Statement, StatementKind, TableName,
};
use crate::source::Span;

/// What a write does to a row lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseWrite {
    /// Sets who holds it.
    Takes,
    /// Moves its end.
    Renews,
    /// Lets it go.
    Frees,
    /// Writes the state that its holder has come to.
    Finishes,
}

/// A write to a row lease that asks for nothing but the row.
#[derive(Clone, Debug)]
pub struct Ownerless<'a> {
    /// The write.
    pub write: RowWrite<'a>,
    /// What it does.
    pub does: LeaseWrite,
    /// The column by which that is seen.
    pub column: &'a str,
    /// Where rows are taken.
    pub claim: Option<Span>,
}

/// A locking read whose lock is gone when it answers.
#[derive(Clone, Copy, Debug)]
pub struct LockOnPool<'a> {
    /// The call.
    pub effect: &'a Effect,
    /// The statement.
    pub statement: &'a Statement,
    /// Whether it skips what others have locked.
    pub skips: bool,
}

/// Who holds a row: names that say nothing else.
const HOLDERS: [&str; 24] = [
    "locked_by",
    "lock_owner",
    "lease_owner",
    "leased_by",
    "claimed_by",
    "claim_token",
    "worker_id",
    "worker",
    "worker_name",
    "holder",
    "lock_token",
    "lease_token",
    "lease_id",
    "runner_id",
    "picked_by",
    "lock_by",
    "held_by",
    "taken_by",
    "processing_by",
    "run_by",
    "leader_id",
    "acquired_by",
    "owner_token",
    "lock_value",
];
/// How long a row is held, or since when.
const TIMES: [&str; 17] = [
    "locked_until",
    "lock_until",
    "lease_until",
    "leased_until",
    "lease_expires",
    "lease_expires_at",
    "lock_expires",
    "lock_expires_at",
    "claimed_until",
    "locked_at",
    "claimed_at",
    "visibility_timeout",
    "visible_at",
    "heartbeat_at",
    "last_heartbeat",
    "invisible_until",
    "leased_at",
];
/// Words of functions that write a row whoever holds it, on purpose.
const ON_PURPOSE: [&str; 6] = ["cancel", "requeue", "retry", "restart", "seed", "pause"];

/// Whether a column is the state of a row, and no flag among others.
fn is_state(words: &Words, column: &str) -> bool {
    const STATES: [&str; 6] = ["status", "state", "phase", "stage", "step", "lifecycle"];
    let found = words.located(WordList::Status, column);
    found.is_some_and(|found| STATES.contains(&found.entry.as_str()) && found.after.is_empty())
}

fn is_holder(column: &str) -> bool {
    HOLDERS.contains(&column)
}

fn is_time(column: &str) -> bool {
    TIMES.contains(&column)
}

/// Which table: by name, and where a hole stands for it, by the file of the statement.
type TableKey = (String, Option<u32>);

fn key(name: &TableName, statement: &Statement) -> TableKey {
    let hole = name.name.is_empty().then_some(statement.span.file.0);
    (name.name.clone(), hole)
}

impl Analysis<'_> {
    /// Writes to row leases that do not ask who holds the row.
    #[must_use]
    pub fn ownerless_writes(&self) -> Vec<Ownerless<'_>> {
        let writes = self.row_writes();
        let claims = self.row_claims(&writes);
        let fenced = self.fenced_tables(&writes);
        let unlocked: Vec<LockOnPool<'_>> = self.locks_on_pools();
        let mut found = Vec::new();
        for write in &writes {
            let claim = claims.get(&key(write.name(), write.statement)).copied();
            let Some(claim) = claim.or_else(|| self.holds_by_schema(write.table).then_some(None))
            else {
                continue;
            };
            let Some((does, column)) = self.lease_write(write) else { continue };
            let told_elsewhere = does == LeaseWrite::Finishes
                && fenced.contains_key(&write.name().name)
                || unlocked.iter().any(|lock| same_function(lock, write));
            if !told_elsewhere && self.asks_nobody(write) {
                found.push(Ownerless { write: *write, does, column, claim });
            }
        }
        found
    }

    /// Reads that lock rows on a pool, where the lock ends with the statement.
    #[must_use]
    pub fn locks_on_pools(&self) -> Vec<LockOnPool<'_>> {
        let mut found = Vec::new();
        for effect in self.effects() {
            let EffectKind::Sql(call) = &effect.kind else { continue };
            let [statement] = call.statements.as_slice() else { continue };
            if let StatementKind::Select(select) = &statement.kind
                && let Some(lock) = select.lock.filter(|lock| lock.exclusive)
                && call.executor == Executor::Pool
            {
                found.push(LockOnPool { effect, statement, skips: lock.skip_locked });
            }
        }
        found
    }

    /// The tables whose rows are taken on a condition, and where.
    fn row_claims(&self, writes: &[RowWrite<'_>]) -> BTreeMap<TableKey, Option<Span>> {
        let mut found = BTreeMap::new();
        for write in writes {
            if self.claims_row(write) && !self.is_of_persons(write.name()) {
                found.entry(key(write.name(), write.statement)).or_insert(Some(write.place()));
            }
        }
        for effect in self.effects() {
            let EffectKind::Sql(call) = &effect.kind else { continue };
            for statement in &call.statements {
                let StatementKind::Select(select) = &statement.kind else { continue };
                let skips = select.lock.is_some_and(|lock| lock.skip_locked);
                let [table] = select.tables.as_slice() else { continue };
                if skips && select.predicates.iter().any(names_lease) {
                    found.entry(key(table, statement)).or_insert(Some(effect.span));
                }
            }
        }
        found
    }

    /// Whether a write takes a row that nobody holds, or whose time has run out.
    fn claims_row(&self, write: &RowWrite<'_>) -> bool {
        let StatementKind::Update(update) = &write.statement.kind else { return false };
        let sets = |test: &dyn Fn(&str) -> bool| {
            update.sets.iter().any(|set| test(&set.column) && set.value != Expression::Null)
        };
        let marks = sets(&|column| is_holder(column) || is_time(column));
        let skips = write.whole.text.to_lowercase().contains("skip locked");
        let conditional = update.predicates.iter().any(names_lease);
        marks && (skips || conditional) || skips && sets(&|column| is_state(self.words, column))
    }

    /// Whether the schema says who holds a row and for how long.
    fn holds_by_schema(&self, table: Option<&Table>) -> bool {
        table.is_some_and(|table| {
            let has =
                |test: fn(&str) -> bool| table.columns.iter().any(|column| test(&column.name));
            has(is_holder) && has(is_time) && !self.is_of_persons(&table.name)
        })
    }

    /// Whether the rows of a table are people, their accounts, or the workers themselves.
    fn is_of_persons(&self, table: &TableName) -> bool {
        const SELF: [&str; 8] =
            ["worker", "node", "instance", "runner", "agent", "executor", "session", "device"];
        let words = crate::config::words::split(&table.name);
        let last = words.last().map(|word| word.strip_suffix('s').unwrap_or(word)).unwrap_or("");
        self.words.is(WordList::Person, last) || SELF.contains(&last) || last == "login"
    }

    /// What an UPDATE does to a row lease.
    fn lease_write<'a>(&self, write: &RowWrite<'a>) -> Option<(LeaseWrite, &'a str)> {
        let StatementKind::Update(_) = &write.statement.kind else { return None };
        let sets = write.sets();
        let null = |value: &Expression| *value == Expression::Null;
        let find = |test: &dyn Fn(&Assignment) -> bool| sets.iter().find(|set| test(set));
        let frees =
            find(&|set| (is_holder(&set.column) || is_time(&set.column)) && null(&set.value));
        let takes = find(&|set| is_holder(&set.column) && !null(&set.value));
        let renews = find(&|set| is_time(&set.column) && !null(&set.value));
        let found = takes
            .map(|set| (LeaseWrite::Takes, set))
            .or_else(|| frees.map(|set| (LeaseWrite::Frees, set)))
            .or_else(|| renews.map(|set| (LeaseWrite::Renews, set)))
            .or_else(|| self.state_set(write).map(|set| (LeaseWrite::Finishes, set)));
        found.map(|(does, set)| (does, set.column.as_str()))
    }

    /// The state that a write says its row has come to: not one that puts it back or calls it off.
    pub(super) fn state_set<'a>(&self, write: &RowWrite<'a>) -> Option<&'a Assignment> {
        write.sets().iter().find(|set| {
            let (column, words) = (&set.column, self.words);
            let ended =
                words.located(WordList::Ended, column).is_some_and(|it| it.after.is_empty());
            let goes_on = matches!(&set.value, Expression::Text(state)
                if words.has(WordList::Undo, state) || words.has(WordList::Free, state));
            let state = is_state(words, column);
            (state || ended) && !goes_on && set.value != Expression::Null
        })
    }

    /// Whether a write asks for the row and nothing else, and nothing before it has made sure of it.
    pub(super) fn asks_nobody(&self, write: &RowWrite<'_>) -> bool {
        let StatementKind::Update(update) = &write.statement.kind else { return false };
        let text = write.whole.text.to_lowercase();
        let plain =
            self.asks_for_row_alone(write) || !update.others.is_empty() && self.joins_by_key(write);
        let opaque = |part: &Predicate| match &part.kind {
            PredicateKind::Other(_) | PredicateKind::Exists { .. } => true,
            PredicateKind::In { subquery, .. } => subquery.is_some(),
            kind => kind.columns().into_iter().any(|column| {
                is_holder(column) || is_time(column) || self.words.has(WordList::Status, column)
            }),
        };
        plain
            && update.claims.is_none()
            && !text.contains("for update")
            && !update.sets.iter().any(|set| decides(&set.value))
            && !update.predicates.is_empty()
            && !update.predicates.iter().any(opaque)
            && !self.on_purpose(write)
            && !self.row_is_locked(write)
    }

    /// Whether a write joins its rows by their key, and asks for nothing else.
    fn joins_by_key(&self, write: &RowWrite<'_>) -> bool {
        write.predicates().iter().all(|part| match &part.kind {
            PredicateKind::Compare { column, value: Expression::Column(_), .. } => {
                column == "id" || column.ends_with("_id")
            }
            _ => false,
        })
    }

    /// Whether the function around a write says that it writes whoever holds the row.
    fn on_purpose(&self, write: &RowWrite<'_>) -> bool {
        let name = self.function_around(write).unwrap_or_default();
        let last = name.rsplit("::").next().unwrap_or_default();
        let words = crate::config::words::split(last);
        has_force_word(self.words, last)
            || words.iter().any(|word| ON_PURPOSE.contains(&word.as_str()))
    }
}

/// Whether a value is decided by who holds the row: `CASE WHEN locked_by = $1 THEN … END`.
fn decides(value: &Expression) -> bool {
    matches!(value, Expression::Other(names) if names.iter().any(|name| is_holder(name) || is_time(name)))
}

/// Whether a condition asks who holds a row, or until when.
fn names_lease(predicate: &Predicate) -> bool {
    let named = |column: &str| is_holder(column) || is_time(column);
    match &predicate.kind {
        PredicateKind::Null { column, negated } => named(column) && !negated,
        PredicateKind::Or(sides) => sides.iter().flatten().any(names_lease),
        PredicateKind::Compare { column, .. } => named(column),
        _ => false,
    }
}

/// Whether a locking read on a pool and a write stand in one function and are of one table.
fn same_function(lock: &LockOnPool<'_>, write: &RowWrite<'_>) -> bool {
    let Origin::Call(effect, _) = write.origin else { return false };
    let StatementKind::Select(select) = &lock.statement.kind else { return false };
    effect.site.body == lock.effect.site.body
        && select.tables.iter().any(|table| table.name == write.name().name)
}
