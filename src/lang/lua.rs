//! Lua: Redis scripts in files and in strings of a host language to `ir`.

use super::Frontend;
use crate::ir::body::Lowered;
use crate::ir::index::{FileIndex, ItemId};
use crate::ir::value::Text;
use crate::source::{SourceFile, Tree};

/// The Lua front-end, for `.lua` files.
pub struct LuaFrontend;

impl Frontend for LuaFrontend {
    fn index(&self, file: &SourceFile, _tree: &Tree) -> FileIndex {
        FileIndex::new(file.id)
    }

    fn lower(&self, _file: &SourceFile, _index: &FileIndex, _item: ItemId, _tree: &Tree) -> Lowered {
        Lowered::default()
    }
}

/// Lowers a script that stands in a string of a host language; spans point into the host file.
/// Holes of the host's template are [`HOLE`](crate::ir::value::HOLE) characters in the text. Body
/// 0 is the script.
#[must_use]
pub fn lower_embedded(_text: &Text) -> Lowered {
    Lowered::default()
}
