//! The schema lets what is left of something go below zero.

use super::prelude::*;

rule!("missing-nonnegative-check", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (found, taken) in analysis.missing_floors() {
        let (table, column) = (&found.table.name.name, &found.column.name);
        let (severity, takes) = match &taken {
            Some(_) => (Severity::Warning, "and there are statements that take from it"),
            None => (Severity::Note, "whatever writes to it"),
        };
        let message =
            format!("nothing in the schema keeps `{column}` of `{table}` above zero, {takes}");
        let mut finding = RULE
            .finding(found.column.span, message)
            .severity(severity)
            .help(help(found.dialect, table, column))
            .subject(format!("{table}.{column}"));
        if let Some(write) = taken {
            finding = finding.step(write.place(), "taken from here");
        }
        out.report(finding);
    }
}

fn help(dialect: Dialect, table: &str, column: &str) -> String {
    match dialect {
        Dialect::MySql => format!(
            "`ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_floor CHECK ({column} >= 0);`, or make the column UNSIGNED"
        ),
        Dialect::Sqlite => {
            format!(
                "`CHECK ({column} >= 0)` on the column: in SQLite, in a new table that takes the rows over"
            )
        }
        _ => format!(
            "`ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_floor CHECK ({column} >= 0) NOT VALID;`, and in the next migration `ALTER TABLE {table} VALIDATE CONSTRAINT {table}_{column}_floor;`"
        ),
    }
}
