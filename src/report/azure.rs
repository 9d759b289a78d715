//! Logging commands of Azure Pipelines. It knows errors and warnings; a note is a warning that says
//! what it is.

use std::io::{self, Write};

use super::place::Unit;
use super::{Report, one_line, words};
use crate::config::Severity;
use crate::finding::Finding;

/// Writes a command for each finding.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    report.findings.iter().try_for_each(|finding| writeln!(out, "{}", command(finding, report)))
}

fn command(finding: &Finding, report: &Report<'_>) -> String {
    let (level, mark) = match finding.severity {
        Severity::Error => ("error", ""),
        Severity::Warning => ("warning", ""),
        Severity::Note => ("warning", "note: "),
    };
    let mut command = format!("##vso[task.logissue type={level};");
    if let Some(place) = report.place(finding.primary, Unit::Characters) {
        let path = property(&report.full_path(place.path));
        let (line, column) = (place.line, place.column);
        command.push_str(&format!("sourcepath={path};linenumber={line};columnnumber={column};"));
    }
    let message = data(&words::advice(finding).replace('\n', "; "));
    format!("{command}code={};]{mark}{message}", property(finding.rule))
}

/// The text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%AZP25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command.
fn property(text: &str) -> String {
    let mut value = String::new();
    for character in one_line(text).chars() {
        match character {
            '%' => value.push_str("%AZP25"),
            ';' | ']' => value.push_str(&format!("%{:02X}", character as u32)),
            plain => value.push(plain),
        }
    }
    value
}
