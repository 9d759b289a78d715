//! The report as one JSON object: `version`, `findings`, `summary`, `skipped`, and `unknown` where it is
//! asked for. Lines and columns
//! are 1-based, columns count characters, ends are exclusive; edits are byte offsets.

use std::io::{self, Write};

use serde::Serialize;

use super::{Report, tally};
use crate::config::{Confidence, Severity};
use crate::finding::unfollowed::Unfollowed;
use crate::finding::{Finding, Fingerprint};
use crate::rules;
use crate::source::{Skipped, Span, Tree};

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
    message: &'r str,
    help: &'r str,
    steps: Vec<Step<'r>>,
    fingerprint: String,
    function: Option<&'r str>,
    url: &'r str,
}

#[derive(Serialize)]
struct Place<'r> {
    path: &'r str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct Step<'r> {
    #[serde(flatten)]
    place: Place<'r>,
    message: &'r str,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
    allowed: usize,
    hidden: usize,
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
    let (errors, warnings, notes) = tally(report.findings);
    let whole = Whole {
        version: VERSION,
        findings: report.findings.iter().map(|finding| one(finding, report.tree)).collect(),
        summary: Summary {
            files: report.tree.files().len(),
            errors,
            warnings,
            notes,
            allowed: report.allowed,
            hidden: report.hidden,
            statements: report.statements.total,
            statements_read: report.statements.read,
        },
        skipped: report.skipped.iter().map(left).collect(),
        unknown: report
            .unfollowed
            .map(|all| all.iter().map(|one| blind(one, report.tree)).collect()),
    };
    serde_json::to_writer_pretty(&mut *out, &whole).map_err(io::Error::from)?;
    writeln!(out)
}

fn one<'r>(finding: &'r Finding, tree: &'r Tree) -> One<'r> {
    let step = |step: &'r crate::finding::Step| Step {
        place: place(step.span, tree),
        message: &step.message,
    };
    One {
        rule: finding.rule,
        severity: finding.severity,
        confidence: finding.confidence,
        place: place(finding.primary, tree),
        message: &finding.message,
        help: &finding.help,
        steps: finding.steps.iter().map(step).collect(),
        fingerprint: finding.fingerprint.as_ref().map_or_else(String::new, Fingerprint::to_string),
        function: finding.function.as_deref(),
        url: rules::find(finding.rule).map_or("", |rule| rule.info().url.as_str()),
    }
}

fn blind<'r>(one: &'r Unfollowed, tree: &'r Tree) -> Blind<'r> {
    Blind {
        what: one.what.name(),
        reason: one.reason.id(),
        name: &one.name,
        place: place(one.span, tree),
        message: one.reason.sentence(),
        function: one.function.as_deref(),
    }
}

fn place(span: Span, tree: &Tree) -> Place<'_> {
    let Some(file) = tree.file(span.file) else {
        return Place { path: "", line: 1, column: 1, end_line: 1, end_column: 1 };
    };
    let (start, end) = (file.position(span.start), file.position(span.end));
    Place {
        path: &file.path,
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}

fn left(skipped: &Skipped) -> Left<'_> {
    let line = skipped.place.map(|place| place.line);
    Left { path: &skipped.path, reason: &skipped.reason, line }
}
