//! How many findings each rule has: the most first, then by name.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::json;

use super::{Format, Report};
use crate::config::Severity;
use crate::finding::Finding;

/// Writes the counts, as one JSON object or as lines for people.
pub(super) fn write(format: Format, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let counts = counts(report.findings);
    if format == Format::Json {
        let rows: Vec<_> = counts
            .iter()
            .map(|row| json!({ "rule": row.rule, "severity": row.severity, "findings": row.findings }))
            .collect();
        let object = json!({ "version": 1, "statistics": rows });
        return writeln!(out, "{object:#}");
    }
    let widest = counts.iter().map(|row| row.findings.to_string().len()).max().unwrap_or(1);
    for row in &counts {
        writeln!(out, "{:>widest$}  {:7}  {}", row.findings, row.severity, row.rule)?;
    }
    let [errors, warnings, notes] =
        [Severity::Error, Severity::Warning, Severity::Note].map(|one| report.count(one));
    writeln!(
        out,
        "{} in all: {errors} errors, {warnings} warnings, {notes} notes",
        report.findings.len()
    )
}

/// How often a rule was found with one severity.
struct Row {
    rule: &'static str,
    severity: &'static str,
    findings: usize,
}

fn counts(findings: &[Finding]) -> Vec<Row> {
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry((finding.rule, finding.severity)).or_default() += 1;
    }
    let row = |((rule, severity), findings): ((_, Severity), _)| Row {
        rule,
        severity: severity.word(),
        findings,
    };
    let mut rows: Vec<Row> = counts.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.findings));
    rows
}
