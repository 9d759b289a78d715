//! Reading a definition: matchers and templates as trees.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

use super::super::span::Place;
use super::fragment::Kind;
use crate::source::Span;

/// `(matcher) => { template }`
pub(super) struct Rule {
    pub(super) matcher: Vec<Piece>,
    pub(super) template: Vec<Piece>,
}

/// A part of a matcher or template.
pub(super) enum Piece {
    /// A token that stands for itself.
    Token(Leaf),
    /// A delimited part, with the places of its delimiters.
    Group { delimiter: Delimiter, open: Span, close: Span, inner: Vec<Piece> },
    /// `$name:kind`, or `$name` in a template.
    Variable { name: String, kind: Option<Kind>, span: Span },
    /// `$crate`
    Crate(Span),
    /// `$( … ) separator op`
    Repeat(Repeat),
}

/// A token that is no group.
pub(super) struct Leaf {
    pub(super) text: String,
    pub(super) span: Span,
    /// Whether it is a word.
    pub(super) word: bool,
    /// Whether the next sign belongs to it.
    pub(super) joint: bool,
}

impl Leaf {
    /// A token, and where it stands.
    pub(super) fn new(token: &TokenTree, place: &Place) -> Self {
        Self {
            text: token.to_string(),
            span: place.span(token.span()),
            word: matches!(token, TokenTree::Ident(_)),
            joint: is_joint(token),
        }
    }

    /// The sign that it is; `None` for words and literals.
    pub(super) fn sign(&self) -> Option<char> {
        self.text.chars().next().filter(char::is_ascii_punctuation).filter(|_| self.text.len() == 1)
    }
}

fn is_joint(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint)
}

/// A part that is repeated.
pub(super) struct Repeat {
    pub(super) inner: Vec<Piece>,
    /// The tokens between two of them; more than one for `=>` and its kind.
    pub(super) separator: Vec<Leaf>,
    /// Whether it has to be there.
    pub(super) once: bool,
    /// Whether there may be more than one.
    pub(super) many: bool,
}

type Reading<T> = Result<T, &'static str>;

const UNREADABLE: &str = "its definition is not read";
const NOT_FOLLOWED: &str = "its definition uses what is not followed";

/// The rules between the braces of a definition.
pub(super) fn read(tokens: TokenStream, place: &Place) -> Reading<Vec<Rule>> {
    let mut rules = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while tokens.peek().is_some() {
        let matcher = group(tokens.next())?;
        for expected in ['=', '>'] {
            match tokens.next() {
                Some(TokenTree::Punct(punct)) if punct.as_char() == expected => {}
                _ => return Err(UNREADABLE),
            }
        }
        let template = group(tokens.next())?;
        rules.push(Rule {
            matcher: Reader { place, matcher: true }.pieces(matcher.stream())?,
            template: Reader { place, matcher: false }.pieces(template.stream())?,
        });
        match tokens.next() {
            None => {}
            Some(TokenTree::Punct(punct)) if punct.as_char() == ';' => {}
            Some(_) => return Err(UNREADABLE),
        }
    }
    Ok(rules)
}

fn group(token: Option<TokenTree>) -> Reading<Group> {
    match token {
        Some(TokenTree::Group(group)) => Ok(group),
        _ => Err(UNREADABLE),
    }
}

type Tokens = std::iter::Peekable<proc_macro2::token_stream::IntoIter>;

struct Reader<'a> {
    place: &'a Place,
    /// Whether variables have kinds.
    matcher: bool,
}

impl Reader<'_> {
    /// Nesting is bounded where the file is read.
    fn pieces(&self, tokens: TokenStream) -> Reading<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            pieces.push(match &token {
                TokenTree::Group(group) => Piece::Group {
                    delimiter: group.delimiter(),
                    open: self.place.span(group.span_open()),
                    close: self.place.span(group.span_close()),
                    inner: self.pieces(group.stream())?,
                },
                TokenTree::Punct(punct) if punct.as_char() == '$' => {
                    self.dollar(&token, &mut tokens)?
                }
                token => Piece::Token(Leaf::new(token, self.place)),
            });
        }
        Ok(pieces)
    }

    /// What stands behind a `$`.
    fn dollar(&self, sign: &TokenTree, tokens: &mut Tokens) -> Reading<Piece> {
        match tokens.peek() {
            Some(TokenTree::Ident(name)) => {
                let (name, span) = (name.to_string(), self.place.span(name.span()));
                tokens.next();
                if name == "crate" {
                    return Ok(Piece::Crate(span));
                }
                let kind = if self.matcher { Some(kind(tokens)?) } else { None };
                Ok(Piece::Variable { name, kind, span })
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                let inner = self.pieces(group.stream())?;
                tokens.next();
                self.repeat(inner, tokens).map(Piece::Repeat)
            }
            Some(TokenTree::Group(_)) => Err(NOT_FOLLOWED),
            _ => Ok(Piece::Token(Leaf::new(sign, self.place))),
        }
    }

    /// The separator and operator behind `$( … )`.
    fn repeat(&self, inner: Vec<Piece>, tokens: &mut Tokens) -> Reading<Repeat> {
        let mut separator: Vec<Leaf> = Vec::new();
        loop {
            let token = tokens.next().ok_or(UNREADABLE)?;
            let operator = match &token {
                // `$(…)+*` is separated by `+`.
                TokenTree::Punct(_) if separator.is_empty() && is_operator(tokens.peek()) => None,
                TokenTree::Punct(punct) => match punct.as_char() {
                    '*' => Some((false, true)),
                    '+' => Some((true, true)),
                    '?' => Some((false, false)),
                    _ => None,
                },
                _ => None,
            };
            if let Some((once, many)) = operator {
                return Ok(Repeat { inner, separator, once, many });
            }
            // A separator is one token, of up to three signs.
            let ends = !separator.is_empty() && !is_joint(&token) && !is_operator(tokens.peek());
            if separator.len() > 2 || ends {
                return Err(UNREADABLE);
            }
            separator.push(Leaf::new(&token, self.place));
        }
    }
}

/// `:kind`
fn kind(tokens: &mut Tokens) -> Reading<Kind> {
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Punct(colon)), Some(TokenTree::Ident(kind))) if colon.as_char() == ':' => {
            Kind::named(&kind.to_string()).ok_or(NOT_FOLLOWED)
        }
        _ => Err(UNREADABLE),
    }
}

fn is_operator(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if matches!(punct.as_char(), '*' | '+'))
}
