//! Macros that are token templates: their definitions, and their calls where items stand.

use std::ops::Range;

use super::{FileIndex, Path, Role};
use crate::source::Span;

/// `macro_rules! name { … }`
#[derive(Clone, Debug)]
pub struct MacroDefinition {
    /// Its name.
    pub name: String,
    /// The module it stands in, then the enclosing functions.
    pub scope: Path,
    /// The innermost scope whose later text sees it without a path: its own, or one around it for a
    /// definition in a module that hands on its macros.
    pub visible: Path,
    /// Whether it is a name of its crate.
    pub exported: bool,
    /// Where its rules are written, without the braces around them.
    pub rules: Span,
}

/// A part of the text that an index was made of: of the file, or of an expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Position in [`FileIndex::expansions`]; `None` for the file itself.
    pub expansion: Option<u32>,
    /// Which bytes of that text.
    pub bytes: Range<u32>,
}

/// The call of a macro where an item may stand.
#[derive(Clone, Debug)]
pub struct MacroCall {
    /// The macro, as written.
    pub path: Path,
    /// The scope it stands in.
    pub scope: Path,
    /// The inline modules of the file around it.
    pub inline: Vec<String>,
    /// Product or test code.
    pub role: Role,
    /// The whole call.
    pub span: Span,
    /// What stands between its delimiters.
    pub arguments: Part,
    /// The head of the block around it, from `impl` to the brace; `None` outside of blocks.
    pub head: Option<Part>,
    /// Which items of the index are only known from the arguments of this call: how many there were
    /// before and after.
    pub items: Range<Counts>,
    /// How many macro calls made the text that it stands in.
    pub depth: u32,
    /// Where in the file the outermost of those, or the call itself, begins.
    pub at: u32,
}

/// How many items of each kind an index has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    functions: usize,
    constants: usize,
    types: usize,
    traits: usize,
    implementations: usize,
    imports: usize,
    modules: usize,
    tables: usize,
    /// Macro calls.
    pub calls: usize,
}

impl FileIndex {
    /// How many items of each kind there are now.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            functions: self.functions.len(),
            constants: self.constants.len(),
            types: self.types.len(),
            traits: self.traits.len(),
            implementations: self.implementations.len(),
            imports: self.imports.len(),
            modules: self.modules.len(),
            tables: self.tables.len(),
            calls: self.calls.len(),
        }
    }

    /// Takes out the items of the given ranges. The numbers of the others change.
    pub fn remove(&mut self, ranges: &[Range<Counts>]) {
        retain(&mut self.functions, ranges, |counts| counts.functions);
        retain(&mut self.constants, ranges, |counts| counts.constants);
        retain(&mut self.types, ranges, |counts| counts.types);
        retain(&mut self.traits, ranges, |counts| counts.traits);
        retain(&mut self.implementations, ranges, |counts| counts.implementations);
        retain(&mut self.imports, ranges, |counts| counts.imports);
        retain(&mut self.modules, ranges, |counts| counts.modules);
        retain(&mut self.tables, ranges, |counts| counts.tables);
    }
}

fn retain<T>(items: &mut Vec<T>, ranges: &[Range<Counts>], count: impl Fn(&Counts) -> usize) {
    let mut gone = vec![false; items.len()];
    for range in ranges {
        let range = count(&range.start)..count(&range.end);
        gone.get_mut(range).unwrap_or_default().fill(true);
    }
    let mut gone = gone.into_iter();
    items.retain(|_| gone.next() != Some(true));
}
