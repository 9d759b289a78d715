//! What the schema leaves out that writers rely on: a floor under a number, a key that is there once, a
//! fencing number that can always be compared.

use std::collections::BTreeSet;

use super::Analysis;
use super::row_write::RowWrite;
use super::schema::{Schema, Table};
use crate::config::words::WordList;
use crate::ir::sql::{Column, PredicateKind, StatementKind};
use crate::link::sql_files::Dialect;

/// A column of a schema at which something is left out.
#[derive(Clone, Copy, Debug)]
pub struct SchemaColumn<'a> {
    /// Its table.
    pub table: &'a Table,
    /// The column.
    pub column: &'a Column,
    /// The dialect of the migrations.
    pub dialect: Dialect,
}

/// What is wrong with a fencing or version column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceFault {
    /// It may be NULL: then no comparison holds.
    Nullable,
    /// It was added to a table that was there, with neither NULL nor a default for its rows.
    NoDefault,
    /// It has less than 64 bits.
    Narrow,
}

impl Analysis<'_> {
    /// All columns of the schemas that migrations leave, those among tests left out.
    fn schema_columns(&self) -> impl Iterator<Item = (&Schema, SchemaColumn<'_>)> {
        let sets = self.schemas.sets.iter().filter(|schema| !schema.set.fixture);
        sets.flat_map(|schema| {
            let dialect = schema.set.dialect;
            schema.tables.values().filter(|table| !table.from_code).flat_map(move |table| {
                let columns = table.columns.iter();
                columns.map(move |column| (schema, SchemaColumn { table, column, dialect }))
            })
        })
    }

    /// Whether something holds of a table in one of the schemas that have it: a query file, a dump and a
    /// test may each declare it again.
    fn anywhere(&self, table: &Table, holds: impl Fn(&Table) -> bool) -> bool {
        self.schemas.sets.iter().filter_map(|schema| schema.table(&table.name)).any(holds)
    }

    /// Columns that count what is left and that nothing in the schema keeps above zero, and a statement
    /// that takes from them.
    #[must_use]
    pub fn missing_floors(&self) -> Vec<(SchemaColumn<'_>, Option<RowWrite<'_>>)> {
        let writes = self.row_writes();
        let lacks = |(_, it): &(&Schema, SchemaColumn<'_>)| {
            let (table, column) = (it.table, it.column);
            self.is_level(&table.name.name, &column.name)
                && table.is_number(&column.name)
                && !table.is_unsigned(&column.name)
                && !self.anywhere(table, |other| other.floor(&column.name).is_some())
                && !Self::may_be_owed(Some(table))
                && column.references.is_none()
                && !table.primary_key.contains(&column.name)
        };
        let found = self
            .schema_columns()
            .filter(lacks)
            .map(|(_, it)| (it, self.taken_from(&writes, it.table, &it.column.name)));
        // Without a writer in sight, only stock and balances are sure to be no less than nothing.
        let sure = |(it, taken): &(SchemaColumn<'_>, Option<RowWrite<'_>>)| {
            taken.is_some() || self.is_plain_level(&it.table.name.name, &it.column.name)
        };
        found.filter(sure).collect()
    }

    /// Whether a column is of goods or a balance whatever is done with it.
    fn is_plain_level(&self, table: &str, column: &str) -> bool {
        let words = self.words;
        let goods = words.located(WordList::Stock, column);
        let seat = |entry: &str| matches!(entry, "seat" | "remaining" | "spot");
        goods.is_some_and(|found| !seat(&found.entry))
            || words.located(WordList::Level, column).is_some_and(|found| {
                matches!(found.entry.as_str(), "balance" | "saldo" | "funds" | "locked_amount")
            })
            || words.has(WordList::Stock, table) && matches!(column, "count" | "units")
    }

    /// Columns of keys that make a repeated request harmless, and that may stand in several rows.
    #[must_use]
    pub fn repeatable_keys(&self) -> Vec<SchemaColumn<'_>> {
        let repeatable = |(schema, it): &(&Schema, SchemaColumn<'_>)| {
            let (table, column) = (it.table, &it.column.name);
            let primary = table.primary_key.as_slice();
            let stands_in = table.uniques.iter().any(|unique| stands_for_key(&unique.columns))
                || primary.len() == 1 && stands_for_key(primary);
            let mut others = schema.tables.values().filter(|other| other.name != table.name);
            let once = stands_in
                || is_unique(table, column)
                || self.anywhere(table, |other| is_unique(other, column))
                || others.any(|other| is_unique(other, column));
            self.is_request_key(it.column) && !self.is_copy(&table.name.name) && !once
        };
        self.schema_columns().filter(repeatable).map(|(_, it)| it).collect()
    }

    /// Whether a table keeps what was: there a key may stand as often as it was used.
    fn is_copy(&self, table: &str) -> bool {
        const COPIES: [&str; 10] = [
            "history", "log", "audit", "archive", "dead", "dlq", "snapshot", "backup", "event",
            "attempt",
        ];
        let words = crate::config::words::split(table);
        words.iter().any(|word| COPIES.contains(&word.strip_suffix('s').unwrap_or(word)))
    }

    fn is_request_key(&self, column: &Column) -> bool {
        const AFTER: [&str; 6] = ["key", "id", "token", "hash", "value", "digest"];
        const TYPES: [&str; 9] =
            ["text", "char", "uuid", "bytea", "blob", "binary", "string", "citext", "bytes"];
        let Some(found) = self.words.located(WordList::Idempotency, &column.name) else {
            return false;
        };
        let whole = found.after.is_empty() && found.entry != "idempotent";
        (whole || found.after.iter().all(|word| AFTER.contains(&word.as_str())))
            && !found.before.iter().any(|word| matches!(word.as_str(), "is" | "has" | "last"))
            && TYPES.iter().any(|ty| column.ty.contains(ty))
            && column.references.is_none()
    }

    /// Fencing and version columns that some writers can't compare, and why.
    #[must_use]
    pub fn unsafe_fences(&self) -> Vec<(SchemaColumn<'_>, FenceFault, bool)> {
        let compared = self.compared_versions();
        let mut found = Vec::new();
        for (_, it) in self.schema_columns() {
            let Some(fence) = self.is_fence(it.table, it.column, &compared) else { continue };
            let column = it.column;
            let added = !it.table.created_at.covers(column.span);
            let fault = if !column.not_null && self.allows_null(&it) {
                continue;
            } else if !column.not_null {
                FenceFault::Nullable
            } else if added && !column.default {
                FenceFault::NoDefault
            } else if it.dialect != Dialect::Sqlite && is_narrow(&column.ty, fence) {
                FenceFault::Narrow
            } else {
                continue;
            };
            found.push((it, fault, fence));
        }
        found
    }

    /// Whether a column is a number that stores compare: `Some(true)` for a fencing number, `Some(false)`
    /// for the version of a row; `None` for the version of a program, a document, a format.
    fn is_fence(
        &self,
        table: &Table,
        column: &Column,
        compared: &BTreeSet<(String, String)>,
    ) -> Option<bool> {
        let name = &column.name;
        let key = table.primary_key.contains(name)
            || table.uniques.iter().any(|unique| unique.columns.contains(name));
        if !table.is_number(name) || key || column.references.is_some() {
            return None;
        }
        let seen = compared.contains(&(table.name.name.clone(), name.clone()));
        if let Some(found) = self.words.located(WordList::Fence, name) {
            let sure = matches!(
                found.entry.as_str(),
                "fence"
                    | "fencing"
                    | "fencing_token"
                    | "lease_version"
                    | "lease_term"
                    | "leader_term"
            );
            let number = found.after.iter().all(|word| {
                matches!(
                    word.as_str(),
                    "token" | "number" | "no" | "id" | "seq" | "value" | "counter"
                )
            });
            return ((sure || seen) && number).then_some(sure);
        }
        let found = self.words.located(WordList::Version, name)?;
        let bare = found.after.is_empty()
            && (found.before.is_empty()
                || matches!(
                    found.before.join("_").as_str(),
                    "row" | "lock" | "record" | "entity" | "aggregate" | "optimistic" | "opt"
                ));
        let counts = column.default;
        let told =
            matches!(found.entry.as_str(), "lock_version" | "row_version" | "optimistic_lock")
                || found.entry == "version" && counts;
        let document = [
            "version",
            "revision",
            "migration",
            "release",
            "schema",
            "template",
            "document",
            "setting",
            "config",
        ];
        let of_document = crate::config::words::split(&table.name.name)
            .iter()
            .any(|word| document.iter().any(|it| word.starts_with(it)));
        (seen || bare && told && !of_document).then_some(false)
    }

    /// Whether a comparison of a column is written for NULL, too: `fence IS NULL OR fence < $1`.
    fn allows_null(&self, it: &SchemaColumn<'_>) -> bool {
        let name = &it.column.name;
        self.row_writes().iter().any(|write| {
            let own = write.table.is_some_and(|own| own.created_at == it.table.created_at);
            own && write.predicates().iter().any(|part| match &part.kind {
                PredicateKind::Or(sides) => sides.iter().flatten().any(|side| {
                    matches!(&side.kind, PredicateKind::Null { column, negated: false } if column == name)
                }),
                _ => false,
            })
        })
    }

    /// Tables and columns that some write compares and moves on: `SET version = version + 1 … WHERE
    /// version = ?`.
    fn compared_versions(&self) -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for write in self.row_writes() {
            if !matches!(write.statement.kind, StatementKind::Update(_)) {
                continue;
            }
            for set in write.sets() {
                let listed = self.words.has(WordList::Fence, &set.column)
                    || self.words.has(WordList::Version, &set.column);
                let asked = write.predicates().iter().any(|part| {
                    part.kind.columns().iter().any(|name| name.eq_ignore_ascii_case(&set.column))
                });
                if listed && asked {
                    found.insert((write.name().name.clone(), set.column.clone()));
                }
            }
        }
        found
    }
}

/// Whether a unique key may stand for a request's: it is over an expression, or over a digest.
fn stands_for_key(columns: &[String]) -> bool {
    let digest = |name: &String| {
        let last = name.rsplit('_').next().unwrap_or_default();
        matches!(last, "hash" | "digest" | "fingerprint" | "key" | "checksum")
    };
    match columns {
        [] => true,
        [only] => digest(only),
        _ => false,
    }
}

fn is_unique(table: &Table, column: &str) -> bool {
    let own = |name: &String| name.eq_ignore_ascii_case(column);
    table.primary_key.iter().any(own)
        || table.uniques.iter().any(|unique| unique.columns.iter().any(own))
}

/// Whether a whole number of this type has less than 64 bits. A row is not written two thousand million
/// times, so that the version of a row is narrow only below 32 bits.
fn is_narrow(ty: &str, fence: bool) -> bool {
    let bare = ty.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or("");
    match bare {
        "smallint" | "tinyint" | "int2" | "smallserial" | "serial2" => true,
        "int" | "integer" | "int4" | "serial" | "serial4" | "mediumint" => fence,
        _ => false,
    }
}
