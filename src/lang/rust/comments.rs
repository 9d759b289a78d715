//! Where the comments of Rust source are.

use rustc_lexer::{FrontmatterAllowed, TokenKind};

use crate::lang::comments::{Comment, Kind};

/// The comments of a text, in order.
pub(crate) fn of(text: &str) -> Vec<Comment> {
    let mut at = rustc_lexer::strip_shebang(text).unwrap_or(0);
    let rest = text.get(at..).unwrap_or("");
    let mut found = Vec::new();
    for token in rustc_lexer::tokenize(rest, FrontmatterAllowed::Yes) {
        let (start, end) = (at, at + token.len as usize);
        at = end;
        let (documents, line) = match token.kind {
            TokenKind::LineComment { doc_style } => (doc_style.is_some(), true),
            TokenKind::BlockComment { doc_style, .. } => (doc_style.is_some(), false),
            _ => continue,
        };
        let kind = match (documents, line) {
            (true, _) => Kind::Documentation,
            (false, true) => Kind::Line,
            (false, false) => Kind::Block,
        };
        let body = text.get(start..end).unwrap_or("");
        let closed = if line {
            body.trim_end_matches('\r')
        } else {
            body.strip_suffix("*/").unwrap_or(body)
        };
        let opening = if documents { 3 } else { 2 };
        found.push(Comment {
            range: start..(start + closed.len()).max(start + opening.min(body.len())),
            opening,
            kind,
        });
    }
    found
}
