//! What `leaselint.toml` may say, as plain data. This floor reads no file and prints nothing: the
//! command line hands it the text.

pub mod words;

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

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
    pub fn word(self) -> &'static str {
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
    pub fn word(self) -> &'static str {
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
/// When it is not TOML, has a key or value that is not known, or names no dialect of ours.
pub fn parse(text: &str) -> Result<Settings, Invalid> {
    let settings = toml::from_str::<Settings>(text).map_err(|error| invalid(text, &error))?;
    check_dialect(settings)
}

/// Reads the `[workspace.metadata.leaselint]` or `[package.metadata.leaselint]` table of the text
/// of a `Cargo.toml`; `None` when it has neither.
///
/// # Errors
/// When the manifest is not TOML, or the table is wrong as for [`parse`].
pub fn parse_manifest(text: &str) -> Result<Option<Settings>, Invalid> {
    let manifest = toml::from_str::<Manifest>(text).map_err(|error| invalid(text, &error))?;
    let table = |part: Option<Part>| part.and_then(|part| part.metadata?.leaselint);
    table(manifest.workspace).or(table(manifest.package)).map(check_dialect).transpose()
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

fn check_dialect(settings: Settings) -> Result<Settings, Invalid> {
    match &settings.dialect {
        Some(dialect) if !DIALECTS.contains(&dialect.as_str()) => {
            let known = DIALECTS.join(", ");
            let message = format!("unknown dialect `{dialect}`: expected one of {known}");
            Err(Invalid { place: None, message })
        }
        _ => Ok(settings),
    }
}

fn invalid(text: &str, error: &toml::de::Error) -> Invalid {
    let place = error.span().map(|span| {
        let start = u32::try_from(span.start).unwrap_or(u32::MAX);
        LineIndex::new(text).position(text, start)
    });
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    Invalid { place, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_key_is_named_with_its_place() {
        let error = parse("select = []\nselekt = []\n").unwrap_err();
        assert_eq!(error.place, Some(Position { line: 2, column: 1 }));
        assert!(error.message.contains("selekt"), "{error}");
        let error = parse("[severity]\nunconditional-del = \"loud\"\n").unwrap_err();
        assert_eq!(error.place.map(|place| place.line), Some(2));
        assert!(parse("dialect = \"oracle\"").is_err());
    }

    #[test]
    fn a_manifest_may_hold_the_settings() {
        let manifest = "[package]\nname = \"x\"\n[package.metadata.leaselint]\ncluster = true\n";
        let settings = parse_manifest(manifest).unwrap().unwrap();
        assert_eq!(settings.cluster, Some(true));
        assert!(parse_manifest("[package]\nname = \"x\"").unwrap().is_none());
        assert!(parse_manifest("[workspace.metadata.leaselint]\nclster = true").is_err());
    }

    #[test]
    fn defaults_show_medium_and_fail_on_warnings() {
        let settings = parse("").unwrap();
        assert_eq!(settings.shown_confidence(), Confidence::Medium);
        assert_eq!(settings.shown_severity(), Severity::Note);
        assert_eq!(settings.failing_severity(), Severity::Warning);
    }
}
