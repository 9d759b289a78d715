//! What the files of a folder tell of the stores that they speak to.

use std::collections::BTreeSet;

use crate::catalog::{ApiEffect, Catalog};
use crate::lang::sql::{Dialect, Dialects, MigrationSet, migrations};
use crate::source::{Language, SourceFile, Tree};

/// What was found. Names of files are as they are written there.
#[derive(Debug, Default)]
pub(super) struct Detected {
    /// Packages by which Redis is spoken to, or locks are taken.
    pub(super) clients: Vec<String>,
    /// How many Lua files call Redis.
    pub(super) scripts: usize,
    /// A sign that Redis runs as a cluster, in words.
    pub(super) cluster: Option<String>,
    /// Dialects of SQL, as a configuration names them.
    pub(super) dialects: Vec<String>,
    /// Folders of migrations, with how many files each has.
    pub(super) migrations: Vec<String>,
}

/// Types and modules of cluster clients.
const CLUSTER_NAMES: [&str; 5] = [
    "ClusterClient",
    "ClusterConnection",
    "ClusterClientBuilder",
    "cluster_async",
    "new_clustered",
];

/// What a script calls Redis by.
const SCRIPT_CALLS: [&str; 4] = ["redis.call", "redis.pcall", "server.call", "server.pcall"];

impl Detected {
    /// Looks through a tree.
    pub(super) fn of(tree: &Tree) -> Self {
        let manifests = manifests(tree);
        let sets: Vec<MigrationSet> =
            migrations(tree).into_iter().filter(|set| !set.fixture).collect();
        let calls = |file: &&std::sync::Arc<SourceFile>| {
            file.language == Language::Lua
                && SCRIPT_CALLS.iter().any(|call| file.text.contains(call))
        };
        Self {
            clients: clients(&manifests),
            scripts: tree.files().iter().filter(calls).count(),
            cluster: cluster(tree, &manifests),
            dialects: dialects(tree, &sets),
            migrations: sets.iter().map(shown).collect(),
        }
    }
}

/// A dependency that a manifest names: the package, and its features.
struct Dependency {
    manifest: String,
    package: String,
    features: Vec<String>,
}

/// The dependencies of all manifests.
fn manifests(tree: &Tree) -> Vec<Dependency> {
    let named = |file: &&std::sync::Arc<SourceFile>| {
        file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml")
    };
    let mut found = Vec::new();
    for file in tree.files().iter().filter(named) {
        let Ok(manifest) = file.text.parse::<toml::Table>() else { continue };
        let workspace = manifest.get("workspace").and_then(toml::Value::as_table);
        let tables = [Some(&manifest), workspace].into_iter().flatten();
        let dependencies = tables.filter_map(|table| table.get("dependencies")?.as_table());
        for (name, dependency) in dependencies.flatten() {
            let package = dependency.get("package").and_then(toml::Value::as_str);
            let features = dependency.get("features").and_then(toml::Value::as_array);
            let features = features.into_iter().flatten().filter_map(toml::Value::as_str);
            found.push(Dependency {
                manifest: file.path.clone(),
                package: package.unwrap_or(name).to_owned(),
                features: features.map(str::to_owned).collect(),
            });
        }
    }
    found
}

/// The packages of the catalog that have a row by which Redis is spoken to or a lease is taken.
fn redis_packages() -> BTreeSet<&'static str> {
    let catalog = Catalog::builtin();
    let speaks = |effect: ApiEffect| {
        matches!(effect, ApiEffect::RedisCommand | ApiEffect::ScriptInvoke | ApiEffect::LockAcquire)
    };
    let rows = catalog.rows.iter().filter(|row| speaks(row.effect));
    let rows = rows.filter(|row| row.domain.as_deref() != Some("sql"));
    let libraries: BTreeSet<&str> = rows.map(|row| row.library.as_str()).collect();
    let named = libraries.into_iter().filter_map(|id| catalog.library(id));
    named.flat_map(|library| library.package.split(" / ")).collect()
}

fn clients(dependencies: &[Dependency]) -> Vec<String> {
    let known = redis_packages();
    let found = dependencies.iter().map(|dependency| dependency.package.as_str());
    let found: BTreeSet<&str> = found.filter(|package| known.contains(package)).collect();
    found.into_iter().map(str::to_owned).collect()
}

/// A feature of a client, or a type that only a cluster client has.
fn cluster(tree: &Tree, dependencies: &[Dependency]) -> Option<String> {
    let rust = tree.files().iter().filter(|file| file.language == Language::Rust);
    let used = rust.filter_map(|file| {
        let name = CLUSTER_NAMES.iter().find(|name| file.text.contains(*name))?;
        // A word alone may be of another cluster.
        file.text.contains("redis").then(|| format!("`{name}` in {}", file.path))
    });
    let known = redis_packages();
    let clients = dependencies.iter().filter(|one| known.contains(one.package.as_str()));
    let mut asked = clients.filter_map(|one| {
        let feature = one.features.iter().find(|feature| feature.contains("cluster"))?;
        Some(format!("feature `{feature}` of `{}` in {}", one.package, one.manifest))
    });
    used.min().or_else(|| asked.next())
}

/// The dialects of the migrations, or else of all SQL files, or else of the files that manifests with
/// database libraries are above.
fn dialects(tree: &Tree, sets: &[MigrationSet]) -> Vec<String> {
    let guessed = Dialects::new(tree);
    let of = |language: Language| {
        let files = tree.files().iter().filter(move |file| file.language == language);
        files.map(|file| guessed.of(file)).collect::<BTreeSet<_>>()
    };
    let of_sets = sets.iter().map(|set| set.dialect).collect::<BTreeSet<_>>();
    let found = [of_sets, of(Language::Sql), of(Language::Rust)];
    let named = |found: BTreeSet<Dialect>| -> Vec<String> {
        found.into_iter().filter_map(Dialect::name).map(str::to_owned).collect()
    };
    found.into_iter().map(named).find(|names| !names.is_empty()).unwrap_or_default()
}

fn shown(set: &MigrationSet) -> String {
    let root = if set.root.is_empty() { "." } else { &set.root };
    let files = if set.files.len() == 1 { "file" } else { "files" };
    format!("{root} ({} {files})", set.files.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(files: &[(&str, &str)]) -> Detected {
        let language = |path: &str| match path.rsplit('.').next() {
            Some("rs") => Language::Rust,
            Some("lua") => Language::Lua,
            Some("sql") => Language::Sql,
            _ => Language::Other,
        };
        let texts = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), language(path), (*text).to_owned()));
        Detected::of(&Tree::from_texts(texts.collect()))
    }

    #[test]
    fn stores_are_known_by_manifests_sources_and_migrations() {
        let found = detected(&[
            (
                "Cargo.toml",
                "[workspace.dependencies]\ncache = { package = \"fred\", version = \"10\" }\nsqlx = { version = \"0.8\", features = [\"postgres\"] }\n",
            ),
            (
                "a/Cargo.toml",
                "[dependencies]\nredis = { version = \"1\", features = [\"cluster-async\"] }\nserde = \"1\"\n",
            ),
            ("a/src/db.rs", "use sqlx::PgPool;"),
            ("a/migrations/0001_a.sql", "CREATE TABLE a (id uuid PRIMARY KEY);"),
            ("a/migrations/0002_b.sql", "CREATE TABLE b (id uuid PRIMARY KEY);"),
            ("a/scripts/x.lua", "return redis.call('GET', KEYS[1])"),
            ("a/scripts/y.lua", "return 1"),
        ]);
        assert_eq!(found.clients, ["fred", "redis"]);
        assert_eq!(found.scripts, 1);
        let sign = "feature `cluster-async` of `redis` in a/Cargo.toml";
        assert_eq!(found.cluster.as_deref(), Some(sign));
        assert_eq!(found.dialects, ["postgres"]);
        assert_eq!(found.migrations, ["a/migrations (2 files)"]);
    }

    #[test]
    fn what_is_not_told_is_not_made_up() {
        let found = detected(&[("src/a.rs", "struct ClusterClient;"), ("x.toml", "redis = 1")]);
        assert!(found.clients.is_empty() && found.dialects.is_empty());
        assert!(found.migrations.is_empty() && found.cluster.is_none());
    }
}
