//! One renderer a format. A renderer computes nothing: it writes what a [`Report`] holds.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::finding::Finding;
use crate::finding::unfollowed::Unfollowed;
use crate::source::{Skipped, Tree};

/// For people at a terminal.
mod human;
/// One JSON object.
mod json;
/// How many findings each rule has.
mod statistics;

/// Everything a run has to say.
pub struct Report<'r> {
    /// The findings to show, in the order of their places.
    pub findings: &'r [Finding],
    /// The files they are in.
    pub tree: &'r Tree,
    /// Files that were not read, or not in full.
    pub skipped: &'r [Skipped],
    /// How many findings an allow comment silenced.
    pub allowed: usize,
    /// How many findings were not sure or not bad enough to be shown.
    pub hidden: usize,
    /// Statements of SQL files.
    pub statements: Statements,
    /// What could not be followed, in path order; `None` when nobody asked.
    pub unfollowed: Option<&'r [Unfollowed]>,
}

/// How many statements SQL files hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    /// All.
    pub total: usize,
    /// Those of which more than single words were read.
    pub read: usize,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Code frames for people.
    Human,
    /// One JSON object.
    Json,
}

/// What the reader's terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether colours are wanted.
    pub color: bool,
}

/// Writes a report.
///
/// # Errors
/// When `out` can't be written.
pub fn write(
    format: Format,
    report: &Report<'_>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Human => human::write(report, style, out),
        Format::Json => json::write(report, out),
    }
}

/// Writes how many findings each rule has instead of the findings.
///
/// # Errors
/// When `out` can't be written.
pub fn statistics(format: Format, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    statistics::write(format, report, out)
}

/// How many findings of each severity there are: errors, warnings, notes.
fn tally(findings: &[Finding]) -> (usize, usize, usize) {
    use crate::config::Severity;
    let count = |severity| findings.iter().filter(|one| one.severity == severity).count();
    (count(Severity::Error), count(Severity::Warning), count(Severity::Note))
}

/// A name or a sentence on one line: each character that could steer a terminal, or end the line,
/// is written as an escape (`\n`, `\u{1b}`).
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let unfit = |character: char| steers(character) || character.is_control();
    if !text.chars().any(unfit) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if unfit(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    Cow::Owned(line)
}

/// The text with each character that could steer a terminal replaced by a mark of as many bytes.
/// Its lines stay: `\n`, `\r\n` and tabs are kept.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| steers(character) || character == '\r') {
        return Cow::Borrowed(text);
    }
    let mut characters = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        let returns = character == '\r' && characters.peek() != Some(&'\n');
        shown.push(match character {
            plain if !returns && !steers(plain) => plain,
            control if control.len_utf8() == 1 => '?',
            control if control.len_utf8() == 2 => '¿',
            _ => char::REPLACEMENT_CHARACTER,
        });
    }
    Cow::Owned(shown)
}

/// Whether a character is a control other than those of text, ends a line as only some programs see
/// it, can't be seen, or turns the direction of what follows.
fn steers(character: char) -> bool {
    let unseen = matches!(
        character,
        '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
    );
    unseen || (character.is_control() && !matches!(character, '\n' | '\t' | '\r'))
}

#[cfg(test)]
mod tests;
