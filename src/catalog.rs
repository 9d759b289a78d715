//! Which call of which library is which effect; the Redis command table.
//!
//! The rows are data: `rules/apis/<language>.toml`, in the schema that the first of these files
//! describes. They are read once a process. A team's own rows (`api` in leaselint.toml) are read
//! by [`Catalog::with`] in the same schema. This floor knows no syntax tree and decides nothing: it
//! answers "which rows bear this method name", and `link` decides which of them a call is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

use crate::config::names;

pub mod receiver;
pub mod redis;
pub mod sandbox;
pub mod row;
mod table;

pub use receiver::{Receiver, TypeName};
pub use row::{Api, ApiEffect, ApiScript, Bounds, Loss, Place, RowCount, TimeUnit, Wire};
pub use table::Library;

/// The tables that come with the program: name for messages, text.
const TABLES: [(&str, &str); 3] = [
    ("rules/apis/rust.toml", include_str!("../rules/apis/rust.toml")),
    ("rules/apis/rust-services.toml", include_str!("../rules/apis/rust-services.toml")),
    ("rules/apis/lua.toml", include_str!("../rules/apis/lua.toml")),
];

/// All rows, found by method name.
#[derive(Debug, Default)]
pub struct Catalog {
    /// All rows, in file order; a team's own rows last.
    pub rows: Vec<Api>,
    /// All libraries, in file order.
    pub libraries: Vec<Library>,
    by_method: BTreeMap<String, Vec<usize>>,
    sets: BTreeMap<String, Vec<Receiver>>,
    ids: BTreeSet<String>,
    /// Crates of libraries and what rows name in them: `redis`, `Script`.
    items: BTreeSet<(String, String)>,
}

/// Why a table could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError {
    /// The table: a file name, or `api` of the configuration.
    pub table: String,
    /// The row's id, when the trouble is in one row.
    pub row: Option<String>,
    /// What is wrong, one sentence.
    pub message: String,
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.row {
            Some(row) => write!(f, "{}: row `{row}`: {}", self.table, self.message),
            None => write!(f, "{}: {}", self.table, self.message),
        }
    }
}

impl std::error::Error for CatalogError {}

impl Catalog {
    /// The rows that come with the program.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Catalog> = OnceLock::new();
        // A broken table is caught by this file's tests; a release that shipped one all the same
        // would still read the sound tables.
        BUILTIN.get_or_init(|| {
            let mut catalog = Self::default();
            for (name, text) in TABLES {
                if let Ok(table) = table::read(name, text) {
                    let _ = catalog.add(name, table);
                }
            }
            catalog
        })
    }

    /// The rows that come with the program and a team's own (`Settings::api`).
    ///
    /// Rows are handed out for the life of the process: a catalog with own rows is kept for good,
    /// one for each configuration that is read.
    ///
    /// # Errors
    /// When an own row is not of the schema, names a receiver set or library that is not there, or
    /// bears the id of another row.
    pub fn with(own: &[toml::Value]) -> Result<&'static Self, CatalogError> {
        if own.is_empty() {
            return Ok(Self::builtin());
        }
        let mut catalog = Self::default();
        for (name, text) in TABLES {
            catalog.add(name, table::read(name, text)?)?;
        }
        catalog.add("api", table::own_rows(own)?)?;
        Ok(Box::leak(Box::new(catalog)))
    }

    /// Whether a team's own rows can be read.
    ///
    /// # Errors
    /// As for [`Catalog::with`].
    pub fn check(own: &[toml::Value]) -> Result<(), CatalogError> {
        let mut catalog = Self::default();
        for (name, text) in TABLES {
            catalog.add(name, table::read(name, text)?)?;
        }
        catalog.add("api", table::own_rows(own)?)
    }

    /// The fields that a row may have.
    #[must_use]
    pub fn fields() -> &'static [&'static str] {
        table::fields()
    }

    /// The words for what a row does.
    #[must_use]
    pub fn effects() -> &'static [&'static str] {
        names::of::<ApiEffect>()
    }

    /// All rows with this method name, in table order. Rows for a receiver's every method are
    /// those of the name `*`.
    pub fn rows_named(&self, method: &str) -> impl Iterator<Item = &Api> {
        let indices = self.by_method.get(method).into_iter().flatten();
        indices.filter_map(|index| self.rows.get(*index))
    }

    /// The row with this id.
    #[must_use]
    pub fn row(&self, id: &str) -> Option<&Api> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// The library with this id.
    #[must_use]
    pub fn library(&self, id: &str) -> Option<&Library> {
        self.libraries.iter().find(|library| library.id == id)
    }

    /// The receivers of a row, sets written out.
    #[must_use]
    pub fn receivers<'c>(&'c self, row: &'c Api) -> Vec<&'c Receiver> {
        row.receivers.iter().flat_map(|receiver| self.members(receiver)).collect()
    }

    /// The members of a set; the receiver itself when it is none.
    #[must_use]
    pub fn members<'c>(&'c self, receiver: &'c Receiver) -> Vec<&'c Receiver> {
        match receiver {
            Receiver::Set(name) => self.sets.get(name).into_iter().flatten().collect(),
            other => vec![other],
        }
    }

    /// The library whose crate or package this import root is (`deadpool_redis`).
    #[must_use]
    pub fn library_of_root(&self, root: &str) -> Option<&Library> {
        self.libraries.iter().find(|library| library.has_root(root))
    }

    /// A path with re-exporting crates cut off: `deadpool_redis::redis::cmd` is `redis::cmd`. Of a
    /// listed library only what it says that it re-exports is cut: `sqlx::postgres` is no crate. Of
    /// a crate without rows it is what has the name of a library and holds an item of it.
    #[must_use]
    pub fn canonical<'p>(&self, mut path: &'p [String]) -> &'p [String] {
        while let Some((root, inner)) = path.split_first() {
            let listed = self.library_of_root(root);
            let re_exported = |at: &usize| match (listed, inner.get(*at..)) {
                (Some(library), Some([part, _, ..])) => library.re_exports.contains(part),
                (None, Some([part, item, ..])) => {
                    self.items.contains(&(part.clone(), item.clone()))
                }
                _ => false,
            };
            match (0..inner.len()).find(re_exported).and_then(|at| inner.get(at..)) {
                Some(rest) => path = rest,
                None => break,
            }
        }
        path
    }

    fn add(&mut self, name: &str, table: table::Table) -> Result<(), CatalogError> {
        self.libraries.extend(table.libraries);
        let in_sets = table.sets.values().flatten();
        let in_rows = table.rows.iter().flat_map(|row| &row.receivers);
        self.items.extend(in_sets.chain(in_rows).filter_map(|receiver| {
            let [root, item] = receiver.name()?.path.as_slice() else { return None };
            Some((root.clone(), item.clone()))
        }));
        self.sets.extend(table.sets);
        for row in table.rows {
            let trouble = self.trouble(&row);
            if let Some(message) = trouble {
                let row = Some(row.id);
                return Err(CatalogError { table: name.to_owned(), row, message });
            }
            for method in &row.methods {
                self.by_method.entry(method.clone()).or_default().push(self.rows.len());
            }
            self.ids.insert(row.id.clone());
            self.rows.push(row);
        }
        Ok(())
    }

    /// What is wrong with a row, seen from the rows that are there.
    fn trouble(&self, row: &Api) -> Option<String> {
        if self.ids.contains(&row.id) {
            return Some("another row has this id".to_owned());
        }
        if row.methods.is_empty() {
            return Some("it names no method".to_owned());
        }
        if self.library(&row.library).is_none() {
            return Some(format!("there is no library `{}`", row.library));
        }
        row.receivers.iter().find_map(|receiver| match receiver {
            Receiver::Set(set) if !self.sets.contains_key(set) => {
                Some(format!("there is no receiver set `{set}`"))
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_reads_and_every_id_is_its_own() {
        let mut catalog = Catalog::default();
        for (name, text) in TABLES {
            catalog.add(name, table::read(name, text).unwrap()).unwrap();
        }
        assert!(catalog.rows.len() > 700);
        let ids: BTreeSet<&str> = catalog.rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids.len(), catalog.rows.len());
        assert_eq!(Catalog::builtin().rows.len(), catalog.rows.len());
    }

    #[test]
    fn every_command_of_a_row_is_in_the_command_table() {
        // Modules are not in the table of core commands.
        let module = |name: &str| name.contains('.');
        for row in &Catalog::builtin().rows {
            for name in row.commands() {
                assert!(module(name) || redis::command(name).is_some(), "{}: {name}", row.id);
            }
        }
    }

    #[test]
    fn redis_set_is_found_with_its_receivers() {
        let catalog = Catalog::builtin();
        let mut rows = catalog.rows_named("set");
        let row = rows.find(|row| row.id == "redis.commands.set").unwrap();
        assert_eq!(row.effect, ApiEffect::RedisCommand);
        assert_eq!(row.wire.len(), 3);
        assert_eq!(row.wire.get(2), Some(&Wire::Argument(1)));
        assert_eq!(row.place("value"), Some(&Place::Argument(1)));
        let receivers = catalog.receivers(row);
        assert!(receivers.iter().any(|receiver| matches!(
            receiver,
            Receiver::Trait(name) if name.path == ["redis", "AsyncCommands"]
        )));
    }

    #[test]
    fn re_exports_lead_to_the_library() {
        let path = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
        let catalog = Catalog::builtin();
        let written = path("deadpool_redis::redis::cmd");
        assert_eq!(catalog.canonical(&written), path("redis::cmd").as_slice());
        for plain in [
            "redis::aio::ConnectionManager",
            "sqlx::postgres::PgPool",
            "sqlx::mysql::MySqlPool",
            "apalis::redis::RedisStorage",
            "gateway::redis::SessionStore",
            "gateway::redis",
            "tokio::time::sleep",
            "deadpool_redis::redis",
        ] {
            assert_eq!(catalog.canonical(&path(plain)), path(plain).as_slice());
        }
        for (written, meant) in [
            ("sea_orm::sea_query::Expr", "sea_query::Expr"),
            ("deadpool_postgres::tokio_postgres::Client", "tokio_postgres::Client"),
            ("bb8_redis::bb8::Pool", "bb8::Pool"),
            ("sea_orm::sqlx::types::chrono::Utc", "chrono::Utc"),
            ("gateway::cache::redis::Script", "redis::Script"),
        ] {
            assert_eq!(catalog.canonical(&path(written)), path(meant).as_slice());
        }
    }

    #[test]
    fn a_star_in_a_root_stands_for_any_text() {
        let root = |name: &str| Catalog::builtin().library_of_root(name).map(|it| it.id.as_str());
        assert_eq!(root("aws_sdk_sesv2"), Some("aws-sdk"));
        assert_eq!(root("aws_config"), Some("aws-sdk"));
        assert_eq!(root("aws_sigv4"), None);
    }

    #[test]
    fn own_rows_are_read_and_wrong_ones_are_named() {
        let own = |text: &str| toml::from_str::<toml::Value>(text).unwrap();
        let row =
            own("id = 'team.cache.claim'\nlibrary = 'redis'\nreceiver = ['type:cache::Cache']\n\
             method = 'claim'\neffect = 'RedisCommand'\ncommand = 'SET'\n\
             wire = ['SET', '$0', '$1', 'NX', 'PX', '$2']\nargs = { key = 0 }");
        let catalog = Catalog::with(&[row]).unwrap();
        assert_eq!(catalog.rows_named("claim").count(), 1);
        let wrong = own(
            "id = 'a'\nlibrary = 'redis'\nreceiver = ['set:none']\nmethod = 'b'\neffect = 'Sleep'",
        );
        let error = Catalog::with(&[wrong]).unwrap_err();
        assert_eq!(error.to_string(), "api: row `a`: there is no receiver set `none`");
        for (text, message) in [
            ("id = 'duration.new'\nmethod = 'b'", "another row has this id"),
            ("id = 'a'\nmethod = []", "it names no method"),
        ] {
            let row =
                own(&format!("{text}\nlibrary = 'redis'\nreceiver = ['any']\neffect = 'Sleep'"));
            assert_eq!(Catalog::with(&[row]).unwrap_err().message, message);
        }
        let unknown =
            own("id = 'a'\nlibrary = 'redis'\nreceiver = ['any']\nmethod = 'b'\neffect = 'Fly'");
        assert!(Catalog::with(&[unknown]).unwrap_err().message.contains("Fly"));
    }
}
