//! A guarded write runs and nobody asks whether it hit a row.

use super::prelude::*;
use crate::finding::{Finding, Step};
use crate::source::Span;

rule!("ignored-row-count", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for effect in analysis.effects() {
        let EffectKind::Sql(call) = &effect.kind else { continue };
        let Some(statement) = only(&call.statements) else { continue };
        let mut guarded =
            call.statements.iter().map(|text| analysis.guarded_write(effect, call, text));
        if let Some(Some(first)) = guarded.next()
            && guarded.all(|other| other.is_some())
        {
            report(analysis, effect, statement, &first, out);
        } else if let Some((write, calls)) =
            analysis.guarded_write_of_callee(effect, call, statement)
        {
            for site in calls {
                report_caller(analysis, (effect, statement), &write, site, out);
            }
        }
    }

    for found in analysis.annotated_writes() {
        report_annotated(&found, out);
    }
    for found in analysis.routine_writes() {
        report_routine(&found, out);
    }
}

/// The only statement that a call runs: one text may have several forms where the name of a table is
/// put into it.
fn only(statements: &[std::sync::Arc<Statement>]) -> Option<&Statement> {
    let first = statements.first()?;
    let same = |other: &Statement| {
        (other.span.file, other.span.start) == (first.span.file, first.span.start)
    };
    statements.iter().all(|other| same(other)).then_some(first.as_ref())
}

fn message(guarded: &GuardedWrite) -> String {
    format!(
        "{} {} runs and its row count is not looked at: {}",
        guarded.verb, guarded.guard, guarded.unnoticed
    )
}

/// A call that drops what the function around the write says of it.
fn report_caller(
    analysis: &Analysis,
    (effect, statement): (&Effect, &Statement),
    guarded: &GuardedWrite,
    site: Site,
    out: &mut Findings,
) {
    let Some(place) = analysis.place(site) else { return };
    let name = analysis.call_name(site).unwrap_or_else(|| "the function".to_owned());
    let message = format!(
        "`{name}` says whether the {} {} hit a row, and that is dropped here: {}",
        guarded.verb, guarded.guard, guarded.unnoticed
    );
    let mut finding = finding(place, message, guarded, statement)
        .help(format!("look at what `{name}` gives back"))
        .function(analysis.function_name(site.body))
        .step(effect.span, "runs here");
    if statement.span.file != effect.span.file || !statement.span.covers(effect.span) {
        finding = finding.step(statement.span, "the statement");
    }
    out.report(finding.steps(refusal(guarded)));
}

/// A statement of a query file, whose annotation decides what its function gives back.
fn report_annotated(found: &AnnotatedWrite<'_>, out: &mut Findings) {
    let help = format!(
        "`-- name: {} :execrows` gives the number of rows: compare it with 1 (here it is `{}`)",
        found.name, found.annotation
    );
    report_in_file(found.statement, &found.write, found.name, help, out);
}

/// A statement of a stored function.
fn report_routine(found: &RoutineWrite<'_>, out: &mut Findings) {
    let help =
        "ask for the row count: `IF NOT FOUND THEN RAISE …`, or `GET DIAGNOSTICS n = ROW_COUNT`";
    report_in_file(found.statement, &found.write, found.name, help.to_owned(), out);
}

/// A statement of a SQL file, at its own place.
fn report_in_file(
    statement: &Statement,
    guarded: &GuardedWrite,
    name: &str,
    help: String,
    out: &mut Findings,
) {
    let finding = finding(statement.span, message(guarded), guarded, statement);
    let finding = finding.help(help).function(Some(name.to_owned()));
    out.report(finding.steps(refusal(guarded)));
}

/// What every finding of this rule says of its write.
fn finding(place: Span, message: String, guarded: &GuardedWrite, statement: &Statement) -> Finding {
    RULE.finding(place, message)
        .severity(guarded.severity)
        .confidence(guarded.confidence)
        .subject(subject(statement))
}

/// Where a stale writer is rejected.
fn refusal(guarded: &GuardedWrite) -> Option<Step> {
    let message = "rejects a stale writer, by hitting no row".to_owned();
    Some(Step { span: guarded.predicate?, message })
}

fn subject(statement: &Statement) -> String {
    statement.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn report(
    analysis: &Analysis,
    effect: &Effect,
    statement: &Statement,
    guarded: &GuardedWrite,
    out: &mut Findings,
) {
    let mut finding = finding(effect.span, message(guarded), guarded, statement)
        .help(help(&effect.client))
        .function(analysis.function_name(effect.site.body));
    if statement.span.file != effect.span.file || !statement.span.covers(effect.span) {
        finding = finding.step(statement.span, "the statement");
    }
    out.report(finding.steps(refusal(guarded)));
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
