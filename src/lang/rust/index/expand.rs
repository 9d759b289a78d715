//! What macro calls among items make: the text of each is read and walked like that of a file.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use proc_macro2::{TokenStream, TokenTree};

use super::super::expand::{Arguments, Expander, Failure, LONGEST_NOTE, MAX_DEPTH};
use super::super::read::read;
use super::super::role;
use super::super::span::Place;
use super::walk::{Around, Walker};
use crate::ir::body::{MacroNote, Problem, ProblemKind};
use crate::ir::expansion::Expansion;
use crate::ir::index::{FileIndex, MacroCall, Part, Role};
use crate::lang::{MacroName, Surroundings};
use crate::source::{SourceFile, Span, beginning};

/// The most tokens that the calls among the items of one file are expanded to.
const MOST_TOKENS: usize = 500_000;

/// Expands the calls of an index. What is only known from the arguments of a call that was expanded
/// is taken out: the expansion has it.
pub(crate) fn expand(file: &SourceFile, index: &mut FileIndex, around: &Surroundings<'_>) {
    let tree = around.tree;
    let place = Place { file: file.id, base: 0, made: None };
    let index_of_file = std::mem::replace(index, FileIndex::new(file.id));
    let walker = Walker { file, tree, place, index: index_of_file };
    let mut calls = Calls { walker, expander: Expander::new(tree, MOST_TOKENS), around };
    let mut gone = Vec::new();
    let mut next = 0;
    while let Some(call) = calls.walker.index.calls.get(next).cloned() {
        next += 1;
        let made = calls.expand(&call);
        if let Err(Failure::Limit(message)) = made {
            let (message, kind) = (message.to_owned(), ProblemKind::Limit);
            calls.walker.index.problems.push(Problem { span: call.span, message, kind });
        }
        let definition = calls.last().filter(|_| made.is_ok()).map(|(rules, _)| rules);
        let told = |()| calls.last().map(|(_, text)| text).unwrap_or_default();
        let made = made.map(told).map_err(Failure::reason);
        if made.is_ok() {
            next = next.max(call.items.end.calls);
            gone.push(call.items);
        }
        let note = MacroNote { span: call.span, name: call.path, definition, made };
        calls.walker.index.macro_notes.push(note);
    }
    *index = calls.walker.index;
    index.remove(&gone);
    drop(calls.expander);
    proc_macro2::extra::invalidate_current_thread_spans();
}

struct Calls<'a> {
    walker: Walker<'a>,
    expander: Expander<'a>,
    around: &'a Surroundings<'a>,
}

impl Calls<'_> {
    fn expand(&mut self, call: &MacroCall) -> Result<(), Failure> {
        let file = self.walker.file;
        let role = role::either(self.walker.index.role, call.role);
        if role == Role::Test && !self.around.tests {
            return Err(Failure::Unknown("only tests call it"));
        }
        let name = MacroName { path: &call.path, file: file.id, scope: &call.scope, at: call.at };
        let definition = self.around.macros.find(name).map_err(Failure::Unknown)?;
        if call.depth >= MAX_DEPTH {
            return Err(Failure::Limit("macros nest too deep here; what is inside was not linted"));
        }
        let place = self.place(&call.arguments);
        let text = self.text(&call.arguments);
        let tokens: TokenStream =
            text.parse().map_err(|_| Failure::Unknown("its arguments are not read"))?;
        let names = OnceCell::new();
        let in_sight = |name: &str| names.get_or_init(|| names_of(tokens.clone())).contains(name);
        let crate_name = self.walker.index.module.first();
        let arguments =
            Arguments { tokens: tokens.clone(), place: &place, crate_name, in_sight: &in_sight };
        let expansion = self.expander.expand(definition, &arguments)?;
        self.walk(call, role, expansion)
    }

    /// The last expansion: the rules that made it, and its text for people.
    fn last(&self) -> Option<(Span, String)> {
        let last = self.walker.index.expansions.last()?;
        Some((*last.bodies.last()?, beginning(&last.text, LONGEST_NOTE).to_owned()))
    }

    /// Adds the items of an expansion to the index.
    fn walk(&mut self, call: &MacroCall, role: Role, made: Expansion) -> Result<(), Failure> {
        let made = match &call.head {
            Some(head) => self.in_block(head, made),
            None => made,
        };
        let parsed = read::<syn::File>(&made.text)
            .map_err(|_| Failure::Unknown("what it makes is not read"))?;
        let made = Arc::new(made);
        let index = &mut self.walker.index;
        let number = u32::try_from(index.expansions.len()).unwrap_or(u32::MAX);
        index.expansions.push(Arc::clone(&made));
        let blocks = index.implementations.len();
        self.walker.place =
            Place { file: self.walker.file.id, base: 0, made: Some((number, made)) };
        let around = Around {
            scope: call.scope.clone(),
            inline: call.inline.clone(),
            macros: call.scope.clone(),
            call: Some((call.depth + 1, call.at)),
            role,
        };
        self.walker.items(&parsed.items, &around);
        // The block itself is known already.
        let implementations = &mut self.walker.index.implementations;
        if call.head.is_some() && blocks < implementations.len() {
            implementations.remove(blocks);
        }
        Ok(())
    }

    /// The members that a call makes, in a block with the head of the one around the call.
    fn in_block(&self, head: &Part, mut made: Expansion) -> Expansion {
        let text = self.text(head);
        let place = self.place(head);
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let span = place.whole(length);
        made.text = format!("{text}{}}}", made.text);
        made.pieces.iter_mut().for_each(|(start, _)| *start = start.saturating_add(length));
        made.pieces.insert(0, (0, span));
        made
    }

    /// Where a part stands.
    fn place(&self, part: &Part) -> Place {
        let index = &self.walker.index;
        let made = part
            .expansion
            .and_then(|number| Some((number, Arc::clone(index.expansions.get(number as usize)?))));
        Place { file: self.walker.file.id, base: part.bytes.start, made }
    }

    fn text(&self, part: &Part) -> String {
        self.place(part).text(self.walker.file, part).to_owned()
    }
}

/// The words among tokens. Nesting was bounded when they were read.
fn names_of(tokens: TokenStream) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => names.append(&mut names_of(group.stream())),
            _ => {}
        }
    }
    names
}
