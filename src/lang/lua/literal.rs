//! Lua string literals: what they say, and where each byte of it is written.

use crate::ir::value::{HOLE, Text};
use crate::source::Span;

/// The source place of `start..end` of a text, an empty place at its start when it has none.
#[must_use]
pub fn place(text: &Text, start: usize, end: usize) -> Span {
    let first = text.runs.first().map(|(_, span)| Span { end: span.start, ..*span });
    let nowhere = Span::new(crate::source::FileId(0), 0, 0);
    text.place(offset(start), offset(end)).or(first).unwrap_or(nowhere)
}

/// A byte offset as the numbers of `ir` have it.
#[must_use]
pub fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Bytes `start..end` of a text as a text of its own, undecoded.
#[must_use]
pub fn part(text: &Text, start: usize, end: usize) -> Text {
    let content = text.content.get(start..end).unwrap_or_default().to_owned();
    let mut part = Text { content: String::new(), runs: Vec::new() };
    append_runs(&mut part, text, start, end);
    part.content = content;
    part
}

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
        return part(text, from, to);
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
    let mut decoded = Text { content: String::new(), runs: Vec::new() };
    let mut at = 0;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.find('\\').unwrap_or(rest.len());
        if plain > 0 {
            append_runs(&mut decoded, text, start + at, start + at + plain);
            decoded.content.push_str(rest.get(..plain).unwrap_or_default());
            at += plain;
            continue;
        }
        let (said, length) = escape(rest);
        let span = place(text, start + at, start + at + length);
        decoded.runs.push((offset(decoded.content.len()), span));
        decoded.content.push_str(&said);
        at += length;
    }
    if decoded.runs.is_empty() {
        decoded.runs.push((0, place(text, start, start)));
    }
    decoded
}

/// What an escape at the start of `rest` says, and its length. Bytes above 127 are said as the
/// character of that number: scripts compare such strings, they don't print them.
fn escape(rest: &str) -> (String, usize) {
    let mut characters = rest.chars().skip(1);
    let Some(letter) = characters.next() else { return (String::new(), 1) };
    let digits = rest.chars().skip(1).take(3).take_while(char::is_ascii_digit).count();
    if digits > 0 {
        let number = rest.get(1..1 + digits).and_then(|digits| digits.parse::<u32>().ok());
        return (number.and_then(char::from_u32).unwrap_or(HOLE).to_string(), 1 + digits);
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
    (said.to_string(), 1 + letter.len_utf8())
}

/// Adds runs for bytes `start..end` of `text` at the end of `decoded`.
fn append_runs(decoded: &mut Text, text: &Text, start: usize, end: usize) {
    let at = offset(decoded.content.len());
    let (start, end) = (offset(start), offset(end));
    let first = text.runs.partition_point(|(decoded, _)| *decoded <= start).saturating_sub(1);
    for (index, (from, span)) in text.runs.iter().enumerate().skip(first) {
        let begins = start.max(*from);
        if begins >= end && index > first {
            break;
        }
        let until = text.runs.get(index + 1).map_or(end, |(next, _)| end.min(*next));
        let source = (span.start + (begins - from)).min(span.end);
        let source_end = (source + until.saturating_sub(begins)).min(span.end.max(source));
        decoded.runs.push((at + (begins - start), Span::new(span.file, source, source_end)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn literals_say_what_lua_reads_and_point_at_their_source() {
        let source = r#"x = "a\n\065b""#;
        let text = Text::verbatim(source, Span::new(FileId(0), 100, 100 + 14));
        let decoded = decode(&text, 4, source.len());
        assert_eq!(decoded.content, "a\nAb");
        assert_eq!(decoded.place(0, 1), Some(Span::new(FileId(0), 105, 106)));
        assert_eq!(decoded.place(3, 4), Some(Span::new(FileId(0), 112, 113)));
        let text = Text::verbatim("[==[\nGET]==]", Span::new(FileId(0), 0, 12));
        let decoded = decode(&text, 0, 12);
        assert_eq!(decoded.content, "GET");
        assert_eq!(decoded.place(0, 3), Some(Span::new(FileId(0), 5, 8)));
        assert_eq!(decode(&Text::verbatim("''", Span::new(FileId(0), 3, 5)), 0, 2).content, "");
    }
}
