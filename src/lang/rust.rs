//! Rust: `syn` trees to `ir`.

use super::Frontend;
use crate::ir::body::Lowered;
use crate::ir::index::{FileIndex, ItemId};
use crate::source::{SourceFile, Tree};

pub(crate) mod lower;
pub(crate) mod slice;
pub(crate) mod span;
pub(crate) mod types;

/// The Rust front-end.
pub struct RustFrontend;

impl Frontend for RustFrontend {
    fn index(&self, file: &SourceFile, _tree: &Tree) -> FileIndex {
        FileIndex::new(file.id)
    }

    fn lower(&self, file: &SourceFile, index: &FileIndex, item: ItemId, tree: &Tree) -> Lowered {
        lower::lower(file, index, item, tree)
    }
}
