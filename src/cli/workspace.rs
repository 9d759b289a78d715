//! What a run reads: the paths that it was given, or the whole workspace around them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arguments::SettingsArguments;
use super::{Failure, settings};
use crate::config::Settings;
use crate::source::exclude::Exclude;
use crate::source::walk::{EXCLUDED, LARGEST_FILE, Walk, relative};
use crate::source::{Language, Tree};

/// Which files a run is about.
pub(super) struct Scope<'a> {
    /// The paths as they were given.
    pub paths: &'a [PathBuf],
    /// Whether all around them is read, too.
    pub workspace: bool,
}

/// The files of a run and the settings that hold for them.
pub(super) struct Workspace {
    /// The folder that paths in reports are relative to.
    pub root: PathBuf,
    /// The files.
    pub tree: Arc<Tree>,
    /// The settings.
    pub settings: Settings,
    /// The paths that findings are wanted of, relative to the root; `None` when all are.
    pub given: Option<Vec<String>>,
}

impl Scope<'_> {
    /// Loads the settings, and reads the files. `advance` is called once for each file.
    pub(super) fn read(
        &self,
        arguments: &SettingsArguments,
        advance: &(dyn Fn() + Sync),
    ) -> Result<Workspace, Failure> {
        let places: Vec<PathBuf> =
            self.paths.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?;
        let top = if self.workspace { Some(top(&root(&places)?)) } else { None };
        let read: Vec<PathBuf> = top.clone().into_iter().chain(places.iter().cloned()).collect();
        let root = root(&read)?;
        let start = match (&top, places.as_slice()) {
            (Some(top), _) => top.clone(),
            (None, [only]) => folder(only).to_owned(),
            (None, _) => root.clone(),
        };
        let loaded = settings::load(arguments, &start)?;
        let settings = loaded.settings;
        let mut walk = Walk {
            paths: read,
            root,
            exclude: Exclude {
                globs: settings.exclude.clone(),
                base: loaded.folder,
                force: settings.force_exclude,
            },
            largest: settings.max_file_size.unwrap_or(LARGEST_FILE),
        };
        if top.is_some() && settings.force_exclude {
            // What is not in the workspace by then is left out on purpose.
            walk.paths.truncate(1);
        }
        let mut tree = walk.read(advance)?;
        let given: Option<Vec<String>> =
            top.map(|_| places.iter().map(|place| relative(&walk.root, place)).collect());
        if let Some(given) = &given {
            tree.skipped.retain(|skipped| is_given(given, &skipped.path));
        }
        self.refuse_unread(&tree)?;
        Ok(Workspace { root: walk.root, tree: Arc::new(tree), settings, given })
    }

    /// Fails when only files were named and none of them could be read. What the settings exclude is
    /// no failure: tools name the files of a commit.
    fn refuse_unread(&self, tree: &Tree) -> Result<(), Failure> {
        let read = tree.files().iter().any(|file| file.language != Language::Other);
        if read || self.workspace || self.paths.iter().any(|path| path.is_dir()) {
            return Ok(());
        }
        let mut refused = tree.skipped.iter().filter(|skipped| skipped.reason != EXCLUDED);
        refused.next().map_or(Ok(()), |first| {
            Err(Failure(format!("nothing to lint: {}: {}", first.path, first.reason)))
        })
    }
}

/// Whether a path is one of those given, or lies in one.
pub(super) fn is_given(given: &[String], path: &str) -> bool {
    given.iter().any(|one| {
        let inside = || path.strip_prefix(one.as_str()).is_some_and(|rest| rest.starts_with('/'));
        one.is_empty() || one == path || inside()
    })
}

/// The folder that paths in reports are relative to: the current folder when all paths lie in it;
/// else the folder that holds them all.
fn root(places: &[PathBuf]) -> Result<PathBuf, Failure> {
    let here = absolute(Path::new("."))?;
    if places.iter().all(|place| place.starts_with(&here)) {
        return Ok(here);
    }
    let folders = places.iter().map(|place| folder(place).to_owned());
    let shared = folders.reduce(|left, right| {
        let both = left.components().zip(right.components());
        both.take_while(|(left, right)| left == right).map(|(part, _)| part).collect()
    });
    Ok(shared.unwrap_or(here))
}

/// The folder of the workspace around a folder: of the repository, or else the topmost that has a
/// manifest, or else the folder itself.
fn top(folder: &Path) -> PathBuf {
    let repository = folder.ancestors().find(|folder| folder.join(".git").exists());
    let package = || folder.ancestors().filter(|folder| folder.join("Cargo.toml").is_file()).last();
    repository.or_else(package).unwrap_or(folder).to_owned()
}

/// A folder itself, or the one that a file lies in.
fn folder(place: &Path) -> &Path {
    if place.is_dir() { place } else { place.parent().unwrap_or(place) }
}

/// The absolute path, links resolved.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| Failure(format!("can't read {}: {error}", path.display())))
}
