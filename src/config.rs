//! What `leaselint.toml` may say, as plain data. This floor reads no file and prints nothing.

use std::collections::BTreeMap;

use serde::Deserialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, Deserialize)]
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
    /// Whether Redis runs as a cluster; unknown when not said.
    pub cluster: Option<bool>,
    /// `postgres`, `mysql`, `sqlite`; guessed when not said.
    pub dialect: Option<String>,
    /// Whether test code is linted too.
    pub include_tests: bool,
    /// Words by list name that are added to `rules/words.toml`.
    pub words: BTreeMap<String, Vec<String>>,
    /// Globs of key templates that are leases although no code shows it.
    pub lock_keys: Vec<String>,
    /// More rows for the catalog, in its own schema.
    pub api: Vec<toml::Value>,
}
