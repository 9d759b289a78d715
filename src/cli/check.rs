//! `leaselint check`: walk, link, analyse, ask the rules, filter, report.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arguments::{CheckArguments, Color, FormatName};
use super::progress::Progress;
use super::{CLEAN, FOUND, Failure, output, settings};
use crate::analysis::Analysis;
use crate::config::Settings;
use crate::filter::{self, Filtered};
use crate::finding::unfollowed::Unfollowed;
use crate::link::Program;
use crate::report::{self, Format, Report, Statements, Style};
use crate::rules;
use crate::source::walk::{EXCLUDED, LARGEST_FILE, Walk};
use crate::source::{Language, Skipped, Tree};

/// What a run gives.
pub struct Linted {
    /// The program as it was linked.
    pub program: Program,
    /// The findings to show.
    pub filtered: Filtered,
    /// Files that were not read, or not in full.
    pub skipped: Vec<Skipped>,
    /// Statements of SQL files.
    pub statements: Statements,
    /// What could not be followed, when that was asked for.
    pub unfollowed: Option<Vec<Unfollowed>>,
}

/// Lints a tree that was read.
#[must_use]
pub fn lint(tree: Arc<Tree>, settings: Settings) -> Linted {
    lint_and_tell(tree, settings, false)
}

/// Lints a tree, and tells what could not be followed if `unknown` asks for it.
#[must_use]
pub fn lint_and_tell(tree: Arc<Tree>, settings: Settings, unknown: bool) -> Linted {
    let mut skipped = tree.skipped.clone();
    let program = Program::build(tree, settings.clone());
    let analysis = Analysis::new(&program);
    let found = rules::run(&analysis, &settings);
    let filtered = filter::apply(found, &program, &settings);
    skipped.extend(problems(&analysis));
    skipped.sort();
    skipped.dedup();
    let (total, scanned) = analysis.schemas.coverage();
    let statements = Statements { total, read: total - scanned };
    let unfollowed = unknown.then(|| {
        let mut all = analysis.unfollowed();
        all.retain(|one| filter::counts(one.span, &program, &settings));
        all
    });
    drop(analysis);
    Linted { program, filtered, skipped, statements, unfollowed }
}

/// What the front-ends could not read, by file and place.
fn problems(analysis: &Analysis<'_>) -> impl Iterator<Item = Skipped> {
    analysis.problems().filter_map(|problem| {
        let file = analysis.program.tree.file(problem.span.file)?;
        Some(Skipped {
            path: file.path.clone(),
            reason: problem.message.clone(),
            place: Some(file.position(problem.span.start)),
        })
    })
}

/// Runs the command.
pub(super) fn run(arguments: &CheckArguments, color: Color) -> Result<u8, Failure> {
    let root = root(&arguments.paths)?;
    let settings = settings::load(arguments, &root)?;
    let failing = settings.failing_severity();
    let progress = Progress::start();
    let walk = Walk {
        paths: arguments.paths.iter().map(|path| root.place(path)).collect::<Result<_, _>>()?,
        root: root.folder,
        exclude: settings.exclude.clone(),
        largest: settings.max_file_size.unwrap_or(LARGEST_FILE),
    };
    let tree = Arc::new(walk.read(&|| progress.advance())?);
    refuse_unread(arguments, &tree)?;
    progress.say("linking and asking the rules");
    let linted = lint_and_tell(Arc::clone(&tree), settings, arguments.show_unknown);
    progress.finish();
    let report = Report {
        findings: &linted.filtered.shown,
        tree: &tree,
        skipped: &linted.skipped,
        allowed: linted.filtered.allowed,
        hidden: linted.filtered.hidden,
        statements: linted.statements,
        unfollowed: linted.unfollowed.as_deref(),
    };
    let format = match arguments.format {
        FormatName::Human => Format::Human,
        FormatName::Json => Format::Json,
    };
    let mut bytes = Vec::new();
    report::write(format, &report, Style { color: wants(color) }, &mut bytes)?;
    output(&bytes)?;
    let fails = linted.filtered.shown.iter().any(|finding| finding.severity >= failing);
    Ok(if fails { FOUND } else { CLEAN })
}

/// Fails when only files were named and none of them could be read. What the settings exclude is no
/// failure: tools name the files of a commit.
fn refuse_unread(arguments: &CheckArguments, tree: &Tree) -> Result<(), Failure> {
    let read = tree.files().iter().any(|file| file.language != Language::Other);
    if read || arguments.paths.iter().any(|path| path.is_dir()) {
        return Ok(());
    }
    let mut refused = tree.skipped.iter().filter(|skipped| skipped.reason != EXCLUDED);
    refused.next().map_or(Ok(()), |first| {
        Err(Failure(format!("nothing to lint: {}: {}", first.path, first.reason)))
    })
}

/// Whether to colour what goes to the output.
fn wants(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !refused && std::io::stdout().is_terminal()
        }
    }
}

/// The folder that paths in reports are relative to.
pub(super) struct Root {
    /// Its absolute path, links resolved.
    pub folder: PathBuf,
}

impl Root {
    /// The place of an argument under the root.
    fn place(&self, path: &Path) -> Result<PathBuf, Failure> {
        let place = absolute(path)?;
        Ok(if place.starts_with(&self.folder) { place } else { self.folder.clone() })
    }
}

/// The current folder when all paths lie in it; else the folder that holds them all.
fn root(paths: &[PathBuf]) -> Result<Root, Failure> {
    let here = absolute(Path::new("."))?;
    let places = paths.iter().map(|path| absolute(path)).collect::<Result<Vec<_>, _>>()?;
    if places.iter().all(|place| place.starts_with(&here)) {
        return Ok(Root { folder: here });
    }
    let folders = places.iter().map(|place| {
        if place.is_dir() { place.clone() } else { place.parent().unwrap_or(place).to_owned() }
    });
    let shared = folders.reduce(|left, right| {
        let both = left.components().zip(right.components());
        both.take_while(|(left, right)| left == right).map(|(part, _)| part).collect()
    });
    Ok(Root { folder: shared.unwrap_or(here) })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| Failure(format!("can't read {}: {error}", path.display())))
}
