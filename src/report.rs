//! One renderer a format. A renderer computes nothing: it writes what a [`Report`] holds.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::finding::Finding;
use crate::source::{Skipped, Tree};

/// For people at a terminal.
mod human;
/// One JSON object.
mod json;

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

/// How many findings of each severity there are: errors, warnings, notes.
fn tally(findings: &[Finding]) -> (usize, usize, usize) {
    use crate::config::Severity;
    let count = |severity| findings.iter().filter(|one| one.severity == severity).count();
    (count(Severity::Error), count(Severity::Warning), count(Severity::Note))
}

/// The text with each character that could steer a terminal replaced by a mark of as many bytes.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mark = |character: char| match character {
        plain if !steers(plain) => plain,
        control if control.len_utf8() == 1 => '?',
        control if control.len_utf8() == 2 => '¿',
        _ => char::REPLACEMENT_CHARACTER,
    };
    Cow::Owned(text.chars().map(mark).collect())
}

/// Whether a character is a control, or turns the direction of what follows.
fn steers(character: char) -> bool {
    let turns = matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    turns || (character.is_control() && !matches!(character, '\n' | '\t' | '\r'))
}

#[cfg(test)]
mod tests;
