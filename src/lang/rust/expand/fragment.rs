//! The kinds of fragments a matcher can ask for, and how each is taken off the arguments.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use syn::buffer::Cursor;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Token};

use super::super::tokens::is_operator_word;

/// A fragment specifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Block,
    Expression,
    Identifier,
    Item,
    Lifetime,
    Literal,
    Meta,
    Path,
    Pattern,
    PatternWithoutOr,
    Statement,
    Tree,
    Type,
    Visibility,
}

impl Kind {
    /// The kind that a definition names.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "block" => Self::Block,
            "expr" | "expr_2021" => Self::Expression,
            "ident" => Self::Identifier,
            "item" => Self::Item,
            "lifetime" => Self::Lifetime,
            "literal" => Self::Literal,
            "meta" => Self::Meta,
            "path" => Self::Path,
            "pat" => Self::Pattern,
            "pat_param" => Self::PatternWithoutOr,
            "stmt" => Self::Statement,
            "tt" => Self::Tree,
            "ty" => Self::Type,
            "vis" => Self::Visibility,
            _ => return None,
        })
    }
}

/// Punctuation of more than one character that counts as one token.
const JOINED: [&str; 24] = [
    "<<=", ">>=", "...", "..=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=",
    "*=", "/=", "%=", "^=", "&=", "|=", "<<", ">>", "..",
];

/// A fragment that was taken off the arguments.
#[derive(Clone, Debug)]
pub(super) struct Fragment {
    /// Its kind.
    pub(super) kind: Kind,
    /// Its tokens.
    pub(super) tokens: Vec<TokenTree>,
}

/// Takes a fragment; `None` when there is none of that kind. The input is then somewhere in it.
pub(super) fn take(kind: Kind, input: ParseStream<'_>) -> Option<Fragment> {
    let begin = input.cursor();
    parse(kind, input).ok()?;
    let mut tokens = between(begin, input.cursor());
    if kind == Kind::Expression && !stands_alone(&tokens) {
        // What is around it must not take it apart.
        tokens = vec![Group::new(Delimiter::None, TokenStream::from_iter(tokens)).into()];
    }
    Some(Fragment { kind, tokens })
}

/// The tokens from one place to another.
fn between(mut begin: Cursor<'_>, end: Cursor<'_>) -> Vec<TokenTree> {
    let mut tokens = Vec::new();
    while begin != end
        && let Some((token, next)) = begin.token_tree()
    {
        tokens.push(token);
        begin = next;
    }
    tokens
}

/// Whether an expression is one token, or names, calls and groups alone.
fn stands_alone(tokens: &[TokenTree]) -> bool {
    let plain = |token: &TokenTree| match token {
        TokenTree::Ident(word) => !is_operator_word(&word.to_string()),
        TokenTree::Literal(_) => true,
        TokenTree::Punct(punct) => matches!(punct.as_char(), '.' | ':' | '?'),
        TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
    };
    let range = |pair: &[TokenTree]| match pair {
        [TokenTree::Punct(one), TokenTree::Punct(two)] => {
            one.as_char() == '.' && two.as_char() == '.'
        }
        _ => false,
    };
    tokens.len() == 1 || tokens.iter().all(plain) && !tokens.windows(2).any(range)
}

fn parse(kind: Kind, input: ParseStream<'_>) -> syn::Result<()> {
    match kind {
        Kind::Block => input.parse::<syn::Block>().map(drop),
        Kind::Expression => input.parse::<syn::Expr>().map(drop),
        Kind::Identifier => {
            let name = Ident::parse_any(input)?;
            if name == "_" { Err(input.error("expected identifier")) } else { Ok(()) }
        }
        Kind::Item => input.parse::<syn::Item>().map(drop),
        Kind::Lifetime => input.parse::<syn::Lifetime>().map(drop),
        Kind::Literal => {
            input.parse::<Option<Token![-]>>()?;
            input.parse::<syn::Lit>().map(drop)
        }
        Kind::Meta => input.parse::<syn::Meta>().map(drop),
        Kind::Path => input.parse::<syn::Path>().map(drop),
        Kind::Pattern => syn::Pat::parse_multi_with_leading_vert(input).map(drop),
        Kind::PatternWithoutOr => syn::Pat::parse_single(input).map(drop),
        Kind::Statement => statement(input),
        Kind::Tree => tree(input),
        Kind::Type => input.parse::<syn::Type>().map(drop),
        Kind::Visibility => input.parse::<syn::Visibility>().map(drop),
    }
}

/// A statement without its semicolon.
fn statement(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![let]) {
        while !input.is_empty() && !input.peek(Token![;]) {
            input.parse::<TokenTree>()?;
        }
        return Ok(());
    }
    // A call of a macro is an expression here.
    match input.fork().parse::<syn::Item>() {
        Ok(syn::Item::Macro(_) | syn::Item::Verbatim(_)) | Err(_) => {
            input.parse::<syn::Expr>().map(drop)
        }
        Ok(_) => input.parse::<syn::Item>().map(drop),
    }
}

/// One tree; punctuation and lifetimes are whole.
fn tree(input: ParseStream<'_>) -> syn::Result<()> {
    let TokenTree::Punct(first) = input.parse::<TokenTree>()? else { return Ok(()) };
    if first.as_char() == '\'' {
        return input.parse::<TokenTree>().map(drop);
    }
    let mut text = String::from(first.as_char());
    let mut spacing = first.spacing();
    while spacing == Spacing::Joint
        && let Some((next, _)) = input.cursor().punct()
    {
        text.push(next.as_char());
        if !JOINED.iter().any(|joined| joined.starts_with(&text)) {
            break;
        }
        spacing = next.spacing();
        input.parse::<TokenTree>()?;
    }
    Ok(())
}
