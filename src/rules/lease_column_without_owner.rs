//! A row lease is taken, renewed, finished or freed without asking who holds it.

use super::prelude::*;

rule!("lease-column-without-owner", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.ownerless_writes() {
        let write = &found.write;
        let (table, column) = (write.table_text(), found.column);
        let does = match found.does {
            LeaseWrite::Takes => "takes",
            LeaseWrite::Renews => "prolongs",
            LeaseWrite::Frees => "frees",
            LeaseWrite::Finishes => "finishes",
        };
        let message = format!(
            "this sets `{column}` and {does} a row of {table} whoever holds it: the WHERE asks for the row alone"
        );
        let confidence = match found.does {
            LeaseWrite::Finishes => Confidence::Medium,
            _ => Confidence::High,
        };
        let mut finding = RULE
            .finding(write.place(), message)
            .confidence(confidence)
            .help(help(found.does))
            .subject(write.subject())
            .function(analysis.function_around(write));
        if let Some(claim) = found.claim.filter(|claim| *claim != write.place()) {
            finding = finding.step(claim, "rows are taken here, for a time");
        }
        out.report(finding.steps(analysis.statement_step(write)));
    }
    for lock in analysis.locks_on_pools() {
        let what = if lock.skips { "FOR UPDATE SKIP LOCKED" } else { "FOR UPDATE" };
        let message = format!(
            "`{what}` runs on a pool, where each statement is its own transaction: the lock is gone when it answers"
        );
        out.report(
            RULE.finding(lock.effect.span, message)
                .help(lock_help(&lock.effect.client))
                .subject(lock.statement.text.split_whitespace().collect::<Vec<_>>().join(" "))
                .function(analysis.function_name(lock.effect.site.body)),
        );
    }
}

fn help(does: LeaseWrite) -> &'static str {
    match does {
        LeaseWrite::Takes => {
            "take it only while nobody has it: `… AND (locked_by IS NULL OR locked_until < now())`, or by `FOR UPDATE SKIP LOCKED` in the same transaction, and look at the row count"
        }
        _ => {
            "add the holder to the WHERE, `… AND locked_by = $me`, or the attempt that the claim gave, and stop where no row was hit: the lease was lost"
        }
    }
}

fn lock_help(client: &str) -> &'static str {
    match client {
        "sqlx" => {
            "run it and the write on one transaction: `let mut tx = pool.begin().await?;` … `&mut *tx` … `tx.commit().await?`, or put it into the UPDATE as a sub-select"
        }
        "sea-orm" => {
            "run it and the write on one transaction: `let tx = db.begin().await?;` … `&tx` … `tx.commit().await?`, or put it into the UPDATE as a sub-select"
        }
        _ => "run it and the write in one transaction, or put it into the UPDATE as a sub-select",
    }
}
