//! Source text to `ir`, one folder a language.
//!
//! A front-end works in two steps. [`Frontend::index`] gives a file's items, names and headers
//! cheaply; [`Frontend::lower`] gives the body of one item. Neither fails: each gives what it has
//! and lists what it could not read. Lowering one item depends on the file's text and index alone,
//! with the macros they name, so the order in which items are asked for can't change an
//! answer.

use crate::ir::body::Lowered;
use crate::ir::index::{FileIndex, ItemId, MacroDefinition, Path};
use crate::source::{FileId, Language, SourceFile, Tree};

pub mod comments;
pub mod cursor;
pub mod lua;
pub mod rust;
pub mod sql;

/// What every language offers.
pub trait Frontend: Sync {
    /// Items, names and headers of a file. `tree` serves what stands around it (manifests,
    /// files named by `#[path]`).
    fn index(&self, file: &SourceFile, tree: &Tree) -> FileIndex;

    /// Adds to an index what the macro calls among its items make, once all macros are known.
    fn expand(&self, _file: &SourceFile, _index: &mut FileIndex, _around: &Surroundings<'_>) {}

    /// The body of one item of an index that [`Frontend::index`] made of the same file.
    fn lower(
        &self,
        file: &SourceFile,
        index: &FileIndex,
        item: ItemId,
        around: &Surroundings<'_>,
    ) -> Lowered;
}

/// What a front-end may ask of the program around a file.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Serves `include_str!` and kin.
    pub tree: &'a Tree,
    /// What the names of macros mean.
    pub macros: &'a dyn Macros,
    /// Whether test code counts.
    pub tests: bool,
}

impl<'a> Surroundings<'a> {
    /// Files around, and no macros.
    #[must_use]
    pub fn files(tree: &'a Tree) -> Self {
        Self { tree, macros: &Nothing, tests: false }
    }
}

/// Where a macro is named.
#[derive(Clone, Copy, Debug)]
pub struct MacroName<'a> {
    /// The name as written.
    pub path: &'a Path,
    /// The file that the call stands in.
    pub file: FileId,
    /// The scope that it stands in.
    pub scope: &'a Path,
    /// Where in the file.
    pub at: u32,
}

/// What the names of macros mean.
pub trait Macros: Sync {
    /// The definition that a name means; why there is none, in a few words.
    ///
    /// # Errors
    ///
    /// When the program has no definition of that name that is seen there, or more than one.
    fn find(&self, name: MacroName<'_>) -> Result<&MacroDefinition, &'static str>;
}

/// No macros at all.
struct Nothing;

impl Macros for Nothing {
    fn find(&self, _: MacroName<'_>) -> Result<&MacroDefinition, &'static str> {
        Err("no definition is known")
    }
}

/// The front-end of a language; `None` for files that are only served as text, and for SQL, whose
/// statements are read by [`sql`].
#[must_use]
pub fn frontend(language: Language) -> Option<&'static dyn Frontend> {
    match language {
        Language::Rust => Some(&rust::RustFrontend),
        Language::Lua => Some(&lua::LuaFrontend),
        Language::Sql | Language::Other => None,
    }
}
