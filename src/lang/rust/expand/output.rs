//! The text of an expansion, token by token, with the place of each.

use proc_macro2::{Delimiter, TokenTree};

use super::super::span::Place;
use super::rules::Leaf;
use crate::ir::expansion::Expansion;
use crate::source::Span;

/// An expansion that is being written.
pub(super) struct Output {
    pub(super) expansion: Expansion,
    /// How many tokens there are.
    pub(super) tokens: usize,
    most: usize,
    /// Whether the next token belongs to the last one.
    joint: bool,
}

/// A token that is longer counts as several: a long literal is doubled as fast as a short one.
const BYTES_OF_A_TOKEN: usize = 64;

/// The text has more tokens than it may.
pub(super) struct TooLong;

impl Output {
    /// An empty text of at most so many tokens.
    pub(super) fn new(most: usize, bodies: Vec<Span>) -> Self {
        let expansion = Expansion { bodies, ..Expansion::default() };
        Self { expansion, tokens: 0, most, joint: false }
    }

    /// Counts one token.
    pub(super) fn tick(&mut self) -> Result<(), TooLong> {
        self.tokens += 1;
        if self.tokens > self.most { Err(TooLong) } else { Ok(()) }
    }

    /// Adds one token.
    pub(super) fn push(&mut self, text: &str, span: Span) -> Result<(), TooLong> {
        self.tokens += text.len() / BYTES_OF_A_TOKEN;
        self.tick()?;
        if !std::mem::take(&mut self.joint) && !self.expansion.text.is_empty() {
            self.expansion.text.push(' ');
        }
        let start = u32::try_from(self.expansion.text.len()).map_err(|_| TooLong)?;
        self.expansion.pieces.push((start, span));
        self.expansion.text.push_str(text);
        Ok(())
    }

    /// Adds a token of a definition.
    pub(super) fn leaf(&mut self, leaf: &Leaf) -> Result<(), TooLong> {
        self.push(&leaf.text, leaf.span)?;
        self.joint = leaf.joint;
        Ok(())
    }

    /// Adds a token with all that is in it. Groups without delimiters get parentheses.
    pub(super) fn tree(&mut self, token: &TokenTree, place: &Place) -> Result<(), TooLong> {
        let TokenTree::Group(group) = token else { return self.leaf(&Leaf::new(token, place)) };
        let (open, close) = delimiters(group.delimiter());
        let (first, last) = match group.delimiter() {
            Delimiter::None => {
                let mut trees = group.stream().into_iter();
                let Some(first) = trees.next() else { return Ok(()) };
                let (first, last) = (first.span(), trees.last().map(|last| last.span()));
                (first, last.unwrap_or(first))
            }
            _ => (group.span_open(), group.span_close()),
        };
        self.push(open, place.span(first))?;
        for token in group.stream() {
            self.tree(&token, place)?;
        }
        self.push(close, place.span(last))
    }
}

/// What is written for a delimiter.
pub(super) fn delimiters(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis | Delimiter::None => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
    }
}
