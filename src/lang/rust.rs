//! Rust: `syn` trees to `ir`.

use super::{Frontend, Surroundings};
use crate::ir::body::Lowered;
use crate::ir::index::{FileIndex, ItemId};
use crate::source::{SourceFile, Tree};

pub(crate) mod span;
pub(crate) mod types;
pub(crate) mod comments;
pub(crate) mod tokens;

pub(crate) mod nesting;
pub(crate) mod read;
mod recover;

mod attributes;
mod header;
mod module;
mod role;

mod expand;
mod index;
pub(crate) mod slice;

pub(crate) mod lower;

/// The Rust front-end.
pub struct RustFrontend;

impl Frontend for RustFrontend {
    fn index(&self, file: &SourceFile, tree: &Tree) -> FileIndex {
        index::index(file, tree)
    }

    fn expand(&self, file: &SourceFile, index: &mut FileIndex, around: &Surroundings<'_>) {
        index::expand::expand(file, index, around);
    }

    fn lower(
        &self,
        file: &SourceFile,
        index: &FileIndex,
        item: ItemId,
        around: &Surroundings<'_>,
    ) -> Lowered {
        lower::lower(file, index, item, around)
    }
}
