//! Rows that the same transaction has locked or inserted: they are there, whatever the count says.
//!
//! Errs on the side of *no*: without one executor value, a way from the one statement to the other,
//! and no sign that they speak of different rows, nothing is owned.

use super::MOST_CALLS_UP;
use super::routine::owns;
use crate::analysis::Analysis;
use crate::analysis::expiry::comes_after;
use crate::ir::effect::{BodyId, Effect, EffectKind, Executor, Site, SqlCall};
use crate::ir::sql::{
    Comparison, Expression, Predicate, PredicateKind, Statement, StatementKind, TableName,
};
use crate::ir::value::{ValueId, ValueKind};

/// A write as one body sees it: its own, or that of a call which it gives the transaction to.
struct Later<'a> {
    site: Site,
    executor: Located,
    /// What is bound to the statement's placeholders.
    bound: Vec<Located>,
    statement: &'a Statement,
}

/// A value and the body that it is one of.
pub(super) type Located = (BodyId, ValueId);

impl Analysis<'_> {
    /// Whether the same transaction locked or inserted the row before, here or in every caller that
    /// hands it down. On a pool every statement is a transaction of its own.
    pub(in crate::analysis) fn owned_by_transaction(
        &self,
        effect: &Effect,
        call: &SqlCall,
        statement: &Statement,
        table: &TableName,
    ) -> bool {
        let Some(executor) = call.executor_value.filter(|_| call.executor != Executor::Pool) else {
            return false;
        };
        let body = effect.site.body;
        let source = |value: ValueId| self.program.source_of(body, value);
        let later = Later {
            site: effect.site,
            executor: source(executor),
            bound: call.parameters.iter().map(|value| source(*value)).collect(),
            statement,
        };
        self.is_owned(&later, table, MOST_CALLS_UP)
    }

    fn is_owned(&self, later: &Later<'_>, table: &TableName, calls: u32) -> bool {
        let owned = self.program.effects(later.site.body).iter().any(|other| {
            let EffectKind::Sql(earlier) = &other.kind else { return false };
            let same = earlier.executor_value.map(|it| self.program.source_of(other.site.body, it));
            same == Some(later.executor)
                && earlier.executor != Executor::Pool
                && comes_after(self.program, other.site, later.site)
                && earlier.statements.iter().flat_map(|it| it.parts()).any(|before| {
                    owns(before, table)
                        && !self.other_row(other.site.body, (earlier, before), later)
                })
        });
        let Some(calls) = calls.checked_sub(1).filter(|_| !owned) else { return owned };
        let callers = self.graph.run_by(later.site.body);
        let above = |site: &Site| {
            let above = self.seen_from(later, *site);
            above.is_some_and(|above| self.is_owned(&above, table, calls))
        };
        !callers.is_empty() && callers.iter().all(above)
    }

    /// A write as a caller sees it; `None` where its transaction is not the caller's.
    fn seen_from<'a>(&self, later: &Later<'a>, caller: Site) -> Option<Later<'a>> {
        let lift = |value: Located| self.given_by_caller(later.site.body, value, caller);
        Some(Later {
            site: caller,
            executor: lift(later.executor)?,
            bound: later.bound.iter().map(|it| lift(*it).unwrap_or(*it)).collect(),
            statement: later.statement,
        })
    }

    /// What a value of a body is to one of its callers: what it gives for a parameter, or a value from
    /// further out; `None` for what the body makes itself.
    pub(super) fn given_by_caller(
        &self,
        inner: BodyId,
        (body, value): Located,
        caller: Site,
    ) -> Option<Located> {
        match self.program.body(body)?.body.kind(value) {
            _ if body != inner => Some((body, value)),
            ValueKind::Parameter(index) => {
                let outer = &self.program.body(caller.body)?.body;
                let call = outer.call(outer.call_behind(caller.op))?;
                let (given, _) = self.program.bound_arguments(inner, call);
                Some(self.program.source_of(caller.body, *given.get(*index as usize)?))
            }
            _ => None,
        }
    }

    /// Whether two statements bind different values to one column that both ask for.
    fn other_row(
        &self,
        body: BodyId,
        (earlier, before): (&SqlCall, &Statement),
        later: &Later<'_>,
    ) -> bool {
        let known = asked(before);
        asked(later.statement).into_iter().any(|(column, right)| {
            let same = |(other, _): &&(&str, &Expression)| other.eq_ignore_ascii_case(column);
            known.iter().find(same).is_some_and(|(_, left)| match (left, right) {
                (Expression::Placeholder(left), Expression::Placeholder(right)) => {
                    let left = earlier.parameters.get(*left as usize);
                    let left = left.map(|value| self.program.source_of(body, *value));
                    let values = left.zip(later.bound.get(*right as usize).copied());
                    values.is_some_and(|(left, right)| self.differ(left, right))
                }
                _ => false,
            })
        })
    }

    /// Whether two values are plainly two: different parameters or literals.
    fn differ(&self, left: Located, right: Located) -> bool {
        let plain = |(body, value): Located| {
            let own = self.program.body(body).map(|own| own.body.kind(value));
            matches!(own, Some(ValueKind::Parameter(_) | ValueKind::Literal(_)))
        };
        let text = |(body, value): Located| self.program.template(body, value);
        plain(left) && plain(right) && left != right && !text(left).same_text(&text(right))
    }
}

/// The columns that say which row a statement means, and with what.
fn asked(statement: &Statement) -> Vec<(&str, &Expression)> {
    match &statement.kind {
        StatementKind::Select(select) => compared(&select.predicates),
        StatementKind::Update(update) => compared(&update.predicates),
        StatementKind::Delete(delete) => compared(&delete.predicates),
        _ => Vec::new(),
    }
}

fn compared(predicates: &[Predicate]) -> Vec<(&str, &Expression)> {
    let all = predicates.iter().filter_map(|predicate| match &predicate.kind {
        PredicateKind::Compare { column, comparison: Comparison::Equal, value } => {
            Some((column.as_str(), value))
        }
        _ => None,
    });
    all.collect()
}
