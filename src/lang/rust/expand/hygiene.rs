//! Which names of a template are variables that it declares itself.
//!
//! Told by the words around them, as a template need not parse on its own: after `let`, between `for`
//! and `in`, between the bars of a closure, before `=>`.

use std::collections::BTreeSet;

use proc_macro2::Delimiter;

use super::rules::{Piece, Repeat};

/// How many pieces before an arrow are looked at.
const LONGEST_PATTERN: usize = 32;

/// The names that a template declares.
pub(super) fn declared(pieces: &[Piece]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect(pieces, &mut names);
    names
}

fn collect(pieces: &[Piece], names: &mut BTreeSet<String>) {
    let arrow = |pair: &[Piece]| matches!(pair, [Piece::Token(one), Piece::Token(two)] if one.text == "=" && two.text == ">");
    for (at, _) in pieces.windows(2).enumerate().filter(|(_, pair)| arrow(pair)) {
        arm(pieces.get(..at).unwrap_or_default(), names);
    }
    let mut ends: Option<&[&str]> = None;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Token(leaf) => match ends {
                Some(end) if end.contains(&leaf.text.as_str()) => ends = None,
                Some(_) => pattern(piece, names),
                None => ends = begins(&leaf.text, at.checked_sub(1).and_then(|at| pieces.get(at))),
            },
            Piece::Group { inner, .. } | Piece::Repeat(Repeat { inner, .. }) => {
                if ends.is_some() {
                    pattern(piece, names);
                }
                collect(inner, names);
            }
            Piece::Variable { .. } | Piece::Crate(_) => {}
        }
    }
}

/// The names of the pattern that an arrow stands behind; a condition in between declares nothing.
fn arm(before: &[Piece], names: &mut BTreeSet<String>) {
    let ends_last = |piece: &Piece| match piece {
        Piece::Token(leaf) => matches!(leaf.text.as_str(), "," | ">"),
        Piece::Group { delimiter, .. } => *delimiter == Delimiter::Brace,
        _ => false,
    };
    let start = before.len().saturating_sub(LONGEST_PATTERN);
    let near = before.get(start..).unwrap_or_default();
    let begin = near.iter().rposition(ends_last).map_or(0, |last| last + 1);
    let condition = |piece: &&Piece| matches!(piece, Piece::Token(leaf) if leaf.text == "if");
    let own = near.get(begin..).unwrap_or_default();
    own.iter().take_while(|piece| !condition(piece)).for_each(|piece| pattern(piece, names));
}

/// What ends the pattern that a word begins.
fn begins(word: &str, before: Option<&Piece>) -> Option<&'static [&'static str]> {
    match word {
        "let" => Some(&["=", ":", ";"]),
        "for" => Some(&["in", "<", "{"]),
        "|" if before.is_none_or(opens_closure) => Some(&["|"]),
        _ => None,
    }
}

/// Whether a bar after this begins a closure.
fn opens_closure(before: &Piece) -> bool {
    let Piece::Token(leaf) = before else { return false };
    matches!(leaf.text.as_str(), "," | "=" | "move" | "async")
}

/// The names of a pattern: words in small letters.
fn pattern(piece: &Piece, names: &mut BTreeSet<String>) {
    match piece {
        Piece::Token(leaf) if leaf.word => {
            let word = leaf.text.as_str();
            let is_word = matches!(word, "mut" | "ref" | "_" | "self");
            if !is_word && word.starts_with(|first: char| first.is_lowercase() || first == '_') {
                names.insert(word.to_owned());
            }
        }
        Piece::Group { inner, .. } | Piece::Repeat(Repeat { inner, .. }) => {
            inner.iter().for_each(|piece| pattern(piece, names));
        }
        _ => {}
    }
}

/// Whether a name can be a variable: no field or method, no part of a path, no name of a macro or of
/// a field that is filled.
pub(super) fn is_variable(all: &[Piece], at: usize) -> bool {
    let leaf = |at: Option<usize>| match at.and_then(|at| all.get(at)) {
        Some(Piece::Token(leaf)) => Some(leaf),
        _ => None,
    };
    let sign = |at: Option<usize>| leaf(at).and_then(|leaf| leaf.sign());
    let before = (sign(at.checked_sub(2)), sign(at.checked_sub(1)));
    let after = (sign(Some(at + 1)), sign(Some(at + 2)));
    let declares = leaf(at.checked_sub(1))
        .is_some_and(|leaf| matches!(leaf.text.as_str(), "let" | "mut" | "|"));
    let member = before.1 == Some('.') && before.0 != Some('.');
    let in_path = before == (Some(':'), Some(':')) || after == (Some(':'), Some(':'));
    let filled = after.0 == Some(':') && !declares;
    let called = after.0 == Some('!') && after.1 != Some('=');
    !member && !in_path && !filled && !called
}
