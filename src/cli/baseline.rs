//! Reads, writes and prunes the baseline.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arguments::{BaselineArguments, CheckArguments};
use super::check::Linted;
use super::workspace::is_given;
use super::{Failure, complain, files};
use crate::config::Settings;
use crate::filter::baseline::{self, Baseline, Entry, Folders, Reach};
use crate::source::walk::relative;
use crate::source::{FileId, Language, SourceFile, Tree};

/// What is to be done with a baseline.
pub(super) struct Known {
    file: PathBuf,
    folders: Folders,
    /// What the file says; `None` when it is to be written.
    read: Option<(Baseline, String)>,
    prune: bool,
    root: PathBuf,
    paths: Vec<String>,
}

impl Known {
    /// Reads the baseline that the arguments name; `None` when they name none.
    pub fn read(
        arguments: &BaselineArguments,
        root: &Path,
        check: &CheckArguments,
        whole: bool,
    ) -> Result<Option<Self>, Failure> {
        let Some(file) = arguments.baseline.as_ref().or(arguments.write_baseline.as_ref()) else {
            return Ok(None);
        };
        let cannot =
            |error: std::io::Error| Failure(format!("can't read {}: {error}", file.display()));
        let read = match arguments.baseline {
            None => None,
            Some(_) => {
                let text = fs::read_to_string(file).map_err(cannot)?;
                let baseline = baseline::parse(&text).map_err(|mistake| {
                    Failure(format!("{}:{}: {}", file.display(), mistake.line, mistake.message))
                })?;
                Some((baseline, text))
            }
        };
        // A link is written through.
        let place = file.canonicalize().unwrap_or_else(|_| file.clone());
        let folder = match place.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        if read.is_none() {
            fs::create_dir_all(folder).map_err(cannot)?;
        }
        let folder = folder.canonicalize().map_err(cannot)?;
        let name =
            place.file_name().ok_or_else(|| Failure(format!("{} is no file", file.display())))?;
        let named = check.paths.iter().filter_map(|path| path.canonicalize().ok());
        let paths = if whole {
            vec![String::new()]
        } else {
            named.map(|path| relative(root, &path)).collect()
        };
        let slashed = |folder: &Path| relative(Path::new("/"), folder);
        Ok(Some(Self {
            file: folder.join(name),
            folders: Folders { home: slashed(&folder), root: slashed(root) },
            read,
            prune: arguments.prune_baseline,
            root: root.to_owned(),
            paths,
        }))
    }

    /// Leaves the findings that the baseline does not know, and reports its stale entries. Gives the tree
    /// that the findings are in.
    pub fn apply(
        &self,
        linted: &mut Linted,
        tree: Arc<Tree>,
        settings: &Settings,
    ) -> Result<Arc<Tree>, Failure> {
        let Some((baseline, text)) = &self.read else {
            let entries = baseline::entries(&linted.filtered.shown, &tree, &self.folders);
            let count = counted(entries.len(), "finding");
            self.write(entries)?;
            complain(&format!("wrote {count} to {}", self.file.display()));
            linted.filtered.known += std::mem::take(&mut linted.filtered.shown).len();
            return Ok(tree);
        };
        let home = self.file.parent().unwrap_or(&self.root);
        let reach = Reach {
            exists: &|path| home.join(path).exists(),
            covers: &|path| is_given(&self.paths, path),
        };
        let outcome = baseline.apply(&mut linted.filtered, &tree, &self.folders, &reach, settings);
        if self.prune {
            let (removed, renamed) = (outcome.stale.len(), outcome.renamed.len());
            if removed + renamed > 0 {
                self.write(baseline.pruned(&outcome))?;
            }
            let removed =
                if removed == 1 { "1 entry".to_owned() } else { format!("{removed} entries") };
            complain(&format!("removed {removed} from {}", self.file.display()));
            return Ok(tree);
        }
        if outcome.stale.is_empty() {
            return Ok(tree);
        }
        let mut with = tree.copy();
        let id = with.push(|id| self.source(id, text));
        if let Some(file) = with.file(id) {
            let (stale, shown) = (&outcome.stale, &mut linted.filtered);
            baseline::report_stale(baseline, stale, file, &with, settings, shown);
        }
        Ok(Arc::new(with))
    }

    /// The baseline as a file that findings can be in.
    fn source(&self, id: FileId, text: &str) -> SourceFile {
        let path = relative(&self.root, &self.file);
        SourceFile::new(id, path.trim_start_matches("//"), Language::Other, text)
    }

    fn write(&self, entries: Vec<Entry>) -> Result<(), Failure> {
        files::replace(&self.file, baseline::print(entries).as_bytes())
            .map_err(|error| Failure(format!("can't write {}: {error}", self.file.display())))
    }
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
