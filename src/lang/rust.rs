//! Rust: `syn` trees to `ir`.

use super::Frontend;
use crate::ir::body::Lowered;
use crate::ir::index::{FileIndex, ItemId};
use crate::source::{SourceFile, Tree};

pub(crate) mod slice;
pub(crate) mod span;
pub(crate) mod types;

/// The Rust front-end.
pub struct RustFrontend;

impl Frontend for RustFrontend {
    fn index(&self, file: &SourceFile, _tree: &Tree) -> FileIndex {
        FileIndex::new(file.id)
    }

    fn lower(&self, _file: &SourceFile, _index: &FileIndex, _item: ItemId, _tree: &Tree) -> Lowered {
        Lowered::default()
    }
}
