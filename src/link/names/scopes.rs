//! What surrounds a node: the functions and module around it, its crate, its globs.

use std::collections::BTreeSet;

use super::lookup::Lookup;
use super::tree::shared_folders;
use super::{Named, Names, Namespace, NodeId};
use crate::ir::index::Path;

/// Library globs that can bring a name into a node or the functions around it.
pub(super) fn lexical_globs(names: &Names, node: NodeId) -> Vec<Path> {
    let mut globs = Vec::new();
    for node in names.lexical(node) {
        for glob in names.external_globs(node) {
            if !globs.contains(glob) {
                globs.push(glob.clone());
            }
        }
    }
    globs
}

impl Names {
    /// Finds what the path of every glob means; done once, when the tree stands.
    pub(super) fn resolve_globs(&mut self) {
        let count = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let all = (0..count).map(|node| self.globs_written(NodeId(node))).collect();
        self.globs = all;
        self.library_globs = (0..count).map(|node| self.globs_behind(NodeId(node))).collect();
    }

    fn globs_written(&self, id: NodeId) -> Vec<Named> {
        let Some(node) = self.node(id) else { return Vec::new() };
        let globs = node.imports.iter().filter(|import| import.name == "*");
        let meant = globs.map(|glob| Lookup::glob(self, id, &glob.path));
        meant.filter(|named| *named != Named::Unknown).collect()
    }

    /// What the globs of one node mean.
    pub(super) fn globs_of(&self, node: NodeId) -> &[Named] {
        self.globs.get(node.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Library globs of one node, those of workspace modules that it takes in by a glob included.
    pub(in crate::link) fn external_globs(&self, node: NodeId) -> &[Path] {
        self.library_globs.get(node.0 as usize).map_or(&[], Vec::as_slice)
    }

    fn globs_behind(&self, node: NodeId) -> Vec<Path> {
        let mut globs = Vec::new();
        for node in self.with_globs(node) {
            for named in self.globs_of(node) {
                if let Named::External(path) = named
                    && !globs.contains(path)
                {
                    globs.push(path.clone());
                }
            }
        }
        globs
    }

    /// A node and the workspace modules that it takes in by a glob.
    pub(in crate::link) fn with_globs(&self, node: NodeId) -> Vec<NodeId> {
        let mut all = vec![node];
        let mut seen = BTreeSet::from([node]);
        let mut at = 0;
        while let Some(node) = all.get(at).copied() {
            at += 1;
            for named in self.globs_of(node) {
                if let Named::Module(module) = named
                    && seen.insert(*module)
                {
                    all.push(*module);
                }
            }
        }
        all
    }

    /// The node and the functions and module around it, inside out; stops at the module.
    pub(in crate::link) fn lexical(&self, node: NodeId) -> Vec<NodeId> {
        let mut nodes = vec![node];
        while let Some(found) = nodes.last().and_then(|last| self.node(*last)) {
            match found.parent {
                Some(parent) if found.function => nodes.push(parent),
                _ => break,
            }
        }
        nodes
    }

    pub(super) fn module_around(&self, node: NodeId) -> NodeId {
        self.lexical(node).last().copied().unwrap_or(node)
    }

    pub(super) fn root_of(&self, mut node: NodeId) -> NodeId {
        while let Some(parent) = self.node(node).and_then(|found| found.parent) {
            node = parent;
        }
        node
    }

    /// The library root of a workspace crate; the nearest one to the asking file when several
    /// packages have the name.
    pub(super) fn workspace_crate(&self, from: NodeId, name: &str) -> Option<NodeId> {
        let all = self.crates.get(name)?;
        let file = self.node(from)?.file;
        let folder = self.folders.get(file.0 as usize).map_or("", String::as_str);
        all.iter().max_by_key(|(root, _)| shared_folders(folder, root)).map(|(_, node)| *node)
    }

    /// The item that a bare name nobody imported can mean: the only one of the program.
    pub(super) fn only_one(&self, name: &str, namespace: Namespace) -> Option<Named> {
        let fits = |named: &&Named| match named {
            Named::Type(_) | Named::Trait(_) => true,
            Named::Function(_) | Named::Constant(_) => namespace == Namespace::Value,
            _ => false,
        };
        let mut found = self.by_name.get(name)?.iter().filter(fits);
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    }
}
