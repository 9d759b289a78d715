//! Literals: numbers, characters, and text with every byte's place in the source.

use syn::Lit;

use super::Lowerer;
use crate::ir::value::{Literal, Text, ValueId, ValueKind};
use crate::source::Span;

impl<'a> Lowerer<'a> {
    pub(super) fn literal(&mut self, lit: &Lit) -> ValueId {
        let span = self.place.span(lit.span());
        let literal = self.literal_of(lit);
        let value = self.value(ValueKind::Literal(literal), span);
        if let Lit::Int(number) = lit
            && !number.suffix().is_empty()
            && let Some(value) = self.frame.body.values.get_mut(value.0 as usize)
        {
            value.ty = Some(crate::ir::index::TypeRef::Named {
                path: crate::ir::index::Path::single(number.suffix()),
                arguments: Vec::new(),
            });
        }
        value
    }

    /// What a literal says.
    pub(super) fn literal_of(&self, lit: &Lit) -> Literal {
        match lit {
            Lit::Str(text) => Literal::Text(self.text(text.span(), &text.value())),
            Lit::ByteStr(text) => {
                Literal::Text(self.text(text.span(), &String::from_utf8_lossy(&text.value())))
            }
            Lit::CStr(text) => {
                Literal::Text(self.text(text.span(), &text.value().to_string_lossy()))
            }
            Lit::Char(character) => {
                let span = self.place.span(character.span());
                Literal::Text(Text::verbatim(character.value(), inside(span)))
            }
            Lit::Byte(byte) => Literal::Integer(i128::from(byte.value())),
            Lit::Int(number) => match number.base10_parse::<i128>() {
                Ok(value) => Literal::Integer(value),
                Err(_) => Literal::Float(number.base10_parse().unwrap_or(f64::INFINITY)),
            },
            Lit::Float(number) => Literal::Float(number.base10_parse().unwrap_or(f64::NAN)),
            Lit::Bool(truth) => Literal::Boolean(truth.value),
            _ => Literal::Nothing,
        }
    }

    /// What stands in the source at a place.
    pub(super) fn source(&self, span: Span) -> &'a str {
        let file =
            if span.file == self.file.id { Some(self.file) } else { self.tree.file(span.file) };
        file.map_or("", |file| file.slice(span))
    }

    /// The text of a string literal, decoded from the source. `value` is what the parser says it
    /// is; it serves when the literal does not stand in the source as it is.
    fn text(&self, mark: proc_macro2::Span, value: &str) -> Text {
        let span = self.place.span(mark);
        match decode(self.source(span), span) {
            Some(text) => text,
            None => Text::verbatim(value, inside(span)),
        }
    }
}

/// The span without its quotes.
fn inside(span: Span) -> Span {
    Span::new(span.file, span.start.saturating_add(1), span.end.saturating_sub(1))
}

/// Decodes a string, byte string or C string literal that stands at `span`.
pub(super) fn decode(source: &str, span: Span) -> Option<Text> {
    let quote = source.find('"')?;
    let prefix = source.get(..quote)?;
    let raw = prefix.contains('r');
    let hashes = prefix.bytes().filter(|byte| *byte == b'#').count();
    let last = source.rfind('"')?;
    let content = source.get(quote + 1..last)?;
    if source.len() < last + 1 + hashes {
        return None;
    }
    let base = span.start.checked_add(u32::try_from(quote + 1).ok()?)?;
    let reader = Reader { content, file: span, base };
    let text = if raw { reader.raw() } else { reader.escaped()? };
    Some(text)
}

/// Reads the inside of a literal.
struct Reader<'t> {
    content: &'t str,
    file: Span,
    base: u32,
}

impl Reader<'_> {
    fn place(&self, start: usize, end: usize) -> Span {
        let offset = |at: usize| self.base.saturating_add(u32::try_from(at).unwrap_or(0));
        Span::new(self.file.file, offset(start), offset(end))
    }

    fn finish(&self, text: Text) -> Text {
        text.or_at(self.place(0, 0))
    }

    /// Raw text: only line ends are made one.
    fn raw(&self) -> Text {
        let mut text = Text::default();
        let mut start = 0;
        for (at, _) in self.content.match_indices("\r\n") {
            self.copy(&mut text, start, at);
            start = at + 1;
        }
        self.copy(&mut text, start, self.content.len());
        self.finish(text)
    }

    fn copy(&self, text: &mut Text, start: usize, end: usize) {
        if let Some(part) = self.content.get(start..end) {
            text.push(part, self.place(start, end));
        }
    }

    /// Text with escapes; `None` for an escape that the language does not have.
    fn escaped(&self) -> Option<Text> {
        let mut text = Text::default();
        let mut start = 0;
        let mut at = 0;
        while let Some(found) = self.content.get(at..)?.find(['\\', '\r']) {
            let mark = at + found;
            self.copy(&mut text, start, mark);
            if self.content.get(mark..)?.starts_with('\r') {
                start = mark + 1;
                at = start;
                continue;
            }
            let (decoded, length) = escape(self.content.get(mark..)?)?;
            if let Some(decoded) = decoded {
                let mut buffer = [0; 4];
                text.push(decoded.encode_utf8(&mut buffer), self.place(mark, mark + length));
            }
            start = mark + length;
            at = start;
        }
        self.copy(&mut text, start, self.content.len());
        Some(self.finish(text))
    }
}

/// The character of the escape that `source` starts with (`None` for a line continuation), and how
/// long it is written.
fn escape(source: &str) -> Option<(Option<char>, usize)> {
    let kind = source.chars().nth(1)?;
    let simple = match kind {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        '\\' | '\'' | '"' => kind,
        'x' => {
            let code = u32::from_str_radix(source.get(2..4)?, 16).ok()?;
            // Above 0x7F only in byte strings, where it is no character.
            let character = if code < 0x80 { char::from_u32(code)? } else { '\u{FFFD}' };
            return Some((Some(character), 4));
        }
        'u' => {
            let end = source.find('}')?;
            let digits = source.get(3..end)?.replace('_', "");
            return Some((char::from_u32(u32::from_str_radix(&digits, 16).ok()?), end + 1));
        }
        '\n' | '\r' => {
            let rest = source.get(1..)?;
            let skipped = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            return Some((None, 1 + skipped));
        }
        _ => return None,
    };
    Some((Some(simple), 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn decoded(source: &str) -> Text {
        let end = u32::try_from(source.len()).unwrap();
        decode(source, Span::new(FileId(0), 0, end)).unwrap()
    }

    #[test]
    fn escapes_point_at_what_is_written() {
        let text = decoded(r#""a\u{1F600}b\x41""#);
        assert_eq!(text.content, "a\u{1F600}bA");
        let runs: Vec<(u32, u32, u32)> =
            text.runs.iter().map(|(at, span)| (*at, span.start, span.end)).collect();
        assert_eq!(runs, [(0, 1, 2), (1, 2, 11), (5, 11, 12), (6, 12, 16)]);
    }

    #[test]
    fn a_line_continuation_is_no_text() {
        let text = decoded("\"a \\\n   b\"");
        assert_eq!(text.content, "a b");
        assert_eq!(text.runs.last().unwrap().1.start, 8);
    }

    #[test]
    fn raw_text_keeps_backslashes_and_makes_line_ends_one() {
        let text = decoded("r#\"a\\n\r\nb\"#");
        assert_eq!(text.content, "a\\n\nb");
        assert_eq!(decoded("\"\"").content, "");
        assert_eq!(decoded("\"\"").runs.len(), 1);
    }
}
