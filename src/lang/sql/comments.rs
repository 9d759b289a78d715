//! Where the comments of SQL text are.

use super::Dialect;
use super::token::{self, TokenKind};
use crate::lang::comments::{Comment, Kind};

/// The comments of a text, in order. A line that begins with `#` is one in any dialect.
pub(crate) fn of(text: &str, dialect: Dialect) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    for token in token::tokens(text, dialect) {
        let words = token.text(text);
        if found.last().is_some_and(|last| token.start < last.range.end) {
            continue;
        }
        let (opening, kind) = match token.kind {
            TokenKind::Comment if words.starts_with("/*") => (2, Kind::Block),
            TokenKind::Comment if words.starts_with('#') => (1, Kind::Line),
            TokenKind::Comment => (2, Kind::Line),
            TokenKind::Symbol if words.starts_with('#') && begins_line(text, token.start) => {
                (1, Kind::Line)
            }
            _ => continue,
        };
        let end = match kind {
            Kind::Block => {
                token.start + words.strip_suffix("*/").unwrap_or(words).len().max(opening)
            }
            _ => {
                token.start
                    + text.get(token.start..).unwrap_or("").lines().next().unwrap_or("").len()
            }
        };
        found.push(Comment { range: token.start..end, opening, kind });
    }
    found
}

fn begins_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or("");
    before.rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
}
