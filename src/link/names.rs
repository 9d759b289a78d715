//! Names: the module tree of the program, imports, and what a path means where it is written.
//!
//! Promises: a name that the workspace defines in a place that is visible wins over a library's;
//! of what one place declares twice (configured twins) the first counts, and a name that only
//! stands elsewhere is [`Named::Unknown`] when two do; a library path is given in full, imports and
//! renames expanded. Order of files can't change an answer.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use super::{ConstantId, FunctionId, TraitId, TypeId};
use crate::ir::index::{FileIndex, Path, TypeRef};
use crate::source::{FileId, Language, Tree};

pub mod lookup;
pub mod members;
pub mod scopes;
pub mod tree;

use members::Members;

/// A module, or a function that holds names of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// A function or associated function of the workspace.
    Function(FunctionId),
    /// A constant, static or associated constant of the workspace.
    Constant(ConstantId),
    /// A struct, enum or alias of the workspace.
    Type(TypeId),
    /// A variant of an enum of the workspace.
    Variant(TypeId, String),
    /// A trait of the workspace.
    Trait(TraitId),
    /// A module of the workspace.
    Module(NodeId),
    /// A type parameter of the item around it.
    Generic(String),
    /// A name of a library: the full path, crate first.
    External(Path),
    /// Not known, or more than one thing.
    Unknown,
}

/// How sure a resolution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resolution {
    /// By the language's own rules.
    Exact,
    /// Any of the implementations of a trait's method.
    Dispatch,
    /// Only because the workspace has one item of that name.
    ByName,
    /// A library's.
    External,
    /// Not resolved.
    Unknown,
}

/// What an item needs to be found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Namespace {
    /// Types, traits and modules.
    Type,
    /// Functions, constants, variants and constructors.
    Value,
}

/// Where names are looked up: a place in the module tree and what the item around it adds.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Module or function.
    pub node: NodeId,
    /// What `Self` is.
    pub owner: Option<&'a TypeRef>,
    /// The trait whose declaration or implementation is around it.
    pub of_trait: Option<&'a Path>,
    /// Type parameters in scope and their bounds.
    pub generics: &'a [(String, Vec<TypeRef>)],
}

impl Scope<'_> {
    /// A place in the module tree and nothing around it.
    #[must_use]
    pub fn of(node: NodeId) -> Self {
        Self { node, owner: None, of_trait: None, generics: &[] }
    }
}

/// An import of one node.
#[derive(Clone, Debug)]
pub(in crate::link) struct Imported {
    /// The path as written.
    pub path: Path,
    /// The name it gets; `*` for a glob.
    pub name: String,
}

/// One node of the module tree.
#[derive(Clone, Debug)]
pub(in crate::link) struct Node {
    /// The node around it; `None` for a crate root.
    pub parent: Option<NodeId>,
    /// Whether it is a function: names are looked up in its parent too.
    pub function: bool,
    /// The file it was declared in.
    pub file: FileId,
    /// Types, traits and child modules by name.
    pub types: BTreeMap<String, Vec<Named>>,
    /// Functions and constants by name.
    pub values: BTreeMap<String, Vec<Named>>,
    /// Child nodes by name.
    pub children: BTreeMap<String, NodeId>,
    /// `use` declarations, globs included, in source order.
    pub imports: Vec<Imported>,
    /// Names that a derive makes here, which no glob brings, as things of its library.
    pub derived: BTreeMap<String, Path>,
}

/// Answers of one node, by path and namespace. An answer depends on nothing else, so who asks
/// first changes nothing.
pub(super) type Answers = Mutex<HashMap<(Path, Namespace), (Named, Resolution)>>;

/// All names of a program.
#[derive(Debug, Default)]
pub struct Names {
    /// The module tree.
    pub(in crate::link) nodes: Vec<Node>,
    /// The node of each file, by file number.
    pub(in crate::link) file_nodes: Vec<Option<NodeId>>,
    /// The module path each file's scopes begin with.
    pub(super) file_modules: Vec<Path>,
    /// Library roots by crate name, with the folder of the root file.
    pub(super) crates: BTreeMap<String, Vec<(String, NodeId)>>,
    /// Folder of each file.
    pub(super) folders: Vec<String>,
    /// Items by name, for names that no import explains.
    pub(super) by_name: BTreeMap<String, Vec<Named>>,
    /// Aliases: the scope node and what they stand for.
    pub(in crate::link) aliases: BTreeMap<TypeId, (NodeId, TypeRef)>,
    /// Enums and their variants.
    pub(in crate::link) variants: BTreeMap<TypeId, Vec<String>>,
    /// What the globs of each node mean.
    pub(super) globs: Vec<Vec<Named>>,
    /// Library globs of each node, those behind workspace globs included.
    pub(super) library_globs: Vec<Vec<Path>>,
    /// Answers by node: the same paths are asked for again and again. Empty while names are built.
    pub(super) answers: Vec<Answers>,
    /// Methods, implementations and traits.
    pub(super) members: Members,
}

impl Names {
    /// The names of all files of Rust-like languages (those with a module tree).
    #[must_use]
    pub fn build(tree: &Tree, files: &[Option<FileIndex>]) -> Self {
        let module_files: Vec<&FileIndex> = files
            .iter()
            .flatten()
            .filter(|index| {
                tree.file(index.file).is_some_and(|file| file.language == Language::Rust)
            })
            .collect();
        let mut names = tree::build(tree, files.len(), &module_files);
        names.resolve_globs();
        names.members = Members::build(&names, &module_files);
        names.answers.resize_with(names.nodes.len(), Mutex::default);
        names
    }

    /// What a path means in a scope, and how sure that is.
    #[must_use]
    pub fn resolve(
        &self,
        scope: Scope<'_>,
        path: &Path,
        namespace: Namespace,
    ) -> (Named, Resolution) {
        lookup::resolve(self, scope, path, namespace)
    }

    /// The node of a scope path of a file: the deepest one that exists.
    #[must_use]
    pub fn node_of(&self, file: FileId, scope: &Path) -> NodeId {
        let index = file.0 as usize;
        let Some(Some(mut node)) = self.file_nodes.get(index).copied() else {
            return NodeId(0);
        };
        let skip = self.file_modules.get(index).map_or(0, |module| common(module, scope));
        for part in scope.0.iter().skip(skip) {
            match self.node(node).and_then(|found| found.children.get(part)) {
                Some(child) => node = *child,
                None => break,
            }
        }
        node
    }

    /// The node with this number.
    pub(in crate::link) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// Methods, implementations and traits.
    #[must_use]
    pub fn members(&self) -> &Members {
        &self.members
    }
}

/// How many leading parts of `scope` are the file's own module path: all of it or none.
pub(super) fn common(module: &Path, scope: &Path) -> usize {
    if scope.0.starts_with(&module.0) { module.0.len() } else { 0 }
}
