//! reviewdog's diagnostics, as one object or one a line. Columns count bytes of UTF-8. A suggestion
//! replaces one range of the diagnostic's own file, so only fixes of one edit become suggestions.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::place::{Place, Unit};
use super::{Report, words, write_json};
use crate::config::Severity;
use crate::finding::Finding;
use crate::source::Span;

/// Writes one object.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let diagnostics: Vec<_> = report.findings.iter().map(|one| diagnostic(one, report)).collect();
    write_json(&json!({ "source": source(), "diagnostics": diagnostics }), true, out)
}

/// Writes one diagnostic a line.
pub(super) fn write_lines(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in report.findings {
        let mut diagnostic = diagnostic(finding, report);
        if let Some(fields) = diagnostic.as_object_mut() {
            fields.insert("source".to_owned(), source());
        }
        write_json(&diagnostic, false, out)?;
    }
    Ok(())
}

fn source() -> Value {
    json!({ "name": "leaselint", "url": env!("CARGO_PKG_REPOSITORY") })
}

fn diagnostic(finding: &Finding, report: &Report<'_>) -> Value {
    let related = finding
        .steps
        .iter()
        .map(|step| json!({ "message": step.message, "location": location(step.span, report) }));
    let suggestions = finding.fixes.iter().filter_map(|fix| match fix.edits.as_slice() {
        [edit] if edit.span.file == finding.primary.file => {
            let place = report.place(edit.span, Unit::Bytes)?;
            Some(json!({ "range": range(&place), "text": edit.text }))
        }
        _ => None,
    });
    json!({
        "message": words::advice(finding),
        "location": location(finding.primary, report),
        "severity": match finding.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Note => "INFO",
        },
        "code": { "value": finding.rule, "url": words::url(finding) },
        "related_locations": related.collect::<Vec<_>>(),
        "suggestions": suggestions.collect::<Vec<_>>(),
    })
}

fn location(span: Span, report: &Report<'_>) -> Value {
    report.place(span, Unit::Bytes).map_or_else(
        || json!({ "path": "" }),
        |place| json!({ "path": place.path, "range": range(&place) }),
    )
}

fn range(place: &Place<'_>) -> Value {
    json!({
        "start": { "line": place.line, "column": place.column },
        "end": { "line": place.end_line, "column": place.end_column },
    })
}
