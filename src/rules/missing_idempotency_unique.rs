//! A key that should make a repeated request harmless may be stored twice.

use super::prelude::*;

rule!("missing-idempotency-unique", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.repeatable_keys() {
        let (table, column) = (&found.table.name.name, &found.column.name);
        let message = format!(
            "`{column}` of `{table}` has no unique index: two deliveries of one request both get a row"
        );
        let help = match found.dialect {
            Dialect::Postgres => format!(
                "`CREATE UNIQUE INDEX CONCURRENTLY {table}_{column}_once ON {table} ({column});`, and `INSERT … ON CONFLICT DO NOTHING` as the check"
            ),
            _ => format!(
                "`CREATE UNIQUE INDEX {table}_{column}_once ON {table} ({column});`, and an INSERT that says whether it was first"
            ),
        };
        out.report(
            RULE.finding(found.column.span, message)
                .help(help)
                .subject(format!("{table}.{column}")),
        );
    }
}
