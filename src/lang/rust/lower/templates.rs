//! Text with holes: format strings, `+` on text, joined lists.

use super::Lowerer;
use crate::ir::index::Path;
use crate::ir::value::{Conversion, LARGEST_TEXT, Literal, TemplatePart, Text, ValueId, ValueKind};
use crate::source::Span;

/// The arguments after a format string.
#[derive(Debug, Default)]
pub(super) struct FormatArguments {
    /// Those without a name, in order.
    pub positional: Vec<ValueId>,
    /// `name = value`.
    pub named: Vec<(String, ValueId)>,
}

/// A piece of a format string.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    /// Literal text: the bytes `start..end` of the string.
    Text(usize, usize),
    /// A hole: which argument, where it is named, and what follows the colon.
    Hole { argument: &'t str, at: usize, format: &'t str },
}

/// Cuts a format string. A doubled brace is text that holds one; what is no format string is cut as
/// far as it goes.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(mark) = text.get(at..).and_then(|rest| rest.find(['{', '}'])).map(|x| x + at) {
        let brace = text.get(mark..mark + 1).unwrap_or_default();
        if text.get(mark + 1..).is_some_and(|rest| rest.starts_with(brace)) {
            // The first brace of the pair stands for both.
            found.push(Piece::Text(start, mark + 1));
            start = mark + 2;
            at = start;
            continue;
        }
        found.push(Piece::Text(start, mark));
        if brace == "}" {
            start = mark + 1;
            at = start;
            continue;
        }
        let Some(end) = text.get(mark..).and_then(|rest| rest.find('}')).map(|x| x + mark) else {
            start = mark;
            break;
        };
        let inside = text.get(mark + 1..end).unwrap_or_default();
        let (argument, format) = inside.split_once(':').unwrap_or((inside, ""));
        let blank = argument.len() - argument.trim_start().len();
        found.push(Piece::Hole {
            argument: argument.trim(),
            at: mark + 1 + blank,
            format: format.trim(),
        });
        start = end + 1;
        at = start;
    }
    found.push(Piece::Text(start, text.len()));
    found
}

impl Lowerer<'_> {
    /// The template of a format string with its arguments.
    pub(super) fn formatted(
        &mut self,
        text: &Text,
        arguments: &FormatArguments,
        span: Span,
    ) -> ValueId {
        let mut parts = Vec::new();
        let mut literal = Text::default();
        let mut next = 0;
        for piece in pieces(&text.content) {
            match piece {
                Piece::Text(start, end) => literal.append_part(text, start, end),
                Piece::Hole { argument, at, format } => {
                    flush(&mut parts, &mut literal);
                    if format.contains(".*") {
                        next += 1;
                    }
                    let hole = self.argument(text, argument, at, arguments, &mut next, span);
                    parts.push(TemplatePart::Hole(self.shown(hole, format, span)));
                }
            }
        }
        flush(&mut parts, &mut literal);
        self.template(parts, text, span)
    }

    /// A template, or the literal that it is when it has no hole.
    fn template(&mut self, parts: Vec<TemplatePart>, text: &Text, span: Span) -> ValueId {
        let kind = match parts.as_slice() {
            [] => {
                let at = text.runs.first().map_or(span, |(_, at)| Span { end: at.start, ..*at });
                ValueKind::Literal(Literal::Text(Text::verbatim("", at)))
            }
            [TemplatePart::Text(only)] => ValueKind::Literal(Literal::Text(only.clone())),
            _ => ValueKind::Template(parts),
        };
        self.value(kind, span)
    }

    /// The value of an argument as a format string names it.
    fn argument(
        &mut self,
        text: &Text,
        argument: &str,
        at: usize,
        arguments: &FormatArguments,
        next: &mut usize,
        span: Span,
    ) -> ValueId {
        let position = if argument.is_empty() {
            *next += 1;
            Some(*next - 1)
        } else {
            argument.parse().ok()
        };
        if let Some(position) = position {
            // Named arguments can be taken by position too: they come after the others.
            let named = arguments.named.iter().map(|(_, value)| value);
            let all = arguments.positional.iter().chain(named);
            return match all.copied().nth(position) {
                Some(value) => value,
                None => self.unknown(span),
            };
        }
        if let Some((_, value)) = arguments.named.iter().find(|(name, _)| name == argument) {
            return *value;
        }
        let name = argument.strip_prefix("r#").unwrap_or(argument);
        if let Some(value) = self.variable(name) {
            return value;
        }
        let place = text.place(at, at + argument.len());
        self.value(ValueKind::Path(Path::single(name)), place)
    }

    /// The form that a format asks for: display unless it says otherwise.
    fn shown(&mut self, value: ValueId, format: &str, span: Span) -> ValueId {
        let conversion = match format.chars().last() {
            Some('?') => Conversion::Debug,
            Some('x' | 'X' | 'b' | 'o' | 'e' | 'E' | 'p') => Conversion::Shaped,
            _ => return value,
        };
        self.converted(value, conversion, span)
    }

    /// The text of several values, one after the other.
    pub(super) fn concatenated(&mut self, values: &[ValueId], span: Span) -> ValueId {
        let mut parts = Vec::new();
        let mut literal = Text::default();
        let mut anchor = None;
        let mut size = 0;
        for value in values {
            let more = self.size_of(*value);
            let fits = size + more <= LARGEST_TEXT;
            let joined =
                if fits { self.parts_of(*value) } else { vec![TemplatePart::Hole(*value)] };
            size += if fits { more } else { TemplatePart::Hole(*value).size() };
            for part in joined {
                match part {
                    TemplatePart::Text(text) => {
                        literal.append(&text);
                        anchor.get_or_insert(text);
                    }
                    TemplatePart::Hole(value) => {
                        flush(&mut parts, &mut literal);
                        parts.push(TemplatePart::Hole(value));
                    }
                }
            }
        }
        flush(&mut parts, &mut literal);
        let anchor = anchor.unwrap_or_else(|| Text::verbatim("", span));
        self.template(parts, &anchor, span)
    }

    /// The parts of a text; a value that is no literal or template is one hole.
    fn parts_of(&self, value: ValueId) -> Vec<TemplatePart> {
        match self.frame.body.kind(self.frame.body.peel(value)) {
            ValueKind::Literal(Literal::Text(text)) => vec![TemplatePart::Text(text.clone())],
            ValueKind::Template(parts) => parts.clone(),
            _ => vec![TemplatePart::Hole(value)],
        }
    }

    /// What joining a value adds to a text's size.
    fn size_of(&self, value: ValueId) -> usize {
        match self.frame.body.kind(self.frame.body.peel(value)) {
            ValueKind::Literal(Literal::Text(text)) => text.size(),
            ValueKind::Template(parts) => parts.iter().map(TemplatePart::size).sum(),
            _ => TemplatePart::Hole(value).size(),
        }
    }

    /// The text of a literal value, through conversions that keep it.
    pub(super) fn literal_text(&self, value: ValueId) -> Option<Text> {
        match self.frame.body.kind(self.frame.body.peel(value)) {
            ValueKind::Literal(Literal::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

fn flush(parts: &mut Vec<TemplatePart>, literal: &mut Text) {
    if !literal.content.is_empty() {
        parts.push(TemplatePart::Text(std::mem::take(literal)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubled_brace_is_one_brace_of_text() {
        let found = pieces("{{a:{b}}}:{:?}");
        assert_eq!(
            found,
            [
                Piece::Text(0, 1),
                Piece::Text(2, 4),
                Piece::Hole { argument: "b", at: 5, format: "" },
                Piece::Text(7, 8),
                Piece::Text(9, 10),
                Piece::Hole { argument: "", at: 11, format: "?" },
                Piece::Text(14, 14),
            ]
        );
    }

    #[test]
    fn what_is_no_format_string_is_cut_as_far_as_it_goes() {
        assert_eq!(pieces("a{b"), [Piece::Text(0, 1), Piece::Text(1, 3)]);
        assert_eq!(pieces("}"), [Piece::Text(0, 0), Piece::Text(1, 1)]);
    }
}
