//! GitLab's Code Quality report: one JSON array. GitLab compares it with the target branch's by
//! fingerprint, drops all but the first of several alike, and does not show the rule's name, so the
//! description has it.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::place::{Place, Unit};
use super::{Report, one_line, words, write_json};
use crate::config::Severity;
use crate::finding::{Finding, Fingerprint};

/// Writes the array.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let issues: Vec<_> = report.findings.iter().map(|finding| issue(finding, report)).collect();
    write_json(&issues, true, out)
}

fn issue(finding: &Finding, report: &Report<'_>) -> Value {
    let place = |span| report.place(span, Unit::Characters);
    let others = finding.steps.iter().filter_map(|step| place(step.span));
    json!({
        "type": "issue",
        "check_name": finding.rule,
        "description": format!("{}: {}", finding.rule, words::advice(finding).replace('\n', "; ")),
        "categories": ["Bug Risk"],
        "severity": match finding.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Note => "info",
        },
        "fingerprint": finding.fingerprint.as_ref().map_or_else(String::new, Fingerprint::to_string),
        "location": place(finding.primary).map(|place| location(&place, report)),
        "other_locations": others.map(|place| location(&place, report)).collect::<Vec<_>>(),
        "content": { "body": words::everything(finding, report) },
    })
}

fn location(place: &Place<'_>, report: &Report<'_>) -> Value {
    json!({
        "path": one_line(&report.full_path(place.path)),
        "lines": { "begin": place.line, "end": place.last_line() },
    })
}
