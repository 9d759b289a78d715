//! Ties files together: names, types, calls, constants, scripts and statements.
//!
//! [`Program::build`] indexes every file, lowers bodies, numbers them, and turns calls into
//! effects. What could not be resolved is said to be unknown; nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::config::Settings;
use crate::config::words::Words;
use crate::ir::body::{Body, BodyIndex, MacroNote, Problem};
use crate::ir::effect::{BodyId, Effect, Site};
use crate::ir::index::{Constant, FileIndex, Function, ItemId, Trait, Type};
use crate::source::{FileId, Span, Tree};

pub mod bodies;
pub mod calls;
pub mod effects;
pub mod evaluate;
pub mod macros;
mod moved;
pub mod names;
pub mod sql_files;
mod needed;
mod roles;
pub mod types;

#[cfg(test)]
mod tests;

use calls::Calls;
use names::Names;
use types::Ty;

/// A function of the program: a position in its file's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId {
    /// The file.
    pub file: FileId,
    /// Position in [`FileIndex::functions`].
    pub index: u32,
}

/// A constant of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstantId {
    /// The file.
    pub file: FileId,
    /// Position in [`FileIndex::constants`].
    pub index: u32,
}

/// A type of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId {
    /// The file.
    pub file: FileId,
    /// Position in [`FileIndex::types`].
    pub index: u32,
}

/// A trait of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraitId {
    /// The file.
    pub file: FileId,
    /// Position in [`FileIndex::traits`].
    pub index: u32,
}

/// A body of the program and what it belongs to.
#[derive(Clone, Debug)]
pub struct ProgramBody {
    /// Its number.
    pub id: BodyId,
    /// The file of its item (the host file for an embedded script).
    pub file: FileId,
    /// The item it was lowered from; `None` for an embedded script.
    pub item: Option<ItemId>,
    /// Which of the item's bodies it is.
    pub index: BodyIndex,
    /// The enclosing body.
    pub parent: Option<BodyId>,
    /// The body.
    pub body: Body,
}

/// The program: every file's index and every body.
pub struct Program {
    /// The files.
    pub tree: Arc<Tree>,
    /// The settings.
    pub settings: Settings,
    /// Word lists, the settings' own words included.
    pub words: Words,
    /// Index of each file, by [`FileId`]; `None` for files without a front-end.
    pub files: Vec<Option<FileIndex>>,
    /// All bodies, by [`BodyId`].
    pub bodies: Vec<ProgramBody>,
    /// What could not be read, in file order.
    pub problems: Vec<Problem>,
    /// Which call of which library is which effect.
    pub catalog: &'static Catalog,
    /// Names of all modules.
    pub names: Names,
    /// What the macro calls in the bodies of each file are that no front-end knows by name.
    macro_notes: BTreeMap<FileId, Vec<MacroNote>>,
    /// The rules of definitions that were expanded, the calls, and what the macro is named there.
    expanded: BTreeMap<Span, BTreeSet<(Span, String)>>,
    /// Definitions of macros.
    macros: macros::Definitions,
    /// For each file, whether its items can matter; empty when all do.
    needed: Vec<bool>,
    /// Modules that declare a database table in code.
    tables: BTreeSet<String>,
    /// Type of every value, by body and value.
    types: Vec<Vec<Ty>>,
    /// All resolved calls.
    calls: Calls,
    /// Kinds of values of unlisted libraries that are Redis clients.
    foreign: BTreeSet<calls::foreign::Kind>,
    /// Effects of each body.
    effects: Vec<Vec<Effect>>,
    /// Where each script is invoked, sorted.
    script_sites: BTreeMap<BodyId, Vec<Site>>,
    /// What evaluation looked up.
    evaluated: evaluate::Caches,
}

impl Program {
    /// Indexes, lowers and links a tree. Each stage fills its own fields from those before it:
    /// index, names, bodies, targets.
    #[must_use]
    pub fn build(tree: Arc<Tree>, settings: Settings) -> Self {
        let mut program = Self::empty(tree, settings);
        program.index_files();
        program.names = Names::build(&program.tree, &program.files);
        program.lower_bodies();
        program.note_expansions();
        program.link_bodies(0);
        program.link_foreign();
        program.receivers_first();
        program.takes_are_moves();
        program.link_effects();
        program
    }

    fn empty(tree: Arc<Tree>, settings: Settings) -> Self {
        // The command line reads own rows first and reports what is wrong with them.
        let catalog = Catalog::with(&settings.api).unwrap_or_else(|_| Catalog::builtin());
        let (words, _) = Words::built_in().extended(&settings.words);
        Self {
            tree,
            settings,
            words,
            files: Vec::new(),
            bodies: Vec::new(),
            problems: Vec::new(),
            catalog,
            names: Names::default(),
            macro_notes: BTreeMap::new(),
            expanded: BTreeMap::new(),
            macros: macros::Definitions::default(),
            needed: Vec::new(),
            tables: BTreeSet::new(),
            types: Vec::new(),
            calls: Calls::default(),
            foreign: BTreeSet::new(),
            effects: Vec::new(),
            script_sites: BTreeMap::new(),
            evaluated: evaluate::Caches::default(),
        }
    }

    /// The index of a file.
    #[must_use]
    pub fn index(&self, file: FileId) -> Option<&FileIndex> {
        self.files.get(file.0 as usize)?.as_ref()
    }

    /// A function's header.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> Option<&Function> {
        self.index(id.file)?.functions.get(id.index as usize)
    }

    /// A constant's header.
    #[must_use]
    pub fn constant(&self, id: ConstantId) -> Option<&Constant> {
        self.index(id.file)?.constants.get(id.index as usize)
    }

    /// A type's header.
    #[must_use]
    pub fn ty(&self, id: TypeId) -> Option<&Type> {
        self.index(id.file)?.types.get(id.index as usize)
    }

    /// A trait's header.
    #[must_use]
    pub fn trait_(&self, id: TraitId) -> Option<&Trait> {
        self.index(id.file)?.traits.get(id.index as usize)
    }

    /// A body.
    #[must_use]
    pub fn body(&self, id: BodyId) -> Option<&ProgramBody> {
        self.bodies.get(id.0 as usize)
    }
}
