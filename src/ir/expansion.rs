//! Text that a macro made of pieces of others, and where each piece is written.

use std::ops::Range;

use crate::source::Span;

/// What one macro call was expanded to. A place in it is a place in the source that a person would
/// open: in the macro's definition for what stands there, at the call for what was passed in.
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    /// The text.
    pub text: String,
    /// Where each token begins in the text, and where it is written; in the order of the text.
    pub pieces: Vec<(u32, Span)>,
    /// The definitions that were expanded to come here, the outermost first.
    pub bodies: Vec<Span>,
}

impl Expansion {
    /// Where a part of the text is written; from the first to the last of its tokens. `None` for a
    /// text without tokens.
    #[must_use]
    pub fn place(&self, part: Range<u32>) -> Option<Span> {
        let piece = |offset: u32| {
            let after = self.pieces.partition_point(|(start, _)| *start <= offset);
            self.pieces.get(after.saturating_sub(1)).map(|(_, span)| *span)
        };
        let last = piece(part.end.saturating_sub(1).max(part.start));
        Some(self.join(piece(part.start)?, last?))
    }

    /// The span from one place to another. Where one of them is passed in and the other stands in a
    /// definition, nothing lies between the two: it is the one of the innermost definition.
    #[must_use]
    pub fn join(&self, first: Span, last: Span) -> Span {
        let depth = |span: Span| self.bodies.iter().rposition(|body| body.covers(span));
        match depth(first).cmp(&depth(last)) {
            std::cmp::Ordering::Equal => first.to(last),
            std::cmp::Ordering::Greater => first,
            std::cmp::Ordering::Less => last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn a_place_is_where_its_tokens_are_written() {
        let span = |start, end| Span::new(FileId(0), start, end);
        // `conn . del ( key )`, of which `conn` and `key` are passed in at 90 and 96.
        let pieces = [
            (0, span(90, 94)),
            (5, span(20, 21)),
            (7, span(21, 24)),
            (11, span(24, 25)),
            (13, span(96, 99)),
            (17, span(29, 30)),
        ];
        let made = Expansion {
            text: "conn . del ( key )".to_owned(),
            pieces: pieces.to_vec(),
            bodies: vec![span(10, 40)],
        };
        assert_eq!(made.place(7..10), Some(span(21, 24)));
        assert_eq!(made.place(0..18), Some(span(29, 30)));
        assert_eq!(made.place(5..18), Some(span(20, 30)));
        assert_eq!(
            made.place(0..16),
            Some(span(90, 99)).map(|_| made.join(span(90, 94), span(96, 99)))
        );
        assert_eq!(Expansion::default().place(0..1), None);
    }
}
