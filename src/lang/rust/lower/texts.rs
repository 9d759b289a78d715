//! Decoded text that knows its source: cutting and joining.

use crate::ir::value::{HOLE, Text};
use crate::source::Span;

/// Joins pieces of text; keeps where each byte is written.
#[derive(Debug, Default)]
pub(super) struct TextBuilder {
    content: String,
    runs: Vec<(u32, Span)>,
}

impl TextBuilder {
    fn length(&self) -> u32 {
        u32::try_from(self.content.len()).unwrap_or(u32::MAX)
    }

    /// Adds text that is written at `span`: byte for byte, or as the escape that stands there.
    pub fn push(&mut self, content: &str, span: Span) {
        if content.is_empty() {
            return;
        }
        let at = self.length();
        // A character that stands for holes elsewhere may not be mistaken for one.
        self.content.push_str(&content.replace(HOLE, "\u{FFFD}"));
        self.runs.push((at, span));
    }

    /// Adds the bytes `start..end` of a text.
    pub fn push_part(&mut self, text: &Text, start: usize, end: usize) {
        let Some(part) = text.content.get(start..end) else { return };
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (first, last) = (offset(start), offset(end));
        let base = self.length();
        for (position, (at, span)) in text.runs.iter().enumerate() {
            let next = text.runs.get(position + 1).map_or(u32::MAX, |(at, _)| *at);
            let (from, to) = (first.max(*at), last.min(next));
            if from < to {
                let begin = span.start.saturating_add(from - at).min(span.end);
                self.runs.push((base + (from - first), Span { start: begin, ..*span }));
            }
        }
        self.content.push_str(part);
    }

    /// Adds a whole text.
    pub fn push_text(&mut self, text: &Text) {
        self.push_part(text, 0, text.content.len());
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// The text; `at` is where it stands when it is empty.
    pub fn finish(mut self, at: Span) -> Text {
        if self.runs.is_empty() {
            self.runs.push((0, at));
        }
        Text { content: self.content, runs: self.runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn span(start: u32, end: u32) -> Span {
        Span::new(FileId(0), start, end)
    }

    #[test]
    fn a_part_keeps_its_place() {
        let text = Text {
            content: "ab\ncd".into(),
            runs: vec![(0, span(10, 12)), (2, span(12, 14)), (3, span(14, 16))],
        };
        let mut builder = TextBuilder::default();
        builder.push_part(&text, 1, 4);
        let part = builder.finish(span(0, 0));
        assert_eq!(part.content, "b\nc");
        assert_eq!(part.runs, [(0, span(11, 12)), (1, span(12, 14)), (2, span(14, 16))]);
    }
}
