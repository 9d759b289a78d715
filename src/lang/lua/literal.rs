//! Lua string literals: what they say, and where each byte of it is written.

use crate::ir::value::Text;

/// What a string literal at `start..end` (quotes or long brackets included) says. Holes stay in it.
#[must_use]
pub fn decode(text: &Text, start: usize, end: usize) -> Text {
    let raw = text.content.get(start..end).unwrap_or_default();
    if let Some(level) = long_bracket(raw) {
        let mut from = start + level;
        let to = end.saturating_sub(level).max(from);
        let inside = text.content.get(from..to).unwrap_or_default();
        from += inside.len()
            - inside.strip_prefix("\r\n").or(inside.strip_prefix('\n')).unwrap_or(inside).len();
        return text.part(from, to);
    }
    decode_quoted(text, start + 1, end.saturating_sub(1).max(start + 1))
}

/// The length of an opening long bracket: 2 for `[[`, 3 for `[=[`.
fn long_bracket(raw: &str) -> Option<usize> {
    let equals = raw.strip_prefix('[')?.chars().take_while(|c| *c == '=').count();
    raw.get(1 + equals..)?.starts_with('[').then_some(equals + 2)
}

fn decode_quoted(text: &Text, start: usize, end: usize) -> Text {
    let raw = text.content.get(start..end).unwrap_or_default();
    let mut decoded = Text::default();
    let mut at = 0;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.find('\\').unwrap_or(rest.len());
        if plain > 0 {
            decoded.append_part(text, start + at, start + at + plain);
            at += plain;
            continue;
        }
        let (said, length) = escape(rest);
        let span = text.place(start + at, start + at + length);
        match said {
            Some(said) => decoded.push(said.encode_utf8(&mut [0; 4]), span),
            None => decoded.push_hole(span),
        }
        at += length;
    }
    decoded.or_at(text.place(start, start))
}

/// What an escape at the start of `rest` says, and its length; `None` when it says nothing that is
/// known. Bytes above 127 are said as the character of that number: scripts compare such strings,
/// they don't print them.
fn escape(rest: &str) -> (Option<char>, usize) {
    let mut characters = rest.chars().skip(1);
    let Some(letter) = characters.next() else { return (None, 1) };
    let digits = rest.chars().skip(1).take(3).take_while(char::is_ascii_digit).count();
    if digits > 0 {
        let number = rest.get(1..1 + digits).and_then(|digits| digits.parse::<u32>().ok());
        return (number.and_then(char::from_u32), 1 + digits);
    }
    let said = match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        other => other,
    };
    (Some(said), 1 + letter.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};

    #[test]
    fn literals_say_what_lua_reads_and_point_at_their_source() {
        let source = r#"x = "a\n\065b""#;
        let text = Text::verbatim(source, Span::new(FileId(0), 100, 100 + 14));
        let decoded = decode(&text, 4, source.len());
        assert_eq!(decoded.content, "a\nAb");
        assert_eq!(decoded.place(0, 1), Span::new(FileId(0), 105, 106));
        assert_eq!(decoded.place(3, 4), Span::new(FileId(0), 112, 113));
        let text = Text::verbatim("[==[\nGET]==]", Span::new(FileId(0), 0, 12));
        let decoded = decode(&text, 0, 12);
        assert_eq!(decoded.content, "GET");
        assert_eq!(decoded.place(0, 3), Span::new(FileId(0), 5, 8));
        assert_eq!(decode(&Text::verbatim("''", Span::new(FileId(0), 3, 5)), 0, 2).content, "");
    }
}
