//! `leaselint check`: walk, link, analyse, ask the rules, filter, report.

use std::sync::Arc;

use super::arguments::{CheckArguments, Color};
use super::baseline::Known;
use super::changed::Changed;
use super::output::Outputs;
use super::progress::Progress;
use super::workspace::{Scope, Workspace, is_given};
use super::{CLEAN, FOUND, Failure, ci};
use crate::analysis::Analysis;
use crate::config::Settings;
use crate::filter::{self, Filtered};
use crate::finding::unfollowed::Unfollowed;
use crate::link::Program;
use crate::report::{Report, Statements};
use crate::rules;
use crate::source::{Skipped, Tree};

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
    let variables = |name: &str| std::env::var(name).ok();
    let extra = ci::outputs(&variables);
    let outputs = Outputs::plan(&arguments.output, arguments.statistics, color, extra)?;
    let progress = Progress::start();
    let scope = Scope { paths: &arguments.paths, workspace: arguments.workspace };
    let Workspace { root, mut tree, mut settings, given } =
        scope.read(&arguments.settings, &|| progress.advance())?;
    let known = Known::read(&arguments.baseline, &root, arguments, given.is_some())?;
    let changed = Changed::read(&arguments.changed, &root, arguments.paths.first(), &mut tree)?;
    settings.fail_on = arguments.fail_on.or(settings.fail_on);
    let failing = settings.failing_severity();
    progress.say("linking and asking the rules");
    let mut linted = lint_and_tell(Arc::clone(&tree), settings.clone(), arguments.show_unknown);
    if let Some(known) = known {
        tree = known.apply(&mut linted, tree, &settings)?;
    }
    changed.apply(&mut linted, &settings);
    progress.finish();
    if let Some(given) = given {
        filter::given::keep(&mut linted.filtered.shown, &tree, |path| is_given(&given, path));
        linted.skipped.retain(|skipped| is_given(&given, &skipped.path));
    }
    let (base, url) = (ci::base(&root, &variables), ci::files_url(&variables));
    let report = Report {
        findings: &linted.filtered.shown,
        tree: &tree,
        base: &base,
        files_url: url.as_deref(),
        skipped: &linted.skipped,
        allowed: linted.filtered.allowed,
        hidden: linted.filtered.hidden.len(),
        known: linted.filtered.known,
        outside: linted.filtered.outside,
        statements: linted.statements,
        unfollowed: linted.unfollowed.as_deref(),
    };
    outputs.write(&report)?;
    let fails = linted.filtered.shown.iter().any(|finding| finding.severity >= failing);
    Ok(if fails && !arguments.exit_zero { FOUND } else { CLEAN })
}
