//! Guarded database writes whose row count nobody looks at.

use std::collections::BTreeSet;

use super::Analysis;
use super::region::Region;
use super::result_use::{ResultUse, count_use, failure_use, presence_use, result_use};
use super::row_guard::{Guard, RowGuard, Weight, row_guard};
use crate::catalog::ApiEffect;
use crate::config::{Confidence, Severity};
use crate::ir::body::BodyKind;
use crate::ir::effect::{BodyId, Effect, EffectKind, Site, SqlCall, ZeroRows};
use crate::ir::index::TypeRef;
use crate::ir::sql::{Insert, Statement, StatementKind, TableName};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::evaluate::{is_failure, returned_values};
use crate::link::types::Ty;
use crate::source::Span;

mod annotated;
mod owned;
mod routine;
mod told;

use owned::Located;

/// How many calls up the code around a write is looked at.
const MOST_CALLS_UP: u32 = 4;

pub use annotated::AnnotatedWrite;
pub(super) use annotated::annotation as annotation_of;
pub use routine::RoutineWrite;
pub(super) use routine::owns;

/// A guarded write whose count is dropped.
#[derive(Clone, Debug)]
pub struct GuardedWrite {
    /// `UPDATE`, `DELETE`, `INSERT`.
    pub verb: &'static str,
    /// What guards it, for messages: "guarded by a version check of `version`".
    pub guard: String,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The guard's predicate.
    pub predicate: Option<Span>,
    /// What goes unnoticed, for messages.
    pub unnoticed: &'static str,
}

impl GuardedWrite {
    fn new(verb: &'static str, found: &RowGuard, confidence: Confidence) -> Self {
        let column = found.column.as_ref().map(|column| format!(" of `{column}`"));
        let unnoticed = match found.guard {
            Guard::Lookup => "an unknown key counts as done",
            Guard::OwnRelease => "a lease that was lost before counts as given back",
            _ => "a lost race counts as done",
        };
        let noun = found.guard.noun();
        let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        Self {
            verb,
            guard: format!("guarded by {article} {noun}{}", column.unwrap_or_default()),
            severity: if found.guard == Guard::Lookup { Severity::Note } else { Severity::Error },
            confidence,
            predicate: found.span,
            unnoticed,
        }
    }

    /// A write by key alone while a lease is held.
    fn under_lease(verb: &'static str) -> Self {
        Self {
            verb,
            guard: "by key alone under a lease".to_owned(),
            severity: Severity::Note,
            confidence: Confidence::Medium,
            predicate: None,
            unnoticed: "a row that is gone counts as done",
        }
    }
}

impl Analysis<'_> {
    /// What is wrong with a database call that drops its row count; `None` when it does not, or when
    /// the count tells nothing.
    #[must_use]
    pub fn guarded_write(
        &self,
        effect: &Effect,
        call: &SqlCall,
        statement: &Statement,
    ) -> Option<GuardedWrite> {
        let lost = writes(statement) && self.count_is_lost(effect, call, statement.gives_rows());
        lost.then(|| self.judged(effect, call, statement))?
    }

    /// What is wrong where a function gives back the count of a guarded write, or what it says, and
    /// a caller drops it: the write and those calls, in order.
    #[must_use]
    pub fn guarded_write_of_callee(
        &self,
        effect: &Effect,
        call: &SqlCall,
        statement: &Statement,
    ) -> Option<(GuardedWrite, Vec<Site>)> {
        if !writes(statement)
            || matches!(call.zero_rows, ZeroRows::Error | ZeroRows::Lost)
            || matches!(call.zero_rows, ZeroRows::Rows) && !statement.gives_rows()
        {
            return None;
        }
        let program = self.program;
        if !matches!(presence_use(program, effect.site), ResultUse::Returned(_)) {
            return None;
        }
        let returning = self.returning(effect.site.body)?;
        let callers = program.callers(returning);
        let only_fails = self.tells_by_failure_alone(returning);
        let drops = |site: &&Site| match only_fails {
            Some(false) => presence_use(program, **site) == ResultUse::Dropped,
            Some(true) | None => failure_use(program, **site) == ResultUse::Dropped,
        };
        let dropping: Vec<Site> = callers.iter().filter(drops).copied().collect();
        if dropping.is_empty() {
            return None;
        }
        let mut write = self.judged(effect, call, statement)?;
        if write.severity != Severity::Error {
            return None;
        }
        // Where others look at it, it may be that it does not matter here.
        let all = dropping.len() == callers.len();
        write.confidence =
            write.confidence.min(if all { Confidence::Medium } else { Confidence::Low });
        Some((write, dropping))
    }

    /// Whether all that a body can say is that it failed: its success holds nothing. `None` where it is
    /// not known what it gives back.
    fn tells_by_failure_alone(&self, body: BodyId) -> Option<bool> {
        if let Some(declared) = self.program.declared_result(body) {
            return Some(declared.payload().is_some_and(TypeRef::is_unit));
        }
        let own = self.program.body(body)?;
        let returned = returned_values(&own.body).into_iter();
        let told = returned.filter(|value| !is_failure(&own.body, *value));
        let held = told.map(|value| match self.program.type_of(body, value) {
            ty if !ty.is_fallible() => (!ty.is_unknown()).then_some(false),
            ty => match ty.argument(0) {
                Ty::Unknown => None,
                Ty::Tuple(parts) => Some(parts.is_empty()),
                _ => Some(false),
            },
        });
        let held: Vec<Option<bool>> = held.collect();
        match held.contains(&Some(false)) {
            true => Some(false),
            false => held.first().copied().flatten().filter(|_| !held.contains(&None)),
        }
    }

    /// The closure or function that gives back what a body does.
    fn returning(&self, body: BodyId) -> Option<BodyId> {
        let around = std::iter::successors(Some(body), |body| self.program.body(*body)?.parent);
        let gives = |body: &BodyId| {
            let own = self.program.body(*body);
            own.is_some_and(|own| own.body.kind != BodyKind::Async)
        };
        around.into_iter().find(gives)
    }

    /// What a write whose count is lost means: its first part that has a guard.
    fn judged(
        &self,
        effect: &Effect,
        call: &SqlCall,
        statement: &Statement,
    ) -> Option<GuardedWrite> {
        statement.parts().iter().find_map(|part| self.judged_part(effect, call, part))
    }

    fn judged_part(
        &self,
        effect: &Effect,
        call: &SqlCall,
        statement: &Statement,
    ) -> Option<GuardedWrite> {
        let (verb, name) = written(statement)?;
        if self.owned_by_transaction(effect, call, statement, name) {
            return None;
        }
        let from = self.program.tree.file(effect.span.file).map_or("", |file| file.path.as_str());
        let found = row_guard(statement, self.schemas.table(name, from), self.words)?;
        if self.told_otherwise(effect, call, statement, found.guard) {
            return None;
        }
        let confidence = match (found.guard.weight(), found.guard) {
            (Weight::Full, _) => Confidence::High,
            (Weight::Doubtful, Guard::InsertOnce)
                if self.acts_as_first(effect, call, statement) =>
            {
                Confidence::Medium
            }
            // Told as a note: the key is all that the condition says.
            (Weight::Doubtful, Guard::Lookup) => Confidence::Medium,
            (Weight::Doubtful, _) => Confidence::Low,
            (Weight::None, Guard::IdentityOnly)
                if verb == "UPDATE" && self.is_under_lease(effect.site) =>
            {
                return Some(GuardedWrite::under_lease(verb));
            }
            (Weight::None, _) => return None,
        };
        Some(GuardedWrite::new(verb, &found, confidence))
    }

    /// Whether an operation runs while a lease is held: its own body's, or that of all callers.
    fn is_under_lease(&self, site: Site) -> bool {
        self.is_held_at(site, MOST_CALLS_UP)
    }

    fn is_held_at(&self, site: Site, calls: u32) -> bool {
        let holds =
            |region: &Region| region.point.site.body == site.body && region.held.contains(&site.op);
        if self.regions.iter().any(holds) {
            return true;
        }
        let Some(calls) = calls.checked_sub(1) else { return false };
        let callers = self.graph.run_by(site.body);
        !callers.is_empty() && callers.iter().all(|caller| self.is_held_at(*caller, calls))
    }

    /// Whether nothing looks at how many rows were hit.
    fn count_is_lost(&self, effect: &Effect, call: &SqlCall, returns: bool) -> bool {
        let lost = match call.zero_rows {
            ZeroRows::Error => false,
            ZeroRows::Lost => true,
            // An empty reply tells only when the statement returns rows.
            ZeroRows::Rows if !returns => true,
            ZeroRows::Rows => presence_use(self.program, effect.site) == ResultUse::Dropped,
            _ => count_use(self.program, effect.site) == ResultUse::Dropped,
        };
        lost && !self.asked_of_connection(effect, call)
    }

    /// Whether the count of a guarded write goes where nobody follows it.
    #[must_use]
    pub fn count_leaves_sight(&self, effect: &Effect, call: &SqlCall) -> bool {
        let passed = || matches!(presence_use(self.program, effect.site), ResultUse::Passed(_));
        let asked = !matches!(call.zero_rows, ZeroRows::Error | ZeroRows::Lost);
        let guarded = |statement: &Statement| {
            writes(statement) && self.judged(effect, call, statement).is_some()
        };
        asked && call.statements.iter().any(|statement| guarded(statement)) && passed()
    }

    /// Whether the count is asked of the connection afterwards: `conn.changes()`,
    /// `conn.affected_rows()`.
    fn asked_of_connection(&self, effect: &Effect, call: &SqlCall) -> bool {
        let program = self.program;
        let (Some(own), Some(executor)) = (program.body(effect.site.body), call.executor_value)
        else {
            return false;
        };
        let executor = program.source_of(own.id, executor);
        own.body.calls().any(|(_, op, asks)| {
            let site = Site { body: own.id, op };
            let counts = program
                .targets(own.id, op)
                .is_some_and(|it| it.apis.iter().any(|row| row.effect == ApiEffect::RowCount));
            counts
                && asks.receiver.is_some_and(|it| program.source_of(own.id, it) == executor)
                && super::expiry::comes_after(program, effect.site, site)
                && result_use(program, site) != ResultUse::Dropped
        })
    }

    /// Whether code that inserts a mere marker (nothing but its key) goes on, with the values of the
    /// marker, as if it had come first.
    fn acts_as_first(&self, effect: &Effect, call: &SqlCall, statement: &Statement) -> bool {
        let StatementKind::Insert(insert) = &statement.kind else { return false };
        if !only_key(insert) {
            return false;
        }
        let source = |value: &ValueId| self.program.source_of(effect.site.body, *value);
        let marker: Vec<Located> = call.parameters.iter().map(source).collect();
        self.goes_on_with(effect.site, &marker, MOST_CALLS_UP)
    }

    /// Whether something is done with one of some values after an operation, here or in every caller.
    fn goes_on_with(&self, from: Site, marker: &[Located], calls: u32) -> bool {
        let program = self.program;
        let Some(own) = program.body(from.body) else { return false };
        let goes_on = own.body.calls().any(|(_, op, later)| {
            let site = Site { body: own.id, op };
            let mut run: BTreeSet<BodyId> = self.graph.runs_at(site).iter().copied().collect();
            run.extend(program.targets(own.id, op).into_iter().flat_map(|it| &it.bodies));
            let acts = run.iter().any(|body| !self.only_reads(*body));
            let given = later.arguments.iter().any(|argument| {
                let (body, source) = program.source_of(own.id, argument.value);
                let kind = program.body(body).map(|own| own.body.kind(source));
                let named = matches!(kind, Some(ValueKind::Parameter(_) | ValueKind::Field { .. }));
                named && marker.contains(&(body, source))
            });
            acts && given && super::expiry::comes_after(program, from, site)
        });
        let Some(calls) = calls.checked_sub(1).filter(|_| !goes_on) else { return goes_on };
        let callers = self.graph.run_by(from.body);
        let above = |caller: &Site| {
            let lifted = |value: &Located| self.given_by_caller(from.body, *value, *caller);
            let marker: Vec<Located> = marker.iter().filter_map(lifted).collect();
            self.goes_on_with(*caller, &marker, calls)
        };
        !callers.is_empty() && callers.iter().all(above)
    }
}

impl Analysis<'_> {
    /// Whether all that a body is seen to do, and what it runs, is to read tables.
    fn only_reads(&self, body: BodyId) -> bool {
        let mut seen = BTreeSet::from([body]);
        let mut waiting = vec![body];
        let mut reads = false;
        while let Some(body) = waiting.pop() {
            for effect in self.program.effects(body) {
                match &effect.kind {
                    EffectKind::Log { .. } => {}
                    EffectKind::Sql(call) if call.statements.iter().all(|it| is_read(it)) => {
                        reads |= !call.statements.is_empty();
                    }
                    _ => return false,
                }
            }
            let Some(own) = self.program.body(body) else { continue };
            for (_, op, _) in own.body.operations() {
                let run = self.graph.runs_at(Site { body, op });
                waiting.extend(run.iter().copied().filter(|body| seen.insert(*body)));
            }
        }
        reads
    }
}

fn is_read(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Select(_))
}

/// Whether an INSERT has one or two columns and nothing to be updated: a marker.
fn only_key(insert: &Insert) -> bool {
    (1..=2).contains(&insert.columns.len())
}

/// Whether a part of a statement is a write that may miss.
fn writes(statement: &Statement) -> bool {
    statement.parts().iter().any(|part| written(part).is_some())
}

/// The verb and table of a write that may miss.
fn written(statement: &Statement) -> Option<(&'static str, &TableName)> {
    match &statement.kind {
        StatementKind::Update(update) => Some(("UPDATE", &update.table)),
        StatementKind::Delete(delete) => Some(("DELETE", &delete.table)),
        StatementKind::Insert(insert) if insert.on_conflict.is_some() => {
            Some(("INSERT", &insert.table))
        }
        _ => None,
    }
}
