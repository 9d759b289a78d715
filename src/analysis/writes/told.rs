//! Writes whose dropped row count is no loss: the code asks otherwise, or the loser is content.

use crate::analysis::Analysis;
use crate::analysis::expiry::comes_after;
use crate::analysis::row_guard::Guard;
use crate::config::words::{WordList, split};
use crate::ir::effect::{Effect, EffectKind, SqlCall};
use crate::ir::sql::{
    Assignment, Comparison, Expression, Predicate, PredicateKind, Statement, StatementKind,
};
use crate::ir::value::ValueKind;

impl Analysis<'_> {
    /// Whether the writer learns in another way that it has lost, or does not mind.
    pub(super) fn told_otherwise(
        &self,
        effect: &Effect,
        call: &SqlCall,
        statement: &Statement,
        guard: Guard,
    ) -> bool {
        let StatementKind::Update(update) = &statement.kind else { return false };
        let restores = matches!(guard, Guard::OldValue | Guard::Owner)
            && self.puts_back(effect, call, &update.sets);
        restores || self.reads_back(effect, &update.table.name, &update.sets)
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

    fn is_from_before(&self, effect: &Effect, value: crate::ir::value::ValueId) -> bool {
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
