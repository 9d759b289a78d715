//! Where the comments of Lua source are. One pass, no grammar: what a template leaves in a script
//! hides none of them.

use crate::lang::comments::{Comment, Kind};

/// The comments of a text, in order.
pub(crate) fn of(text: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    let mut at = if text.starts_with('#') { line(text, 0) } else { 0 };
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let bytes = rest.as_bytes();
        at += match bytes.first() {
            Some(b'-') if rest.starts_with("--") => {
                let comment = comment(text, at);
                let length = comment.range.end - at;
                found.push(comment);
                length
            }
            Some(quote @ (b'\'' | b'"')) => quoted(bytes, *quote),
            Some(b'[') => long(rest).map_or(1, |(_, length)| length),
            _ => {
                1 + bytes
                    .iter()
                    .skip(1)
                    .position(|byte| b"-'\"[".contains(byte))
                    .unwrap_or(bytes.len())
            }
        };
    }
    found
}

/// The comment whose dashes stand at an offset.
fn comment(text: &str, at: usize) -> Comment {
    let body = text.get(at + 2..).unwrap_or("");
    if let Some((opening, length)) = long(body) {
        let closing = if length == body.len() && !body.ends_with(']') { 0 } else { opening };
        let opening = opening + 2;
        return Comment {
            range: at..(at + 2 + length - closing).max(at + opening),
            opening,
            kind: Kind::Block,
        };
    }
    let documents = body.starts_with('-') && !body.starts_with("--");
    let (kind, opening) = if documents { (Kind::Documentation, 3) } else { (Kind::Line, 2) };
    Comment { range: at..at + 2 + line(body, 0), opening, kind }
}

/// Bytes from an offset to the end of its line.
fn line(text: &str, at: usize) -> usize {
    let line = text.get(at..).unwrap_or("").lines().next().unwrap_or("");
    line.len()
}

/// Bytes of a short string; it ends with its line if nothing closes it.
fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Bytes of the opening bracket and of all of what stands between long brackets, if the text begins with
/// one; without a closing bracket it is all of the text.
fn long(text: &str) -> Option<(usize, usize)> {
    let level = text.strip_prefix('[')?.bytes().take_while(|byte| *byte == b'=').count();
    let opening = level + 2;
    let inside = text.get(opening - 1..)?.strip_prefix('[')?;
    let closing = format!("]{}]", "=".repeat(level));
    Some((opening, inside.find(&closing).map_or(text.len(), |at| opening + at + closing.len())))
}
