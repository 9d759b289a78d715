//! Which settings hold: those of the configuration file, then what the command line adds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Failure;
use super::arguments::{self, SettingsArguments};
use crate::catalog::{Catalog, CatalogError};
use crate::config::day::Day;
use crate::config::{self, Invalid, Known, Settings};
use crate::rules::{self, RULES};

/// The configuration file's name.
pub(super) const FILE: &str = "leaselint.toml";

/// Settings, and where they were said.
pub(super) struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// The folder that `exclude` is relative to; the root of the walk when there is no file.
    pub folder: Option<PathBuf>,
}

/// Reads the text of a `leaselint.toml`.
///
/// # Errors
/// When it says something that it can't say.
pub fn parse(text: &str) -> Result<Settings, Invalid> {
    checked(text, config::parse(text, &known()))
}

/// Refuses rows for the catalog that it can't take.
fn checked(text: &str, read: Result<Settings, Invalid>) -> Result<Settings, Invalid> {
    let settings = read?;
    if settings.api.is_empty() {
        return Ok(settings);
    }
    let refused = |error: CatalogError| Invalid {
        place: error.row.as_deref().and_then(|row| config::row_place(text, row)),
        message: error.to_string(),
    };
    Catalog::check(&settings.api).map_err(refused)?;
    Ok(settings)
}

/// What a configuration may name.
#[must_use]
pub fn known() -> Known<'static> {
    static IDS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| RULES.iter().map(|rule| rule.id).collect());
    Known { rules: &IDS, row: Catalog::fields() }
}

/// The schema of `leaselint.toml`.
#[must_use]
pub fn schema() -> serde_json::Value {
    config::schema::schema(&known(), Catalog::effects())
}

/// Loads the settings that hold from a folder on, and merges them with the command line.
pub(super) fn load(arguments: &SettingsArguments, start: &Path) -> Result<Loaded, Failure> {
    let mut loaded = match &arguments.config {
        Some(file) => Loaded { settings: read(file)?, folder: None },
        None => discover(start)?,
    };
    merge(&mut loaded.settings, arguments)?;
    Ok(loaded)
}

/// The nearest configuration in a folder or above it, not beyond the folder that holds `.git`, if one
/// does.
fn discover(start: &Path) -> Result<Loaded, Failure> {
    let top = start.ancestors().find(|folder| folder.join(".git").exists());
    for folder in start.ancestors() {
        let file = folder.join(FILE);
        let manifest = folder.join("Cargo.toml");
        let found = match () {
            () if file.is_file() => Some(read(&file)?),
            () if manifest.is_file() => read_manifest(&manifest)?,
            () => None,
        };
        if let Some(settings) = found {
            return Ok(Loaded { settings, folder: Some(folder.to_owned()) });
        }
        if top == Some(folder) {
            break;
        }
    }
    Ok(Loaded { settings: Settings::default(), folder: None })
}

fn read(file: &Path) -> Result<Settings, Failure> {
    if file.file_name().is_some_and(|name| name == "Cargo.toml") {
        return Ok(read_manifest(file)?.unwrap_or_default());
    }
    parse(&text(file)?).map_err(|invalid| at(file, &invalid))
}

/// Whether the manifest of a folder holds settings.
pub(super) fn in_manifest(folder: &Path) -> Result<bool, Failure> {
    let manifest = folder.join("Cargo.toml");
    Ok(manifest.is_file() && read_manifest(&manifest)?.is_some())
}

/// A manifest that is not TOML is cargo's to complain about, unless it was asked for by name.
fn read_manifest(file: &Path) -> Result<Option<Settings>, Failure> {
    let text = text(file)?;
    if !text.contains("leaselint") {
        return Ok(None);
    }
    let read = config::parse_manifest(&text, &known()).transpose();
    read.map(|read| checked(&text, read)).transpose().map_err(|invalid| at(file, &invalid))
}

fn text(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file)
        .map_err(|error| Failure(format!("can't read {}: {error}", file.display())))
}

fn at(file: &Path, invalid: &Invalid) -> Failure {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    let shown = file.strip_prefix(here).unwrap_or(file);
    Failure(format!("{}:{invalid}", shown.display()))
}

/// Adds what the command line says; where both say one thing, the command line wins.
fn merge(settings: &mut Settings, arguments: &SettingsArguments) -> Result<(), Failure> {
    if !arguments.select.is_empty() {
        settings.select.clone_from(&arguments.select);
    }
    settings.extend_select.extend(arguments.extend_select.iter().cloned());
    settings.ignore.extend(arguments.ignore.iter().cloned());
    for pair in &arguments.severity {
        let (rule, level) = pair
            .split_once('=')
            .ok_or_else(|| Failure(format!("--severity {pair}: expected RULE=LEVEL")))?;
        let level = arguments::severity(level)
            .map_err(|expected| Failure(format!("--severity {pair}: {expected}")))?;
        settings.severity.insert(rule.to_owned(), level);
    }
    settings.min_severity = arguments.min_severity.or(settings.min_severity);
    settings.min_confidence = arguments.min_confidence.or(settings.min_confidence);
    settings.max_file_size = arguments.max_file_size.or(settings.max_file_size);
    settings.include_tests |= arguments.include_tests;
    settings.no_prefilter |= arguments.no_prefilter;
    settings.force_exclude |= arguments.force_exclude;
    settings.ignore_allows |= arguments.ignore_allows;
    settings.today = arguments.today.or_else(today);
    check_names(settings)
}

/// The day of the build that runs, if it names one, or else of the clock.
fn today() -> Option<Day> {
    let named = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs().try_into().ok();
    named.or_else(clock).and_then(Day::of_moment)
}

/// Refuses names of rules on the command line that do not exist.
fn check_names(settings: &Settings) -> Result<(), Failure> {
    let lists = settings.select.iter().chain(&settings.extend_select).chain(&settings.ignore);
    for name in lists.chain(settings.severity.keys()) {
        if rules::find(name).is_none() {
            return Err(Failure(format!("the command line: {}", unknown(name))));
        }
    }
    Ok(())
}

/// The sentence for a rule that does not exist.
pub(super) fn unknown(name: &str) -> String {
    let hint = rules::nearest(name).map_or_else(
        || "`leaselint rules` lists them".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    format!("there is no rule `{name}`: {hint}")
}
