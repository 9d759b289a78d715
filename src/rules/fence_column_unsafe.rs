//! A fencing or version column has values that no writer can compare.

use super::prelude::*;

rule!("fence-column-unsafe", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (found, fault, fence) in analysis.unsafe_fences() {
        let (table, column) = (&found.table.name.name, &found.column.name);
        let severity = match fault {
            FenceFault::Narrow => Severity::Warning,
            _ => Severity::Error,
        };
        let what = match fault {
            FenceFault::Nullable if found.column.default => {
                "may be NULL: a row that was given NULL rejects every writer, for no comparison with it holds"
            }
            FenceFault::Nullable => {
                "may be NULL and has no default: no comparison with NULL holds, and every writer of a new row is rejected"
            }
            FenceFault::NoDefault => {
                "is added without a default: the rows that are there have no number to compare"
            }
            FenceFault::Narrow => "has less than 64 bits, and a number that only grows runs out",
        };
        let message = format!("`{column}` of `{table}` {what}");
        out.report(
            RULE.finding(found.column.span, message)
                .severity(severity)
                .confidence(if fence { Confidence::High } else { Confidence::Medium })
                .help(help(found.dialect, fault, table, column))
                .subject(format!("{table}.{column}")),
        );
    }
}

fn help(dialect: Dialect, fault: FenceFault, table: &str, column: &str) -> String {
    match (dialect, fault) {
        (Dialect::MySql, _) => {
            format!("`ALTER TABLE {table} MODIFY {column} BIGINT NOT NULL DEFAULT 0;`")
        }
        (Dialect::Sqlite, _) => format!("declare it `{column} INTEGER NOT NULL DEFAULT 0`"),
        (_, FenceFault::Narrow) => format!("declare it `{column} BIGINT NOT NULL DEFAULT 0`"),
        _ => format!(
            "`ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT 0;`, fill what is empty, then `ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_set CHECK ({column} IS NOT NULL) NOT VALID;`, validate it, and `SET NOT NULL`"
        ),
    }
}
