//! What can be saved of a file that the parser refuses.
//!
//! The lexer cuts the text into items, each is read alone, and those that can't be read are
//! replaced by blanks of the same length, so that what is left parses and every place in it is
//! still the place in the file. `impl`, `mod` and `trait` blocks are cut further: one bad method
//! costs that method. Where braces do not match, the layout decides: an item that begins a line no
//! further in than the one before it is no part of that one.

use std::ops::Range;

use rustc_lexer::TokenKind;

use super::nesting;
use super::read::{Refusal, read};
use super::tokens::{self, Token};
use crate::ir::body::ProblemKind;

/// Blocks inside blocks that are cut further.
const MOST_LEVELS: usize = 8;

/// A text without the items that can't be read, and one refusal for each of those; their places
/// are bytes of the text.
pub(crate) fn recover(text: &str) -> (String, Vec<Refusal>) {
    let mut saved = Saved { text, kept: vec![b' '; text.len()], lost: Vec::new() };
    saved.items(0..text.len(), Inside::File, 0, false);
    let kept = String::from_utf8(saved.kept).unwrap_or_default();
    (kept, saved.lost)
}

/// What kind of items a block holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    File,
    Impl,
    Trait,
}

struct Saved<'t> {
    text: &'t str,
    kept: Vec<u8>,
    lost: Vec<Refusal>,
}

impl Saved<'_> {
    /// Keeps the items of a range that can be read. `layout`: the braces around can't be trusted.
    fn items(&mut self, range: Range<usize>, inside: Inside, level: usize, layout: bool) {
        let (extents, strays) = cut(self.text, range, layout);
        // In a block that is never closed, one of them is its own, closing another.
        for at in strays.into_iter().filter(|_| !layout) {
            self.refuse(at..at + 1, "this delimiter closes nothing");
        }
        for extent in extents {
            let piece = self.text.get(extent.range.clone()).unwrap_or("");
            match parse(piece, inside) {
                Ok(()) => self.keep(extent.range),
                Err(refusal) => match &extent.block {
                    Some(block) if level < MOST_LEVELS => self.block(&extent, block, inside, level),
                    _ => self.lose(extent.range.start, refusal),
                },
            }
        }
    }

    /// Keeps the head of a block and those of its items that can be read.
    fn block(&mut self, extent: &Extent, block: &Block, inside: Inside, level: usize) {
        let head = extent.head(self.text);
        let shell = self.text.get(head..block.body.start).unwrap_or("");
        if let Err(refusal) = parse(&format!("{shell}}}"), inside) {
            self.lose(head, refusal);
            return;
        }
        let lost_before = self.lost.len();
        self.keep(head..block.body.start);
        self.items(block.body.clone(), block.holds, level + 1, !block.closed);
        // Its own brace, or one over the last blank.
        let at = if block.closed { block.body.end } else { extent.range.end.saturating_sub(1) };
        match self.kept.get_mut(at) {
            Some(byte) if *byte == b' ' => *byte = b'}',
            _ => self.kept.get_mut(head..extent.range.end).unwrap_or_default().fill(b' '),
        }
        if !block.closed && self.lost.len() == lost_before {
            self.refuse(head..block.body.start, "this block is never closed");
        }
    }

    fn keep(&mut self, range: Range<usize>) {
        let source = self.text.as_bytes().get(range.clone());
        if let (Some(to), Some(from)) = (self.kept.get_mut(range), source) {
            to.copy_from_slice(from);
        }
    }

    fn refuse(&mut self, at: Range<usize>, reason: &str) {
        self.lost.push(Refusal { at, reason: reason.to_owned(), kind: ProblemKind::Syntax });
    }

    fn lose(&mut self, base: usize, refusal: Refusal) {
        let at = refusal.at.start + base..refusal.at.end + base;
        self.lost.push(Refusal { at, ..refusal });
    }
}

fn parse(text: &str, inside: Inside) -> Result<(), Refusal> {
    match inside {
        Inside::File => read::<syn::Item>(text).map(drop),
        Inside::Impl => read::<syn::ImplItem>(text).map(drop),
        Inside::Trait => read::<syn::TraitItem>(text).map(drop),
    }
}

/// Where an item stands.
struct Extent {
    range: Range<usize>,
    block: Option<Block>,
}

/// The braces of a block of items.
struct Block {
    /// What is between them.
    body: Range<usize>,
    holds: Inside,
    /// Whether the closing one was found.
    closed: bool,
}

impl Extent {
    /// Where the head begins: `pub impl`, which some macros take, is read as `impl`.
    fn head(&self, text: &str) -> usize {
        let piece = text.get(self.range.clone()).unwrap_or("");
        let mut words = tokens::significant(piece);
        let start = match (words.next(), words.next()) {
            (Some(first), Some(second)) if first.is_word("pub") && second.is_word("impl") => {
                second.start
            }
            _ => 0,
        };
        self.range.start + start
    }
}

/// Cuts a part of a text into items; closing delimiters that belong to none come second.
fn cut(text: &str, range: Range<usize>, layout: bool) -> (Vec<Extent>, Vec<usize>) {
    let part = text.get(range.clone()).unwrap_or("");
    let mut cutter = Cutter {
        text: part,
        base: range.start,
        items: Vec::new(),
        strays: Vec::new(),
        open: None,
        depth: 0,
        last: 0,
        layout: layout || !nesting::balanced(part),
    };
    for token in tokens::significant(part) {
        cutter.feed(token);
    }
    cutter.end(part.len(), None);
    (cutter.items, cutter.strays)
}

struct Cutter<'t> {
    text: &'t str,
    base: usize,
    items: Vec<Extent>,
    strays: Vec<usize>,
    open: Option<Open>,
    depth: usize,
    /// The end of the last token.
    last: usize,
    /// Whether braces do not match, so that lines tell where items begin.
    layout: bool,
}

/// The item being read.
struct Open {
    start: usize,
    /// Whether it begins with what no item begins with.
    junk: bool,
    column: usize,
    word: Word,
    /// Where its first brace at its own level opened.
    brace: Option<usize>,
}

/// What word an item was known by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// None yet: attributes, `pub`, `unsafe`.
    None,
    /// Ends at its braces or at `;`: `fn`, `struct`, macros.
    Braced,
    /// Ends at `;` alone: `use`, `const`, `static`, `type`.
    Value,
    /// Holds items.
    Block(Inside),
}

impl Cutter<'_> {
    fn feed(&mut self, token: Token<'_>) {
        let column = self.column(token);
        let layout = self.layout || self.open.as_ref().is_some_and(|open| open.junk);
        if layout && self.begins_by_layout(token, column) {
            self.end(token.start, None);
            self.depth = 0;
        }
        let closes = matches!(
            token.kind,
            TokenKind::CloseBrace | TokenKind::CloseParen | TokenKind::CloseBracket
        );
        if closes {
            self.close(token);
            return;
        }
        if self.open.is_none() {
            let column = column.unwrap_or(usize::MAX);
            let junk = !matches!(token.kind, TokenKind::Pound | TokenKind::Ident);
            let start = token.start;
            self.open = Some(Open { start, junk, column, word: Word::None, brace: None });
        }
        match token.kind {
            TokenKind::OpenBrace | TokenKind::OpenParen | TokenKind::OpenBracket => {
                if let Some(open) = &mut self.open
                    && self.depth == 0
                    && token.kind == TokenKind::OpenBrace
                {
                    open.brace.get_or_insert(token.start);
                }
                self.depth += 1;
            }
            TokenKind::Semi if self.depth == 0 => self.end(token.end(), None),
            TokenKind::Ident if self.depth == 0 => self.word(token),
            _ => {}
        }
    }

    fn close(&mut self, token: Token<'_>) {
        if self.depth == 0 {
            self.strays.push(token.start + self.base);
            self.end(token.start, None);
            return;
        }
        self.depth -= 1;
        let ends = token.kind == TokenKind::CloseBrace
            && self.depth == 0
            && self.open.as_ref().is_some_and(|open| open.word != Word::Value);
        if ends {
            self.end(token.end(), Some(token.start));
        } else if self.depth == 0 && token.kind == TokenKind::CloseBracket {
            self.drop_inner_attribute(token);
        }
    }

    /// Bytes before a token on its line; `None` when another token stands there.
    fn column(&mut self, token: Token<'_>) -> Option<usize> {
        let before = self.text.get(self.last..token.start).unwrap_or("");
        let first = self.last == 0;
        self.last = token.end();
        match before.rfind('\n') {
            Some(at) => Some(before.len() - at - 1),
            None => first.then_some(before.len()),
        }
    }

    /// `#![…]` belongs to the file, not to the item after it.
    fn drop_inner_attribute(&mut self, token: Token<'_>) {
        let Some(open) = &self.open else { return };
        let text = self.text.get(open.start..token.end()).unwrap_or("");
        if open.word == Word::None && text.starts_with("#!") {
            self.open = None;
        }
    }

    fn word(&mut self, token: Token<'_>) {
        let Some(open) = &mut self.open else { return };
        let known = match token.text {
            "fn" | "struct" | "enum" | "union" | "macro_rules" => Word::Braced,
            "use" | "const" | "static" | "type" => Word::Value,
            "impl" | "extern" => Word::Block(Inside::Impl),
            "mod" => Word::Block(Inside::File),
            "trait" => Word::Block(Inside::Trait),
            _ => return,
        };
        // `const fn`, `extern "C" fn`, `const unsafe fn`: the later word decides.
        let decided = match open.word {
            Word::None => true,
            Word::Value => token.text == "fn",
            Word::Block(Inside::Impl) => token.text == "fn",
            _ => false,
        };
        if decided && open.brace.is_none() {
            open.word = known;
        }
    }

    fn begins_by_layout(&self, token: Token<'_>, column: Option<usize>) -> bool {
        let Some(open) = &self.open else { return false };
        let starts = token.kind == TokenKind::Pound
            || (token.kind == TokenKind::Ident
                && matches!(
                    token.text,
                    "fn" | "pub"
                        | "impl"
                        | "mod"
                        | "struct"
                        | "enum"
                        | "trait"
                        | "use"
                        | "const"
                        | "static"
                        | "type"
                        | "async"
                        | "unsafe"
                        | "extern"
                        | "macro_rules"
                ));
        // Attributes before the item's own first word begin lines too.
        let inside = open.word == Word::None && !open.junk;
        starts && !inside && column.is_some_and(|column| column <= open.column)
    }

    fn end(&mut self, at: usize, closed: Option<usize>) {
        let Some(open) = self.open.take() else { return };
        let range = open.start + self.base..at + self.base;
        let block = match (open.word, open.brace) {
            (Word::Block(inside), Some(brace)) => {
                let inner = brace + 1..closed.unwrap_or(at).max(brace + 1);
                let body = inner.start + self.base..inner.end + self.base;
                Some(Block { body, holds: inside, closed: closed.is_some() })
            }
            _ => None,
        };
        self.items.push(Extent { range, block });
    }
}

/// The refusal of a file of which nothing could be saved.
pub(crate) fn nothing_saved(refusal: Refusal) -> Refusal {
    let reason = format!("{}; nothing of this file was read", refusal.reason);
    Refusal { reason, kind: ProblemKind::Syntax, ..refusal }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(text: &str) -> (Vec<String>, usize) {
        let (kept, lost) = recover(text);
        assert_eq!(kept.len(), text.len());
        let file = syn::parse_str::<syn::File>(&kept).expect("what is kept parses");
        let names = file.items.iter().flat_map(names).collect();
        (names, lost.len())
    }

    fn names(item: &syn::Item) -> Vec<String> {
        match item {
            syn::Item::Fn(of) => vec![of.sig.ident.to_string()],
            syn::Item::Impl(of) => of
                .items
                .iter()
                .filter_map(|item| match item {
                    syn::ImplItem::Fn(of) => Some(of.sig.ident.to_string()),
                    _ => None,
                })
                .collect(),
            syn::Item::Mod(of) => of.content.iter().flat_map(|of| &of.1).flat_map(names).collect(),
            syn::Item::Const(of) => vec![of.ident.to_string()],
            _ => Vec::new(),
        }
    }

    #[test]
    fn one_bad_item_costs_that_item() {
        let text =
            "#![allow(x)]\n//! é\nuse a::b;\nfn one() {}\nfn two( { ) }\nconst K: u8 = {1};\n";
        assert_eq!(saved(text), (vec!["one".into(), "K".into()], 1));
    }

    #[test]
    fn one_bad_method_costs_that_method() {
        let text =
            "mod m {\nimpl A {\n  fn a(&self) {}\n  fn b(&self) { let = é; }\n  fn c() {}\n}\n}";
        assert_eq!(saved(text), (vec!["a".into(), "c".into()], 1));
    }

    #[test]
    fn a_missing_brace_costs_one_item_when_the_layout_is_usual() {
        let text = "fn a() {}\n\n#[x]\nfn b() {\n    if x {\n}\n\npub fn c() {\n    1\n}\n";
        assert_eq!(saved(text), (vec!["a".into(), "c".into()], 1));
        let inside =
            "impl A {\n    fn a() {\n        if x {\n    }\n\n    fn b() {}\n}\n\nfn c() {}\n";
        assert_eq!(saved(inside), (vec!["b".into(), "c".into()], 1));
    }

    #[test]
    fn a_brace_too_many_costs_nothing_else() {
        let text = "fn a() {\n}\n}\n\nfn b() {}\n";
        assert_eq!(saved(text), (vec!["a".into(), "b".into()], 1));
    }

    #[test]
    fn what_is_no_item_does_not_take_the_next_one_along() {
        let text = "fn a() {}\n*/\n\n/// B.\nfn b() {}\n";
        assert_eq!(saved(text), (vec!["a".into(), "b".into()], 1));
    }

    #[test]
    fn public_impl_blocks_of_macros_are_read() {
        assert_eq!(saved("pub impl A for B { fn a() {} }"), (vec!["a".into()], 0));
    }
}
