//! Columns that are read, computed with outside of the database, and written back: what others wrote in
//! between is lost.

use super::Analysis;
use super::derived::Derived;
use super::level::{Movement, movement};
use super::row_write::{Origin, RowWrite};
use crate::ir::body::OpKind;
use crate::ir::effect::{BodyId, Effect, EffectKind, SqlCall};
use crate::ir::sql::{Expression, PredicateKind, Select, Statement, StatementKind};
use crate::ir::value::{Literal, Operator, ValueId, ValueKind};
use crate::source::Span;

/// A write of what was computed from an earlier read.
#[derive(Clone, Debug)]
pub struct StaleWrite<'a> {
    /// The write.
    pub write: RowWrite<'a>,
    /// The column.
    pub column: &'a str,
    /// Where it was read, or computed, or moved by another statement.
    pub evidence: Vec<(Span, &'static str)>,
    /// Whether the read is in sight.
    pub read_seen: bool,
}

/// Methods that compute.
const COMPUTES: [&str; 12] = [
    "checked_add",
    "checked_sub",
    "saturating_add",
    "saturating_sub",
    "wrapping_add",
    "wrapping_sub",
    "add",
    "sub",
    "checked_mul",
    "mul",
    "div",
    "rem",
];

impl Analysis<'_> {
    /// Writes of values that were computed from an earlier read of the same column.
    #[must_use]
    pub fn stale_writes(&self) -> Vec<StaleWrite<'_>> {
        let writes = self.row_writes();
        let mut found = Vec::new();
        for write in &writes {
            let StatementKind::Update(update) = &write.statement.kind else { continue };
            if !self.takes_any(write) || update.claims.is_some() || !update.others.is_empty() {
                continue;
            }
            let stale = update.sets.iter().find_map(|set| {
                let (evidence, read_seen) = match write.origin {
                    Origin::Routine(before, _) => (read_into(before, write, set)?, true),
                    Origin::Query => return None,
                    Origin::Call(effect, call) => self
                        .read_in_function(write, effect, call, set)
                        .map(|found| (found, true))
                        .or_else(|| {
                            Some((
                                self.computed_by_callers(&writes, write, effect, call, set)?,
                                false,
                            ))
                        })?,
                };
                Some(StaleWrite { write: *write, column: &set.column, evidence, read_seen })
            });
            if let Some(stale) = stale
                && !self.row_is_locked(write)
            {
                found.push(stale);
            }
        }
        found
    }

    /// Whether a write takes any state of its row.
    fn takes_any(&self, write: &RowWrite<'_>) -> bool {
        let plain = self.asks_for_row_alone(write);
        let opaque = write.predicates().iter().any(|part| {
            matches!(
                part.kind,
                PredicateKind::Exists { .. } | PredicateKind::In { subquery: Some(_), .. }
            )
        });
        plain && !opaque
    }

    /// The value that a column is set to, when it comes from the code as it is.
    fn bound(&self, call: &SqlCall, value: &Expression) -> Option<ValueId> {
        match value {
            Expression::Placeholder(number) => call.parameters.get(*number as usize).copied(),
            _ => None,
        }
    }

    /// The read, in the same function, that a written value is computed from.
    fn read_in_function(
        &self,
        write: &RowWrite<'_>,
        effect: &Effect,
        call: &SqlCall,
        set: &crate::ir::sql::Assignment,
    ) -> Option<Vec<(Span, &'static str)>> {
        let value = self.bound(call, &set.value)?;
        let around =
            std::iter::successors(Some(effect.site.body), |body| self.program.body(*body)?.parent);
        around.into_iter().find_map(|body| {
            self.program.effects(body).iter().find_map(|read| {
                let EffectKind::Sql(other) = &read.kind else { return None };
                let select = other.statements.iter().find_map(|it| match &it.kind {
                    StatementKind::Select(select) => {
                        reads_column(select, write, &set.column).then_some(select)
                    }
                    _ => None,
                })?;
                let own = self.program.body(body)?;
                let result =
                    own.body.call(own.body.call_behind(read.site.op)).map(|call| call.result);
                let row = Derived::from(self.program, body, read.reply.into_iter().chain(result));
                let whole = select.columns.len() == 1 && !select.columns.iter().any(|it| it == "*");
                let derived = if whole { row } else { self.column_of(&row, select, &set.column) };
                let computed = self.computed_from(&derived, effect.site.body, value)?;
                Some(vec![(read.span, "read here"), (computed, "computed outside of the database")])
            })
        })
    }

    /// What is computed from one column of a row: its field by name or place, or what is asked of the row
    /// by the column's name.
    fn column_of(&self, row: &Derived, select: &Select, column: &str) -> Derived {
        let place = select.columns.iter().position(|name| name.eq_ignore_ascii_case(column));
        let place = place.map(|place| place.to_string());
        let mut found = Derived::default();
        for (id, value) in row.iter() {
            let Some(own) = self.program.body(id) else { continue };
            let body = &own.body;
            let text = |value: ValueId| match body.kind(body.peel(value)) {
                ValueKind::Literal(Literal::Text(text)) => Some(text.content.as_str()),
                _ => None,
            };
            let of_column = match body.kind(value) {
                ValueKind::Field { name, .. } => name == column || Some(name) == place.as_ref(),
                ValueKind::Payload { field, variant, .. } => {
                    variant.is_empty() && Some(field) == place.as_ref()
                }
                ValueKind::Result(op) => body.call(*op).is_some_and(|call| {
                    call.arguments.iter().any(|argument| text(argument.value) == Some(column))
                }),
                _ => false,
            };
            if of_column {
                found.extend(&Derived::from(self.program, id, [value]));
            }
        }
        found
    }

    /// Where a value is computed from some that are known: by arithmetic on the way to it.
    fn computed_from(&self, derived: &Derived, body: BodyId, value: ValueId) -> Option<Span> {
        if !derived.has(body, value) {
            return None;
        }
        derived.iter().find_map(|(id, candidate)| {
            let own = &self.program.body(id)?.body;
            let computes = match own.kind(candidate) {
                ValueKind::Binary { operator, .. } => matches!(
                    operator,
                    Operator::Add
                        | Operator::Subtract
                        | Operator::Multiply
                        | Operator::Divide
                        | Operator::Remainder
                ),
                ValueKind::Result(op) => own
                    .call(*op)
                    .and_then(|call| call.callee.name())
                    .is_some_and(|name| COMPUTES.contains(&name)),
                _ => false,
            };
            let leads = || Derived::from(self.program, id, [candidate]).has(body, value);
            (computes && leads()).then(|| own.value(candidate).map(|it| it.span))?
        })
    }

    /// The evidence that a number which callers give is one that they computed: another statement moves
    /// the column relative to what it is, or a caller computes with a field of that name.
    fn computed_by_callers(
        &self,
        writes: &[RowWrite<'_>],
        write: &RowWrite<'_>,
        effect: &Effect,
        call: &SqlCall,
        set: &crate::ir::sql::Assignment,
    ) -> Option<Vec<(Span, &'static str)>> {
        let value = self.bound(call, &set.value)?;
        let table = &write.name().name;
        if !self.is_level(table, &set.column) {
            return None;
        }
        let body = self.given_by(effect.site.body, value)?;
        let mut evidence = Vec::new();
        for caller in self.program.callers(body) {
            if let Some(place) = self.computes_field(caller.body, &set.column) {
                evidence.push((place, "computed outside of the database"));
                evidence
                    .extend(self.place(*caller).map(|place| (place, "given to the write here")));
            }
        }
        let moves = writes.iter().find(|other| {
            other.name().name == *table
                && other.sets().iter().any(|it| {
                    it.column == set.column
                        && matches!(
                            movement(&set.column, &it.value),
                            Some(Movement::Subtracts | Movement::Clamps)
                        )
                })
        });
        evidence.extend(
            moves.map(|other| (other.place(), "this write, between read and write, would be lost")),
        );
        evidence.truncate(6);
        (!evidence.is_empty()).then_some(evidence)
    }

    /// The function whose parameter a value is, or a field of one.
    fn given_by(&self, body: BodyId, value: ValueId) -> Option<BodyId> {
        let (mut body, mut value) = self.program.source_of(body, value);
        for _ in 0..16 {
            let own = self.program.body(body)?;
            match own.body.kind(own.body.peel(value)) {
                ValueKind::Field { base, .. } => {
                    (body, value) = self.program.source_of(body, *base)
                }
                ValueKind::Converted { value: inner, .. }
                | ValueKind::Payload { of: inner, .. } => {
                    (body, value) = self.program.source_of(body, *inner);
                }
                ValueKind::Parameter(_) => return Some(body),
                _ => return None,
            }
        }
        None
    }

    /// Where a body computes with a field of a name: `row.balance - n`, `row.balance -= n`.
    fn computes_field(&self, body: BodyId, column: &str) -> Option<Span> {
        let own = &self.program.body(body)?.body;
        let named = |value: ValueId| matches!(own.kind(own.peel(value)), ValueKind::Field { name, .. } if name == column);
        let moves = |value: ValueId| match own.kind(own.peel(value)) {
            ValueKind::Binary { operator: Operator::Add | Operator::Subtract, left, right } => {
                named(*left) || named(*right)
            }
            _ => false,
        };
        let stored = own.operations().find_map(|(_, _, op)| match &op.kind {
            OpKind::Store { place, value } if named(*place) && moves(*value) => Some(op.span),
            _ => None,
        });
        stored.or_else(|| {
            let ids =
                (0..own.values.len()).filter_map(|index| u32::try_from(index).ok().map(ValueId));
            ids.filter(|value| moves(*value)).find_map(|value| own.value(value).map(|it| it.span))
        })
    }
}

/// Whether a SELECT reads a column of the written table.
fn reads_column(select: &Select, write: &RowWrite<'_>, column: &str) -> bool {
    select.tables.iter().any(|table| table.name == write.name().name)
        && select.lock.is_none()
        && select.columns.iter().any(|name| name == "*" || name.eq_ignore_ascii_case(column))
}

/// The SELECT of a stored function that took a column into a variable, from which it is computed.
fn read_into(
    before: &[Statement],
    write: &RowWrite<'_>,
    set: &crate::ir::sql::Assignment,
) -> Option<Vec<(Span, &'static str)>> {
    let computed = match &set.value {
        Expression::Binary { .. } => set.value.columns(),
        _ => return None,
    };
    before.iter().find_map(|statement| {
        let StatementKind::Select(select) = &statement.kind else { return None };
        let at = select.columns.iter().position(|name| name.eq_ignore_ascii_case(&set.column))?;
        let variable = select.into.get(at)?;
        (reads_column(select, write, &set.column) && computed.contains(&variable.as_str()))
            .then(|| vec![(statement.span, "read here")])
    })
}
