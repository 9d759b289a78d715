//! `use` trees and `extern crate`.

use super::super::{attributes, types};
use super::walk::{Around, Walker};
use crate::ir::index::{Import, Path};

impl Walker<'_> {
    pub(super) fn import(&mut self, of: &syn::ItemUse, around: &Around) {
        let public = attributes::is_public(&of.vis);
        self.use_tree(&of.tree, &Path::default(), public, around);
    }

    pub(super) fn extern_crate(&mut self, of: &syn::ItemExternCrate, around: &Around) {
        let path = Path::single(types::name(&of.ident));
        let name = of.rename.as_ref().map_or(&of.ident, |(_, name)| name);
        self.add_import(path, types::name(name), attributes::is_public(&of.vis), around);
    }

    fn use_tree(&mut self, tree: &syn::UseTree, before: &Path, public: bool, around: &Around) {
        match tree {
            syn::UseTree::Path(of) => {
                self.use_tree(&of.tree, &before.join(types::name(&of.ident)), public, around);
            }
            syn::UseTree::Group(of) => {
                for tree in &of.items {
                    self.use_tree(tree, before, public, around);
                }
            }
            syn::UseTree::Name(of) => {
                let path = full(before, &of.ident);
                let name = path.last().unwrap_or_default().to_owned();
                self.add_import(path, name, public, around);
            }
            syn::UseTree::Rename(of) => {
                self.add_import(full(before, &of.ident), types::name(&of.rename), public, around);
            }
            syn::UseTree::Glob(_) => {
                self.add_import(before.clone(), "*".to_owned(), public, around);
            }
        }
    }

    fn add_import(&mut self, path: Path, name: String, public: bool, around: &Around) {
        let scope = around.scope.clone();
        self.index.imports.push(Import { scope, path, name, public });
    }
}

/// A path and its last name; `a::{self}` is `a`.
fn full(before: &Path, last: &syn::Ident) -> Path {
    if last == "self" && !before.0.is_empty() {
        return before.clone();
    }
    before.join(types::name(last))
}
