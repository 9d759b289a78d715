//! A bound on how deep the parser may have to recurse, found without recursion.
//!
//! `syn` descends once for every delimiter, prefix operator, closure, `else`, generic argument and
//! so on, and a process that runs out of stack is aborted, not unwound. So no text is parsed before
//! [`check`] has said that it is shallow. The bound is an upper one: in every open delimiter it adds
//! up what each token since the last certain end of an expression, type or item could cost.
//!
//! Costs are in KiB of stack, measured per production on an unoptimised build of the parser. With
//! [`BUDGET`] the parser stays well inside the 64 MiB that worker threads have.

use rustc_lexer::{LiteralKind, TokenKind};

use super::tokens::{self, Token};

/// Most KiB of stack that the parser may need.
const BUDGET: u32 = 40_000;
/// Most delimiters inside each other.
const MOST_DELIMITERS: usize = 200;
/// A delimiter, a generic argument, a reference or function type.
const DEEP: u32 = 64;
/// Any other token that can open an operand.
const SHALLOW: u32 = 16;

/// Why a text can't be given to the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte offset of the token at fault.
    pub(crate) at: usize,
    /// What is wrong.
    pub(crate) kind: FaultKind,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// Nested deeper than the parser can be trusted with.
    TooDeep,
    /// A delimiter that is never closed.
    Unclosed,
    /// A closing delimiter that nothing opened.
    Unopened,
    /// A string, character or raw string literal without end.
    Unterminated,
}

/// Whether a text is balanced, and shallow enough for the parser.
pub(crate) fn check(text: &str) -> Result<(), Fault> {
    let mut depth = Depth::default();
    for token in tokens::significant(text) {
        depth.feed(token).map_err(|kind| Fault { at: token.start, kind })?;
    }
    match depth.open.last() {
        Some(group) => Err(Fault { at: group.at, kind: FaultKind::Unclosed }),
        None => Ok(()),
    }
}

/// What a token run since the last certain end may cost.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// KiB of stack.
    cost: u32,
    /// `<` that no `>` has closed.
    angles: u32,
    /// Whether a `|` was seen: a comma may stand between the parameters of a closure.
    pipes: bool,
}

/// An open delimiter.
#[derive(Clone, Copy, Debug)]
struct Group {
    at: usize,
    closer: TokenKind,
    outer: Run,
}

#[derive(Default)]
struct Depth {
    open: Vec<Group>,
    /// Cost of all open delimiters and of the runs that they stand in.
    outer: u32,
    run: Run,
    previous: Previous,
}

/// What stood before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Previous {
    #[default]
    Other,
    /// An operand may have ended: what follows can be a binary operator.
    Operand,
    /// The end of a braced group: what follows may start anew.
    Brace,
    /// A binary `&`, which may be the first half of `&&`; its end.
    BinaryAnd(usize),
    /// `-` or `=`, which may be the first half of `->` or `=>`; its end.
    Minus(usize),
    Equals(usize),
}

impl Depth {
    fn feed(&mut self, token: Token<'_>) -> Result<(), FaultKind> {
        match token.kind {
            TokenKind::OpenBrace => self.open(token, TokenKind::CloseBrace),
            TokenKind::OpenParen => self.open(token, TokenKind::CloseParen),
            TokenKind::OpenBracket => self.open(token, TokenKind::CloseBracket),
            TokenKind::CloseBrace | TokenKind::CloseParen | TokenKind::CloseBracket => {
                self.close(token.kind)?;
            }
            TokenKind::Literal { kind, .. } if !terminated(kind) => {
                return Err(FaultKind::Unterminated);
            }
            _ => self.leaf(token),
        }
        let cost = self.outer.saturating_add(self.run.cost);
        if cost > BUDGET || self.open.len() > MOST_DELIMITERS {
            return Err(FaultKind::TooDeep);
        }
        Ok(())
    }

    fn open(&mut self, token: Token<'_>, closer: TokenKind) {
        self.open.push(Group { at: token.start, closer, outer: self.run });
        self.outer = self.outer.saturating_add(self.run.cost).saturating_add(DEEP);
        self.run = Run::default();
        self.previous = Previous::Other;
    }

    fn close(&mut self, closer: TokenKind) -> Result<(), FaultKind> {
        let group = self.open.pop().ok_or(FaultKind::Unopened)?;
        if group.closer != closer {
            return Err(FaultKind::Unopened);
        }
        self.run = group.outer;
        self.outer = self.outer.saturating_sub(self.run.cost.saturating_add(DEEP));
        if closer != TokenKind::CloseBrace {
            // `a()()`, `a[0][0]`: every postfix nests what stands before it.
            self.add(SHALLOW);
        }
        self.previous =
            if closer == TokenKind::CloseBrace { Previous::Brace } else { Previous::Operand };
        Ok(())
    }

    fn leaf(&mut self, token: Token<'_>) {
        if self.previous == Previous::Brace && starts_anew(token) {
            self.run = Run::default();
        }
        match token.kind {
            TokenKind::Semi => self.run = Run::default(),
            // Inside `<…>` and `|…|` a comma ends nothing.
            TokenKind::Comma if self.run.angles == 0 && !self.run.pipes => {
                self.run = Run::default();
            }
            TokenKind::Comma => {}
            TokenKind::Gt if self.follows_equals(token) => self.run = Run::default(),
            TokenKind::Gt => self.greater(token),
            TokenKind::Lt => {
                self.run.angles = self.run.angles.saturating_add(1);
                self.add(DEEP);
            }
            TokenKind::And | TokenKind::Star => self.reference(token),
            TokenKind::Or => {
                self.run.pipes = true;
                self.add(SHALLOW);
            }
            TokenKind::Ident if !tokens::is_operator_word(token.text) => {}
            TokenKind::Literal { .. } | TokenKind::RawIdent | TokenKind::Lifetime { .. } => {}
            TokenKind::Colon | TokenKind::Pound => self.add(SHALLOW / 4),
            _ => self.add(SHALLOW),
        }
        self.previous = self.after(token);
    }

    /// `->` opens a type; any other `>` may close one.
    fn greater(&mut self, token: Token<'_>) {
        match self.previous {
            Previous::Minus(end) if end == token.start => self.add(DEEP),
            _ => self.run.angles = self.run.angles.saturating_sub(1),
        }
    }

    fn follows_equals(&self, token: Token<'_>) -> bool {
        self.previous == Previous::Equals(token.start)
    }

    /// As a prefix, `&` and `*` may stand in a type; between operands they nest nothing.
    fn reference(&mut self, token: Token<'_>) {
        let binary = match self.previous {
            Previous::Operand => true,
            Previous::BinaryAnd(end) => end == token.start,
            _ => false,
        };
        self.add(if binary { SHALLOW } else { DEEP });
    }

    fn after(&self, token: Token<'_>) -> Previous {
        match token.kind {
            TokenKind::Ident if tokens::is_operator_word(token.text) => Previous::Other,
            TokenKind::Ident | TokenKind::RawIdent | TokenKind::Literal { .. } => Previous::Operand,
            TokenKind::Question => Previous::Operand,
            TokenKind::And if self.previous == Previous::Operand => {
                Previous::BinaryAnd(token.end())
            }
            TokenKind::Minus => Previous::Minus(token.end()),
            TokenKind::Eq => Previous::Equals(token.end()),
            _ => Previous::Other,
        }
    }

    fn add(&mut self, cost: u32) {
        self.run.cost = self.run.cost.saturating_add(cost);
    }
}

/// Whether a token that follows `}` can only belong to a new statement, arm or item.
fn starts_anew(token: Token<'_>) -> bool {
    match token.kind {
        TokenKind::Ident => !matches!(token.text, "else" | "as" | "in"),
        TokenKind::RawIdent | TokenKind::Literal { .. } => true,
        TokenKind::Lifetime { .. } | TokenKind::Pound => true,
        _ => false,
    }
}

fn terminated(kind: LiteralKind) -> bool {
    match kind {
        LiteralKind::Char { terminated }
        | LiteralKind::Byte { terminated }
        | LiteralKind::Str { terminated }
        | LiteralKind::ByteStr { terminated }
        | LiteralKind::CStr { terminated } => terminated,
        LiteralKind::RawStr { n_hashes }
        | LiteralKind::RawByteStr { n_hashes }
        | LiteralKind::RawCStr { n_hashes } => n_hashes.is_some(),
        LiteralKind::Int { .. } | LiteralKind::Float { .. } => true,
    }
}

/// Whether every delimiter of a text is closed by its own kind.
pub(crate) fn balanced(text: &str) -> bool {
    let mut open = Vec::new();
    for token in tokens::significant(text) {
        match token.kind {
            TokenKind::OpenBrace => open.push(TokenKind::CloseBrace),
            TokenKind::OpenParen => open.push(TokenKind::CloseParen),
            TokenKind::OpenBracket => open.push(TokenKind::CloseBracket),
            kind @ (TokenKind::CloseBrace | TokenKind::CloseParen | TokenKind::CloseBracket)
                if open.pop() != Some(kind) =>
            {
                return false;
            }
            _ => {}
        }
    }
    open.is_empty()
}
