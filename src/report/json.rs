//! The report as one JSON object: `version`, `findings`, `summary`, `skipped`, and `unknown` where it is
//! asked for. Lines and columns are 1-based, columns count characters, ends are exclusive; edits are
//! byte offsets into the file as it is on disk.

use std::io::{self, Write};

use serde::Serialize;

use super::place::{Place, Unit};
use super::{Report, words, write_json};
use crate::config::{Confidence, Severity};
use crate::finding::fix::{Applicability, Edit, Fix};
use crate::finding::unfollowed::Unfollowed;
use crate::finding::{Finding, Fingerprint};
use crate::source::{Skipped, Span};

/// The version of this shape: it grows when a field changes its meaning or goes.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Whole<'r> {
    version: u32,
    findings: Vec<One<'r>>,
    summary: Summary,
    skipped: Vec<Left<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<Vec<Blind<'r>>>,
}

#[derive(Serialize)]
struct One<'r> {
    rule: &'r str,
    severity: Severity,
    confidence: Confidence,
    #[serde(flatten)]
    place: Place<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<Place<'r>>,
    message: &'r str,
    help: &'r str,
    steps: Vec<Step<'r>>,
    fixes: Vec<Change<'r>>,
    fingerprint: String,
    function: Option<&'r str>,
    url: &'r str,
}

#[derive(Serialize)]
struct Step<'r> {
    #[serde(flatten)]
    place: Place<'r>,
    message: &'r str,
}

#[derive(Serialize)]
struct Change<'r> {
    title: &'r str,
    applicability: Applicability,
    edits: Vec<Replaced<'r>>,
}

#[derive(Serialize)]
struct Replaced<'r> {
    path: &'r str,
    start: u32,
    end: u32,
    text: &'r str,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
    allowed: usize,
    hidden: usize,
    known: usize,
    outside: usize,
    statements: usize,
    statements_read: usize,
}

#[derive(Serialize)]
struct Left<'r> {
    path: &'r str,
    reason: &'r str,
    line: Option<u32>,
}

#[derive(Serialize)]
struct Blind<'r> {
    what: &'r str,
    reason: &'r str,
    name: &'r str,
    #[serde(flatten)]
    place: Place<'r>,
    message: &'r str,
    function: Option<&'r str>,
}

/// Writes the object and a line end.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let whole = Whole {
        version: VERSION,
        findings: report.findings.iter().map(|finding| one(finding, report)).collect(),
        summary: Summary {
            files: report.tree.files().len(),
            errors: report.count(Severity::Error),
            warnings: report.count(Severity::Warning),
            notes: report.count(Severity::Note),
            allowed: report.allowed,
            hidden: report.hidden,
            known: report.known,
            outside: report.outside,
            statements: report.statements.total,
            statements_read: report.statements.read,
        },
        skipped: report.skipped.iter().map(left).collect(),
        unknown: report.unfollowed.map(|all| all.iter().map(|one| blind(one, report)).collect()),
    };
    write_json(&whole, true, out)
}

fn one<'r>(finding: &'r Finding, report: &Report<'r>) -> One<'r> {
    let step = |step: &'r crate::finding::Step| Step {
        place: place(step.span, report),
        message: &step.message,
    };
    One {
        rule: finding.rule,
        severity: finding.severity,
        confidence: finding.confidence,
        place: place(finding.primary, report),
        moved_from: finding.moved_from.map(|span| place(span, report)),
        message: &finding.message,
        help: &finding.help,
        steps: finding.steps.iter().map(step).collect(),
        fixes: finding.fixes.iter().map(|fix| change(fix, report)).collect(),
        fingerprint: finding.fingerprint.as_ref().map_or_else(String::new, Fingerprint::to_string),
        function: finding.function.as_deref(),
        url: words::url(finding),
    }
}

fn change<'r>(fix: &'r Fix, report: &Report<'r>) -> Change<'r> {
    let edit = |edit: &'r Edit| {
        let file = report.tree.file(edit.span.file)?;
        let offset = |at: u32| at.saturating_add(u32::try_from(file.mark_len()).unwrap_or(0));
        let (start, end) = (offset(edit.span.start), offset(edit.span.end));
        Some(Replaced { path: &file.path, start, end, text: &edit.text })
    };
    Change {
        title: &fix.title,
        applicability: fix.applicability,
        edits: fix.edits.iter().filter_map(edit).collect(),
    }
}

fn blind<'r>(one: &'r Unfollowed, report: &Report<'r>) -> Blind<'r> {
    Blind {
        what: one.what.name(),
        reason: one.reason.id(),
        name: &one.name,
        place: place(one.span, report),
        message: one.reason.sentence(),
        function: one.function.as_deref(),
    }
}

fn place<'r>(span: Span, report: &Report<'r>) -> Place<'r> {
    let nowhere = Place { path: "", line: 1, column: 1, end_line: 1, end_column: 1 };
    report.place(span, Unit::Characters).unwrap_or(nowhere)
}

fn left(skipped: &Skipped) -> Left<'_> {
    let line = skipped.place.map(|place| place.line);
    Left { path: &skipped.path, reason: &skipped.reason, line }
}
