//! `use` trees and `extern crate`.

use super::super::types;
use super::walk::{Around, Walker};
use crate::ir::index::{Import, Path};

impl Walker<'_> {
    pub(super) fn import(&mut self, of: &syn::ItemUse, around: &Around) {
        self.use_tree(&of.tree, &Path::default(), around);
    }

    pub(super) fn extern_crate(&mut self, of: &syn::ItemExternCrate, around: &Around) {
        let path = Path::single(types::name(&of.ident));
        let name = of.rename.as_ref().map_or(&of.ident, |(_, name)| name);
        self.add_import(path, types::name(name), around);
    }

    fn use_tree(&mut self, tree: &syn::UseTree, before: &Path, around: &Around) {
        match tree {
            syn::UseTree::Path(of) => {
                self.use_tree(&of.tree, &before.join(types::name(&of.ident)), around);
            }
            syn::UseTree::Group(of) => {
                for tree in &of.items {
                    self.use_tree(tree, before, around);
                }
            }
            syn::UseTree::Name(of) => {
                let path = full(before, &of.ident);
                let name = path.last().unwrap_or_default().to_owned();
                self.add_import(path, name, around);
            }
            syn::UseTree::Rename(of) => {
                self.add_import(full(before, &of.ident), types::name(&of.rename), around);
            }
            syn::UseTree::Glob(_) => {
                self.add_import(before.clone(), "*".to_owned(), around);
            }
        }
    }

    fn add_import(&mut self, path: Path, name: String, around: &Around) {
        let scope = around.scope.clone();
        self.index.imports.push(Import { scope, path, name });
    }
}

/// A path and its last name; `a::{self}` is `a`.
fn full(before: &Path, last: &syn::Ident) -> Path {
    if last == "self" && !before.0.is_empty() {
        return before.clone();
    }
    before.join(types::name(last))
}
