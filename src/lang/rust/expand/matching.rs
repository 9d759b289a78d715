//! Matching arguments with a matcher.
//!
//! As in the compiler there is no way back: a repetition takes what it can. A turn of it that has
//! begun and does not fit ends it before where that turn began, so that what follows may fit there.

use std::cell::Cell;
use std::collections::BTreeMap;

use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::parse::discouraged::{AnyDelimiter, Speculative};

use super::fragment::{self, Fragment};
use super::rules::{Leaf, Piece, Repeat};

/// What a variable stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// One fragment.
    One(Fragment),
    /// What it stands for in each turn of a repetition.
    Many(Vec<Binding>),
}

/// What the variables of a matcher stand for.
pub(super) type Bound = BTreeMap<String, Binding>;

/// How many pieces one matching may look at.
const MOST_STEPS: u32 = 500_000;

/// A matching under way.
#[derive(Default)]
pub(super) struct Matcher {
    steps: Cell<u32>,
}

impl Matcher {
    /// Whether a bound was met.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > MOST_STEPS
    }

    /// Takes all of the pieces off the input; `None` when one does not fit.
    pub(super) fn all(&self, pieces: &[Piece], input: ParseStream<'_>) -> Option<Bound> {
        let mut bound = Bound::new();
        for piece in pieces {
            self.steps.set(self.steps.get().saturating_add(1));
            if self.is_exhausted() {
                return None;
            }
            match piece {
                Piece::Token(expected) => token(expected, input)?,
                Piece::Crate(_) => return None,
                Piece::Variable { name, kind, .. } => {
                    let fragment = fragment::take((*kind)?, input)?;
                    bound.insert(name.clone(), Binding::One(fragment));
                }
                Piece::Group { delimiter: expected, inner, .. } => {
                    let (delimiter, _, content) = input.parse_any_delimiter().ok()?;
                    if delimiter != *expected {
                        return None;
                    }
                    bound.append(&mut self.all(inner, &content)?);
                    if !content.is_empty() {
                        return None;
                    }
                }
                Piece::Repeat(repeat) => bound.append(&mut self.repeat(repeat, input)?),
            }
        }
        Some(bound)
    }

    fn repeat(&self, repeat: &Repeat, input: ParseStream<'_>) -> Option<Bound> {
        let mut bound = Bound::new();
        declare(&repeat.inner, &mut bound);
        let mut turns = 0_usize;
        while repeat.many || turns == 0 {
            let fork = input.fork();
            let mut separator = repeat.separator.iter();
            if turns > 0 && !separator.all(|expected| token(expected, &fork).is_some()) {
                break;
            }
            let Some(turn) = self.all(&repeat.inner, &fork) else { break };
            if fork.cursor() == input.cursor() {
                break;
            }
            for (name, one) in turn {
                if let Some(Binding::Many(all)) = bound.get_mut(&name) {
                    all.push(one);
                }
            }
            input.advance_to(&fork);
            turns += 1;
        }
        (turns > 0 || !repeat.once).then_some(bound)
    }
}

/// Makes the variables of a repetition known, even if it has no turn.
fn declare(pieces: &[Piece], bound: &mut Bound) {
    for piece in pieces {
        match piece {
            Piece::Variable { name, .. } => {
                bound.insert(name.clone(), Binding::Many(Vec::new()));
            }
            Piece::Group { inner, .. } | Piece::Repeat(Repeat { inner, .. }) => {
                declare(inner, bound)
            }
            Piece::Token(_) | Piece::Crate(_) => {}
        }
    }
}

/// Takes one token that has to be there.
fn token(expected: &Leaf, input: ParseStream<'_>) -> Option<()> {
    let same = match input.parse::<TokenTree>().ok()? {
        TokenTree::Ident(found) => expected.word && found == expected.text,
        TokenTree::Punct(found) => expected.sign() == Some(found.as_char()),
        TokenTree::Literal(found) => !expected.word && found.to_string() == expected.text,
        TokenTree::Group(_) => false,
    };
    same.then_some(())
}
