//! Rows that the same transaction has locked or inserted: they are there, whatever the count says.
//!
//! Errs on the side of *no*: without one executor value, a way from the one statement to the other,
//! and no sign that they speak of different rows, nothing is owned.

use super::routine::owns;
use crate::analysis::Analysis;
use crate::analysis::expiry::comes_after;
use crate::ir::effect::{BodyId, Effect, EffectKind, Executor, SqlCall};
use crate::ir::sql::{
    Comparison, Expression, Predicate, PredicateKind, Statement, StatementKind, TableName,
};
use crate::ir::value::{ValueId, ValueKind};

impl Analysis<'_> {
    /// Whether the same transaction locked or inserted the row before. On a pool every statement is
    /// a transaction of its own.
    pub(super) fn owned_by_transaction(
        &self,
        effect: &Effect,
        call: &SqlCall,
        statement: &Statement,
        table: &TableName,
    ) -> bool {
        let Some(executor) = call.executor_value.filter(|_| call.executor != Executor::Pool) else {
            return false;
        };
        let runs_on = self.program.source_of(effect.site.body, executor);
        self.program.effects(effect.site.body).iter().any(|other| {
            let EffectKind::Sql(earlier) = &other.kind else { return false };
            let same = earlier.executor_value.map(|it| self.program.source_of(other.site.body, it));
            same == Some(runs_on)
                && earlier.executor != Executor::Pool
                && comes_after(self.program, other.site, effect.site)
                && earlier.statements.iter().flat_map(|it| it.parts()).any(|before| {
                    owns(before, table)
                        && !self.other_row(effect.site.body, (earlier, before), (call, statement))
                })
        })
    }

    /// Whether two statements bind different values to one column that both ask for.
    fn other_row(
        &self,
        body: BodyId,
        (earlier, before): (&SqlCall, &Statement),
        (later, after): (&SqlCall, &Statement),
    ) -> bool {
        let known = asked(before);
        asked(after).into_iter().any(|(column, right)| {
            let same = |(other, _): &&(&str, &Expression)| other.eq_ignore_ascii_case(column);
            known.iter().find(same).is_some_and(|(_, left)| match (left, right) {
                (Expression::Placeholder(left), Expression::Placeholder(right)) => {
                    let bound = |call: &SqlCall, at: u32| call.parameters.get(at as usize).copied();
                    let values = bound(earlier, *left).zip(bound(later, *right));
                    values.is_some_and(|(left, right)| self.differ(body, left, right))
                }
                _ => false,
            })
        })
    }

    /// Whether two values of a body are plainly two: different parameters or literals.
    fn differ(&self, body: BodyId, left: ValueId, right: ValueId) -> bool {
        let known = |value| {
            let (body, source) = self.program.source_of(body, value);
            let kind = self.program.body(body)?.body.kind(source);
            let plain = matches!(kind, ValueKind::Parameter(_) | ValueKind::Literal(_));
            plain.then_some((body, source))
        };
        let (Some(left), Some(right)) = (known(left), known(right)) else { return false };
        let text = |(body, value): (BodyId, ValueId)| self.program.template(body, value);
        left != right && !text(left).same_text(&text(right))
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
