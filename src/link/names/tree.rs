//! Builds the module tree: which file is which module, and what each module declares.
//!
//! A file that a `mod` declaration names (by `#[path]` or by its usual place) is that module. A
//! file that none names is a crate root, or hangs where the file system says.

use std::collections::{BTreeMap, BTreeSet};

use super::{Imported, Named, Names, Node, NodeId, common};
use crate::ir::index::{FileIndex, Path};
use crate::link::{ConstantId, FunctionId, TraitId, TypeId};
use crate::source::{FileId, Tree};

/// A `mod` declaration: the file it stands in, its scope there, its name.
struct Declared<'a> {
    parent: FileId,
    scope: &'a Path,
    name: &'a str,
}

struct Builder<'a> {
    names: Names,
    indexes: BTreeMap<FileId, &'a FileIndex>,
    declared: BTreeMap<FileId, Declared<'a>>,
    functions: BTreeMap<FileId, BTreeSet<(&'a Path, &'a str)>>,
    paths: BTreeMap<FileId, &'a str>,
    /// Files by the module that they are.
    by_module: BTreeMap<&'a Path, Vec<FileId>>,
}

/// The tree of the given files, without members.
pub(super) fn build(tree: &Tree, count: usize, files: &[&FileIndex]) -> Names {
    let mut builder = Builder {
        names: Names {
            file_nodes: vec![None; count],
            file_modules: vec![Path::default(); count],
            folders: tree.files().iter().map(|file| folder(&file.path)).collect(),
            ..Names::default()
        },
        indexes: files.iter().map(|index| (index.file, *index)).collect(),
        declared: BTreeMap::new(),
        functions: BTreeMap::new(),
        paths: tree.files().iter().map(|file| (file.id, file.path.as_str())).collect(),
        by_module: BTreeMap::new(),
    };
    for index in files {
        builder.by_module.entry(&index.module).or_default().push(index.file);
    }
    builder.declare(tree, files);
    for index in files {
        builder.place(index.file);
    }
    for index in files {
        builder.fill(index);
    }
    for index in files {
        builder.share(tree, index);
    }
    builder.names
}

fn is_library_root(path: &str) -> bool {
    path == "lib.rs" || path.ends_with("/lib.rs")
}

fn folder(path: &str) -> String {
    path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned())
}

impl<'a> Builder<'a> {
    fn declare(&mut self, tree: &Tree, files: &[&'a FileIndex]) {
        // A library's declaration wins over a binary's of the same package.
        let library =
            |file: &FileId| !self.paths.get(file).is_some_and(|path| is_library_root(path));
        let mut ordered: Vec<&FileIndex> = files.to_vec();
        ordered.sort_by_key(|index| (library(&index.file), index.file));
        for index in ordered {
            for module in &index.modules {
                let child = module.file.as_deref().and_then(|path| tree.at(path));
                if let Some(child) = child.filter(|child| child.id != index.file) {
                    let declared =
                        Declared { parent: index.file, scope: &module.scope, name: &module.name };
                    self.declared.entry(child.id).or_insert(declared);
                }
            }
            let functions = index.functions.iter().map(|f| (&f.scope, f.name.as_str())).collect();
            self.functions.insert(index.file, functions);
        }
    }

    /// Gives a file its node; the chain of parents first.
    fn place(&mut self, file: FileId) {
        let mut chain = vec![file];
        let mut seen = BTreeSet::from([file]);
        while let Some(parent) = chain.last().and_then(|last| self.parent_of(*last)) {
            if !seen.insert(parent) {
                break;
            }
            chain.push(parent);
        }
        for file in chain.into_iter().rev() {
            self.place_one(file);
        }
    }

    fn parent_of(&self, file: FileId) -> Option<FileId> {
        match self.declared.get(&file) {
            Some(declared) => Some(declared.parent),
            None => self.directory_parent(file),
        }
    }

    /// The file whose module is the parent of this one's by the file system's word, for modules
    /// that a macro declares. The nearest folder wins.
    fn directory_parent(&self, file: FileId) -> Option<FileId> {
        let module = &self.indexes.get(&file)?.module;
        if module.0.len() < 2 {
            return None;
        }
        let parent = module.parent();
        let path = self.paths.get(&file)?;
        let candidates = self.by_module.get(&parent).into_iter().flatten();
        candidates
            .filter(|id| **id != file)
            .map(|id| (shared_folders(path, self.paths.get(id).unwrap_or(&"")), *id))
            .filter(|(shared, _)| *shared > 0)
            .max_by_key(|(shared, id)| (*shared, std::cmp::Reverse(*id)))
            .map(|(_, id)| id)
    }

    fn place_one(&mut self, file: FileId) {
        let at = file.0 as usize;
        if self.names.file_nodes.get(at).is_none_or(Option::is_some) {
            return;
        }
        let Some(index) = self.indexes.get(&file).copied() else { return };
        let (parent, scope, name) = match self.declared.get(&file) {
            Some(declared) => {
                (Some(declared.parent), Some(declared.scope), declared.name.to_owned())
            }
            None => (
                self.directory_parent(file),
                None,
                index.module.last().unwrap_or_default().to_owned(),
            ),
        };
        let parent_node = parent.and_then(|file| *self.names.file_nodes.get(file.0 as usize)?);
        let node = match (parent, parent_node) {
            (Some(parent), Some(mut node)) => {
                if let Some(scope) = scope {
                    node = self.descend(parent, scope);
                }
                self.child(node, &name, false, file)
            }
            _ => self.root(file, index),
        };
        if let Some(place) = self.names.file_nodes.get_mut(at) {
            *place = Some(node);
        }
        if let Some(place) = self.names.file_modules.get_mut(at) {
            *place = index.module.clone();
        }
    }

    fn root(&mut self, file: FileId, index: &FileIndex) -> NodeId {
        let name = index.module.first().unwrap_or_default().to_owned();
        let node = self.push(Node {
            parent: None,
            function: false,
            file,
            types: BTreeMap::new(),
            values: BTreeMap::new(),
            children: BTreeMap::new(),
            imports: Vec::new(),
            derived: BTreeMap::new(),
        });
        let path = self.paths.get(&file).copied().unwrap_or_default();
        if index.module.0.len() == 1 && is_library_root(path) {
            self.names.crates.entry(name).or_default().push((folder(path), node));
        }
        node
    }

    fn push(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.names.nodes.len()).unwrap_or(u32::MAX));
        self.names.nodes.push(node);
        id
    }

    fn child(&mut self, parent: NodeId, name: &str, function: bool, file: FileId) -> NodeId {
        let found = self.names.node(parent).and_then(|node| node.children.get(name)).copied();
        if let Some(found) = found {
            return found;
        }
        let id = self.push(Node {
            parent: Some(parent),
            function,
            file,
            types: BTreeMap::new(),
            values: BTreeMap::new(),
            children: BTreeMap::new(),
            imports: Vec::new(),
            derived: BTreeMap::new(),
        });
        if let Some(node) = self.names.nodes.get_mut(parent.0 as usize) {
            node.children.insert(name.to_owned(), id);
            if !function {
                node.types.entry(name.to_owned()).or_default().push(Named::Module(id));
            }
        }
        id
    }

    /// The node of a scope path in a file; nodes that are missing are made.
    fn descend(&mut self, file: FileId, scope: &Path) -> NodeId {
        let at = file.0 as usize;
        let Some(Some(mut node)) = self.names.file_nodes.get(at).copied() else {
            return NodeId(0);
        };
        let skip = self.names.file_modules.get(at).map_or(0, |module| common(module, scope));
        for depth in skip..scope.0.len() {
            let Some(part) = scope.0.get(depth) else { break };
            let before = Path(scope.0.get(..depth).unwrap_or_default().to_vec());
            let function = self
                .functions
                .get(&file)
                .is_some_and(|all| all.contains(&(&before, part.as_str())));
            node = self.child(node, part, function, file);
        }
        node
    }

    /// A module that a second crate of the package declares too (`main.rs` beside `lib.rs`) is
    /// found under that crate as well.
    fn share(&mut self, tree: &Tree, index: &FileIndex) {
        for module in &index.modules {
            let child = module.file.as_deref().and_then(|path| tree.at(path));
            let node = child.and_then(|child| *self.names.file_nodes.get(child.id.0 as usize)?);
            let Some(node) = node else { continue };
            let parent = self.descend(index.file, &module.scope);
            let Some(parent) = self.names.nodes.get_mut(parent.0 as usize) else { continue };
            if !parent.children.contains_key(&module.name) {
                parent.children.insert(module.name.clone(), node);
                parent.types.entry(module.name.clone()).or_default().push(Named::Module(node));
            }
        }
    }

    fn fill(&mut self, index: &FileIndex) {
        let file = index.file;
        for (position, function) in numbered(&index.functions) {
            let node = self.descend(file, &function.scope);
            if function.owner.is_none() && function.of_trait.is_none() {
                let id = FunctionId { file, index: position };
                self.add(node, &function.name, Named::Function(id), false);
            }
        }
        for (position, constant) in numbered(&index.constants) {
            let node = self.descend(file, &constant.scope);
            if constant.owner.is_none() {
                let id = ConstantId { file, index: position };
                self.add(node, &constant.name, Named::Constant(id), false);
            }
        }
        for (position, ty) in numbered(&index.types) {
            let node = self.descend(file, &ty.scope);
            let id = TypeId { file, index: position };
            self.add(node, &ty.name, Named::Type(id), true);
            if let Some(alias) = &ty.alias {
                self.names.aliases.insert(id, (node, alias.clone()));
            }
            if !ty.variants.is_empty() {
                let variants = ty.variants.iter().map(|(name, _)| name.clone()).collect();
                self.names.variants.insert(id, variants);
            }
        }
        for (position, declared) in numbered(&index.traits) {
            let node = self.descend(file, &declared.scope);
            self.add(node, &declared.name, Named::Trait(TraitId { file, index: position }), true);
        }
        for table in &index.tables {
            let node = self.descend(file, &table.module);
            if let Some(node) = self.names.nodes.get_mut(node.0 as usize) {
                let named =
                    table.makes.iter().filter_map(|it| Some((it.last()?.to_owned(), it.clone())));
                node.derived.extend(named);
            }
        }
        for import in &index.imports {
            let node = self.descend(file, &import.scope);
            let imported = Imported { path: import.path.clone(), name: import.name.clone() };
            if let Some(node) = self.names.nodes.get_mut(node.0 as usize) {
                node.imports.push(imported);
            }
        }
    }

    fn add(&mut self, node: NodeId, name: &str, named: Named, ty: bool) {
        self.names.by_name.entry(name.to_owned()).or_default().push(named.clone());
        let Some(node) = self.names.nodes.get_mut(node.0 as usize) else { return };
        let space = if ty { &mut node.types } else { &mut node.values };
        space.entry(name.to_owned()).or_default().push(named);
    }
}

/// Items with their position as the numbers of the program's ids.
pub(super) fn numbered<T>(items: &[T]) -> impl Iterator<Item = (u32, &T)> {
    items.iter().enumerate().map(|(at, item)| (u32::try_from(at).unwrap_or(u32::MAX), item))
}

/// How many leading parts two paths share, and one more when one of them has a single part: a file
/// at the top is near to all.
pub(super) fn shared_folders(left: &str, right: &str) -> usize {
    let folders = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (left, right) = (folders(left), folders(right));
    let shared = left.iter().zip(&right).take_while(|(l, r)| l == r).count();
    if left.len() == 1 || right.len() == 1 { shared + 1 } else { shared }
}
