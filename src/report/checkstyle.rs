//! Checkstyle's XML, which many tools read: the start of each finding, by file.

use std::io::{self, Write};

use super::place::Unit;
use super::xml::{self, Xml};
use super::{Report, words};
use crate::config::Severity;
use crate::finding::Finding;

/// Writes a `file` for each file that has findings.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    xml::write(out, |xml| {
        let root = xml.create_element("checkstyle").with_attribute(("version", "5.0"));
        if report.findings.is_empty() {
            return root.write_empty().map(drop);
        }
        root.write_inner_content(|xml| {
            let same_file = |one: &Finding, next: &Finding| one.primary.file == next.primary.file;
            report.findings.chunk_by(same_file).try_for_each(|findings| file(findings, report, xml))
        })
        .map(drop)
    })
}

fn file(findings: &[Finding], report: &Report<'_>, xml: &mut Xml) -> io::Result<()> {
    let file = findings.first().and_then(|first| report.tree.file(first.primary.file));
    let name = xml::text(file.map_or("", |file| file.path.as_str()));
    let element = xml.create_element("file").with_attribute(("name", name.as_str()));
    element
        .write_inner_content(|xml| {
            findings.iter().try_for_each(|finding| error(finding, report, xml))
        })
        .map(drop)
}

fn error(finding: &Finding, report: &Report<'_>, xml: &mut Xml) -> io::Result<()> {
    let place = report.place(finding.primary, Unit::Characters);
    let (line, column) = place.map_or((1, 1), |place| (place.line, place.column));
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "info",
    };
    let message = xml::text(&words::advice(finding).replace('\n', "; "));
    xml.create_element("error")
        .with_attribute(("line", line.to_string().as_str()))
        .with_attribute(("column", column.to_string().as_str()))
        .with_attribute(("severity", severity))
        .with_attribute(("message", message.as_str()))
        .with_attribute(("source", format!("leaselint.{}", finding.rule).as_str()))
        .write_empty()
        .map(drop)
}
