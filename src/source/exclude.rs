//! Which paths the settings leave out.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::walk::{WalkError, relative};

/// What to leave out.
#[derive(Clone, Debug, Default)]
pub struct Exclude {
    /// Globs of paths; a name without a `/` is meant at any depth, and a folder with all in it.
    pub globs: Vec<String>,
    /// The folder that the globs are relative to; the root of the walk when not said.
    pub base: Option<PathBuf>,
    /// Whether they hold for paths that are named, too.
    pub force: bool,
}

/// What to leave out, ready to ask.
#[derive(Clone, Debug)]
pub(super) struct Excluded {
    exclude: Exclude,
    base: PathBuf,
    set: GlobSet,
}

impl Exclude {
    /// The globs, compiled for a walk from `root`.
    pub(super) fn compile(&self, root: &Path) -> Result<Excluded, WalkError> {
        let base = self.base.clone().unwrap_or_else(|| root.to_owned());
        Ok(Excluded { exclude: self.clone(), base, set: set(&self.globs)? })
    }
}

impl Excluded {
    /// Whether a path is left out.
    pub(super) fn names(&self, path: &Path) -> bool {
        let path = relative(&self.base, path);
        !path.is_empty() && self.set.is_match(path)
    }

    /// What holds under a path that was named: `None` when the path itself is left out. If that is not
    /// to be, the globs that would do it do not hold there.
    pub(super) fn under(&self, path: &Path) -> Result<Option<Self>, WalkError> {
        let leaves_out = |set: &GlobSet| {
            let path = relative(&self.base, path);
            set.is_match(&path) || set.is_match(format!("{path}/_"))
        };
        if !leaves_out(&self.set) {
            return Ok(Some(self.clone()));
        }
        if self.exclude.force {
            return Ok((!self.names(path)).then(|| self.clone()));
        }
        let mut globs = Vec::new();
        for glob in &self.exclude.globs {
            if !leaves_out(&set(std::slice::from_ref(glob))?) {
                globs.push(glob.clone());
            }
        }
        Ok(Some(Self { set: set(&globs)?, ..self.clone() }))
    }
}

fn set(patterns: &[String]) -> Result<GlobSet, WalkError> {
    let mut set = GlobSetBuilder::new();
    let broken = |error: globset::Error| WalkError::Glob(error.to_string());
    for pattern in patterns {
        let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
        let anywhere = if pattern.contains('/') { String::new() } else { "**/".to_owned() };
        let pattern = format!("{anywhere}{}", pattern.trim_start_matches('/'));
        set.add(Glob::new(&pattern).map_err(broken)?);
        set.add(Glob::new(&format!("{pattern}/**")).map_err(broken)?);
    }
    set.build().map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(globs: &[&str], force: bool) -> Excluded {
        let globs = globs.iter().map(|&glob| glob.to_owned()).collect();
        let exclude = Exclude { globs, base: Some("/r".into()), force };
        exclude.compile(Path::new("/r/sub")).unwrap()
    }

    #[test]
    fn globs_are_relative_to_their_base() {
        let excluded = compiled(&["sub/generated", "*.gen.rs"], false);
        let names = |path: &str| excluded.names(Path::new(path));
        assert!(names("/r/sub/generated/a.rs") && names("/r/sub/x/a.gen.rs"));
        assert!(!names("/r/generated/a.rs") && !names("/r"));
    }

    #[test]
    fn what_is_named_is_read_unless_force_says_no() {
        let read = |path: &str, globs: &[&str], force| {
            compiled(globs, force).under(Path::new(path)).unwrap()
        };
        assert!(read("/r/old/a.rs", &["old"], true).is_none());
        let under = read("/r/old", &["old/**", "*.gen.rs"], false).unwrap();
        assert!(!under.names(Path::new("/r/old/a.rs")));
        assert!(under.names(Path::new("/r/old/a.gen.rs")));
        let under = read("/r/old", &["old/**"], true).unwrap();
        assert!(under.names(Path::new("/r/old/a.rs")));
    }
}
