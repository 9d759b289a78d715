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
use crate::link::types::Ty;

/// How many calls down, and how many fields deep, a transaction is followed.
const MOST_CALLS: usize = 3;
/// How many callers all have to own the row.
const MOST_CALLERS: usize = 20;

/// A statement as a body on the way to it sees it.
#[derive(Clone)]
struct Run<'s> {
    statement: &'s Statement,
    /// What runs it: where that comes from, and the fields from there (`self.tx`).
    runner: (Located, Vec<&'s str>),
    /// What is bound to its placeholders.
    bound: Vec<Located>,
}

/// A value and the body that it is one of.
pub(super) type Located = (BodyId, ValueId);

impl Analysis<'_> {
    /// Whether the same transaction locked or inserted the row before: in the same body, in a function
    /// that it handed the transaction to, or in every caller that hands it one. On a pool every statement
    /// is a transaction of its own.
    pub(in crate::analysis) fn owned_by_transaction(
        &self,
        effect: &Effect,
        call: &SqlCall,
        statement: &Statement,
        table: &TableName,
    ) -> bool {
        let run = self.run_of(effect, call, statement);
        run.is_some_and(|run| self.is_owned(effect.site, &run, table, MOST_CALLS_UP))
    }

    fn run_of<'s>(
        &'s self,
        effect: &Effect,
        call: &SqlCall,
        statement: &'s Statement,
    ) -> Option<Run<'s>> {
        let executor = call.executor_value.filter(|_| call.executor != Executor::Pool)?;
        let body = effect.site.body;
        let bound = call.parameters.iter().map(|value| self.program.source_of(body, *value));
        let (runner, bound) = (self.runner(body, executor), bound.collect());
        Some(Run { statement, runner, bound })
    }

    /// What an executor comes from, and the fields from there, the innermost last.
    fn runner(&self, body: BodyId, executor: ValueId) -> (Located, Vec<&str>) {
        let (mut at, mut fields) = (self.program.source_of(body, executor), Vec::new());
        while fields.len() < MOST_CALLS
            && let Some(own) = self.program.body(at.0)
            && let ValueKind::Field { base, name } = own.body.kind(at.1)
        {
            fields.insert(0, name.as_str());
            at = self.program.source_of(at.0, *base);
        }
        (at, fields)
    }

    /// Whether a run that comes to a site, where a statement is run or a call leads to it, owns the row.
    fn is_owned(&self, site: Site, run: &Run<'_>, table: &TableName, calls: u32) -> bool {
        let here = self.program.effects(site.body).iter().any(|other| {
            comes_after(self.program, other.site, site)
                && self.owning(other, table).iter().any(|before| self.is_same_row(before, run))
        });
        let Some(calls) = calls.checked_sub(1).filter(|_| !here) else { return here };
        self.is_owned_by_callee(site, run, table) || {
            let callers = self.graph.run_by(site.body);
            (1..=MOST_CALLERS).contains(&callers.len())
                && callers.iter().all(|caller| {
                    let run = self.lifted_run(run, site.body, *caller);
                    run.is_some_and(|run| self.is_owned(*caller, &run, table, calls))
                })
        }
    }

    /// The runs of an effect's statements that lock or insert a row of a table.
    fn owning<'s>(&'s self, effect: &'s Effect, table: &TableName) -> Vec<Run<'s>> {
        let EffectKind::Sql(call) = &effect.kind else { return Vec::new() };
        let parts = call.statements.iter().flat_map(|it| it.parts());
        let owning = parts.filter(|part| owns(part, table));
        owning.filter_map(|part| self.run_of(effect, call, part)).collect()
    }

    /// Whether a call before a site owns the row: what it runs does with what it is handed.
    fn is_owned_by_callee(&self, site: Site, run: &Run<'_>, table: &TableName) -> bool {
        let Some(own) = self.program.body(site.body) else { return false };
        own.body.calls().any(|(_, op, _)| {
            let call = Site { body: site.body, op };
            comes_after(self.program, call, site)
                && self.owned_at(call, table, MOST_CALLS).iter().any(|it| self.is_same_row(it, run))
        })
    }

    /// The runs that lock or insert a row of a table in what a call runs, as the caller sees them.
    fn owned_at<'s>(&'s self, call: Site, table: &TableName, calls: usize) -> Vec<Run<'s>> {
        let Some(calls) = calls.checked_sub(1) else { return Vec::new() };
        let Some(targets) = self.program.targets(call.body, call.op) else { return Vec::new() };
        let callees = targets.bodies.iter().filter(|body| **body != call.body).take(MOST_CALLERS);
        let runs = callees.flat_map(|callee| {
            let own = self.program.effects(*callee).iter();
            let mut runs: Vec<Run<'s>> = own.flat_map(|it| self.owning(it, table)).collect();
            if let Some(body) = self.program.body(*callee).filter(|_| calls > 0) {
                let inner = body.body.calls().map(|(_, op, _)| Site { body: *callee, op });
                runs.extend(inner.flat_map(|inner| self.owned_at(inner, table, calls)));
            }
            runs.into_iter().filter_map(|run| self.lifted_run(&run, *callee, call))
        });
        runs.collect()
    }

    /// A run of a body as a caller sees it; `None` where the caller does not hand it what runs it, or
    /// hands it a pool.
    fn lifted_run<'s>(&'s self, run: &Run<'s>, callee: BodyId, caller: Site) -> Option<Run<'s>> {
        let lift = |value: Located| self.given_by_caller(callee, value, caller);
        let (root, inner) = &run.runner;
        let (body, root) = lift(*root)?;
        let (root, mut fields) = self.runner(body, root);
        if is_pool(&self.program.type_of(root.0, root.1)) {
            return None;
        }
        fields.extend(inner);
        let bound = run.bound.iter().map(|it| lift(*it).unwrap_or(*it)).collect();
        Some(Run { statement: run.statement, runner: (root, fields), bound })
    }

    /// What a value of a body is to one of its callers: what it gives for a parameter or is called on,
    /// or a value from further out; `None` for what the body makes itself.
    pub(super) fn given_by_caller(
        &self,
        inner: BodyId,
        (body, value): Located,
        caller: Site,
    ) -> Option<Located> {
        let kind = self.program.body(body)?.body.kind(value);
        if body != inner {
            return Some((body, value));
        }
        let outer = &self.program.body(caller.body)?.body;
        let call = outer.call(outer.call_behind(caller.op))?;
        let (given, receiver) = self.program.bound_arguments(inner, call);
        let given = match kind {
            ValueKind::Parameter(index) => *given.get(*index as usize)?,
            ValueKind::Receiver => receiver?,
            _ => return None,
        };
        Some(self.program.source_of(caller.body, given))
    }

    /// Whether two statements run in one transaction, and do not bind different values to one column
    /// that both ask for.
    fn is_same_row(&self, earlier: &Run<'_>, later: &Run<'_>) -> bool {
        let known = asked(earlier.statement);
        let other = |(column, right): (&str, &Expression)| {
            let same = |(other, _): &&(&str, &Expression)| other.eq_ignore_ascii_case(column);
            known.iter().find(same).is_some_and(|(_, left)| match (left, right) {
                (Expression::Placeholder(left), Expression::Placeholder(right)) => {
                    let bound = |run: &Run<'_>, at: u32| run.bound.get(at as usize).copied();
                    let values = bound(earlier, *left).zip(bound(later, *right));
                    values.is_some_and(|(left, right)| self.differ(left, right))
                }
                _ => false,
            })
        };
        earlier.runner == later.runner && !asked(later.statement).into_iter().any(other)
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

/// Whether a type is a pool of connections.
fn is_pool(ty: &Ty) -> bool {
    let Ty::External { path, .. } = ty.payload() else { return false };
    path.last().is_some_and(|name| name.ends_with("Pool") || name == "DatabaseConnection")
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
