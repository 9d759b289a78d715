//! Tests of what a store holds, and what is done after them in another command: between the two, the
//! answer may have changed.

use std::collections::BTreeSet;

use super::Analysis;
use super::derived::Derived;
use super::expiry::{EXPIRES, comes_after};
use super::lease::KeyKind;
use super::lock_words::has_lock_word;
use super::row_write::{Origin, RowWrite};
use crate::config::words::{WordList, split};
use crate::ir::body::{BlockId, Body, OpId, Terminator};
use crate::ir::effect::{BodyId, Condition, Effect, EffectKind, Expiry, Key, RedisCommand, Site};
use crate::ir::key::KeyPart;
use crate::ir::sql::{Comparison, Expression, Insert, PredicateKind, Select, StatementKind};
use crate::ir::value::{Literal, ValueId, ValueKind};
use crate::source::Span;

/// What is done after the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A counter of what is left, or of anything, is moved.
    Counter,
    /// A counter of a rate limit is moved: a few more are let through.
    Limiter,
    /// A marker is set that was not there.
    Marker,
    /// A value for one use is deleted after it was read.
    Secret,
    /// A row is inserted that was not there.
    Row,
}

/// A test and what is done after it.
#[derive(Clone, Debug)]
pub struct CheckThenAct<'a> {
    /// What is done.
    pub act: Act,
    /// The command or statement that does it.
    pub effect: &'a Effect,
    /// The command or statement that was asked before.
    pub check: &'a Effect,
    /// What is tested and changed, for messages.
    pub what: String,
    /// Where the answer is tested.
    pub tested: Span,
    /// Whether a lease is held.
    pub under_lease: bool,
}

/// Commands that tell what a key holds.
const READS: [&str; 6] = ["GET", "EXISTS", "HGET", "HEXISTS", "SISMEMBER", "STRLEN"];
const MOVES: [&str; 6] = ["INCR", "INCRBY", "DECR", "DECRBY", "HINCRBY", "INCRBYFLOAT"];
const DELETES: [&str; 3] = ["DEL", "UNLINK", "HDEL"];
/// Words of keys that hold a value for one use.
const ONCE: [&str; 10] = [
    "once",
    "voucher",
    "coupon",
    "challenge",
    "pkce",
    "redeem",
    "claimable",
    "onetime",
    "gift",
    "verifier",
];
/// Words of counters that limit how often something is done.
const LIMITS: [&str; 9] = [
    "rate",
    "limit",
    "limiter",
    "throttle",
    "attempts",
    "quota",
    "window",
    "requests",
    "ratelimit",
];

impl Analysis<'_> {
    /// All tests whose answer may have changed when something is done on it.
    #[must_use]
    pub fn checks_then_acts(&self) -> Vec<CheckThenAct<'_>> {
        let mut found = Vec::new();
        for own in &self.program.bodies {
            let effects = self.program.effects(own.id);
            let watched = effects.iter().any(|effect| {
                effect.in_script()
                    || matches!(&effect.kind, EffectKind::Redis(command) if command.is(&["WATCH"]))
            });
            if watched {
                continue;
            }
            for effect in effects {
                if let EffectKind::Redis(command) = &effect.kind {
                    found.extend(self.command_after_test(own.id, &own.body, effect, command));
                }
            }
        }
        let writes = self.row_writes();
        found.extend(writes.iter().filter_map(|write| self.insert_after_test(write)));
        found
    }

    fn command_after_test<'a>(
        &'a self,
        id: BodyId,
        body: &Body,
        effect: &'a Effect,
        command: &RedisCommand,
    ) -> Option<CheckThenAct<'a>> {
        let key = command.keys.first()?;
        if command.batch.is_some_and(|batch| batch.atomic) && command.is(&["GET"]) {
            return None;
        }
        let is_lease = self.leases.releases().any(|(_, release)| {
            release.site == effect.site && self.leases.class(release).kind == KeyKind::Lease
        }) || self.leases.acquires().any(|(_, acquire)| acquire.site == effect.site);
        if is_lease {
            return None;
        }
        self.program.effects(id).iter().find_map(|check| {
            let EffectKind::Redis(read) = &check.kind else { return None };
            let same = read.is(&READS)
                && read.keys.first().is_some_and(|it| same_key(body, it, key))
                && comes_after(self.program, check.site, effect.site);
            let act = same.then(|| self.act(id, body, (read, command), key))??;
            let start = check.reply.into_iter().chain(result(body, check.site));
            let derived = Derived::from(self.program, id, start);
            let tested = decides(body, &derived, id, effect.site.op)?;
            let given = act != Act::Secret || self.is_given(id, body, &derived);
            given.then(|| CheckThenAct {
                act,
                effect,
                check,
                what: format!("`{}`", key.template),
                tested,
                under_lease: self.is_held(effect.site),
            })
        })
    }

    /// What a command does to the key that was asked for.
    fn act(
        &self,
        id: BodyId,
        body: &Body,
        (read, command): (&RedisCommand, &RedisCommand),
        key: &Key,
    ) -> Option<Act> {
        let words = self.key_words(body, key);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        if command.is(&MOVES) && read.is(&["GET", "HGET"]) {
            let expires = self.program.effects(id).iter().any(|other| match &other.kind {
                EffectKind::Redis(other) => {
                    (other.is(&EXPIRES) || other.expiry != Expiry::None)
                        && other.keys.iter().any(|it| same_key(body, it, key))
                }
                _ => false,
            });
            return Some(if has(&LIMITS) || expires { Act::Limiter } else { Act::Counter });
        }
        if command.is(&["SET", "SETEX", "PSETEX"])
            && command.condition == Condition::None
            && read.is(&["EXISTS"])
            && !has_lock_word(self.words, &key.template.literals())
            && command.value.is_some_and(|value| is_literal(body, value))
        {
            return Some(Act::Marker);
        }
        let secret = || {
            has(&ONCE)
                || words.iter().any(|word| {
                    self.words.is(WordList::Secret, word) && word != "code" && word != "token"
                })
                || self.words.has(WordList::Secret, &words.join("_"))
                    && !self.words.has(WordList::Session, &words.join("_"))
        };
        let deletes = command.is(&DELETES) && command.keys.len() == 1 && read.is(&["GET", "HGET"]);
        (deletes && secret()).then_some(Act::Secret)
    }

    /// The words of a key: of its text, its holes and the variable that holds it.
    fn key_words(&self, body: &Body, key: &Key) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for part in &key.template.parts {
            match part {
                KeyPart::Text(text) => words.extend(split(text)),
                KeyPart::Hole(hole) => {
                    words.extend(split(hole.label.rsplit('.').next().unwrap_or_default()))
                }
            }
        }
        let name = key.value.and_then(|value| body.value(body.peel(value))?.name.clone());
        words.extend(name.iter().flat_map(|name| split(name)));
        words
    }

    /// Whether a value that was read is given back or compared: it is used up, not only cleared away.
    fn is_given(&self, id: BodyId, body: &Body, derived: &Derived) -> bool {
        let returned = body.blocks.iter().any(|block| match &block.end {
            Terminator::Return { value: Some(value), .. } => derived.has(id, *value),
            _ => false,
        });
        let compared = body.values.iter().any(|value| match &value.kind {
            ValueKind::Binary { operator, left, right } => {
                operator.compares() && (derived.has(id, *left) || derived.has(id, *right))
            }
            _ => false,
        });
        returned || compared
    }

    /// Whether an operation may run while a lease is held.
    fn is_held(&self, site: Site) -> bool {
        self.regions
            .iter()
            .any(|region| self.run_while_held(region).iter().any(|(held, _)| *held == site))
    }

    /// An INSERT behind a test that the row is not there, in a table that would take it twice.
    fn insert_after_test<'a>(&'a self, write: &RowWrite<'a>) -> Option<CheckThenAct<'a>> {
        let Origin::Call(effect, call) = write.origin else { return None };
        let StatementKind::Insert(insert) = &write.statement.kind else { return None };
        let id = effect.site.body;
        let own = self.program.body(id)?;
        if insert.on_conflict.is_some()
            || write.whole.text.to_lowercase().contains("not exists")
            || call.parameters.is_empty()
            || self.row_is_locked_table(write)
        {
            return None;
        }
        self.program.effects(id).iter().find_map(|check| {
            let EffectKind::Sql(asked) = &check.kind else { return None };
            let [statement] = asked.statements.as_slice() else { return None };
            let StatementKind::Select(select) = &statement.kind else { return None };
            let columns = asked_columns(select, &statement.text, &insert.table.name)?;
            let shares = asked.parameters.iter().any(|left| {
                let left = self.program.source_of(id, *left);
                call.parameters.iter().any(|right| self.program.source_of(id, *right) == left)
            });
            if select.lock.is_some()
                || !shares
                || !comes_after(self.program, check.site, effect.site)
                || !self.takes_twice(write, insert, &columns)
            {
                return None;
            }
            let result = own.body.call(own.body.call_behind(check.site.op)).map(|call| call.result);
            let derived = Derived::from(self.program, id, check.reply.into_iter().chain(result));
            let tested = decides(&own.body, &derived, id, effect.site.op)?;
            Some(CheckThenAct {
                act: Act::Row,
                effect,
                check,
                what: format!("a row of `{}`", insert.table.name),
                tested,
                under_lease: self.is_held(effect.site),
            })
        })
    }

    fn row_is_locked_table(&self, write: &RowWrite<'_>) -> bool {
        // An INSERT owns its own row; what counts is whether one transaction at a time comes through.
        let Origin::Call(effect, _) = write.origin else { return true };
        self.is_alone(effect.site)
    }

    /// Whether a table is known to have no key over the columns that were asked for; where its schema is
    /// not known, whether it is one of things that come once.
    fn takes_twice(&self, write: &RowWrite<'_>, insert: &Insert, columns: &[&str]) -> bool {
        match write.table.filter(|table| !table.from_code) {
            Some(table) => {
                let in_key = |key: &[String]| {
                    key.is_empty()
                        || columns.is_empty()
                        || key
                            .iter()
                            .any(|part| columns.iter().any(|own| own.eq_ignore_ascii_case(part)))
                };
                let given =
                    |part: &String| insert.columns.iter().any(|own| own.eq_ignore_ascii_case(part));
                let primary = !table.primary_key.is_empty()
                    && table.primary_key.iter().all(given)
                    && in_key(&table.primary_key);
                !primary && !table.uniques.iter().any(|unique| in_key(&unique.columns))
            }
            None => {
                const ONCE_TABLES: [&str; 6] =
                    ["webhook", "processed", "dedup", "inbox", "idempotency", "delivery"];
                let words = split(&insert.table.name);
                let once = |word: &String| {
                    ONCE_TABLES.contains(&word.strip_suffix('s').unwrap_or(word))
                        || word == "deliveries"
                };
                words.iter().any(once)
                    || columns.iter().any(|column| self.words.has(WordList::Idempotency, column))
            }
        }
    }
}

/// The columns that a test for a row compares with given values; `None` when it is no such test.
fn asked_columns<'s>(select: &'s Select, text: &str, table: &str) -> Option<Vec<&'s str>> {
    // The conditions of `SELECT EXISTS (SELECT 1 FROM t WHERE …)` are inside; as a column they are not
    // known, and any key may be over them.
    let mut predicates = select.predicates.iter().collect::<Vec<_>>();
    let mut tables: Vec<&str> = select.tables.iter().map(|table| table.name.as_str()).collect();
    for part in &select.predicates {
        if let PredicateKind::Exists { subquery, negated: false } = &part.kind {
            predicates.extend(&subquery.predicates);
            tables.extend(subquery.tables.iter().map(|table| table.name.as_str()));
        }
    }
    let text = text.to_lowercase();
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    if predicates.is_empty() && text.contains("exists") && words.any(|word| word == table) {
        return Some(Vec::new());
    }
    if !tables.contains(&table) {
        return None;
    }
    let mut columns = Vec::new();
    for part in predicates {
        match &part.kind {
            PredicateKind::Compare { column, comparison: Comparison::Equal, value } => {
                if matches!(value, Expression::Placeholder(_) | Expression::Hole) {
                    columns.push(column.as_str());
                }
            }
            PredicateKind::Exists { .. } | PredicateKind::Null { .. } => {}
            _ => return None,
        }
    }
    (!columns.is_empty()).then_some(columns)
}

fn same_key(body: &Body, left: &Key, right: &Key) -> bool {
    let values = left.value.zip(right.value);
    left.template.same_text(&right.template)
        || values.is_some_and(|(left, right)| body.peel(left) == body.peel(right))
}

fn result(body: &Body, site: Site) -> Option<ValueId> {
    body.call(body.call_behind(site.op)).map(|call| call.result)
}

fn is_literal(body: &Body, value: ValueId) -> bool {
    matches!(
        body.kind(body.peel(value)),
        ValueKind::Literal(Literal::Text(_) | Literal::Integer(_) | Literal::Boolean(_))
    )
}

/// The branch on some values that decides whether an operation is reached: one of its ways leads there
/// and another does not.
fn decides(body: &Body, derived: &Derived, id: BodyId, op: OpId) -> Option<Span> {
    let (target, _) = body.position(op)?;
    body.blocks.iter().find_map(|block| {
        let Terminator::Branch { test, then, otherwise, span } = &block.end else { return None };
        if !derived.tests(id, test) {
            return None;
        }
        let leads = |from: BlockId| {
            let reached: BTreeSet<BlockId> = body.reachable([from], |block| block.end.successors());
            reached.contains(&target)
        };
        (leads(*then) != leads(*otherwise)).then_some(*span)
    })
}
