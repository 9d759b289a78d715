//! Writing a template, its variables filled in.

use std::collections::{BTreeMap, BTreeSet};

use super::fragment::{Fragment, Kind};
use super::matching::{Binding, Bound};
use super::output::{Output, TooLong, delimiters};
use super::rules::{Leaf, Piece, Repeat, Rule};
use super::{Arguments, Failure, hygiene};
use crate::ir::expansion::Expansion;
use crate::ir::index::MacroDefinition;

/// One call of one rule.
pub(super) struct Transcriber<'a> {
    pub(super) definition: &'a MacroDefinition,
    pub(super) arguments: &'a Arguments<'a>,
    pub(super) rule: &'a Rule,
    pub(super) bound: &'a Bound,
    /// The most tokens that may come out.
    pub(super) most: usize,
}

/// What variables stand for in one turn of the repetitions around.
type Turn<'a> = BTreeMap<&'a str, &'a Binding>;

impl From<TooLong> for Failure {
    fn from(_: TooLong) -> Self {
        Self::Limit("what this macro makes is too long to be followed")
    }
}

impl Transcriber<'_> {
    /// The text, and how many tokens it has.
    pub(super) fn run(&self) -> Result<(Expansion, usize), Failure> {
        let outer = self.arguments.place.made.as_ref();
        let mut bodies = outer.map_or_else(Vec::new, |(_, made)| made.bodies.clone());
        bodies.push(self.definition.rules);
        let writing = Writing { of: self, renamed: self.renamed() };
        let mut output = Output::new(self.most, bodies);
        let turn = self.bound.iter().map(|(name, binding)| (name.as_str(), binding)).collect();
        writing.pieces(&self.rule.template, &turn, &mut output)?;
        Ok((output.expansion, output.tokens))
    }

    /// Variables that the template declares while the caller has others of the same name in sight,
    /// and what they are called instead.
    fn renamed(&self) -> BTreeMap<String, String> {
        let in_sight = |name: &str| (self.arguments.in_sight)(name);
        let declared = hygiene::declared(&self.rule.template);
        let another = |name: String| {
            let mut other = format!("{name}_");
            while in_sight(&other) {
                other.push('_');
            }
            (name, other)
        };
        declared.into_iter().filter(|name| in_sight(name)).map(another).collect()
    }

    /// The crate that `$crate` means, as the caller names it.
    fn crate_name(&self) -> &str {
        match self.definition.scope.first() {
            Some(name) if Some(name) != self.arguments.crate_name => name,
            _ => "crate",
        }
    }
}

struct Writing<'a> {
    of: &'a Transcriber<'a>,
    renamed: BTreeMap<String, String>,
}

impl Writing<'_> {
    fn pieces(&self, all: &[Piece], turn: &Turn<'_>, output: &mut Output) -> Result<(), Failure> {
        for (at, piece) in all.iter().enumerate() {
            match piece {
                Piece::Token(leaf) => match self.another_name(leaf, all, at) {
                    Some(name) => output.push(name, leaf.span)?,
                    None => output.leaf(leaf)?,
                },
                Piece::Crate(span) => output.push(self.of.crate_name(), *span)?,
                Piece::Group { delimiter, open, close, inner } => {
                    let (opening, closing) = delimiters(*delimiter);
                    output.push(opening, *open)?;
                    self.pieces(inner, turn, output)?;
                    output.push(closing, *close)?;
                }
                Piece::Variable { name, span, .. } => match turn.get(name.as_str()) {
                    Some(Binding::One(fragment)) => {
                        self.fragment(fragment, all.get(at + 1), output)?;
                    }
                    Some(Binding::Many(_)) => {
                        return Err(Failure::Unknown(
                            "its definition repeats less than it matches",
                        ));
                    }
                    // A variable of a macro that is defined inside.
                    None => {
                        output.push("$", *span)?;
                        output.push(name, *span)?;
                    }
                },
                Piece::Repeat(repeat) => self.repeat(repeat, turn, output)?,
            }
        }
        Ok(())
    }

    /// What a word of the template is called instead.
    fn another_name(&self, leaf: &Leaf, all: &[Piece], at: usize) -> Option<&str> {
        let renamed = self.renamed.get(&leaf.text)?;
        (leaf.word && hygiene::is_variable(all, at)).then_some(renamed)
    }

    fn fragment(
        &self,
        fragment: &Fragment,
        next: Option<&Piece>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let place = self.of.arguments.place;
        let before_path = matches!(next, Some(Piece::Token(leaf)) if leaf.sign() == Some(':'));
        // `$ty::new()` means `<$ty>::new()`.
        let typed = before_path && fragment.kind == Kind::Type && fragment.tokens.len() > 1;
        let marks = fragment.tokens.first().zip(fragment.tokens.last()).filter(|_| typed);
        if let Some((first, _)) = marks {
            output.push("<", place.span(first.span()))?;
        }
        for token in &fragment.tokens {
            output.tree(token, place)?;
        }
        if let Some((_, last)) = marks {
            output.push(">", place.span(last.span()))?;
        }
        Ok(())
    }

    fn repeat(&self, repeat: &Repeat, turn: &Turn<'_>, output: &mut Output) -> Result<(), Failure> {
        let mut names = BTreeSet::new();
        named(&repeat.inner, &mut names);
        let many: Vec<(&str, &Vec<Binding>)> = turn
            .iter()
            .filter(|(name, _)| names.contains(**name))
            .filter_map(|(name, binding)| match binding {
                Binding::Many(all) => Some((*name, all)),
                Binding::One(_) => None,
            })
            .collect();
        let Some(turns) = many.first().map(|(_, all)| all.len()) else {
            return Err(Failure::Unknown("its definition repeats nothing"));
        };
        if many.iter().any(|(_, all)| all.len() != turns) {
            return Err(Failure::Unknown("its repetitions differ in length"));
        }
        for at in 0..turns {
            if at > 0 {
                for leaf in &repeat.separator {
                    output.leaf(leaf)?;
                }
            }
            let mut inner = turn.clone();
            inner.extend(many.iter().filter_map(|(name, all)| Some((*name, all.get(at)?))));
            self.pieces(&repeat.inner, &inner, output)?;
            // A turn that writes nothing counts, too.
            output.tick()?;
        }
        Ok(())
    }
}

/// The variables that pieces name.
fn named<'p>(pieces: &'p [Piece], names: &mut BTreeSet<&'p str>) {
    for piece in pieces {
        match piece {
            Piece::Variable { name, .. } => {
                names.insert(name.as_str());
            }
            Piece::Group { inner, .. } | Piece::Repeat(Repeat { inner, .. }) => named(inner, names),
            Piece::Token(_) | Piece::Crate(_) => {}
        }
    }
}
