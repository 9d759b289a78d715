//! Which SQL files are migrations, which belong together, and in which order they run.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::Dialect;
use super::dialect::Dialects;
use crate::ir::index;
use crate::source::{self, FileId, Language, SourceFile, Tree};

/// The migrations of one database: one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationSet {
    /// The folder that holds them, relative to the root; empty for the root.
    pub root: String,
    /// Their dialect.
    pub dialect: Dialect,
    /// The files in the order in which they run; those that undo are left out.
    pub files: Vec<FileId>,
    /// The folder of the nearest manifest above; `None` when there is none.
    pub package: Option<String>,
    /// Whether they stand among tests or fixtures.
    pub fixture: bool,
}

/// Names of files that hold a whole schema.
const WHOLE: &[&str] = &[
    "schema",
    "structure",
    "init",
    "initdb",
    "dbinit",
    "database",
    "tables",
    "create",
    "setup",
    "ddl",
    "baseline",
    "bootstrap",
];

/// All migration sets of a tree, by folder.
#[must_use]
pub fn migrations(tree: &Tree) -> Vec<MigrationSet> {
    let dialects = Dialects::new(tree);
    let mut folders: BTreeMap<String, Vec<(Step, &SourceFile)>> = BTreeMap::new();
    for file in tree.files().iter().filter(|file| file.language == Language::Sql) {
        if let Some((root, step)) = place(&file.path, &file.text) {
            folders.entry(root).or_default().push((step, file));
        }
    }
    folders
        .into_iter()
        .filter_map(|(root, steps)| {
            let files = ordered(steps);
            let first = files.first()?;
            Some(MigrationSet {
                dialect: dialect(&dialects, &files),
                package: tree.package(&first.path).map(str::to_owned),
                fixture: is_fixture(source::folder(&first.path)),
                files: files.iter().map(|file| file.id).collect(),
                root,
            })
        })
        .collect()
}

/// Whether a folder of migrations, or one around it, is by a word of its name one of tests, or of
/// data for them.
fn is_fixture(folder: &str) -> bool {
    folder.split('/').any(|part| {
        part.to_ascii_lowercase().split(['-', '_', '.']).any(|word| {
            matches!(word, "fixture" | "fixtures") || index::is_test_folder(word, Language::Sql)
        })
    })
}

/// The dialect most of the first files speak.
fn dialect(dialects: &Dialects, files: &[&SourceFile]) -> Dialect {
    let mut counts: BTreeMap<Dialect, usize> = BTreeMap::new();
    for file in files.iter().take(40) {
        let dialect = dialects.of(file);
        if dialect != Dialect::Generic {
            *counts.entry(dialect).or_default() += 1;
        }
    }
    let best =
        counts.into_iter().max_by_key(|(dialect, count)| (*count, std::cmp::Reverse(*dialect)));
    best.map(|(dialect, _)| dialect).unwrap_or_default()
}

/// Where a file stands in its set.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    kind: StepKind,
    /// The name that orders it: of the file, or of its folder.
    name: String,
    /// Orders files of one folder.
    part: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StepKind {
    /// The whole schema in one file.
    Whole,
    /// A numbered step.
    Numbered,
    /// A file with definitions, ordered by name.
    Plain,
    /// Flyway's repeatable step: after all others.
    Repeatable,
}

/// The set and step of a file; `None` when it is no migration.
fn place(path: &str, text: &str) -> Option<(String, Step)> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.strip_suffix(".sql").unwrap_or(file).to_ascii_lowercase();
    let (above, last) = folder.rsplit_once('/').unwrap_or(("", folder));
    if undoes(&stem) || matches!(last, "down" | "undo" | "revert" | "verify" | "queries" | "query")
    {
        return None;
    }
    let stem = stem.trim_end_matches(".up").to_owned();
    let is_up = stem == "migration"
        || stem
            .strip_prefix("up")
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    if is_up && !last.is_empty() {
        let kind = if starts_with_number(last) { StepKind::Numbered } else { StepKind::Plain };
        return Some((above.to_owned(), Step { kind, name: last.to_owned(), part: stem }));
    }
    let kind = if stem.starts_with("r__") {
        StepKind::Repeatable
    } else if is_numbered(&stem) {
        StepKind::Numbered
    } else if !defines(text) {
        return None;
    } else if stem.split(['-', '_', '.']).any(|word| WHOLE.contains(&word)) {
        StepKind::Whole
    } else {
        StepKind::Plain
    };
    // Seeds and queries may be numbered too.
    if kind == StepKind::Numbered && !defines(text) && !in_migrations(folder) {
        return None;
    }
    Some((folder.to_owned(), Step { kind, name: stem, part: String::new() }))
}

fn in_migrations(folder: &str) -> bool {
    folder.split('/').any(|part| {
        let part = part.to_ascii_lowercase();
        part.contains("migrat")
            || matches!(part.as_str(), "flyway" | "versions" | "up" | "deploy" | "db")
    })
}

fn undoes(stem: &str) -> bool {
    let flyway =
        stem.strip_prefix('u').is_some_and(|rest| starts_with_number(rest) && rest.contains("__"));
    let end = stem.rsplit(['.', '-', '_']).next().unwrap_or("");
    // `down.sql`, `down01.sql`, `down_x.sql`, but not `downloads.sql`.
    let down = stem.strip_prefix("down").is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    flyway || matches!(end, "undo" | "rollback" | "revert" | "down") || down
}

fn starts_with_number(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_digit())
}

/// `0001_x`, `V1_2__x`, `migration-12-x`.
fn is_numbered(stem: &str) -> bool {
    let version = stem.strip_prefix('v').unwrap_or(stem);
    let named = stem.split(['-', '_', '.']).skip(1).any(|word| {
        word.len() > 2 && starts_with_number(word) && word.bytes().all(|byte| byte.is_ascii_digit())
    });
    starts_with_number(version) || named
}

/// Whether a text defines tables.
fn defines(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let mut verb = false;
    // CREATE [UNLOGGED] TABLE, ALTER TABLE, CREATE [UNIQUE] INDEX
    let mut since = 0_u8;
    words.any(|word| {
        if word.is_empty() {
            return false;
        }
        if word.eq_ignore_ascii_case("create") || word.eq_ignore_ascii_case("alter") {
            verb = true;
            since = 0;
            return false;
        }
        since = since.saturating_add(1);
        verb && since <= 3
            && (word.eq_ignore_ascii_case("table") || word.eq_ignore_ascii_case("index"))
    })
}

/// The files of a set in the order in which they run.
fn ordered(mut steps: Vec<(Step, &SourceFile)>) -> Vec<&SourceFile> {
    // A whole schema beside steps in folders without numbers: the order of the folders is written
    // elsewhere, and the schema has it all.
    let nested = |step: &Step| step.kind == StepKind::Plain && !step.part.is_empty();
    let whole = steps.iter().any(|(step, _)| step.kind == StepKind::Whole);
    if whole && steps.iter().any(|(step, _)| nested(step)) {
        steps.retain(|(step, _)| step.kind == StepKind::Whole);
    }
    steps.sort_by(|(left, left_file), (right, right_file)| {
        left.kind
            .cmp(&right.kind)
            .then_with(|| natural(&left.name, &right.name))
            .then_with(|| natural(&left.part, &right.part))
            .then_with(|| left_file.path.cmp(&right_file.path))
    });
    steps.into_iter().map(|(_, file)| file).collect()
}

/// Compares names with their numbers as numbers.
fn natural(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        let (a, b) = (digits(left), digits(right));
        if a > 0 && b > 0 {
            let number = |text: &str, length: usize| {
                text.get(..length).unwrap_or("").trim_start_matches('0').to_owned()
            };
            let (x, y) = (number(left, a), number(right, b));
            let order = x.len().cmp(&y.len()).then_with(|| x.cmp(&y));
            if order != Ordering::Equal {
                return order;
            }
            left = left.get(a..).unwrap_or("");
            right = right.get(b..).unwrap_or("");
            continue;
        }
        match (left.chars().next(), right.chars().next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) if x != y => return x.cmp(&y),
            (Some(x), Some(_)) => {
                left = left.get(x.len_utf8()..).unwrap_or("");
                right = right.get(x.len_utf8()..).unwrap_or("");
            }
        }
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "CREATE TABLE a (id int);";

    fn sets(files: &[(&str, &str)]) -> Vec<(String, Vec<String>, bool)> {
        let texts = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), Language::Sql, (*text).to_owned()));
        let tree = Tree::from_texts(texts.collect());
        let name = |id: &FileId| tree.file(*id).unwrap().path.clone();
        migrations(&tree)
            .iter()
            .map(|set| (set.root.clone(), set.files.iter().map(name).collect(), set.fixture))
            .collect()
    }

    #[test]
    fn numbers_order_and_down_files_are_left_out() {
        let found = sets(&[
            ("m/10_c.up.sql", TABLE),
            ("m/2_b.up.sql", TABLE),
            ("m/2_b.down.sql", "DROP TABLE a"),
            ("m/1_a.sql", TABLE),
        ]);
        assert_eq!(
            found,
            [(
                "m".into(),
                vec!["m/1_a.sql".into(), "m/2_b.up.sql".into(), "m/10_c.up.sql".into()],
                false
            )]
        );
        let found =
            sets(&[("m/downloads.sql", TABLE), ("m/down01.sql", TABLE), ("m/down.sql", TABLE)]);
        assert_eq!(found[0].1, ["m/downloads.sql"]);
    }

    #[test]
    fn folders_of_steps_are_one_set() {
        let found = sets(&[
            ("migrations/2020-02_b/up.sql", TABLE),
            ("migrations/2020-01_a/up.sql", TABLE),
            ("migrations/2020-01_a/down.sql", TABLE),
        ]);
        assert_eq!(found[0].0, "migrations");
        assert_eq!(found[0].1, ["migrations/2020-01_a/up.sql", "migrations/2020-02_b/up.sql"]);
    }

    #[test]
    fn flyway_versions_then_repeatables() {
        let found = sets(&[
            ("f/R__views.sql", ""),
            ("f/V10__b.sql", TABLE),
            ("f/V9__a.sql", TABLE),
            ("f/U9__a.sql", TABLE),
        ]);
        assert_eq!(found[0].1, ["f/V9__a.sql", "f/V10__b.sql", "f/R__views.sql"]);
    }

    #[test]
    fn a_whole_schema_stands_for_steps_whose_order_is_elsewhere() {
        let found = sets(&[("crdb/dbinit.sql", TABLE), ("crdb/add-x/up01.sql", TABLE)]);
        assert_eq!(found[0].1, ["crdb/dbinit.sql"]);
    }

    #[test]
    fn queries_are_no_migrations_and_sets_stay_apart() {
        let found = sets(&[
            ("queries/claim.sql", "UPDATE a SET b = 1"),
            ("x/migrations/1_a.sql", TABLE),
            ("tests/fixtures/schema.sql", TABLE),
        ]);
        let roots: Vec<_> = found.iter().map(|set| (set.0.as_str(), set.2)).collect();
        assert_eq!(roots, [("tests/fixtures", true), ("x/migrations", false)]);
    }
}
