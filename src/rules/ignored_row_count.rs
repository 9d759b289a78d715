//! A guarded write runs and nobody asks whether it hit a row.

use super::prelude::*;

rule!("ignored-row-count", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for effect in analysis.effects() {
        let EffectKind::Sql(call) = &effect.kind else { continue };
        let [statement] = call.statements.as_slice() else { continue };
        if let Some(guarded) = analysis.guarded_write(effect, call, statement) {
            report(analysis, effect, statement, &guarded, out);
        }
    }
}

fn report(
    analysis: &Analysis,
    effect: &Effect,
    statement: &Statement,
    guarded: &GuardedWrite,
    out: &mut Findings,
) {
    let message = format!(
        "{} guarded by {} runs and its row count is not looked at: a lost race counts as done",
        guarded.verb, guarded.guard
    );
    let mut finding = RULE
        .finding(effect.span, message)
        .severity(guarded.severity)
        .confidence(guarded.confidence)
        .help(help(&effect.client))
        .subject(statement.text.split_whitespace().collect::<Vec<_>>().join(" "))
        .function(analysis.function_name(effect.site.body));
    if statement.span.file != effect.span.file || !statement.span.covers(effect.span) {
        finding = finding.step(statement.span, "the statement");
    }
    if let Some(predicate) = guarded.predicate {
        finding = finding.step(predicate, "rejects a stale writer, by hitting no row");
    }
    out.report(finding);
}

fn help(client: &str) -> String {
    match client {
        "sqlx" => "compare the count: `if result.rows_affected() == 0 { return Err(…) }`, or add RETURNING and `fetch_optional`",
        "diesel" | "diesel-async" => "compare the count: `if rows == 0 { return Err(…) }`",
        "sea-orm" => "compare the count: `if result.rows_affected == 0 { return Err(…) }`",
        _ => "compare the number of rows that the call returns with 1",
    }
    .to_owned()
}
