//! What a path means: the language's own lookup, bounded and safe against import cycles.

use std::collections::BTreeMap;

use super::scopes::lexical_globs;
use super::{Named, Names, Namespace, Node, NodeId, Resolution, Scope};
use crate::ir::index::{Path, TypeRef};

/// Longest chain of imports, aliases and globs that is followed.
const DEPTH: u32 = 24;

/// How many paths one lookup follows: an alias that names itself leads on at every step.
const STEPS: u32 = 500;

/// Names that are there without an import; primitive types among them.
const PRELUDE: &[&str] = &[
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "Vec",
    "String",
    "Box",
    "ToString",
    "ToOwned",
    "Into",
    "From",
    "TryFrom",
    "TryInto",
    "Iterator",
    "IntoIterator",
    "Extend",
    "Default",
    "Drop",
    "Fn",
    "FnMut",
    "FnOnce",
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "Clone",
    "Copy",
    "Send",
    "Sync",
    "Sized",
    "Unpin",
    "AsRef",
    "AsMut",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Debug",
    "Hash",
    "bool",
    "char",
    "str",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
    "Future",
    "IntoFuture",
    "drop",
];

/// A lookup under way.
pub(super) struct Lookup<'a> {
    names: &'a Names,
    /// Answers of this lookup by node and name; one that is still open is a cycle and finds nothing.
    known: BTreeMap<(NodeId, String, bool), Option<Named>>,
    /// Whether globs are left out: the path of a glob is not looked for behind other globs.
    plain: bool,
    /// How many paths were followed.
    steps: u32,
}

/// See [`Names::resolve`].
pub(super) fn resolve(
    names: &Names,
    scope: Scope<'_>,
    path: &Path,
    namespace: Namespace,
) -> (Named, Resolution) {
    let mut lookup = Lookup::new(names);
    let own = |name: &str| name == "Self" || scope.generics.iter().any(|(own, _)| own == name);
    let answers = names.answers.get(scope.node.0 as usize);
    let Some(answers) = answers.filter(|_| path.first().is_some_and(|first| !own(first))) else {
        return lookup.scoped(scope, path, namespace);
    };
    let key = (path.clone(), namespace);
    if let Some(known) = answers.lock().ok().and_then(|known| known.get(&key).cloned()) {
        return known;
    }
    let answer = lookup.path(scope.node, path, namespace, 0);
    if let Ok(mut known) = answers.lock() {
        known.insert(key, answer.clone());
    }
    answer
}

impl<'a> Lookup<'a> {
    fn new(names: &'a Names) -> Self {
        Self { names, known: BTreeMap::new(), plain: false, steps: 0 }
    }

    /// What the path of a glob of a node means.
    pub(super) fn glob(names: &'a Names, node: NodeId, path: &Path) -> Named {
        let mut lookup = Self { plain: true, ..Self::new(names) };
        lookup.path(node, path, Namespace::Type, 0).0
    }

    fn scoped(&mut self, scope: Scope<'_>, path: &Path, space: Namespace) -> (Named, Resolution) {
        let Some(first) = path.first() else { return (Named::Unknown, Resolution::Unknown) };
        if scope.generics.iter().any(|(name, _)| name == first) {
            return (Named::Generic(first.to_owned()), Resolution::Exact);
        }
        if first == "Self" {
            let start = self.self_type(scope);
            return self.rest(start, path, 1, space, 0);
        }
        self.path(scope.node, path, space, 0)
    }

    fn self_type(&mut self, scope: Scope<'_>) -> Named {
        match (scope.owner, scope.of_trait) {
            (Some(TypeRef::Named { path, .. }), _) if path.first() != Some("Self") => {
                let outer = Scope { owner: None, ..scope };
                self.scoped(outer, path, Namespace::Type).0
            }
            (None, Some(of_trait)) => self.path(scope.node, of_trait, Namespace::Type, 0).0,
            _ => Named::Unknown,
        }
    }

    /// A path as written in a node.
    fn path(
        &mut self,
        node: NodeId,
        path: &Path,
        space: Namespace,
        depth: u32,
    ) -> (Named, Resolution) {
        self.steps += 1;
        if depth > DEPTH || self.steps > STEPS {
            return (Named::Unknown, Resolution::Unknown);
        }
        let Some(first) = path.first() else { return (Named::Unknown, Resolution::Unknown) };
        let mut at = 1;
        let start = match first {
            "crate" | "$crate" => Some(Named::Module(self.names.root_of(node))),
            "self" | "super" => {
                let mut module = self.names.module_around(node);
                at = 0;
                while let Some(part @ ("self" | "super")) = path.0.get(at).map(String::as_str) {
                    if part == "super" {
                        let parent = self.names.node(module).and_then(|found| found.parent);
                        let Some(parent) = parent else {
                            return (Named::Unknown, Resolution::Unknown);
                        };
                        module = self.names.module_around(parent);
                    }
                    at += 1;
                }
                Some(Named::Module(module))
            }
            name => {
                let wanted = if path.0.len() == 1 { space } else { Namespace::Type };
                self.lexical(node, name, wanted, depth)
            }
        };
        if let Some(start) = start {
            let (found, resolution) = self.rest(start, path, at, space, depth);
            if found != Named::Unknown {
                return (found, resolution);
            }
        }
        self.outside(node, path, space, depth)
    }

    /// A first part that nothing in scope defines: a crate, the prelude, a glob, a unique name.
    fn outside(
        &mut self,
        node: NodeId,
        path: &Path,
        space: Namespace,
        depth: u32,
    ) -> (Named, Resolution) {
        let Some(first) = path.first() else { return (Named::Unknown, Resolution::Unknown) };
        if matches!(first, "crate" | "$crate" | "self" | "super") {
            return (Named::Unknown, Resolution::Unknown);
        }
        if (path.0.len() > 1 || space == Namespace::Type)
            && let Some(root) = self.names.workspace_crate(node, first)
        {
            let (found, resolution) = self.rest(Named::Module(root), path, 1, space, depth);
            if found != Named::Unknown {
                return (found, resolution);
            }
        }
        if PRELUDE.contains(&first) {
            return (Named::External(prefixed("std", path)), Resolution::External);
        }
        let type_like = first.starts_with(char::is_uppercase);
        if path.0.len() > 1 && !type_like {
            return (Named::External(path.clone()), Resolution::External);
        }
        let mut globs = if self.plain { Vec::new() } else { lexical_globs(self.names, node) };
        if !globs.is_empty() && (type_like || path.0.len() == 1) {
            globs.sort_by_key(glob_rank);
            let glob = globs.swap_remove(0);
            return (Named::External(extended(&glob, path, 0)), Resolution::External);
        }
        match self.names.only_one(first, if path.0.len() == 1 { space } else { Namespace::Type }) {
            Some(only) => {
                let (found, _) = self.rest(only, path, 1, space, depth);
                let sure =
                    if found == Named::Unknown { Resolution::Unknown } else { Resolution::ByName };
                (found, sure)
            }
            None => (Named::Unknown, Resolution::Unknown),
        }
    }

    /// A name in a node or the functions around it, up to the module.
    fn lexical(&mut self, node: NodeId, name: &str, space: Namespace, depth: u32) -> Option<Named> {
        self.names.lexical(node).into_iter().find_map(|node| self.within(node, name, space, depth))
    }

    /// A name that a node itself declares, imports or takes in by a glob of the workspace.
    fn within(&mut self, id: NodeId, name: &str, space: Namespace, depth: u32) -> Option<Named> {
        let names = self.names;
        let node = names.node(id)?;
        if let Some(found) = declared(node, name, space) {
            return Some(found);
        }
        let key = (id, name.to_owned(), space == Namespace::Type);
        if depth > DEPTH {
            return None;
        }
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        self.known.insert(key.clone(), None);
        let found = self
            .imported(id, node, name, space, depth)
            .or_else(|| self.globbed(id, name, space, depth))
            // A tuple struct is named where a value is wanted, a module where a type is.
            .or_else(|| declared(node, name, other(space)));
        self.known.insert(key, found.clone());
        found
    }

    fn imported(
        &mut self,
        id: NodeId,
        node: &Node,
        name: &str,
        space: Namespace,
        depth: u32,
    ) -> Option<Named> {
        node.imports.iter().filter(|import| import.name == name).find_map(|import| {
            let found = match self.path(id, &import.path, space, depth + 1).0 {
                Named::Unknown => self.path(id, &import.path, other(space), depth + 1).0,
                found => found,
            };
            match found {
                // `use redis;` and renames of crates: the path is the crate's own.
                Named::Unknown
                    if import.path.0.len() == 1 && import.path.first() != Some("self") =>
                {
                    Some(Named::External(import.path.clone()))
                }
                Named::Unknown => None,
                found => Some(found),
            }
        })
    }

    fn globbed(&mut self, id: NodeId, name: &str, space: Namespace, depth: u32) -> Option<Named> {
        if self.plain {
            return None;
        }
        self.names.globs_of(id).iter().find_map(|glob| match glob {
            Named::Module(module) => self.within(*module, name, space, depth + 1),
            Named::Type(ty) => {
                let variants = self.names.variants.get(ty)?;
                variants.iter().any(|v| v == name).then(|| Named::Variant(*ty, name.to_owned()))
            }
            _ => None,
        })
    }

    /// Follows the parts of a path from `at` on.
    fn rest(
        &mut self,
        start: Named,
        path: &Path,
        at: usize,
        space: Namespace,
        depth: u32,
    ) -> (Named, Resolution) {
        let mut found = start;
        for (position, part) in path.0.iter().enumerate().skip(at) {
            let last = position + 1 == path.0.len();
            let wanted = if last { space } else { Namespace::Type };
            found = match found {
                Named::Module(module) => match self.within(module, part, wanted, depth + 1) {
                    Some(found) => found,
                    None => return self.through_globs(module, path, position),
                },
                Named::Type(ty) => self.member(ty, part, depth),
                Named::Trait(id) => self.names.members.of_trait(id, part),
                Named::External(base) => Named::External(base.join(part.clone())),
                Named::Generic(name) => Named::Generic(name),
                Named::Function(_) | Named::Constant(_) | Named::Variant(..) | Named::Unknown => {
                    Named::Unknown
                }
            };
        }
        let resolution = match &found {
            Named::Unknown => Resolution::Unknown,
            Named::External(_) => Resolution::External,
            _ => Resolution::Exact,
        };
        (found, resolution)
    }

    /// What a module lacks may be made by a derive in it, or come from a library whose glob it
    /// re-exports.
    fn through_globs(
        &mut self,
        module: NodeId,
        path: &Path,
        position: usize,
    ) -> (Named, Resolution) {
        let own = self.names.node(module).zip(path.0.get(position));
        if let Some(made) = own.and_then(|(node, part)| node.derived.get(part)) {
            let rest = path.0.get(position + 1..).unwrap_or_default();
            let whole = rest.iter().fold(made.clone(), |made, part| made.join(part.clone()));
            return (Named::External(whole), Resolution::External);
        }
        let mut globs = self.names.external_globs(module).to_vec();
        globs.sort_by_key(glob_rank);
        match globs.first() {
            Some(glob) => (Named::External(extended(glob, path, position)), Resolution::External),
            None => (Named::Unknown, Resolution::Unknown),
        }
    }

    fn member(&mut self, ty: crate::link::TypeId, name: &str, depth: u32) -> Named {
        if self.names.variants.get(&ty).is_some_and(|all| all.iter().any(|v| v == name)) {
            return Named::Variant(ty, name.to_owned());
        }
        let own = self.names.members.of_type(ty, name);
        if own != Named::Unknown {
            return own;
        }
        match self.names.aliases.get(&ty) {
            Some((node, TypeRef::Named { path, .. })) => {
                let (node, path) = (*node, path.join(name));
                self.path(node, &path, Namespace::Value, depth + 1).0
            }
            _ => Named::Unknown,
        }
    }
}

fn other(space: Namespace) -> Namespace {
    match space {
        Namespace::Type => Namespace::Value,
        Namespace::Value => Namespace::Type,
    }
}

/// What a node declares under a name; of several, the first (configured twins).
fn declared(node: &Node, name: &str, space: Namespace) -> Option<Named> {
    let all = if space == Namespace::Type { &node.types } else { &node.values };
    all.get(name)?.first().cloned()
}

/// Preludes are made to be taken in whole, so they are asked first; the standard library last.
fn glob_rank(glob: &Path) -> u32 {
    match (glob.first(), glob.last()) {
        (Some("std" | "core" | "alloc"), _) => 2,
        (_, Some("prelude")) => 0,
        _ => 1,
    }
}

fn prefixed(crate_name: &str, path: &Path) -> Path {
    let mut parts = vec![crate_name.to_owned()];
    parts.extend(path.0.iter().cloned());
    Path(parts)
}

fn extended(base: &Path, path: &Path, from: usize) -> Path {
    let mut parts = base.0.clone();
    parts.extend(path.0.iter().skip(from).cloned());
    Path(parts)
}
