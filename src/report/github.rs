//! Workflow commands of GitHub Actions: each becomes an annotation on a line of the pull request.
//!
//! GitHub shows ten annotations of each level for a step and drops the others without a word, so
//! the surest ten of each are written, and how many are left is said. A command must not have
//! columns when its lines differ. The message begins with the place: the log shows nothing else of
//! it.

use std::io::{self, Write};

use super::place::Unit;
use super::{Report, Style, short, words};
use crate::config::Severity;
use crate::finding::Finding;
use crate::source::beginning;

/// How many annotations of a level GitHub shows for a step.
const SHOWN: usize = 10;

/// The longest message that GitHub takes, in bytes.
const LONGEST_MESSAGE: usize = 64 * 1024;

/// Writes the commands; then the findings that have none, unless they are printed elsewhere, too.
pub(super) fn write(report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut left = Vec::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let mut level: Vec<_> =
            report.findings.iter().filter(|finding| finding.severity == severity).collect();
        level.sort_by_key(|finding| std::cmp::Reverse(finding.confidence));
        left.extend(level.split_off(level.len().min(SHOWN)));
        for finding in level {
            writeln!(out, "{}", command(finding, report))?;
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    if !style.accompanied {
        for finding in &left {
            writeln!(out, "{}", short::line(finding, report))?;
        }
    }
    let count = left.len();
    writeln!(out, "{count} more without an annotation: GitHub shows {SHOWN} of each level a step")
}

fn command(finding: &Finding, report: &Report<'_>) -> String {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut properties =
        vec![format!("title={}", property(&format!("leaselint: {}", finding.rule)))];
    if let Some(place) = report.place(finding.primary, Unit::Characters) {
        properties.push(format!("file={}", property(&report.full_path(place.path))));
        properties.push(format!("line={}", place.line));
        properties.push(format!("endLine={}", place.last_line()));
        if place.line == place.end_line {
            properties.push(format!("col={}", place.column));
            properties.push(format!("endColumn={}", place.end_column));
        }
    }
    let message = words::everything(finding, report);
    let message = data(beginning(&message, LONGEST_MESSAGE));
    format!("::{level} {}::{message}", properties.join(","))
}

/// The text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command.
fn property(text: &str) -> String {
    let mut value = String::new();
    for character in text.chars() {
        match character {
            '%' | '\r' | '\n' | ':' | ',' => value.push_str(&format!("%{:02X}", character as u32)),
            control if control.is_control() => value.extend(control.escape_default()),
            plain => value.push(plain),
        }
    }
    value
}
