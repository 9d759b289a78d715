//! Which dialect a file speaks: by its path, by the manifest above it, by its words.

use std::collections::BTreeMap;

use super::Dialect;
use crate::source::{self, Language, SourceFile, Tree};

/// Bytes of a file whose words are looked at.
const LOOKED_AT: usize = 65_536;

/// What manifests say, read once for a tree.
#[derive(Clone, Debug, Default)]
pub struct Dialects {
    /// The dialect that the manifest of a folder asks for; `None` when it asks for several.
    manifests: BTreeMap<String, Option<Dialect>>,
}

impl Dialects {
    /// Reads the manifests of a tree.
    #[must_use]
    pub fn new(tree: &Tree) -> Self {
        let mut found = Vec::new();
        for file in tree.files() {
            let Some(folder) = file.path.strip_suffix("Cargo.toml") else { continue };
            if !folder.is_empty() && !folder.ends_with('/') {
                continue;
            }
            if let Ok(manifest) = file.text.parse::<toml::Table>() {
                found.push((folder.trim_end_matches('/').to_owned(), manifest));
            }
        }
        let shared = found.iter().filter_map(|(_, manifest)| {
            manifest.get("workspace")?.get("dependencies")?.as_table().cloned()
        });
        let shared: Vec<toml::Table> = shared.collect();
        let mut manifests = BTreeMap::new();
        for (folder, manifest) in &found {
            let spoken = spoken(manifest, &shared);
            if !spoken.is_empty() {
                let only = if spoken.len() == 1 { spoken.first().copied() } else { None };
                manifests.insert(folder.clone(), only);
            }
        }
        Self { manifests }
    }

    /// The dialect of a file; [`Dialect::Generic`] when nothing tells.
    #[must_use]
    pub fn of(&self, file: &SourceFile) -> Dialect {
        by_path(&file.path)
            .or_else(|| self.by_manifest(&file.path))
            .or_else(|| by_words(file))
            .unwrap_or_default()
    }

    /// What the nearest manifest that speaks of databases says.
    fn by_manifest(&self, path: &str) -> Option<Dialect> {
        source::folders(path).find_map(|folder| self.manifests.get(folder)).copied().flatten()
    }
}

/// The dialect that a path names, the deepest part first.
fn by_path(path: &str) -> Option<Dialect> {
    path.rsplit('/').find_map(|part| {
        let mut words = part.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.find_map(Dialect::named)
    })
}

/// Dialects of the database libraries that a manifest depends on, sorted.
fn spoken(manifest: &toml::Table, shared: &[toml::Table]) -> Vec<Dialect> {
    let mut found = Vec::new();
    let tables = ["dependencies", "dev-dependencies"];
    let own = tables.iter().filter_map(|name| manifest.get(*name)?.as_table());
    let workspace = manifest.get("workspace").and_then(|part| part.get("dependencies")?.as_table());
    for (name, dependency) in own.chain(workspace).flatten() {
        library(name, dependency, &mut found);
        let inherited = dependency.get("workspace").is_some();
        for table in shared.iter().filter(|_| inherited) {
            if let Some(dependency) = table.get(name) {
                library(name, dependency, &mut found);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn library(name: &str, dependency: &toml::Value, found: &mut Vec<Dialect>) {
    match name.replace('_', "-").as_str() {
        "tokio-postgres" | "postgres" | "deadpool-postgres" | "bb8-postgres" | "cornucopia" => {
            found.push(Dialect::Postgres);
        }
        "mysql-async" | "mysql" => found.push(Dialect::MySql),
        "rusqlite" | "tokio-rusqlite" | "libsql" | "limbo" | "turso" => found.push(Dialect::Sqlite),
        "sqlx" | "diesel" | "diesel-async" | "sea-orm" | "sea-query" | "welds" => {
            let features = dependency.get("features").and_then(toml::Value::as_array);
            for feature in features.into_iter().flatten().filter_map(toml::Value::as_str) {
                let mut words = feature.split(['-', '_']);
                found.extend(words.find_map(Dialect::named));
            }
        }
        _ => {}
    }
}

/// The dialect that a file's own words give away.
fn by_words(file: &SourceFile) -> Option<Dialect> {
    let sql = file.language == Language::Sql;
    // Prose of comments says nothing of the dialect.
    let said = |line: &str| !(sql && line.trim_start().starts_with("--"));
    let text = source::beginning(&file.text, LOOKED_AT);
    let lines = text.lines().filter(|line| said(line)).map(|line| match line.split_once(" -- ") {
        Some((code, _)) if sql => code,
        _ => line,
    });
    let text = lines.collect::<Vec<_>>().join("\n").to_ascii_lowercase();
    let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    if has(&["sqlitepool", "sqliteconnection", "rusqlite::"])
        || sql && has(&["autoincrement", "pragma ", "without rowid", "insert or "])
    {
        Some(Dialect::Sqlite)
    } else if has(&["mysqlpool", "mysqlconnection", "mysql_async"])
        || sql
            && has(&["auto_increment", "engine=", "engine =", "on duplicate key", "`", "unsigned"])
    {
        Some(Dialect::MySql)
    } else if has(&["pgpool", "pgconnection", "tokio_postgres", "$1"])
        || sql
            && has(&[
                "jsonb",
                "::",
                "timestamptz",
                "bigserial",
                "plpgsql",
                "$$",
                "concurrently",
                "skip locked",
                "uuid",
                "text[]",
            ])
    {
        Some(Dialect::Postgres)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(files: &[(&str, &str)], path: &str) -> Dialect {
        let texts = files.iter().map(|(path, text)| {
            let language = if path.ends_with(".sql") { Language::Sql } else { Language::Other };
            ((*path).to_owned(), language, (*text).to_owned())
        });
        let tree = Tree::from_texts(texts.collect());
        Dialects::new(&tree).of(tree.at(path).unwrap())
    }

    #[test]
    fn the_path_speaks_first_then_the_manifest_then_the_words() {
        let manifest = (
            "api/Cargo.toml",
            "[dependencies]\nsqlx = { version = \"0.8\", features = [\"mysql\", \"runtime-tokio\"] }",
        );
        assert_eq!(
            guess(&[manifest, ("api/postgres/1_a.sql", "")], "api/postgres/1_a.sql"),
            Dialect::Postgres
        );
        assert_eq!(
            guess(&[manifest, ("api/migrations/1_a.sql", "")], "api/migrations/1_a.sql"),
            Dialect::MySql
        );
        assert_eq!(
            guess(&[("1_a.sql", "id INTEGER PRIMARY KEY AUTOINCREMENT")], "1_a.sql"),
            Dialect::Sqlite
        );
        assert_eq!(guess(&[("1_a.sql", "SELECT 1")], "1_a.sql"), Dialect::Generic);
    }

    #[test]
    fn features_of_the_workspace_count_where_they_are_inherited() {
        let files = [
            (
                "Cargo.toml",
                "[workspace.dependencies]\ndiesel = { version = \"2\", features = [\"postgres\"] }",
            ),
            ("a/Cargo.toml", "[dependencies]\ndiesel = { workspace = true }"),
            ("a/m/1_x.sql", ""),
        ];
        assert_eq!(guess(&files, "a/m/1_x.sql"), Dialect::Postgres);
    }
}
