//! Macros that are token templates: `macro_rules!` without a compiler.
//!
//! The rules of a definition are tried in order; the first whose matcher takes the arguments gives
//! the text that the call stands for, with the place of every token. Names are not made unique as
//! the compiler does; only a variable that the template declares gets another name where the caller
//! has one of that name in sight. Everything is bounded: a template may double its arguments, and
//! call itself.

use std::collections::HashMap;
use std::rc::Rc;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

use super::span::Place;
use crate::ir::expansion::Expansion;
use crate::ir::index::MacroDefinition;
use crate::source::{Span, Tree};
use matching::{Bound, Matcher};
use rules::Rule;
use transcribe::Transcriber;

mod fragment;
mod hygiene;
mod matching;
mod output;
mod rules;
#[cfg(test)]
mod tests;
mod transcribe;

/// How many macro calls may make the text of another.
pub(crate) const MAX_DEPTH: u32 = 128;

/// The most tokens that one call is expanded to.
const MOST_TOKENS: usize = 50_000;

/// How many bytes of an expansion are told to people.
pub(crate) const LONGEST_NOTE: usize = 400;

/// What a call counts as, whatever it makes.
const TOKENS_OF_A_CALL: usize = 50;

/// Why a call is not expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is not the kind of macro that is followed, or the arguments fit no rule.
    Unknown(&'static str),
    /// A bound was met.
    Limit(&'static str),
}

impl Failure {
    /// The reason, for people.
    pub(crate) fn reason(self) -> &'static str {
        let (Self::Unknown(reason) | Self::Limit(reason)) = self;
        reason
    }
}

/// What was passed to a macro.
pub(crate) struct Arguments<'a> {
    /// The tokens.
    pub(crate) tokens: TokenStream,
    /// Where they stand.
    pub(crate) place: &'a Place,
    /// The name of the crate that the call stands in.
    pub(crate) crate_name: Option<&'a str>,
    /// Whether the caller has a variable of a name in sight.
    pub(crate) in_sight: &'a dyn Fn(&str) -> bool,
}

/// The rules of the definitions that one item or file calls, and how much it may still expand.
pub(crate) struct Expander<'a> {
    tree: &'a Tree,
    rules: HashMap<Span, Result<Rc<Vec<Rule>>, Failure>>,
    /// Tokens that all calls together may still be expanded to.
    left: usize,
}

impl<'a> Expander<'a> {
    /// An expander that stops after a number of tokens.
    pub(crate) fn new(tree: &'a Tree, tokens: usize) -> Self {
        Self { tree, rules: HashMap::new(), left: tokens }
    }

    /// What a call of a macro stands for.
    pub(crate) fn expand(
        &mut self,
        definition: &MacroDefinition,
        arguments: &Arguments<'_>,
    ) -> Result<Expansion, Failure> {
        let rules = self.rules(definition)?;
        let (rule, bound) = matched(&rules, arguments.tokens.clone())?;
        let most = MOST_TOKENS.min(self.left);
        let transcriber = Transcriber { definition, arguments, rule, bound: &bound, most };
        let (expansion, tokens) = transcriber.run()?;
        self.left = self.left.saturating_sub(tokens + TOKENS_OF_A_CALL);
        Ok(expansion)
    }

    fn rules(&mut self, definition: &MacroDefinition) -> Result<Rc<Vec<Rule>>, Failure> {
        let tree = self.tree;
        let read = || {
            let file = tree.file(definition.rules.file);
            let text = file.map_or("", |file| file.slice(definition.rules));
            let tokens: TokenStream =
                text.parse().map_err(|_| Failure::Unknown("its definition is not read"))?;
            let (file, base) = (definition.rules.file, definition.rules.start);
            let place = Place { file, base, made: None };
            rules::read(tokens, &place).map(Rc::new).map_err(Failure::Unknown)
        };
        self.rules.entry(definition.rules).or_insert_with(read).clone()
    }
}

/// The first rule that takes the arguments, and what its variables stand for.
fn matched(rules: &[Rule], tokens: TokenStream) -> Result<(&Rule, Bound), Failure> {
    let matcher = Matcher::default();
    let parser = |input: ParseStream<'_>| {
        let found = rules.iter().find_map(|rule| {
            let input = input.fork();
            let bound = matcher.all(&rule.matcher, &input)?;
            input.is_empty().then_some((rule, bound))
        });
        // What is left of the tokens would be an error.
        input.step(|cursor| {
            let mut rest = *cursor;
            while let Some((_, next)) = rest.token_tree() {
                rest = next;
            }
            Ok(((), rest))
        })?;
        Ok(found)
    };
    let found = parser.parse2(tokens).unwrap_or_default();
    if matcher.is_exhausted() {
        return Err(Failure::Limit("the arguments of this macro are too long to be matched"));
    }
    found.ok_or(Failure::Unknown("its arguments fit no rule of the definition"))
}
