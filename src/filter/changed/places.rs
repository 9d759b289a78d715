//! Names in diffs and paths in trees: what stands before a name (`a/`, `b/`, a folder), and from where it
//! counts (the top of a repository, the folder that is linted).

use super::before;
use super::diff::{FileDiff, Name};
use crate::source::{Tree, fold, walk};

/// From where the names of a diff count.
#[derive(Clone, Debug)]
pub struct Places {
    /// The path of the root, seen from the top of the repository; `None` outside of one, or above.
    pub root: Option<String>,
    /// The path of the top of the repository, seen from the root; `None` outside of one, or below.
    pub top: Option<String>,
    /// Whether the names are known to be git's: `a/` and `b/`, then a path from the top.
    pub exact: bool,
}

/// The paths of a file before and after.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Before; `None` when it was not there, or not under the root.
    pub old: Option<String>,
    /// After; `None` when it is not there, or no file of the tree.
    pub new: Option<String>,
}

/// How a name becomes a path.
#[derive(Clone, Copy)]
struct Way {
    /// Whether the first folder goes.
    strip: bool,
    /// Whether it counts from the top of the repository.
    from_top: bool,
}

impl Places {
    /// Where the files of a diff are. Of several ways to read a name that one is taken which leads
    /// to a file that is as the diff says, or else to any.
    #[must_use]
    pub fn find(&self, file: &FileDiff, tree: &Tree) -> Found {
        let path = |name: &Option<Name>, way: Way| self.path(name.as_ref()?, way);
        let (Some(name), ways) = (file.new.as_ref(), self.ways(file)) else {
            let ways = self.ways(file);
            let old = ways.into_iter().find_map(|way| path(&file.old, way));
            return Found { old, new: None };
        };
        let there = ways.into_iter().filter_map(|way| {
            let new = self.path(name, way).filter(|path| tree.at(path).is_some())?;
            Some(Found { old: path(&file.old, way), new: Some(new) })
        });
        let mut there: Vec<Found> = there.collect();
        let fits = |found: &Found| {
            let text = found.new.as_deref().and_then(|path| tree.text(path));
            text.is_some_and(|text| before::text(text, &file.hunks).is_some())
        };
        let best = there.iter().position(fits).unwrap_or(0);
        if best < there.len() { there.swap_remove(best) } else { Found::default() }
    }

    /// The ways to read the names of a file, the likeliest first.
    fn ways(&self, file: &FileDiff) -> Vec<Way> {
        if self.exact {
            return vec![Way { strip: true, from_top: true }];
        }
        let begins = |name: &Option<Name>| {
            let path = name.as_ref().map_or(&b""[..], |name| &name.path);
            matches!(path, [b'a' | b'b' | b'c' | b'i' | b'o' | b'w' | b'1' | b'2', b'/', ..] | [])
        };
        let strips =
            if begins(&file.old) && begins(&file.new) { [true, false] } else { [false, true] };
        let way = |strip| [true, false].map(|from_top| Way { strip, from_top });
        strips.into_iter().flat_map(way).collect()
    }

    fn path(&self, name: &Name, way: Way) -> Option<String> {
        let bytes = match name.path.iter().position(|byte| *byte == b'/') {
            Some(slash) if way.strip && !name.bare => name.path.get(slash + 1..)?,
            _ => &name.path,
        };
        let path = fold(&walk::path_of_bytes(bytes))?;
        if way.from_top { self.from_top(&path) } else { Some(path) }
    }

    /// The path from the root of one that counts from the top of the repository.
    #[must_use]
    pub fn from_top(&self, path: &str) -> Option<String> {
        match (self.root.as_deref(), self.top.as_deref()) {
            (Some(""), _) | (None, Some("")) => Some(path.to_owned()),
            (Some(root), _) => path.strip_prefix(root)?.strip_prefix('/').map(str::to_owned),
            (None, Some(top)) => Some(format!("{top}/{path}")),
            (None, None) => None,
        }
    }
}
