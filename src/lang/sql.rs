//! SQL: statements and migrations to `ir`.

use crate::ir::body::Problem;
use crate::ir::sql::Statement;
use crate::ir::value::Text;

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

/// Reads the statements of a text: of a file, or of a string of a host language. Holes of the
/// host's template are [`HOLE`](crate::ir::value::HOLE) characters in the text.
#[must_use]
pub fn parse(_text: &Text, _dialect: Dialect) -> Parsed {
    Parsed::default()
}
