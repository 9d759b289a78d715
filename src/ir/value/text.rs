//! Decoded text that knows where each of its bytes is written: cutting, joining, placing.

use crate::source::{FileId, Span};

/// Stands in a flattened text for a hole that the host language fills (U+FFFC, which no source
/// holds for itself: files are read without it).
pub const HOLE: char = '\u{FFFC}';

/// How large a text may get by joining, in bytes. No key is longer, and a text that is joined to
/// itself again and again would grow without bound.
pub const LARGEST_TEXT: usize = 64 * 1024;

/// Decoded text and where its bytes are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The text, decoded.
    pub content: String,
    /// Runs of bytes, sorted: decoded offset, and where the run is written. A run that is as long in
    /// the source stands there byte for byte; any other is one thing there (an escape). Empty only
    /// while a text is put together.
    pub runs: Vec<(u32, Span)>,
}

/// A run: its decoded bytes and its place.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    span: Span,
}

impl Run {
    /// Whether it stands in the source byte for byte.
    fn verbatim(self) -> bool {
        (self.span.end - self.span.start) as usize == self.end - self.start
    }

    /// The place of some of its bytes: of an escape, the whole.
    fn cut(self, start: usize, end: usize) -> Span {
        if !self.verbatim() {
            return self.span;
        }
        let place = |at: usize| self.span.start.saturating_add(offset(at - self.start));
        Span { start: place(start), end: place(end), ..self.span }
    }

    /// The empty place before one of its bytes, or behind its last.
    fn before(self, at: usize) -> Span {
        let start = match () {
            () if self.verbatim() => self.cut(at, at).start,
            () if at < self.end => self.span.start,
            () => self.span.end,
        };
        Span { start, end: start, ..self.span }
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Text {
    /// Text that stands in the source byte for byte, at `span`.
    #[must_use]
    pub fn verbatim(content: impl Into<String>, span: Span) -> Self {
        Self { content: content.into(), runs: vec![(0, span)] }
    }

    /// What it counts for against [`LARGEST_TEXT`].
    #[must_use]
    pub fn size(&self) -> usize {
        self.content.len() + self.runs.len()
    }

    /// The runs that decoded bytes from `start` on stand in.
    fn runs_from(&self, start: usize) -> impl Iterator<Item = Run> {
        let first = self.runs.partition_point(|(at, _)| *at as usize <= start).saturating_sub(1);
        let runs = self.runs.get(first..).unwrap_or_default();
        let ends = runs.iter().skip(1).map(|(at, _)| *at as usize);
        let ends = ends.chain(std::iter::once(self.content.len()));
        runs.iter().zip(ends).map(|((at, span), end)| Run { start: *at as usize, end, span: *span })
    }

    /// The source place of decoded bytes. A byte of an escape is written by the whole escape.
    #[must_use]
    pub fn place(&self, start: usize, end: usize) -> Span {
        let Some(first) = self.runs_from(start).next() else {
            return Span::new(FileId(0), 0, 0);
        };
        let start = start.clamp(first.start, first.end);
        let Some(last_byte) = end.checked_sub(1).filter(|last| *last >= start) else {
            return first.before(start);
        };
        let last = self.runs_from(last_byte).next().unwrap_or(first);
        let end = end.clamp(last.start, last.end);
        let from = first.before(start);
        if last.span.file != from.file {
            return Span { end: first.span.end, ..from };
        }
        let to = last.cut(last.start, end).end;
        from.to(Span { start: to, end: to, ..from })
    }

    /// Adds text that is written at `span`: byte for byte, or as the escape that stands there.
    pub fn push(&mut self, content: &str, span: Span) {
        // A character that stands for holes elsewhere may not be mistaken for one.
        match content.contains(HOLE) {
            true => self.add(&content.replace(HOLE, "\u{FFFD}"), span),
            false => self.add(content, span),
        }
    }

    /// Adds a hole that is written at `span`.
    pub fn push_hole(&mut self, span: Span) {
        self.add(HOLE.encode_utf8(&mut [0; 4]), span);
    }

    /// Adds a piece; one that goes on where the last one ends makes that one longer.
    fn add(&mut self, content: &str, span: Span) {
        if content.is_empty() {
            return;
        }
        let at = self.content.len();
        let new = Run { start: at, end: at + content.len(), span };
        self.content.push_str(content);
        if let Some((start, last)) = self.runs.last_mut() {
            let before = Run { start: *start as usize, end: at, span: *last };
            let adjacent = last.file == span.file && last.end == span.start;
            if adjacent && before.verbatim() && new.verbatim() {
                last.end = span.end;
                return;
            }
        }
        self.runs.push((offset(at), span));
    }

    /// Adds the bytes `start..end` of another text, holes included.
    pub fn append_part(&mut self, other: &Self, start: usize, end: usize) {
        let end = end.min(other.content.len());
        for run in other.runs_from(start) {
            let (from, to) = (start.max(run.start), end.min(run.end));
            if from >= end {
                break;
            }
            self.add(other.content.get(from..to).unwrap_or_default(), run.cut(from, to));
        }
    }

    /// Adds another text.
    pub fn append(&mut self, other: &Self) {
        self.append_part(other, 0, other.content.len());
    }

    /// The bytes `start..end` as a text of its own.
    #[must_use]
    pub fn part(&self, start: usize, end: usize) -> Self {
        let mut part = Self::default();
        part.append_part(self, start, end);
        part.or_at(self.place(start, start))
    }

    /// The text; `span` is where it stands when it is empty.
    #[must_use]
    pub fn or_at(mut self, span: Span) -> Self {
        if self.runs.is_empty() {
            self.runs.push((0, span));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span::new(FileId(0), start, end)
    }

    /// Source `ab\ncd` in a literal that starts at 10: `\n` takes two bytes.
    fn escaped() -> Text {
        let mut text = Text::default();
        text.push("a", span(10, 11));
        text.push("b", span(11, 12));
        text.push("\n", span(12, 14));
        text.push("cd", span(14, 16));
        text
    }

    #[test]
    fn decoded_text_points_at_its_source() {
        let text = escaped();
        assert_eq!(text.runs, [(0, span(10, 12)), (2, span(12, 14)), (3, span(14, 16))]);
        assert_eq!(text.place(0, 2), span(10, 12));
        assert_eq!(text.place(3, 5), span(14, 16));
        assert_eq!(text.place(0, 5), span(10, 16));
        assert_eq!(text.place(5, 5), span(16, 16));
        assert_eq!(text.place(1, 1), span(11, 11));
        assert_eq!(text.place(0, 99), span(10, 16));
    }

    #[test]
    fn an_escape_is_one_place() {
        let text = escaped();
        assert_eq!(text.place(0, 3), span(10, 14));
        assert_eq!(text.place(2, 3), span(12, 14));
        let mut lock = Text::default();
        lock.push("\u{1F512}", span(0, 9));
        assert_eq!(lock.place(2, 3), span(0, 9));
        assert_eq!(lock.place(4, 4), span(9, 9));
    }

    #[test]
    fn a_part_keeps_its_place() {
        let part = escaped().part(1, 4);
        assert_eq!(part.content, "b\nc");
        assert_eq!(part.runs, [(0, span(11, 12)), (1, span(12, 14)), (2, span(14, 15))]);
        let empty = escaped().part(4, 4);
        assert_eq!((empty.content.as_str(), empty.place(0, 0)), ("", span(15, 15)));
    }

    #[test]
    fn texts_of_several_files_are_placed_in_the_first() {
        let mut text = Text::verbatim("abc", span(0, 3));
        text.append(&Text::verbatim("def", Span::new(FileId(1), 7, 10)));
        assert_eq!(text.place(1, 5), span(1, 3));
        assert_eq!(text.place(4, 5), Span::new(FileId(1), 8, 9));
    }

    #[test]
    fn only_holes_are_holes() {
        let mut text = Text::default();
        text.push("\u{FFFC}", span(0, 3));
        text.push_hole(span(3, 4));
        assert_eq!(text.content, "\u{FFFD}\u{FFFC}");
    }
}
