//! What a body's text calls, by name, without parsing it.

use std::collections::BTreeSet;

use rustc_lexer::TokenKind;

use super::tokens::{self, Token};

/// What a pass over the tokens of a body found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mentions {
    /// Names of called functions and methods; macros with `!`. Sorted, no duplicates.
    pub(crate) names: Vec<String>,
    /// Whether an item (`fn`, `use`, `const`, …) may be declared inside.
    pub(crate) items: bool,
}

/// How far a called name has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    Name,
    Colon,
    Colons,
    Bang,
}

/// Looks for names that are called: `name(`, `name::<`, `name!(`.
pub(crate) fn mentions(text: &str) -> Mentions {
    let mut names = BTreeSet::new();
    let mut items = false;
    let mut seen = Seen::Nothing;
    let mut name = "";
    for token in tokens::significant(text) {
        items |= declares(token);
        seen = match (seen, token.kind) {
            (_, TokenKind::Ident) if tokens::is_operator_word(token.text) => Seen::Nothing,
            (_, TokenKind::Ident | TokenKind::RawIdent) => {
                name = token.text.trim_start_matches("r#");
                Seen::Name
            }
            (Seen::Name, TokenKind::Colon) => Seen::Colon,
            (Seen::Colon, TokenKind::Colon) => Seen::Colons,
            (Seen::Name, TokenKind::Bang) => Seen::Bang,
            (Seen::Name, TokenKind::OpenParen) | (Seen::Colons, TokenKind::Lt) => {
                names.insert(name.to_owned());
                Seen::Nothing
            }
            (Seen::Bang, TokenKind::OpenParen | TokenKind::OpenBrace | TokenKind::OpenBracket) => {
                items |= matches!(name, "lazy_static" | "thread_local" | "cfg_if");
                names.insert(format!("{name}!"));
                Seen::Nothing
            }
            _ => Seen::Nothing,
        };
    }
    Mentions { names: names.into_iter().collect(), items }
}

fn declares(token: Token<'_>) -> bool {
    const WORDS: [&str; 10] =
        ["fn", "use", "struct", "enum", "impl", "mod", "trait", "static", "const", "type"];
    token.kind == TokenKind::Ident && WORDS.contains(&token.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_methods_turbofish_and_macros_are_mentioned_and_keywords_are_not() {
        let found = mentions("{ if (a) { b(1)?; c.d::<T>(x); e::f(); g!{}; h != (i); r#try() } }");
        assert_eq!(found.names, ["b", "d", "f", "g!", "try"]);
        assert!(!found.items);
        assert!(mentions("{ use a::b; }").items);
    }
}
