//! One line a finding, `path:line:column: severity: message [rule]`, as compilers write and editors
//! read them; then what was not read, and a line that sums up.

use std::io::{self, Write};

use super::safe::no_command;
use super::{Report, one_line, words};
use crate::finding::Finding;

/// Writes a line for each finding, what was skipped, and the sum.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in report.findings {
        writeln!(out, "{}", line(finding, report))?;
    }
    for skipped in words::skipped(report) {
        writeln!(out, "not linted in full: {skipped}")?;
    }
    writeln!(out, "{}", words::sum(report))
}

/// The line of a finding.
pub(super) fn line(finding: &Finding, report: &Report<'_>) -> String {
    let place = words::place(finding.primary, report);
    let (severity, message) = (finding.severity.word(), one_line(&finding.message));
    no_command(&format!("{place}: {severity}: {message} [{}]", finding.rule)).into_owned()
}
