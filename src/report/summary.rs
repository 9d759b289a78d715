//! GitHub's step summary: every finding in a table of Markdown, the worst first.
//!
//! What is not ours is written so that Markdown sees no sign in it: as character references. A step
//! may write 1 MiB in all; a table that would be too long ends early and says so.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::place::Unit;
use super::{Report, one_line, words};
use crate::config::Severity;
use crate::finding::Finding;
use crate::source::{Span, beginning};

/// The most bytes of a list: there are two, and other commands of the step want room, too.
const LARGEST: usize = 400 * 1024;

/// The longest text of a finding, in bytes.
const LONGEST_TEXT: usize = 2000;

/// Writes a heading, the table and what was not read.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### leaselint: {}\n", words::sum(report))?;
    let mut rows = Vec::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let level = report.findings.iter().filter(|finding| finding.severity == severity);
        rows.extend(level.map(|finding| row(finding, report)));
    }
    if !rows.is_empty() {
        writeln!(out, "| | place | finding |\n| --- | --- | --- |")?;
    }
    let skipped: Vec<_> = words::skipped(report)
        .map(|skipped| format!("- {}", prose(beginning(&skipped, LONGEST_TEXT))))
        .collect();
    list(&rows, "findings", out)?;
    if !skipped.is_empty() {
        writeln!(out, "Not linted in full:\n")?;
        list(&skipped, "files", out)?;
    }
    Ok(())
}

/// Writes lines as long as there is room, and says how many are left.
fn list(lines: &[String], what: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut room = LARGEST;
    let fits = |line: &&String| {
        room = room.saturating_sub(line.len() + 1);
        room > 0
    };
    let written: Vec<_> = lines.iter().take_while(fits).collect();
    for line in &written {
        writeln!(out, "{line}")?;
    }
    if written.len() < lines.len() {
        let left = lines.len() - written.len();
        writeln!(out, "\n{left} more {what}: a step summary has no room for them")?;
    }
    if lines.is_empty() { Ok(()) } else { writeln!(out) }
}

fn row(finding: &Finding, report: &Report<'_>) -> String {
    let mut cell = marked(beginning(&one_line(&finding.message), LONGEST_TEXT));
    let rule = finding.rule;
    let _ = write!(cell, " ([{}]({}))", prose(rule), words::url(finding));
    if !finding.help.is_empty() {
        let help = marked(beginning(&one_line(&finding.help), LONGEST_TEXT));
        let _ = write!(cell, "<br>help: {help}");
    }
    if !finding.steps.is_empty() {
        let steps = finding.steps.iter().map(|step| {
            let message = marked(beginning(&one_line(&step.message), LONGEST_TEXT));
            format!("<li>{} {message}</li>", place(step.span, report))
        });
        let steps: String = steps.collect();
        let _ = write!(cell, "<details><summary>steps</summary><ol>{steps}</ol></details>");
    }
    format!("| {} | {} | {cell} |", finding.severity.word(), place(finding.primary, report))
}

/// A place, linked to where the forge shows it.
fn place(span: Span, report: &Report<'_>) -> String {
    let Some(place) = report.place(span, Unit::Characters) else { return String::new() };
    let path = report.full_path(place.path);
    let shown = format!("{}:{}:{}", one_line(&path), place.line, place.column);
    let shown = code(&shown);
    report.files_url.map_or_else(
        || shown.clone(),
        |base| {
            let url = format!("{base}{}#L{}", super::sarif::uri(&path), place.line);
            format!("<a href=\"{}\">{shown}</a>", prose(&url))
        },
    )
}

/// A sentence whose parts between backticks are code.
fn marked(text: &str) -> String {
    let parts: Vec<_> = text.split('`').collect();
    if parts.len() % 2 == 0 {
        return prose(text);
    }
    let parts = parts.iter().enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { prose(part) } else { code(part) }).collect()
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<code>{}</code>", prose(text)) }
}

/// A text in which Markdown and HTML see nothing but letters.
fn prose(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if character.is_ascii_punctuation() && !matches!(character, ',' | ';' | '(' | ')' | '/') {
            let _ = write!(escaped, "&#{};", character as u32);
        } else {
            escaped.push(character);
        }
    }
    escaped
}
