//! SQL files, read: migrations, query files, and queries that `sqlx` has checked.

use std::collections::BTreeMap;

use rayon::prelude::*;

pub use crate::lang::sql::{Dialect, MigrationSet, Parsed, conjuncts_of};

use crate::ir::body::{Problem, ProblemKind};
use crate::ir::value::Text;
use crate::lang::sql::{self, Dialects};
use crate::link::Program;
use crate::source::{FileId, Language, SourceFile, Tree};

/// A SQL file, or a checked query, read.
#[derive(Clone, Debug)]
pub struct SqlFile {
    /// Its dialect.
    pub dialect: Dialect,
    /// Its statements.
    pub parsed: Parsed,
}

/// All SQL files of a tree.
#[derive(Clone, Debug, Default)]
pub struct SqlFiles {
    /// The migration sets among them, each in the order in which it is run.
    pub sets: Vec<MigrationSet>,
    /// Every SQL file, migrations or not, and every query that `sqlx` checked (`.sqlx`).
    pub files: BTreeMap<FileId, SqlFile>,
}

impl SqlFiles {
    /// Reads the SQL files of a program, under its settings.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        Self::read(&program.tree, program.settings.dialect.as_deref().and_then(Dialect::named))
    }

    /// Reads every SQL file of a tree. `dialect` overrides what is guessed.
    #[must_use]
    pub fn read(tree: &Tree, dialect: Option<Dialect>) -> Self {
        let dialects = Dialects::new(tree);
        let mut sets = sql::migrations(tree);
        for set in &mut sets {
            set.dialect = dialect.unwrap_or(set.dialect);
        }
        let of_set =
            |file: FileId| sets.iter().find(|set| set.files.contains(&file)).map(|set| set.dialect);
        let files: BTreeMap<FileId, SqlFile> = tree
            .files()
            .par_iter()
            .filter_map(|file| Some((file, statements_of(file)?)))
            .map(|(file, text)| {
                let guess = || of_set(file.id).filter(|dialect| *dialect != Dialect::Generic);
                let dialect = dialect.or_else(guess).unwrap_or_else(|| dialects.of(file));
                (file.id, SqlFile { dialect, parsed: parsed(file, text, dialect) })
            })
            .collect();
        Self { sets, files }
    }
}

/// The text of a file's statements: of a SQL file, or of a query that was checked. `None` for other
/// files, `Some(None)` for what should be such a query and is none.
fn statements_of(file: &SourceFile) -> Option<Option<Text>> {
    match file.language {
        Language::Sql => Some(Some(Text::verbatim(file.text.clone(), file.whole()))),
        Language::Other if file.path.ends_with(".json") => Some(sql::offline_query(file)),
        _ => None,
    }
}

fn parsed(file: &SourceFile, text: Option<Text>, dialect: Dialect) -> Parsed {
    let Some(text) = text else {
        let message = "this is no query that sqlx has checked".to_owned();
        let problem = Problem { span: file.whole(), message, kind: ProblemKind::Syntax };
        return Parsed { problems: vec![problem], ..Parsed::default() };
    };
    sql::parse(&text, dialect)
}
