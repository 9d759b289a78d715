//! Writes that should compare a fencing number, or a version, and do not.

use std::collections::{BTreeMap, BTreeSet};

use super::Analysis;
use super::row_guard::{Guard, row_guard};
use super::row_write::{Origin, RowWrite};
use crate::config::words::WordList;
use crate::ir::body::Callee;
use crate::ir::effect::{BodyId, Effect, EffectKind};
use crate::ir::sql::{Comparison, Expression, Predicate, PredicateKind, Statement, StatementKind};
use crate::ir::value::{ValueId, ValueKind};
use crate::source::Span;

/// What is wrong with a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfenced {
    /// It writes the number and does not compare it.
    NotCompared,
    /// It compares the wrong way round: it is let in when its number is the older one.
    WrongWay(Span),
    /// The number is at hand, named so, and the write does not carry it.
    NotCarried(Span),
    /// Other writes of the table compare the number.
    OthersCompare(Span),
}

/// A write that a stale writer is let in by.
#[derive(Clone, Debug)]
pub struct FenceFinding<'a> {
    /// The write.
    pub write: RowWrite<'a>,
    /// The column, or the name of the value.
    pub name: String,
    /// What is wrong.
    pub fault: Unfenced,
    /// Whether the column is a fencing number for sure; else a version.
    pub fence: bool,
}

/// Numbers that are given out with a lease, by name.
const FENCES: [&str; 7] = [
    "fence",
    "fencing",
    "fencing_token",
    "fence_token",
    "writer_fence",
    "lease_version",
    "lease_term",
];
/// Tokens that a holder is known by.
const TOKENS: [&str; 5] =
    ["lock_token", "lease_token", "claim_token", "owner_token", "claim_epoch"];

impl Analysis<'_> {
    /// Writes that should compare a fencing number or a version.
    #[must_use]
    pub fn fence_faults(&self) -> Vec<FenceFinding<'_>> {
        let writes = self.row_writes();
        let fenced = self.fenced_tables(&writes);
        let mut found = Vec::new();
        for write in &writes {
            let StatementKind::Update(_) = &write.statement.kind else { continue };
            let fault = self
                .written_uncompared(write, &fenced)
                .or_else(|| self.not_carried(write))
                .or_else(|| self.others_compare(write, &fenced));
            if let Some((name, fault, fence)) = fault {
                found.push(FenceFinding { write: *write, name, fault, fence });
            }
        }
        found
    }

    /// The tables of which some UPDATE compares a fencing number or a version: the columns and where.
    pub(super) fn fenced_tables(
        &self,
        writes: &[RowWrite<'_>],
    ) -> BTreeMap<String, BTreeMap<String, Span>> {
        let mut found: BTreeMap<String, BTreeMap<String, Span>> = BTreeMap::new();
        for write in writes {
            if !matches!(write.statement.kind, StatementKind::Update(_)) {
                continue;
            }
            for part in write.predicates() {
                let PredicateKind::Compare { column, value, .. } = &part.kind else { continue };
                let given = matches!(
                    value,
                    Expression::Placeholder(_) | Expression::Hole | Expression::Column(_)
                );
                if given
                    && (self.words.has(WordList::Fence, column)
                        || self.words.has(WordList::Version, column))
                {
                    let table = found.entry(write.name().name.clone()).or_default();
                    table.entry(column.clone()).or_insert_with(|| write.place());
                }
            }
        }
        found.remove("");
        found
    }

    /// Whether a column is a fencing number by its name alone.
    fn is_sure_fence(&self, column: &str) -> bool {
        let found = self.words.located(WordList::Fence, column);
        found.is_some_and(|found| {
            FENCES.contains(&found.entry.as_str())
                && found
                    .after
                    .iter()
                    .all(|word| matches!(word.as_str(), "token" | "number" | "no" | "seq"))
        })
    }

    fn written_uncompared(
        &self,
        write: &RowWrite<'_>,
        fenced: &BTreeMap<String, BTreeMap<String, Span>>,
    ) -> Option<(String, Unfenced, bool)> {
        let compared = fenced.get(&write.name().name);
        for set in write.sets() {
            let column = &set.column;
            let fence = self.is_sure_fence(column);
            let known = compared.is_some_and(|columns| columns.contains_key(column));
            if !fence && !known {
                continue;
            }
            let given = matches!(
                set.value,
                Expression::Placeholder(_) | Expression::Hole | Expression::Column(_)
            );
            let wrong = write.predicates().iter().find(|part| wrong_way(part, column, &set.value));
            if let Some(part) = wrong.filter(|_| given) {
                return Some((column.clone(), Unfenced::WrongWay(part.span), fence));
            }
            let mentioned = write.predicates().iter().any(|part| mentions(part, column));
            let moved =
                set.value.columns().contains(&column.as_str()) && known && self.overwrites(write);
            if !mentioned
                && (given || moved)
                && self.is_open(write)
                && !self.compared_before(write, column)
            {
                return Some((column.clone(), Unfenced::NotCompared, fence));
            }
        }
        None
    }

    /// Whether a write sets a column to a value that does not come from the row.
    fn overwrites(&self, write: &RowWrite<'_>) -> bool {
        write.sets().iter().any(|set| {
            matches!(set.value, Expression::Placeholder(_))
                && !self.words.has(WordList::Touch, &set.column)
                && !self.words.has(WordList::Clock, &set.column)
        })
    }

    /// Whether a write names its row and nothing that keeps a stale writer out.
    fn is_open(&self, write: &RowWrite<'_>) -> bool {
        let guard = row_guard(write.statement, write.table, self.words).map(|found| found.guard);
        let subquery = write.predicates().iter().any(|part| {
            matches!(
                part.kind,
                PredicateKind::Exists { .. } | PredicateKind::In { subquery: Some(_), .. }
            )
        });
        !subquery
            && (self.asks_for_row_alone(write)
                || matches!(guard, Some(Guard::Status { .. } | Guard::Touch)))
    }

    /// Whether the row is locked and its number compared in the same transaction. In code, what is locked
    /// is taken to be compared.
    fn compared_before(&self, write: &RowWrite<'_>, column: &str) -> bool {
        if !self.row_is_locked(write) {
            return false;
        }
        let Origin::Routine(before, _) = write.origin else { return true };
        let variables: Vec<&str> = before
            .iter()
            .filter_map(|statement| match &statement.kind {
                StatementKind::Select(select) => Some(select),
                _ => None,
            })
            .flat_map(|select| {
                let at = select.columns.iter().position(|name| name == column || name == "*");
                let variable =
                    at.and_then(|at| select.into.get(at).or_else(|| select.into.first()));
                variable.map(String::as_str)
            })
            .collect();
        let tested = |statement: &Statement| match &statement.kind {
            StatementKind::Test(parts) => parts.iter().any(|part| {
                variables.iter().any(|variable| mentions(part, variable)) || mentions(part, column)
            }),
            _ => false,
        };
        before.iter().any(tested)
    }

    /// A fencing number or a holder's token that the function was given and that its write leaves out.
    fn not_carried(&self, write: &RowWrite<'_>) -> Option<(String, Unfenced, bool)> {
        let Origin::Call(effect, call) = write.origin else { return None };
        let own = self.program.body(effect.site.body)?;
        let columns = write.sets().iter().map(|set| set.column.as_str());
        let asked = write.predicates().iter().flat_map(|part| part.kind.columns());
        let fenced = columns.chain(asked).any(|column| {
            [WordList::Fence, WordList::Owner, WordList::Version]
                .iter()
                .any(|list| self.words.has(*list, column))
        });
        if fenced || !self.is_open(write) || self.row_is_locked(write) || call.parameters.is_empty()
        {
            return None;
        }
        let roots: BTreeSet<(BodyId, ValueId)> =
            call.parameters.iter().map(|value| self.root(effect.site.body, *value)).collect();
        let ids =
            (0..own.body.values.len()).filter_map(|index| u32::try_from(index).ok().map(ValueId));
        ids.filter_map(|value| {
            let name = match own.body.kind(value) {
                ValueKind::Parameter(_) => own.body.value(value)?.name.clone()?,
                ValueKind::Field { name, .. } => name.clone(),
                _ => return None,
            };
            let root = self.root(effect.site.body, value);
            let whole = matches!(own.body.kind(value), ValueKind::Parameter(_));
            let together = whole || roots.contains(&root);
            let fence = self.is_sure_fence(&name);
            let unused = matches!(name.as_str(), "_token" | "_fence" | "_owner" | "_lock");
            let token = unused || TOKENS.iter().any(|token| name.trim_start_matches('_') == *token);
            let given = fence || token && whole;
            let place = own.body.value(value)?.span;
            (given && together && self.goes_nowhere(effect, value)).then_some((
                name,
                Unfenced::NotCarried(place),
                true,
            ))
        })
        .next()
    }

    /// The parameter or receiver that a value is a part of.
    fn root(&self, body: BodyId, value: ValueId) -> (BodyId, ValueId) {
        let (mut body, mut value) = self.program.source_of(body, value);
        for _ in 0..16 {
            let Some(own) = self.program.body(body) else { break };
            let ValueKind::Field { base, .. } = own.body.kind(own.body.peel(value)) else { break };
            (body, value) = self.program.source_of(body, *base);
        }
        (body, value)
    }

    /// Whether no call of the function is given a value, printing left out, and nothing tests it.
    fn goes_nowhere(&self, effect: &Effect, value: ValueId) -> bool {
        let program = self.program;
        let body = effect.site.body;
        let Some(own) = program.body(body) else { return false };
        let source = program.source_of(body, value);
        let same = |other: ValueId| {
            program.source_of(body, other) == source
                || self
                    .field_text(body, other)
                    .is_some_and(|text| Some(text) == self.field_text(body, value))
        };
        let bound = program.effects(body).iter().any(|other| match &other.kind {
            EffectKind::Sql(call) => call.parameters.iter().any(|it| same(*it)),
            _ => false,
        });
        let logs = |op| {
            program
                .effects(body)
                .iter()
                .any(|other| other.site.op == op && matches!(other.kind, EffectKind::Log { .. }))
        };
        let given = own.body.calls().any(|(_, op, call)| {
            let prints = matches!(call.callee, Callee::Macro(_)) || logs(op);
            !prints && call.arguments.iter().any(|argument| same(argument.value))
        });
        let compared = own.body.values.iter().any(|it| match &it.kind {
            ValueKind::Binary { left, right, .. } => same(*left) || same(*right),
            ValueKind::Aggregate { fields, .. } => fields.iter().any(|(_, it)| same(*it)),
            _ => false,
        });
        !bound && !given && !compared
    }

    /// `held.fence`, by the root and the field's name.
    fn field_text(&self, body: BodyId, value: ValueId) -> Option<((BodyId, ValueId), String)> {
        let own = self.program.body(body)?;
        match own.body.kind(own.body.peel(value)) {
            ValueKind::Field { name, .. } => Some((self.root(body, value), name.clone())),
            _ => None,
        }
    }

    /// A write of the state where other writes of the table compare a fencing number.
    fn others_compare(
        &self,
        write: &RowWrite<'_>,
        fenced: &BTreeMap<String, BTreeMap<String, Span>>,
    ) -> Option<(String, Unfenced, bool)> {
        let columns = fenced.get(&write.name().name)?;
        let (column, place) =
            columns.iter().find(|(name, _)| self.words.has(WordList::Fence, name))?;
        let states = self.state_set(write).is_some();
        let spoken = write.sets().iter().any(|set| set.column == *column)
            || write.predicates().iter().any(|part| mentions(part, column));
        (states && !spoken && self.asks_nobody(write))
            .then(|| (column.clone(), Unfenced::OthersCompare(*place), true))
    }
}

/// Whether a condition lets a writer in whose number is the older one: `fence > $new`, where `$new` is
/// what the column is set to.
fn wrong_way(predicate: &Predicate, column: &str, new: &Expression) -> bool {
    match &predicate.kind {
        PredicateKind::Compare { column: left, comparison, value } => {
            left.eq_ignore_ascii_case(column)
                && matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual)
                && value == new
        }
        _ => false,
    }
}

fn mentions(predicate: &Predicate, column: &str) -> bool {
    predicate.kind.columns().into_iter().any(|name| name.eq_ignore_ascii_case(column))
}
