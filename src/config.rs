//! What `leaselint.toml` may say, as plain data. This floor reads no file and prints nothing: the
//! command line hands it the text.

mod check;
pub mod day;
pub mod keys;
pub mod names;
pub mod schema;
pub mod words;

pub use check::Known;

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::source::{LineIndex, Position};

/// How bad a finding is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; never fails the run.
    Note,
    /// Wrong under load or failure.
    Warning,
    /// Wrong.
    Error,
}

/// How sure a finding is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Something the claim rests on could not be seen.
    Low,
    /// Seen, but for a name or a convention.
    Medium,
    /// Every step was seen.
    High,
}

/// A team's settings, after the configuration file and the command line were merged.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Globs of paths to leave out.
    pub exclude: Vec<String>,
    /// These rules alone.
    pub select: Vec<String>,
    /// These rules too (pedantic ones).
    pub extend_select: Vec<String>,
    /// Not these rules.
    pub ignore: Vec<String>,
    /// Severity by rule.
    pub severity: BTreeMap<String, Severity>,
    /// Findings below it are not shown; `medium` when not said.
    pub min_confidence: Option<Confidence>,
    /// Findings below it are not shown; `note` when not said.
    pub min_severity: Option<Severity>,
    /// The run fails on findings of this severity or above; `warning` when not said.
    pub fail_on: Option<Severity>,
    /// Files of more bytes are not read; 2 MiB when not said.
    pub max_file_size: Option<u64>,
    /// Whether Redis runs as a cluster; unknown when not said.
    pub cluster: Option<bool>,
    /// `postgres`, `mysql`, `sqlite`; guessed when not said.
    pub dialect: Option<String>,
    /// Whether test code is linted too.
    pub include_tests: bool,
    /// Whether the bodies of packages that speak to no store are lowered too. The findings are the
    /// same; it shows that they are.
    #[serde(skip)]
    pub no_prefilter: bool,
    /// Whether findings that allow comments silence are shown all the same.
    #[serde(skip)]
    pub ignore_allows: bool,
    /// The day by which the ends of allow comments are judged; they have none when not said.
    #[serde(skip)]
    pub today: Option<day::Day>,
    /// Whether `exclude` holds for paths that are named, too.
    pub force_exclude: bool,
    /// Words by list name that are added to `rules/words.toml`.
    pub words: BTreeMap<String, Vec<String>>,
    /// Globs of key templates that are leases although no code shows it.
    pub lock_keys: Vec<String>,
    /// More rows for the catalog, in its own schema.
    pub api: Vec<toml::Value>,
}

impl Settings {
    /// The confidence from which findings are shown.
    #[must_use]
    pub fn shown_confidence(&self) -> Confidence {
        self.min_confidence.unwrap_or(Confidence::Medium)
    }

    /// The severity from which findings are shown.
    #[must_use]
    pub fn shown_severity(&self) -> Severity {
        self.min_severity.unwrap_or(Severity::Note)
    }

    /// The severity from which findings fail the run.
    #[must_use]
    pub fn failing_severity(&self) -> Severity {
        self.fail_on.unwrap_or(Severity::Warning)
    }
}

impl Severity {
    /// `note`, `warning`, `error`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The severity of a word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Note, Self::Warning, Self::Error].into_iter().find(|one| one.word() == word)
    }
}

impl Confidence {
    /// `low`, `medium`, `high`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The confidence of a word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|one| one.word() == word)
    }
}

/// A configuration that says something it can't say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Where in the text, if the complaint has a place.
    pub place: Option<Position>,
    /// What, in one sentence without a full stop.
    pub message: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{}:{}: {}", place.line, place.column, self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Reads the text of a `leaselint.toml`.
///
/// # Errors
/// When it is not TOML, or has a key, a name or a value that is not known.
pub fn parse(text: &str, known: &Known<'_>) -> Result<Settings, Invalid> {
    let table = DeTable::parse(text).map_err(|error| invalid(text, &error))?;
    if let Some(fault) = check::first_fault(table.get_ref(), known) {
        return Err(at(text, fault));
    }
    toml::from_str(text).map_err(|error| invalid(text, &error))
}

/// Reads the `[workspace.metadata.leaselint]` or `[package.metadata.leaselint]` table of the text
/// of a `Cargo.toml`; `None` when it has neither.
///
/// # Errors
/// When the manifest is not TOML, or the table is wrong as for [`parse`].
pub fn parse_manifest(text: &str, known: &Known<'_>) -> Result<Option<Settings>, Invalid> {
    let table = DeTable::parse(text).map_err(|error| invalid(text, &error))?;
    if let Some(fault) = own(table.get_ref()).and_then(|own| check::first_fault(own, known)) {
        return Err(at(text, fault));
    }
    let manifest = toml::from_str::<Manifest>(text).map_err(|error| invalid(text, &error))?;
    let table = |part: Option<Part>| part.and_then(|part| part.metadata?.leaselint);
    Ok(table(manifest.workspace).or(table(manifest.package)))
}

/// Where the row of an id begins in the text of a configuration or manifest.
#[must_use]
pub fn row_place(text: &str, id: &str) -> Option<Position> {
    let table = DeTable::parse(text).ok()?;
    let own = own(table.get_ref()).unwrap_or(table.get_ref());
    let rows = own.get("api")?.get_ref().as_array()?;
    let named = |row: &&Spanned<DeValue<'_>>| {
        let value = row.get_ref().as_table().and_then(|row| row.get("id"));
        value.is_some_and(|value| value.get_ref().as_str() == Some(id))
    };
    rows.iter().find(named).map(|row| position(text, row.span().start))
}

/// Our table of a manifest.
fn own<'t, 'i>(manifest: &'t DeTable<'i>) -> Option<&'t DeTable<'i>> {
    ["workspace", "package"].iter().find_map(|part| {
        let inner = |table: &'t DeTable<'i>, name: &str| table.get(name)?.get_ref().as_table();
        inner(inner(inner(manifest, part)?, "metadata")?, "leaselint")
    })
}

/// The parts of a manifest that matter here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Manifest {
    workspace: Option<Part>,
    package: Option<Part>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    metadata: Option<Metadata>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    leaselint: Option<Settings>,
}

/// The dialects a configuration may name.
pub const DIALECTS: [&str; 3] = ["postgres", "mysql", "sqlite"];

fn at(text: &str, (range, message): check::Fault) -> Invalid {
    Invalid { place: Some(position(text, range.start)), message }
}

fn position(text: &str, offset: usize) -> Position {
    LineIndex::new(text).position(text, u32::try_from(offset).unwrap_or(u32::MAX))
}

fn invalid(text: &str, error: &toml::de::Error) -> Invalid {
    let place = error.span().map(|span| position(text, span.start));
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    Invalid { place, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Known<'_> = Known {
        rules: &["unconditional-del", "pii-in-key"],
        row: &["id", "library", "receiver", "method", "effect"],
    };

    #[test]
    fn what_is_not_known_is_told_with_its_place_and_what_is_near() {
        for (text, place, words) in [
            (
                "select = []\nselekt = []\n",
                (2, 1),
                "there is no key `selekt`: did you mean `select`?",
            ),
            ("Fail_On = \"note\"", (1, 1), "did you mean `fail-on`?"),
            ("zzz = 1\nexclud = []", (1, 1), "there is no key `zzz`"),
            ("zzz = 1\nexclud = []", (1, 1), "`zzz`"),
            ("[severity]\nunconditional-del = \"loud\"\n", (2, 21), "loud"),
            ("[severity]\npi-in-key = \"note\"\n", (2, 1), "did you mean `pii-in-key`?"),
            (
                "ignore = [\n  \"pii-in-key\",\n  \"pii-in-keys\",\n]",
                (3, 3),
                "no rule `pii-in-keys`",
            ),
            ("words.persnal = []", (1, 7), "no word list `persnal`: did you mean `personal`?"),
            ("exclude = [\"a\", \"[\"]", (1, 17), "no glob"),
            ("lock-keys = [\"{\"]", (1, 14), "no glob"),
            ("dialect = \"oracle\"", (1, 11), "expected one of postgres, mysql, sqlite"),
            ("cluster = \"yes\"", (1, 11), "boolean"),
            ("exclude = \"a\"", (1, 11), "sequence"),
            ("max-file-size = -1", (1, 17), "-1"),
            ("[[api]]\nid = \"x\"\nlibary = \"y\"", (3, 1), "did you mean `library`?"),
            ("select = [", (1, 11), ""),
            ("é = 1", (1, 1), ""),
        ] {
            let error = parse(text, &KNOWN).unwrap_err();
            let (line, column) = place;
            assert_eq!(error.place, Some(Position { line, column }), "{text}: {error}");
            assert!(error.message.contains(words), "{text}: {error}");
            assert!(!error.message.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_manifest_may_hold_the_settings() {
        let manifest = "[package]\nname = \"x\"\n[package.metadata.leaselint]\ncluster = true\n";
        let settings = parse_manifest(manifest, &KNOWN).unwrap().unwrap();
        assert_eq!(settings.cluster, Some(true));
        assert!(parse_manifest("[package]\nname = \"x\"", &KNOWN).unwrap().is_none());
        let error = parse_manifest("[workspace.metadata.leaselint]\nclster = true", &KNOWN);
        assert_eq!(
            error.unwrap_err().to_string(),
            "2:1: there is no key `clster`: did you mean `cluster`?"
        );
        let text = "[[workspace.metadata.leaselint.api]]\nid = \"x\"\n";
        assert_eq!(row_place(text, "x"), Some(Position { line: 1, column: 1 }));
        assert_eq!(
            row_place("a = 1\napi = [{ id = \"x\" }]", "x"),
            Some(Position { line: 2, column: 8 })
        );
    }

    #[test]
    fn defaults_show_medium_and_fail_on_warnings() {
        let settings = parse("", &KNOWN).unwrap();
        assert_eq!(settings.shown_confidence(), Confidence::Medium);
        assert_eq!(settings.shown_severity(), Severity::Note);
        assert_eq!(settings.failing_severity(), Severity::Warning);
    }
}
