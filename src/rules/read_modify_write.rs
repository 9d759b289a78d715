//! A column is read, computed outside of the database, and written back over what others wrote.

use super::prelude::*;

rule!("read-modify-write", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.stale_writes() {
        let write = &found.write;
        let (column, table) = (found.column, write.table_text());
        let message = match found.read_seen {
            true => format!(
                "`{column}` of {table} is written as a number computed from an earlier read: what was written in between is lost"
            ),
            false => format!(
                "`{column}` of {table} is written as a number that was computed elsewhere, with nothing that says what it was computed from: what was written in between is lost"
            ),
        };
        let mut finding = RULE
            .finding(write.place(), message)
            .confidence(if found.read_seen { Confidence::High } else { Confidence::Medium })
            .help(help(write.client(), column))
            .subject(write.subject())
            .function(analysis.function_around(write));
        for (place, what) in found.evidence {
            finding = finding.step(place, what);
        }
        out.report(finding.steps(analysis.statement_step(write)));
    }
}

fn help(client: &str, column: &str) -> String {
    match client {
        "diesel" | "diesel-async" => format!(
            "let the database compute, `.set({column}.eq({column} - n))` with `.filter({column}.ge(n))`, or lock what is read: `.for_update()` in the same transaction"
        ),
        "sea-orm" => format!(
            "let the database compute, `.col_expr(Column::{0}, Expr::col(Column::{0}).sub(n))`, or lock what is read: `.lock_exclusive()` in the same transaction",
            variant(column)
        ),
        _ => format!(
            "let the database compute, `SET {column} = {column} - $n … AND {column} >= $n`, or lock what is read, `SELECT … FOR UPDATE` in the same transaction, or compare a version"
        ),
    }
}
