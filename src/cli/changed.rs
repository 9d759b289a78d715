//! Of which change findings are shown: asks git or reads a diff, and keeps what is the change's.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arguments::ChangedArguments;
use super::check::{Linted, lint};
use super::git::Repository;
use super::{Failure, complain};
use crate::config::Settings;
use crate::filter::changed::diff::{self, Diff, Unreadable};
use crate::filter::changed::{Changes, Places};
use crate::source::walk::{language_of, path_of_bytes, relative};
use crate::source::{Language, Tree};

/// Where a run looks.
struct Root<'a> {
    /// The folder that paths in reports are relative to.
    folder: &'a Path,
    /// The first path that was named.
    first: Option<&'a PathBuf>,
}

/// Of which change findings are shown; `None` for all.
pub(super) struct Changed(Option<Changes>);

impl Changed {
    /// Reads the change that the arguments name. What is staged is linted as it is staged: the tree is
    /// replaced where the files are not.
    pub fn read(
        arguments: &ChangedArguments,
        root: &Path,
        first: Option<&PathBuf>,
        tree: &mut Arc<Tree>,
    ) -> Result<Self, Failure> {
        let root = Root { folder: root, first };
        let changes = if let Some(base) = &arguments.diff {
            since(base, &root, tree)?
        } else if let Some(file) = &arguments.diff_file {
            of_file(file, &root, tree)?
        } else if arguments.staged {
            staged(&root, tree)?
        } else {
            return Ok(Self(None));
        };
        if let Some(path) = &changes.unfit {
            complain(&format!("{path} is not as the diff says: its lines may be others"));
        }
        Ok(Self(Some(changes)))
    }

    /// Leaves the findings that are those of the change.
    pub fn apply(&self, linted: &mut Linted, settings: &Settings) {
        let Some(changes) = &self.0 else { return };
        let before = |tree: Tree| lint(tree.into(), settings.clone()).filtered.shown;
        changes.apply(&mut linted.filtered, &linted.program, &before);
    }
}

/// What changed since the branch left another.
fn since(base: &str, root: &Root<'_>, tree: &Tree) -> Result<Changes, Failure> {
    let repository = repository(root)?;
    let places = places(&repository, root, true);
    let commit = repository.merge_base(base)?;
    let diff = repository.since(&commit, read_diff)?.map_err(told_by_git)?;
    refuse_missing_submodules(&diff)?;
    let mut changes = Changes::new(&diff, tree, &places);
    for path in untracked(&repository, &diff, &places)? {
        changes.take_new(path);
    }
    Ok(changes)
}

/// What the next commit changes. The tree becomes the one of that commit.
fn staged(root: &Root<'_>, tree: &mut Arc<Tree>) -> Result<Changes, Failure> {
    let repository = repository(root)?;
    let places = places(&repository, root, true);
    let diff = repository.staged(read_diff)?.map_err(told_by_git)?;
    refuse_missing_submodules(&diff)?;
    let mut edits = BTreeMap::new();
    for path in untracked(&repository, &diff, &places)? {
        edits.insert(path, None);
    }
    for name in repository.unstaged()? {
        let Some(path) = places.from_top(&path_of_bytes(&name)) else { continue };
        if language_of(&path).is_some() {
            let text = repository.staged_text(&name)?;
            edits.insert(path, text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    edits.retain(|path, text| text.is_some() || tree.at(path).is_some());
    if !edits.is_empty() {
        *tree = Arc::new(tree.edited(&edits));
    }
    Ok(Changes::new(&diff, tree, &places))
}

/// What a diff in a file says.
fn of_file(file: &Path, root: &Root<'_>, tree: &Tree) -> Result<Changes, Failure> {
    let name = if file == Path::new("-") {
        "the standard input".into()
    } else {
        file.display().to_string()
    };
    let diff = if file == Path::new("-") {
        read_diff(&mut std::io::stdin().lock())
    } else {
        let opened = File::open(file);
        let opened = opened.map_err(|error| Failure(format!("can't read {name}: {error}")))?;
        read_diff(&mut BufReader::new(opened))
    };
    let diff = diff.map_err(|error| Failure(format!("can't read {name}: {error}")))?;
    if diff.has_text && diff.files.is_empty() && diff.submodules.is_empty() {
        return Err(Failure(format!("{name} is not a unified diff")));
    }
    let places = match repository(root) {
        Ok(repository) => places(&repository, root, false),
        Err(_) => Places { root: None, top: None, exact: false },
    };
    Ok(Changes::new(&diff, tree, &places))
}

fn read_diff(input: &mut dyn BufRead) -> Result<Diff, Unreadable> {
    diff::read(input, &|name| language_of(&path_of_bytes(name)).is_some())
}

fn told_by_git(error: Unreadable) -> Failure {
    Failure(format!("can't read the diff that git made: {error}"))
}

/// The repository of the root, or of the first path where the root is above it.
fn repository(root: &Root<'_>) -> Result<Repository, Failure> {
    Repository::around(root.folder).or_else(|failure| {
        let first = root.first.and_then(|first| first.canonicalize().ok());
        let Some(first) = first else { return Err(failure) };
        Repository::around(if first.is_dir() { &first } else { first.parent().unwrap_or(&first) })
    })
}

/// Where the names in a diff of a repository count from.
fn places(repository: &Repository, root: &Root<'_>, exact: bool) -> Places {
    let below =
        |upper: &Path, lower: &Path| lower.starts_with(upper).then(|| relative(upper, lower));
    Places {
        root: below(&repository.top, root.folder),
        top: below(root.folder, &repository.top),
        exact,
    }
}

/// The files of the tree that git does not know, in the repository and in its submodules.
fn untracked(
    repository: &Repository,
    diff: &Diff,
    places: &Places,
) -> Result<Vec<String>, Failure> {
    let mut names = repository.untracked(b"")?;
    for submodule in diff.submodules.iter().filter(|one| one.says == "contains untracked content") {
        names.extend(repository.untracked(&submodule.path)?);
    }
    let paths = names.iter().filter_map(|name| places.from_top(&path_of_bytes(name)));
    let source = |path: &String| language_of(path).is_some_and(|it| it != Language::Other);
    Ok(paths.filter(source).collect())
}

/// Fails where the lines of a submodule can't be told because its commits are not there.
fn refuse_missing_submodules(diff: &Diff) -> Result<(), Failure> {
    let missing = diff.submodules.iter().find(|one| one.says.contains("(commits not present)"));
    missing.map_or(Ok(()), |one| {
        let path = String::from_utf8_lossy(&one.path);
        Err(Failure(format!(
            "the submodule {path} changed, and its commits are not here: fetch them with \
             `git -C {path} fetch --unshallow`, or `git submodule update --init {path}`"
        )))
    })
}
