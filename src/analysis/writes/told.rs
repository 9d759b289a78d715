//! Writes whose dropped row count is no loss: the code asks otherwise, or the loser is content.

use std::collections::BTreeSet;

use crate::analysis::Analysis;
use crate::analysis::expiry::comes_after;
use crate::analysis::guard::returns;
use crate::analysis::row_guard::Guard;
use crate::config::words::{WordList, split};
use crate::ir::body::Body;
use crate::ir::effect::{BodyId, Effect, EffectKind, Site, SqlCall};
use crate::ir::sql::{
    Assignment, Comparison, Expression, Predicate, PredicateKind, Statement, StatementKind,
};
use crate::ir::value::{Literal, ValueId, ValueKind};

impl Analysis<'_> {
    /// Whether the writer learns in another way that it has lost, or does not mind.
    pub(super) fn told_otherwise(
        &self,
        effect: &Effect,
        call: &SqlCall,
        statement: &Statement,
        guard: Guard,
    ) -> bool {
        let update = match &statement.kind {
            StatementKind::Update(update) => update,
            StatementKind::Delete(delete) => {
                return guard == Guard::Secret && !self.is_checked(effect, &delete.table.name);
            }
            _ => return false,
        };
        let restores = matches!(guard, Guard::OldValue | Guard::Owner)
            && self.puts_back(effect, call, &update.sets);
        restores || self.reads_back(effect, &update.table.name, &update.sets)
    }

    /// Whether something hangs on a secret that is deleted: its table is read around, in the function
    /// and what it runs; somebody calls the function and goes on; or it gives back more than that it
    /// is done. A secret that nothing hangs on is only revoked.
    fn is_checked(&self, effect: &Effect, table: &str) -> bool {
        /// How many bodies are looked at.
        const MOST: usize = 200;
        let around =
            std::iter::successors(Some(effect.site.body), |body| self.program.body(*body)?.parent);
        let mut seen: BTreeSet<BodyId> = around.collect();
        let mut waiting: Vec<BodyId> = seen.iter().copied().collect();
        if waiting.iter().any(|body| self.is_gone_on_from(*body)) {
            return true;
        }
        while let Some(body) = waiting.pop() {
            if self.reads_table(body, table) {
                return true;
            }
            let Some(own) = self.program.body(body).filter(|_| seen.len() < MOST) else { continue };
            for (_, op, _) in own.body.operations() {
                let run = self.graph.runs_at(Site { body, op });
                waiting.extend(run.iter().copied().filter(|body| seen.insert(*body)));
            }
        }
        false
    }

    /// Whether a function of the program is called, or gives back what is neither nothing nor a constant.
    fn is_gone_on_from(&self, body: BodyId) -> bool {
        let Some(own) = self.program.body(body).filter(|own| own.parent.is_none()) else {
            return false;
        };
        let gives = |(_, value): &(_, ValueId)| says_something(&own.body, *value, 0);
        !self.graph.run_by(body).is_empty() || returns(&own.body).iter().any(gives)
    }

    fn reads_table(&self, body: BodyId, table: &str) -> bool {
        self.program.effects(body).iter().any(|effect| {
            let EffectKind::Sql(call) = &effect.kind else { return false };
            let mut parts = call.statements.iter().flat_map(|it| it.parts());
            parts.any(|part| match &part.kind {
                StatementKind::Select(select) => select.tables.iter().any(|it| it.name == table),
                _ => false,
            })
        })
    }

    /// Whether every value written is one that was there before: a claim is undone, and who has
    /// claimed since keeps what it has.
    fn puts_back(&self, effect: &Effect, call: &SqlCall, sets: &[Assignment]) -> bool {
        let mut written = sets.iter().filter(|set| !self.words.has(WordList::Touch, &set.column));
        let before = |set: &Assignment| {
            let Expression::Placeholder(position) = set.value else { return false };
            let value = call.parameters.get(position as usize);
            value.is_some_and(|value| self.is_from_before(effect, *value))
        };
        let first = written.next();
        first.is_some_and(before) && written.all(before)
    }

    fn is_from_before(&self, effect: &Effect, value: ValueId) -> bool {
        let (body, source) = self.program.source_of(effect.site.body, value);
        let Some(own) = self.program.body(body) else { return false };
        let name = match own.body.kind(source) {
            ValueKind::Field { name, .. } => Some(name.as_str()),
            _ => own.body.value(source).and_then(|value| value.name.as_deref()),
        };
        name.is_some_and(|name| {
            split(name).first().is_some_and(|word| self.words.is(WordList::Before, word))
        })
    }

    /// Whether the rows that were won are selected afterwards by the mark that the write put on them.
    fn reads_back(&self, effect: &Effect, table: &str, sets: &[Assignment]) -> bool {
        self.program.effects(effect.site.body).iter().any(|other| {
            let EffectKind::Sql(later) = &other.kind else { return false };
            other.site != effect.site
                && comes_after(self.program, effect.site, other.site)
                && later.statements.iter().flat_map(|it| it.parts()).any(|part| match &part.kind {
                    StatementKind::Select(select) => {
                        select.tables.iter().any(|read| read.name == table)
                            && select.predicates.iter().any(|part| self.is_stamp(part, sets))
                    }
                    _ => false,
                })
        })
    }

    /// Whether a condition asks for a holder's mark that the assignments set.
    fn is_stamp(&self, predicate: &Predicate, sets: &[Assignment]) -> bool {
        let PredicateKind::Compare { column, comparison: Comparison::Equal, value } =
            &predicate.kind
        else {
            return false;
        };
        let marks = [WordList::Owner, WordList::Fence, WordList::Secret]
            .iter()
            .any(|list| self.words.has(*list, column));
        let bound =
            |value: &Expression| matches!(value, Expression::Placeholder(_) | Expression::Hole);
        marks
            && bound(value)
            && sets.iter().any(|set| set.column.eq_ignore_ascii_case(column) && bound(&set.value))
    }
}

/// Whether a value is more than a sign that all went well: no unit, no constant, and nothing made of
/// these alone.
fn says_something(body: &Body, value: ValueId, depth: u32) -> bool {
    match body.kind(body.peel(value)) {
        ValueKind::Path(_) | ValueKind::Literal(Literal::Unit | Literal::Nothing) => false,
        ValueKind::Aggregate { fields, .. } if depth < 4 => {
            fields.iter().any(|(_, field)| says_something(body, *field, depth + 1))
        }
        _ => true,
    }
}
