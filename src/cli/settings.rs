//! Which settings hold: those of the configuration file, then what the command line adds.

use std::fs;
use std::path::{Path, PathBuf};

use super::Failure;
use super::arguments::{self, CheckArguments};
use super::check::Root;
use crate::config::{self, Settings};
use crate::rules;

/// The configuration file's name.
const FILE: &str = "leaselint.toml";

/// Loads and merges the settings, and checks every rule name in them.
pub(super) fn load(arguments: &CheckArguments, root: &Root) -> Result<Settings, Failure> {
    let (mut settings, place) = match &arguments.config {
        Some(file) => (read(file)?, file.display().to_string()),
        None => discover(&start(arguments, root))?,
    };
    check_names(&settings, &place)?;
    check_patterns(&settings, &place)?;
    merge(&mut settings, arguments)?;
    check_names(&settings, "the command line")?;
    Ok(settings)
}

/// Refuses patterns of lock keys that are no globs.
fn check_patterns(settings: &Settings, place: &str) -> Result<(), Failure> {
    for pattern in &settings.lock_keys {
        if let Err(error) = globset::Glob::new(pattern) {
            return Err(Failure(format!("{place}: lock-keys: {error}")));
        }
    }
    Ok(())
}

/// The folder where the search for a configuration starts.
fn start(arguments: &CheckArguments, root: &Root) -> PathBuf {
    let only = match arguments.paths.as_slice() {
        [only] => only.canonicalize().ok(),
        _ => None,
    };
    match only {
        Some(folder) if folder.is_dir() => folder,
        Some(file) => file.parent().unwrap_or(&root.folder).to_owned(),
        None => root.folder.clone(),
    }
}

/// The nearest configuration in a folder or above it, not beyond the folder that holds `.git`.
fn discover(start: &Path) -> Result<(Settings, String), Failure> {
    let top = start.ancestors().find(|folder| folder.join(".git").exists());
    for folder in start.ancestors() {
        let file = folder.join(FILE);
        if file.is_file() {
            return Ok((read(&file)?, file.display().to_string()));
        }
        let manifest = folder.join("Cargo.toml");
        if manifest.is_file()
            && let Some(settings) = read_manifest(&manifest)?
        {
            return Ok((settings, manifest.display().to_string()));
        }
        if top.is_none_or(|top| top == folder) {
            break;
        }
    }
    Ok((Settings::default(), String::new()))
}

fn read(file: &Path) -> Result<Settings, Failure> {
    if file.file_name().is_some_and(|name| name == "Cargo.toml") {
        return Ok(read_manifest(file)?.unwrap_or_default());
    }
    config::parse(&text(file)?).map_err(|invalid| at(file, &invalid))
}

/// A manifest that is not TOML is cargo's to complain about, unless it was asked for by name.
fn read_manifest(file: &Path) -> Result<Option<Settings>, Failure> {
    let text = text(file)?;
    if !text.contains("leaselint") {
        return Ok(None);
    }
    config::parse_manifest(&text).map_err(|invalid| at(file, &invalid))
}

fn text(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file)
        .map_err(|error| Failure(format!("can't read {}: {error}", file.display())))
}

fn at(file: &Path, invalid: &config::Invalid) -> Failure {
    Failure(format!("{}:{invalid}", file.display()))
}

/// Adds what the command line says; where both say one thing, the command line wins.
fn merge(settings: &mut Settings, arguments: &CheckArguments) -> Result<(), Failure> {
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
    settings.fail_on = arguments.fail_on.or(settings.fail_on);
    settings.max_file_size = arguments.max_file_size.or(settings.max_file_size);
    settings.include_tests |= arguments.include_tests;
    settings.no_prefilter |= arguments.no_prefilter;
    Ok(())
}

/// Refuses names of rules that do not exist.
fn check_names(settings: &Settings, place: &str) -> Result<(), Failure> {
    let lists = settings.select.iter().chain(&settings.extend_select).chain(&settings.ignore);
    for name in lists.chain(settings.severity.keys()) {
        if rules::find(name).is_none() {
            return Err(Failure(format!("{place}: {}", unknown(name))));
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
