//! Service messages of TeamCity: each rule that found something once, then an inspection for each
//! finding.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::place::Unit;
use super::{Report, one_line, words};
use crate::config::Severity;
use crate::finding::Finding;
use crate::rules::RULES;
use crate::source::beginning;

/// The longest value that TeamCity takes, in characters; a byte is no less than one.
const LONGEST_VALUE: usize = 4000;

/// Writes the messages.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let found: BTreeSet<_> = report.findings.iter().map(|finding| finding.rule).collect();
    for rule in RULES.iter().filter(|rule| found.contains(rule.id)) {
        let (id, info) = (value(rule.id), rule.info());
        let description = value(&format!("{}: {}", info.summary, info.url));
        writeln!(
            out,
            "##teamcity[inspectionType id='{id}' name='{id}' description='{description}' \
             category='leaselint']"
        )?;
    }
    report.findings.iter().try_for_each(|finding| writeln!(out, "{}", inspection(finding, report)))
}

fn inspection(finding: &Finding, report: &Report<'_>) -> String {
    let severity = match finding.severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
        Severity::Note => "WEAK WARNING",
    };
    let (path, line) = report
        .place(finding.primary, Unit::Characters)
        .map_or((String::new(), 1), |place| (report.full_path(place.path), place.line));
    let (rule, path) = (value(finding.rule), value(&one_line(&path)));
    let message = value(&words::advice(finding));
    format!(
        "##teamcity[inspection typeId='{rule}' message='{message}' file='{path}' line='{line}' \
         SEVERITY='{severity}']"
    )
}

/// A value between quotes.
fn value(text: &str) -> String {
    let mut value = String::new();
    for character in beginning(text, LONGEST_VALUE).chars() {
        match character {
            '|' | '\'' | '[' | ']' => value.extend(['|', character]),
            '\n' => value.push_str("|n"),
            '\r' => value.push_str("|r"),
            plain if plain.is_ascii() => value.push(plain),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    let _ = write!(value, "|0x{unit:04X}");
                }
            }
        }
    }
    value
}
