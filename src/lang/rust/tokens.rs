//! The tokens of a text without white space and comments, for the cheap passes that run before or
//! beside the parser. Lexing never fails and needs no stack.

use rustc_lexer::{FrontmatterAllowed, TokenKind};

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    /// What it is; punctuation comes one character at a time.
    pub(crate) kind: TokenKind,
    /// Byte offset of its first byte.
    pub(crate) start: usize,
    /// Its text.
    pub(crate) text: &'t str,
}

impl Token<'_> {
    /// Byte offset after its last byte.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it is a plain identifier or keyword of this text.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Ident && self.text == word
    }
}

/// The significant tokens of a text, in order. Documentation comments are left out too.
pub(crate) fn significant(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut start = 0;
    rustc_lexer::tokenize(text, FrontmatterAllowed::No).filter_map(move |token| {
        let from = start;
        start += token.len as usize;
        let trivia = matches!(
            token.kind,
            TokenKind::Whitespace | TokenKind::LineComment { .. } | TokenKind::BlockComment { .. }
        );
        (!trivia).then(|| Token {
            kind: token.kind,
            start: from,
            text: text.get(from..start).unwrap_or(""),
        })
    })
}

/// Whether an item (`fn`, `use`, `const`, …) may be declared in a body's text, by itself or in one of
/// the macros that take items, and macros themselves.
pub(crate) fn declares_items(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "fn",
        "macro_rules",
        "use",
        "struct",
        "enum",
        "impl",
        "mod",
        "trait",
        "static",
        "const",
        "type",
        "lazy_static",
        "thread_local",
        "cfg_if",
    ];
    significant(text).any(|token| token.kind == TokenKind::Ident && WORDS.contains(&token.text))
}

/// Keywords that can't be the name of a called function or macro, nor the end of an operand.
pub(crate) fn is_operator_word(word: &str) -> bool {
    matches!(
        word,
        "as" | "async"
            | "become"
            | "box"
            | "break"
            | "const"
            | "continue"
            | "do"
            | "dyn"
            | "else"
            | "enum"
            | "extern"
            | "fn"
            | "for"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "pub"
            | "ref"
            | "return"
            | "static"
            | "struct"
            | "trait"
            | "type"
            | "unsafe"
            | "use"
            | "where"
            | "while"
            | "yield"
    )
}
