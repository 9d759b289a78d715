//! SQL: statements and migrations to `ir`.
//!
//! Text is split into statements by our own tokens, so that one bad statement never blinds a file;
//! each is read by the best reader that takes it, and says how it was read.

use crate::ir::body::Problem;
use crate::ir::sql::{Fidelity, Statement};
use crate::ir::value::Text;

pub(crate) mod comments;
mod condition;
mod definition;
mod dialect;
mod expression;
mod head;
mod merge;
mod migration;
mod normalise;
mod offline;
mod query;
mod reader;
mod recover;
mod repair;
mod routine;
mod scan;
mod split;
mod token;

pub use condition::conjuncts_of;
pub use dialect::Dialects;
pub use migration::{MigrationSet, migrations};
pub use offline::offline_query;

/// The dialect of a repository or migration folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Not known.
    #[default]
    Generic,
    /// PostgreSQL and CockroachDB.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
    /// SQLite.
    Sqlite,
}

impl Dialect {
    /// The dialect of a name (`postgres`, `mysql`, `sqlite` and their usual spellings).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "postgres" | "postgresql" | "pg" | "cockroach" | "cockroachdb" | "crdb" => {
                Some(Self::Postgres)
            }
            "mysql" | "mariadb" => Some(Self::MySql),
            "sqlite" | "sqlite3" | "libsql" => Some(Self::Sqlite),
            _ => None,
        }
    }

    /// The name by which a configuration knows it; `None` for what is not known.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Generic => None,
            Self::Postgres => Some("postgres"),
            Self::MySql => Some("mysql"),
            Self::Sqlite => Some("sqlite"),
        }
    }
}

/// What a text was read as.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The statements that could be read, in order.
    pub statements: Vec<Statement>,
    /// How many statements the text has in all, the unread ones included.
    pub total: usize,
    /// One for each statement that only its words were read of.
    pub problems: Vec<Problem>,
}

impl Parsed {
    /// How many statements only their words were read of.
    #[must_use]
    pub fn scanned(&self) -> usize {
        self.statements.iter().filter(|statement| statement.fidelity == Fidelity::Scanned).count()
    }
}

/// Reads the statements of a text: of a file, or of a string of a host language. Holes of the
/// host's template are [`HOLE`](crate::ir::value::HOLE) characters in the text.
#[must_use]
pub fn parse(text: &Text, dialect: Dialect) -> Parsed {
    let tokens = token::tokens(&text.content, dialect);
    let mut session = reader::Session {
        text,
        dialect,
        numbering: normalise::Numbering::new(&text.content, &tokens),
        problems: Vec::new(),
        depth: 0,
    };
    let pieces = split::pieces(&text.content, &tokens);
    let statements: Vec<Statement> = pieces.iter().map(|piece| session.read(piece)).collect();
    Parsed { total: statements.len(), statements, problems: session.problems }
}

#[cfg(test)]
mod tests;
