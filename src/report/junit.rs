//! JUnit's XML: a suite for each file, a failing case for each finding, a skipped case for each file
//! that was not linted in full, and one passing case when nothing was found, since CI systems take
//! a report without cases for a broken one. Cases are told apart by name, so a name has the place.

use std::io::{self, Write};

use quick_xml::events::BytesText;

use super::place::Unit;
use super::xml::{self, Xml};
use super::{Report, words};
use crate::finding::Finding;

/// Writes all suites.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let skipped: Vec<_> = words::skipped(report).collect();
    let found = report.findings.len();
    let passed = usize::from(found == 0);
    xml::write(out, |xml| {
        xml.create_element("testsuites")
            .with_attribute(("name", "leaselint"))
            .with_attribute(("tests", (found + passed + skipped.len()).to_string().as_str()))
            .with_attribute(("failures", found.to_string().as_str()))
            .with_attribute(("errors", "0"))
            .write_inner_content(|xml| {
                let same_file =
                    |one: &Finding, next: &Finding| one.primary.file == next.primary.file;
                for findings in report.findings.chunk_by(same_file) {
                    failing(findings, report, xml)?;
                }
                if passed > 0 {
                    suite("leaselint", (1, 0, 0), xml, |xml| {
                        case("leaselint", "leaselint", xml).write_empty().map(drop)
                    })?;
                }
                unread(&skipped, xml)
            })
            .map(drop)
    })
}

/// A suite with its counts of cases, failures and skipped cases.
fn suite(
    name: &str,
    (tests, failures, skipped): (usize, usize, usize),
    xml: &mut Xml,
    cases: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    xml.create_element("testsuite")
        .with_attribute(("name", name))
        .with_attribute(("tests", tests.to_string().as_str()))
        .with_attribute(("failures", failures.to_string().as_str()))
        .with_attribute(("errors", "0"))
        .with_attribute(("skipped", skipped.to_string().as_str()))
        .with_attribute(("time", "0"))
        .write_inner_content(cases)
        .map(drop)
}

fn case<'x>(
    name: &str,
    class: &str,
    xml: &'x mut Xml,
) -> quick_xml::writer::ElementWriter<'x, Vec<u8>> {
    xml.create_element("testcase")
        .with_attribute(("name", name))
        .with_attribute(("classname", class))
        .with_attribute(("time", "0"))
}

fn failing(findings: &[Finding], report: &Report<'_>, xml: &mut Xml) -> io::Result<()> {
    let file = findings.first().and_then(|first| report.tree.file(first.primary.file));
    let path = xml::text(file.map_or("", |file| file.path.as_str()));
    let class = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
    suite(&path, (findings.len(), findings.len(), 0), xml, |xml| {
        for finding in findings {
            let place = report.place(finding.primary, Unit::Characters);
            let (line, column) = place.map_or((1, 1), |place| (place.line, place.column));
            let name = format!("{}, line {line}, column {column}", finding.rule);
            let element = case(&name, class, xml)
                .with_attribute(("file", path.as_str()))
                .with_attribute(("line", line.to_string().as_str()));
            element.write_inner_content(|xml| failure(finding, report, xml))?;
        }
        Ok(())
    })
}

fn failure(finding: &Finding, report: &Report<'_>, xml: &mut Xml) -> io::Result<()> {
    let text = words::everything(finding, report);
    let lines: Vec<_> = text.lines().map(xml::text).collect();
    xml.create_element("failure")
        .with_attribute(("message", xml::text(&finding.message).as_str()))
        .with_attribute(("type", finding.severity.word()))
        .write_text_content(BytesText::new(&lines.join("\n")))
        .map(drop)
}

fn unread(skipped: &[String], xml: &mut Xml) -> io::Result<()> {
    if skipped.is_empty() {
        return Ok(());
    }
    let name = "not linted in full";
    suite(name, (skipped.len(), 0, skipped.len()), xml, |xml| {
        for words in skipped.iter().map(|words| xml::text(words)) {
            case(&words, name, xml).write_inner_content(|xml| {
                let reason = ("message", words.as_str());
                xml.create_element("skipped").with_attribute(reason).write_empty().map(drop)
            })?;
        }
        Ok(())
    })
}
