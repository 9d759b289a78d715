//! Source text to `ir`, one folder a language.
//!
//! A front-end works in two steps. [`Frontend::index`] gives a file's items, names and headers
//! cheaply; [`Frontend::lower`] gives the body of one item. Neither fails: each gives what it has
//! and lists what it could not read. Lowering one item depends on the file's text and index alone,
//! so the order in which items are asked for can't change an answer.

use crate::ir::body::Lowered;
use crate::ir::index::{FileIndex, ItemId};
use crate::source::{Language, SourceFile, Tree};

pub mod cursor;
pub mod lua;
pub mod rust;
pub mod sql;

/// What every language offers.
pub trait Frontend: Sync {
    /// Items, names and headers of a file. `tree` serves what stands around it (manifests,
    /// files named by `#[path]`).
    fn index(&self, file: &SourceFile, tree: &Tree) -> FileIndex;

    /// The body of one item of an index that [`Frontend::index`] made of the same file.
    /// `tree` serves `include_str!` and kin.
    fn lower(&self, file: &SourceFile, index: &FileIndex, item: ItemId, tree: &Tree) -> Lowered;
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
