//! The words of a finding where a format has one text for all of it.

use super::place::Unit;
use super::{Report, one_line};
use crate::config::Severity;
use crate::finding::Finding;
use crate::rules;
use crate::source::Skipped;

/// The address of a rule's page.
pub(super) fn url(finding: &Finding) -> &'static str {
    rules::find(finding.rule).map_or("", |rule| rule.info().url.as_str())
}

/// What is wrong, then what to do.
pub(super) fn advice(finding: &Finding) -> String {
    let mut text = one_line(&finding.message).into_owned();
    if !finding.help.is_empty() {
        text.push_str("\nhelp: ");
        text.push_str(&one_line(&finding.help));
    }
    text
}

/// The steps, one a line: `1. path:line:column: what happens there`.
pub(super) fn steps(finding: &Finding, report: &Report<'_>) -> Vec<String> {
    let numbered = finding.steps.iter().zip(1..);
    numbered
        .map(|(step, number)| {
            let place = place(step.span, report);
            format!("{number}. {place}: {}", one_line(&step.message))
        })
        .collect()
}

/// Everything: the place, what is wrong, what to do, the steps, the page.
pub(super) fn everything(finding: &Finding, report: &Report<'_>) -> String {
    let mut lines = vec![format!("{}: {}", place(finding.primary, report), advice(finding))];
    lines.extend(steps(finding, report));
    lines.push(url(finding).to_owned());
    lines.join("\n")
}

/// `path:line:column`, as editors and terminals follow it.
pub(super) fn place(span: crate::source::Span, report: &Report<'_>) -> String {
    report.place(span, Unit::Characters).map_or_else(String::new, |place| {
        format!("{}:{}:{}", one_line(place.path), place.line, place.column)
    })
}

/// What was not read, or not in full, and no finding says so: `path:line:column: why`.
pub(super) fn skipped(report: &Report<'_>) -> impl Iterator<Item = String> {
    report.skipped.iter().filter(|skipped| !is_shown(skipped, report)).map(|skipped| {
        let place = skipped.place.map(|at| format!(":{}:{}", at.line, at.column));
        let (path, place) = (one_line(&skipped.path), place.unwrap_or_default());
        format!("{path}{place}: {}", one_line(&skipped.reason))
    })
}

/// Whether a finding already says that this place was not read.
fn is_shown(skipped: &Skipped, report: &Report<'_>) -> bool {
    report.findings.iter().any(|finding| {
        let file = report.tree.file(finding.primary.file);
        file.is_some_and(|file| {
            file.path == skipped.path
                && finding.message == skipped.reason
                && Some(file.position(finding.primary.start)) == skipped.place
        })
    })
}

/// `2 errors, 1 warning in 31 files (1 allowed)`.
pub(super) fn sum(report: &Report<'_>) -> String {
    let found = [Severity::Error, Severity::Warning, Severity::Note];
    let found: Vec<_> =
        found.into_iter().filter_map(|one| counted(report.count(one), one.word())).collect();
    let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    let files = counted(report.tree.files().len(), "file").unwrap_or_else(|| "no files".to_owned());
    let aside = [
        (report.allowed, "allowed"),
        (report.hidden, "hidden"),
        (report.known, "in the baseline"),
        (report.outside, "on other lines"),
    ];
    let aside: Vec<_> =
        aside.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let aside = if aside.is_empty() { String::new() } else { format!(" ({})", aside.join(", ")) };
    format!("{found} in {files}{aside}")
}

/// `1 file`, `2 files`; nothing for none.
pub(super) fn counted(count: usize, word: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    }
}
