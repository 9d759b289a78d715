//! MERGE: what it does in each case, as statements.

use sqlparser::ast::{
    Merge, MergeAction, MergeClause, MergeClauseKind, MergeUpdateKind, OutputClause, Spanned,
    TableFactor,
};

use super::condition::predicates;
use super::expression::{last, table};
use super::query::{assignments, returning, source};
use super::reader::Places;
use crate::ir::sql::{Delete, Insert, OnConflict, Predicate, StatementKind, TableName, Update};

/// The updates, deletes and inserts of a MERGE, in order.
pub(super) fn merge(merge: &Merge, places: Places<'_>) -> StatementKind {
    let reader = Reader {
        table: match &merge.table {
            TableFactor::Table { name, .. } => table(name),
            _ => TableName::default(),
        },
        others: source(&merge.source, places),
        on: predicates(&merge.on, places),
        returning: match &merge.output {
            Some(OutputClause::Returning { select_items, .. }) => returning(Some(select_items)),
            _ => Vec::new(),
        },
        only_inserts: !merge.clauses.iter().any(changes_rows),
        places,
    };
    let part = |clause: &MergeClause| Some(places.part(reader.clause(clause)?, clause.span()));
    StatementKind::Several(merge.clauses.iter().filter_map(part).collect())
}

/// Whether a case does something to a row that is there.
fn changes_rows(clause: &MergeClause) -> bool {
    matches!(clause.action, MergeAction::Update(_) | MergeAction::Delete { .. })
}

struct Reader<'a> {
    table: TableName,
    others: Vec<TableName>,
    /// What makes a row of the source and one of the table the same.
    on: Vec<Predicate>,
    returning: Vec<String>,
    only_inserts: bool,
    places: Places<'a>,
}

impl Reader<'_> {
    fn clause(&self, clause: &MergeClause) -> Option<StatementKind> {
        let matched = matches!(clause.clause_kind, MergeClauseKind::Matched);
        let mut conditions = if matched { self.on.clone() } else { Vec::new() };
        let further = clause.predicate.iter();
        conditions.extend(further.flat_map(|condition| predicates(condition, self.places)));
        let (table, others) = (self.table.clone(), self.others.clone());
        let returning = self.returning.clone();
        Some(match &clause.action {
            MergeAction::Update(update) => {
                let further = update.update_predicate.iter();
                conditions.extend(further.flat_map(|condition| predicates(condition, self.places)));
                let sets = match &update.kind {
                    MergeUpdateKind::Set(list) => assignments(list),
                    MergeUpdateKind::Wildcard => Vec::new(),
                };
                let predicates = conditions;
                let update =
                    Update { table, sets, predicates, others, returning, ..Update::default() };
                StatementKind::Update(update)
            }
            MergeAction::Delete { .. } => {
                let predicates = conditions;
                let delete = Delete { table, predicates, others, returning, ..Delete::default() };
                StatementKind::Delete(delete)
            }
            MergeAction::Insert(insert) => {
                StatementKind::Insert(Insert {
                    table,
                    columns: insert.columns.iter().map(last).collect(),
                    // A row that is there is another case, or left alone.
                    on_conflict: self.only_inserts.then_some(OnConflict::Nothing),
                    returning,
                })
            }
            MergeAction::DoNothing { .. } => return None,
        })
    }
}
