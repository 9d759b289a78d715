//! Where a span lies, in the unit that a format counts in. Lines and columns are 1-based, ends
//! exclusive; a place that is not there has no end before its start.

use serde::Serialize;

use super::Report;
use crate::source::{SourceFile, Span};

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Unicode characters.
    Characters,
    /// UTF-16 code units, as editors and SARIF count unless told otherwise.
    Utf16,
    /// Bytes of the file as it is on disk, a byte order mark included.
    Bytes,
}

/// A span as people and forges read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Place<'r> {
    /// Relative to the root of the run.
    pub path: &'r str,
    /// First line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the last.
    pub end_column: u32,
}

impl Place<'_> {
    /// The last line that has something of the span.
    pub fn last_line(&self) -> u32 {
        if self.end_column == 1 && self.end_line > self.line {
            self.end_line - 1
        } else {
            self.end_line
        }
    }
}

impl<'r> Report<'r> {
    /// Where a span lies; `None` when its file is not in the tree.
    pub(super) fn place(&self, span: Span, unit: Unit) -> Option<Place<'r>> {
        let file = self.tree.file(span.file)?;
        let (line, column) = position(file, span.start, unit);
        let (end_line, end_column) = position(file, span.end, unit).max((line, column));
        Some(Place { path: &file.path, line, column, end_line, end_column })
    }
}

/// Line and column of an offset.
fn position(file: &SourceFile, offset: u32, unit: Unit) -> (u32, u32) {
    let line = file.lines.line(offset);
    let start = file.lines.start(line).unwrap_or(0) as usize;
    let before = file.text.get(start..offset as usize).unwrap_or("");
    let count = match unit {
        Unit::Characters => before.chars().count(),
        Unit::Utf16 => before.encode_utf16().count(),
        Unit::Bytes if line == 1 => before.len() + file.mark_len(),
        Unit::Bytes => before.len(),
    };
    (line, u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1))
}
