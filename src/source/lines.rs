//! Where the lines of a text begin, so that an offset becomes a line and column in logarithmic
//! time. A line ends at `\n`; a `\r` before it belongs to the line's end, not to its text.

use super::Position;

/// The start offset of every line.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = ends.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX));
        Self { starts: std::iter::once(0).chain(starts).collect() }
    }

    /// How many lines there are; a text that ends in `\n` has an empty last one.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    /// 1-based line of a byte offset.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    /// Byte offset at which a 1-based line starts; `None` past the end.
    #[must_use]
    pub fn start(&self, line: u32) -> Option<u32> {
        self.starts.get(line.checked_sub(1)? as usize).copied()
    }

    /// 1-based line and column in characters of an offset into the indexed text.
    #[must_use]
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.line(offset);
        let start = self.start(line).unwrap_or(0) as usize;
        let before = text.get(start..offset as usize).unwrap_or("");
        let column = u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX);
        Position { line, column }
    }

    /// The text of a 1-based line without its line end; empty past the end.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str, line: u32) -> &'t str {
        let Some(start) = self.start(line) else { return "" };
        let end = self.start(line + 1).map_or(text.len(), |next| next as usize);
        text.get(start as usize..end).unwrap_or("").trim_end_matches(['\n', '\r'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_end_at_newline() {
        let text = "ab\r\ncé🔒d\n";
        let index = LineIndex::new(text);
        assert_eq!(index.count(), 3);
        assert_eq!(index.position(text, 0), Position { line: 1, column: 1 });
        // c at 4, é at 5..7, the lock at 7..11, d at 11.
        assert_eq!(index.position(text, 11), Position { line: 2, column: 4 });
        assert_eq!(index.text(text, 1), "ab");
        assert_eq!(index.text(text, 2), "cé🔒d");
        assert_eq!(index.text(text, 9), "");
    }
}
