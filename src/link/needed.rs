//! Which packages can matter: those that speak to Redis or a database, and all that hang together with
//! them by path dependencies. No rule can say anything of the others, so their bodies are not lowered.
//!
//! A package speaks to a store when one of its files has the name of a library that does, or of a
//! method that only Redis has, as a word of its own. Files without a manifest above them always matter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use toml::{Table, Value};

use super::calls::foreign;
use crate::catalog::{ApiEffect, Catalog, Receiver};
use crate::ir::index::FileIndex;
use crate::source::{SourceFile, Tree, fold, folder, folders};

/// For each file, by number, whether its items are to be lowered.
pub(super) fn files(
    tree: &Tree,
    indexes: &[Option<FileIndex>],
    catalog: &'static Catalog,
) -> Vec<bool> {
    let words = words(catalog);
    let speaks: Vec<bool> =
        tree.files().par_iter().map(|file| speaks(&file.text, &words)).collect();
    let talking = tree.files().iter().zip(&speaks).filter(|(_, speaks)| **speaks);
    let mut needed: BTreeSet<&str> =
        talking.filter_map(|(file, _)| tree.package(&file.path)).collect();
    let manifests = Manifests::read(tree);
    needed.extend(manifests.0.iter().filter(|(_, read)| read.is_none()).map(|(folder, _)| folder));
    let edges = edges(tree, indexes, &manifests);
    let mut waiting: Vec<&str> = needed.iter().copied().collect();
    while let Some(next) = waiting.pop() {
        let beside = edges.get(next).into_iter().flatten();
        waiting.extend(beside.copied().filter(|other| needed.insert(other)));
    }
    tree.files()
        .iter()
        .map(|file| tree.package(&file.path).is_none_or(|package| needed.contains(package)))
        .collect()
}

/// Names by which code speaks to a store.
fn words(catalog: &'static Catalog) -> BTreeSet<&'static str> {
    let of_stores = catalog.rows.iter().filter(|row| {
        matches!(
            row.effect,
            ApiEffect::RedisCommand
                | ApiEffect::ScriptInvoke
                | ApiEffect::LockAcquire
                | ApiEffect::LockRelease
                | ApiEffect::LockRenew
                | ApiEffect::SqlExec
                | ApiEffect::SqlRead
        )
    });
    let mut words = BTreeSet::new();
    for row in of_stores {
        let library = catalog.library(&row.library).into_iter();
        words.extend(library.flat_map(|it| it.import_roots.iter().map(String::as_str)));
        for receiver in catalog.receivers(row) {
            match receiver.name() {
                Some(name) => words.extend([name.root()]),
                None if matches!(receiver, Receiver::Any) => {
                    words.extend(row.methods.iter().map(String::as_str));
                }
                None => {}
            }
        }
    }
    for wide in ["std", "core", "alloc", "tokio"] {
        words.remove(wide);
    }
    words
}

/// Whether a text has one of the words, or begins one as only Redis does.
fn speaks(text: &str, words: &BTreeSet<&str>) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .any(|word| words.contains(word) || foreign::is_conditional(word))
}

/// Packages that hang together, both ways: path dependencies, and modules whose file lies in another
/// package.
fn edges<'t>(
    tree: &'t Tree,
    indexes: &'t [Option<FileIndex>],
    manifests: &Manifests<'t>,
) -> BTreeMap<&'t str, BTreeSet<&'t str>> {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut join = |left: &'t str, right: &'t str| {
        if left != right {
            edges.entry(left).or_default().insert(right);
            edges.entry(right).or_default().insert(left);
        }
    };
    for folder in manifests.0.keys() {
        for path in manifests.dependencies(folder) {
            if let Some(manifest) = tree.at(&format!("{path}/Cargo.toml")) {
                join(folder, self::folder(&manifest.path));
            }
        }
    }
    for index in indexes.iter().flatten() {
        let own = tree.file(index.file).and_then(|file| tree.package(&file.path));
        let declared = index.modules.iter().filter_map(|module| tree.at(module.file.as_deref()?));
        for other in declared.filter_map(|file| tree.package(&file.path)) {
            own.into_iter().for_each(|own| join(own, other));
        }
    }
    edges
}

/// The manifests of a tree by folder; `None` for one that can't be read.
struct Manifests<'t>(BTreeMap<&'t str, Option<Table>>);

impl<'t> Manifests<'t> {
    fn read(tree: &'t Tree) -> Self {
        let manifests = tree
            .files()
            .iter()
            .filter(|file| file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml"));
        let read = |file: &'t Arc<SourceFile>| (folder(&file.path), file.text.parse().ok());
        Self(manifests.map(read).collect())
    }

    /// Folders of the packages that a package depends on.
    fn dependencies(&self, folder: &str) -> Vec<String> {
        let Some(Some(manifest)) = self.0.get(folder) else { return Vec::new() };
        let listed = dependency_tables(manifest).into_iter().flatten();
        let path = |(name, written): (&String, &Value)| match path_of(written) {
            Some(path) => fold(&format!("{folder}/{path}")),
            None if written.get("workspace").and_then(Value::as_bool) == Some(true) => {
                self.of_workspace(folder, name)
            }
            None => None,
        };
        listed.filter_map(path).collect()
    }

    /// Where the workspace around a package says that a dependency lies.
    fn of_workspace(&self, package: &str, name: &str) -> Option<String> {
        folders(&format!("{package}/Cargo.toml")).find_map(|folder| {
            let workspace = self.0.get(folder)?.as_ref()?.get("workspace")?;
            let path = path_of(workspace.get("dependencies")?.get(name)?)?;
            fold(&format!("{folder}/{path}"))
        })
    }
}

fn path_of(dependency: &Value) -> Option<&str> {
    dependency.get("path")?.as_str()
}

/// The tables of dependencies in a manifest, those for one target or for tests included.
fn dependency_tables(manifest: &Table) -> Vec<&Table> {
    let mut found = Vec::new();
    let mut waiting = vec![manifest];
    while let Some(table) = waiting.pop() {
        for (name, value) in table {
            match value.as_table() {
                Some(inner) if name.ends_with("dependencies") => found.push(inner),
                Some(inner) => waiting.push(inner),
                None => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::config::Settings;
    use crate::link::Program;
    use crate::source::{Language, Tree};

    /// The names of the functions that are lowered, in order.
    fn lowered(no_prefilter: bool) -> Vec<String> {
        let manifest = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}");
        let files = [
            ("Cargo.toml", "[workspace.dependencies]\nkeys = { path = \"keys\" }".to_owned()),
            ("locks/Cargo.toml", manifest("locks", "[dependencies]\nkeys.workspace = true")),
            ("locks/src/lib.rs", "pub fn take(c: &mut redis::Connection) {}".to_owned()),
            ("keys/Cargo.toml", manifest("keys", "")),
            ("keys/src/lib.rs", "pub fn key() -> &'static str { \"a\" }".to_owned()),
            (
                "shop/Cargo.toml",
                manifest(
                    "shop",
                    "[target.'cfg(unix)'.dependencies]\nlocks = { path = \"../locks\" }",
                ),
            ),
            ("shop/src/main.rs", "fn main() {}".to_owned()),
            ("maths/Cargo.toml", manifest("maths", "[dependencies]\nlocks = \"1\"")),
            ("maths/src/lib.rs", "pub fn predistribute() {}".to_owned()),
            ("broken/Cargo.toml", "[package".to_owned()),
            ("broken/src/lib.rs", "pub fn broken() {}".to_owned()),
            ("loose.rs", "pub fn loose() {}".to_owned()),
        ];
        let texts = files.map(|(path, text)| {
            let language = if path.ends_with(".rs") { Language::Rust } else { Language::Other };
            (path.to_owned(), language, text)
        });
        let settings = Settings { no_prefilter, ..Settings::default() };
        let program = Program::build(Arc::new(Tree::from_texts(texts.to_vec())), settings);
        program.bodies.iter().map(|own| program.qualified_name(own.id)).collect()
    }

    #[test]
    fn what_hangs_together_with_a_store_is_lowered() {
        assert_eq!(lowered(false), ["broken", "key", "take", "loose", "main"]);
        assert_eq!(lowered(true), ["broken", "key", "take", "loose", "predistribute", "main"]);
    }
}
