//! Commands sent from a script, and `string.format`, which builds most of their keys.

use super::Lowerer;
use super::call::Written;
use crate::ir::index::Path;
use crate::ir::value::{Literal, TemplatePart, Text, ValueId, ValueKind};

impl<'t> Lowerer<'t> {
    /// `redis.call(words…)` or `redis.pcall(words…)`.
    pub(super) fn redis_call(
        &mut self,
        name: &str,
        words: Vec<ValueId>,
        written: &Written<'t>,
    ) -> ValueId {
        let name_span =
            words.first().and_then(|word| self.word_place(*word)).unwrap_or(written.name_span);
        let path = Path(vec!["redis".to_owned(), name.to_owned()]);
        self.emit_path(path, words, written.span, name_span)
    }

    /// `string.format`: a template. A numeric directive is a call of its own that fills the hole:
    /// it shows digits that the display form of the same number does not.
    pub(super) fn format(
        &mut self,
        path: &Path,
        arguments: Vec<ValueId>,
        written: &Written<'t>,
    ) -> ValueId {
        let Some((pattern, mut rest)) = arguments.split_first() else {
            return self.unknown(written.span);
        };
        let ValueKind::Literal(Literal::Text(pattern)) = self.kind(*pattern).clone() else {
            return self.emit_path(path.clone(), arguments, written.span, written.name_span);
        };
        let mut parts = Vec::new();
        for piece in pieces(&pattern.content) {
            let text = pattern.part(piece.start, piece.end);
            if !piece.directive {
                parts.push(TemplatePart::Text(text));
                continue;
            }
            let value = match rest.split_first() {
                Some((value, others)) => {
                    rest = others;
                    *value
                }
                None => self.unknown(written.span),
            };
            let number = !text.content.ends_with(['s', 'q']);
            parts.push(TemplatePart::Hole(if number {
                self.number_text(path, text, value, written)
            } else {
                value
            }));
        }
        self.template(parts, written.node)
    }

    fn number_text(
        &mut self,
        path: &Path,
        directive: Text,
        value: ValueId,
        written: &Written<'t>,
    ) -> ValueId {
        let span = directive.place(0, directive.content.len());
        let directive = self.add(ValueKind::Literal(Literal::Text(directive)), span);
        self.emit_path(path.clone(), vec![directive, value], written.span, written.name_span)
    }
}

/// Text or a directive of a format, by its bytes.
struct Piece {
    start: usize,
    end: usize,
    directive: bool,
}

/// The pieces of a format; `%%` is the text `%`.
fn pieces(format: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(found) = format.get(at..).and_then(|rest| rest.find('%')) {
        let percent = at + found;
        let directive = format.get(percent + 1..).unwrap_or_default();
        let flags = directive
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | ' ' | '#' | '.')));
        let letter = flags.and_then(|length| directive.get(length..)?.chars().next());
        let (Some(flags), Some(letter)) = (flags, letter) else { break };
        let end = percent + 1 + flags + letter.len_utf8();
        if letter == '%' {
            pieces.push(Piece { start, end: percent + 1, directive: false });
        } else {
            if percent > start {
                pieces.push(Piece { start, end: percent, directive: false });
            }
            pieces.push(Piece { start: percent, end, directive: true });
        }
        (start, at) = (end, end);
    }
    if start < format.len() {
        pieces.push(Piece { start, end: format.len(), directive: false });
    }
    pieces
}
