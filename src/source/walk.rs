//! The walk over a tree: which files belong to a run, and their texts.
//!
//! What `.gitignore` and `.ignore` files and `.git/info/exclude` name is left out, the former also
//! where there is no git; so are hidden files, build output and other people's code. Links are not followed, so nothing outside
//! the given paths is read. Files come out sorted by path, whatever the number of threads.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use rayon::prelude::*;

use super::exclude::{Exclude, Excluded};
use super::{FileId, Language, Position, Skipped, SourceFile, Tree};

/// Files of more bytes are not read, unless the user says otherwise.
pub const LARGEST_FILE: u64 = 2 * 1024 * 1024;

/// Why a path that was named is left out when a glob excludes it.
pub const EXCLUDED: &str = "left out by `exclude`";

/// What to walk.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The folder that paths are relative to.
    pub root: PathBuf,
    /// Files and folders to read, under the root.
    pub paths: Vec<PathBuf>,
    /// What to leave out.
    pub exclude: Exclude,
    /// Files of more bytes are skipped, and said to be.
    pub largest: u64,
}

/// Why a walk could not be made.
#[derive(Debug)]
pub enum WalkError {
    /// A path that was asked for is not there or can't be read.
    Path(PathBuf, std::io::Error),
    /// An exclude glob is no glob.
    Glob(String),
}

impl std::fmt::Display for WalkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path, error) => write!(f, "can't read {}: {error}", path.display()),
            Self::Glob(message) => write!(f, "exclude is not a list of globs: {message}"),
        }
    }
}

/// One file that was found.
struct Found {
    path: PathBuf,
    language: Language,
    size: u64,
}

impl Walk {
    /// Reads every file of the walk. `advance` is called once for each file read, from any thread.
    ///
    /// # Errors
    /// When a path that was asked for is not there, or an exclude glob is malformed. A file found
    /// inside a folder that can't be read is listed in [`Tree::skipped`] instead.
    pub fn read(&self, advance: &(dyn Fn() + Sync)) -> Result<Tree, WalkError> {
        let exclude = self.exclude.compile(&self.root)?;
        let mut skipped = Vec::new();
        let found = self.find(&exclude, &mut skipped)?;
        let read = |(path, file): (String, Found)| {
            let outcome = read(&path, &file, self.largest);
            advance();
            outcome
        };
        let outcomes: Vec<_> = found
            .into_iter()
            .collect::<Vec<_>>()
            .into_par_iter()
            .with_max_len(16)
            .map(read)
            .collect();
        let mut tree = Tree::default();
        for outcome in outcomes {
            skipped.extend(outcome.skipped);
            if let Some(file) = outcome.file {
                tree.push(|id| SourceFile { id, ..file });
            }
        }
        skipped.sort();
        tree.skipped = skipped;
        Ok(tree)
    }

    /// Lists the files by relative path.
    fn find(
        &self,
        exclude: &Excluded,
        skipped: &mut Vec<Skipped>,
    ) -> Result<BTreeMap<String, Found>, WalkError> {
        let mut found = BTreeMap::new();
        for path in &self.paths {
            fs::metadata(path).map_err(|error| WalkError::Path(path.clone(), error))?;
            let Some(exclude) = exclude.under(path)? else {
                skipped.push(skip(relative(&self.root, path), EXCLUDED));
                continue;
            };
            for entry in entries(path, exclude) {
                match entry {
                    Ok(entry) => self.take(&entry, &mut found, skipped),
                    Err(error) => skipped.push(unreadable(&self.root, &error)),
                }
            }
        }
        Ok(found)
    }

    /// Takes an entry of the walk if it is a file of ours.
    fn take(
        &self,
        entry: &DirEntry,
        found: &mut BTreeMap<String, Found>,
        skipped: &mut Vec<Skipped>,
    ) {
        let path = relative(&self.root, entry.path());
        let Some(kind) = entry.file_type() else { return };
        // A path that was asked for by name may be a link; those found on the way may not.
        let metadata = if entry.depth() == 0 { fs::metadata(entry.path()).ok() } else { None };
        let is_file = metadata.as_ref().map_or(kind.is_file(), fs::Metadata::is_file);
        let language = language(&path, entry.path());
        if !is_file {
            skipped.extend(unread(entry, language.is_some()).map(|reason| skip(path, reason)));
            return;
        }
        let source = language.is_some_and(|language| language != Language::Other);
        if entry.depth() == 0 && !source {
            skipped.push(skip(path.clone(), "not a language leaselint reads"));
        }
        let Some(language) = language else { return };
        let size = metadata.map_or_else(
            || entry.metadata().map_or(0, |metadata| metadata.len()),
            |metadata| metadata.len(),
        );
        found.insert(path, Found { path: entry.path().to_owned(), language, size });
    }
}

/// Why an entry that is no file is not read; `None` when nothing is lost by that.
fn unread(entry: &DirEntry, language: bool) -> Option<&'static str> {
    let kind = entry.file_type()?;
    if kind.is_symlink() && entry.depth() > 0 {
        // As configuration a link is followed; there is nothing in it to lint.
        let source = language && entry.file_name() != "leaselint.toml";
        let folder = || entry.path().is_dir() && !foreign(entry);
        return (source || folder()).then_some("a link, and links are not followed");
    }
    let folder = kind.is_dir() || entry.path().is_dir();
    (!folder && (language || entry.depth() == 0)).then_some("neither a file nor a folder")
}

/// The entries under a path; hidden, foreign and excluded ones are left out with all in them.
fn entries(path: &Path, exclude: Excluded) -> ignore::Walk {
    let wanted =
        move |entry: &DirEntry| entry.depth() == 0 || wanted(entry) && !exclude.names(entry.path());
    WalkBuilder::new(path)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(true)
        .follow_links(false)
        .filter_entry(wanted)
        .build()
}

/// Whether an entry is neither hidden, nor build output, nor other people's code.
fn wanted(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    if name.as_encoded_bytes().starts_with(b".") {
        return name == ".sqlx";
    }
    !entry.file_type().is_some_and(|kind| kind.is_dir()) || !foreign(entry)
}

/// Whether a folder, or a link to one, is by its name build output or other people's code.
fn foreign(entry: &DirEntry) -> bool {
    match entry.file_name().to_str() {
        Some("node_modules") => true,
        // A module may be called `target` or `vendor`: those of tools do not lie under `src`.
        Some("target" | "vendor") => {
            let parent = entry.path().parent().unwrap_or(Path::new(""));
            !parent.components().any(|part| part.as_os_str() == "src")
        }
        _ => false,
    }
}

/// The language of a file by its name; `None` for a file that is no business of ours.
fn language(relative: &str, path: &Path) -> Option<Language> {
    match path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase).as_deref() {
        Some("rs") => return Some(Language::Rust),
        Some("lua") => return Some(Language::Lua),
        Some("sql") => return Some(Language::Sql),
        _ => {}
    }
    let mut parts = relative.rsplit('/');
    let name = parts.next()?;
    let served = match name {
        "Cargo.toml" | "leaselint.toml" => true,
        _ => {
            let query = name.starts_with("query-") && name.ends_with(".json");
            query && parts.next() == Some(".sqlx")
        }
    };
    served.then_some(Language::Other)
}

/// The language of a path relative to the root; `None` for a file that is no business of ours.
#[must_use]
pub fn language_of(path: &str) -> Option<Language> {
    language(path, Path::new(path))
}

/// A path relative to the root, `/` between parts, no leading `./`. Different paths stay different:
/// bytes that are not UTF-8 are written `\xff`.
#[must_use]
pub fn relative(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts = inside.components().filter_map(|part| match part {
        std::path::Component::CurDir => None,
        part => Some(name(part.as_os_str())),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A name as text. One that is not UTF-8, or could be taken for such a one, has its other bytes
/// written `\xff` and its backslashes doubled.
fn name(name: &OsStr) -> String {
    name_of_bytes(name.as_encoded_bytes())
}

/// The path of a file as git writes it, in bytes, as [`relative`] gives it.
#[must_use]
pub fn path_of_bytes(path: &[u8]) -> String {
    path.split(|byte| *byte == b'/').map(name_of_bytes).collect::<Vec<_>>().join("/")
}

fn name_of_bytes(name: &[u8]) -> String {
    if let Some(plain) = str::from_utf8(name).ok().filter(|plain| !plain.contains("\\x")) {
        return plain.to_owned();
    }
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// What reading a file gave: it, and what is to be said of it.
struct Outcome {
    file: Option<SourceFile>,
    skipped: Option<Skipped>,
}

fn read(path: &str, found: &Found, largest: u64) -> Outcome {
    let refuse = |reason: &str| Outcome { file: None, skipped: Some(skip(path.into(), reason)) };
    let too_large = format!("larger than {largest} bytes (see --max-file-size)");
    if found.size > largest {
        return refuse(&too_large);
    }
    let bytes = match bytes(&found.path, largest) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return refuse(&too_large),
        Err(error) => return refuse(&format!("can't be read: {error}")),
    };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return refuse("UTF-16, and only UTF-8 is read");
    }
    let text = String::from_utf8_lossy(&bytes);
    let lossy = matches!(text, std::borrow::Cow::Owned(_));
    let file = SourceFile::new(FileId(0), path, found.language, &text);
    let skipped = lossy.then(|| Skipped {
        place: first_replaced(&file),
        ..skip(path.into(), "not UTF-8: invalid bytes were replaced, and the rest was linted")
    });
    Outcome { file: Some(file), skipped }
}

/// The bytes of a file; `None` when it grew beyond the limit since it was found.
fn bytes(path: &Path, largest: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= largest).then_some(bytes))
}

fn first_replaced(file: &SourceFile) -> Option<Position> {
    let at = file.text.find(char::REPLACEMENT_CHARACTER)?;
    Some(file.position(u32::try_from(at).ok()?))
}

fn skip(path: String, reason: &str) -> Skipped {
    Skipped { path, reason: reason.to_owned(), place: None }
}

fn unreadable(root: &Path, error: &ignore::Error) -> Skipped {
    let path = match error {
        ignore::Error::WithPath { path, .. } => relative(root, path),
        ignore::Error::WithDepth { err, .. } => match err.as_ref() {
            ignore::Error::WithPath { path, .. } => relative(root, path),
            _ => String::new(),
        },
        _ => String::new(),
    };
    skip(path, &format!("can't be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluding(globs: &[&str], force: bool) -> Exclude {
        let globs = globs.iter().map(|&glob| glob.to_owned()).collect();
        Exclude { globs, base: None, force }
    }

    fn walk(files: &[(&str, &[u8])], largest: u64, exclude: &[&str]) -> Tree {
        let root = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/passwd", root.path().join("link.lua")).unwrap();
        let walk = Walk {
            root: root.path().to_owned(),
            paths: vec![root.path().to_owned()],
            exclude: excluding(exclude, false),
            largest,
        };
        walk.read(&|| ()).unwrap()
    }

    fn paths(tree: &Tree) -> Vec<&str> {
        tree.files().iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn ignored_hidden_and_foreign_files_stay_out() {
        let tree = walk(
            &[
                ("b/x.lua", b"return 1"),
                ("a.rs", b""),
                ("a.txt", b""),
                ("Cargo.toml", b""),
                (".sqlx/query-1.json", b"{}"),
                ("query-1.json", b"{}"),
                (".hidden/x.rs", b""),
                ("target/x.rs", b""),
                ("src/target/x.rs", b""),
                ("b/node_modules/x.lua", b""),
                ("c/.gitignore", b"*.sql\n!keep.sql"),
                ("c/out.sql", b""),
                ("c/keep.sql", b""),
                ("old/x.rs", b""),
            ],
            100,
            &["old"],
        );
        let expected = [
            ".sqlx/query-1.json",
            "Cargo.toml",
            "a.rs",
            "b/x.lua",
            "c/keep.sql",
            "src/target/x.rs",
        ];
        assert_eq!(paths(&tree), expected);
        let skipped: Vec<_> = tree.skipped.iter().map(|skip| skip.path.as_str()).collect();
        assert_eq!(skipped, ["link.lua"]);
    }

    #[test]
    fn large_and_broken_files_are_told() {
        let tree = walk(
            &[
                ("big.lua", b"return 1234567890"),
                ("bad.lua", b"a\n\xffb"),
                ("bom.lua", b"\xef\xbb\xbfx"),
            ],
            12,
            &[],
        );
        assert_eq!(paths(&tree), ["bad.lua", "bom.lua"]);
        assert_eq!(tree.text("bad.lua"), Some("a\n\u{fffd}b"));
        assert_eq!(tree.text("bom.lua"), Some("x"));
        let told: Vec<_> = tree.skipped.iter().map(|s| (s.path.as_str(), s.place)).collect();
        assert_eq!(told[0], ("bad.lua", Some(Position { line: 2, column: 1 })));
        assert_eq!(told[1], ("big.lua", None));
        assert!(tree.skipped[1].reason.contains("12 bytes"));
    }

    #[cfg(unix)]
    #[test]
    fn names_of_other_bytes_stay_apart() {
        use std::os::unix::ffi::OsStrExt;
        let text =
            |bytes: &[u8]| relative(Path::new("a"), &Path::new("a").join(OsStr::from_bytes(bytes)));
        assert_eq!(text(b"b/bad\xff.rs"), r"b/bad\xff.rs");
        assert_eq!(text(b"bad\xfe.rs"), r"bad\xfe.rs");
        assert_eq!(text(br"bad\xff.rs"), r"bad\\xff.rs");
        assert_eq!(text(b"bad\\\xff.rs"), r"bad\\\xff.rs");
        assert_eq!(text(br"a\b.rs"), r"a\b.rs");
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_and_pipes_are_told_and_configuration_is_not() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let away = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(away.path().join("c.toml"), "").unwrap();
        symlink(away.path(), at("shared")).unwrap();
        symlink(away.path(), at("target")).unwrap();
        symlink(away.path().join("c.toml"), at("leaselint.toml")).unwrap();
        symlink(away.path().join("c.toml"), at("notes.txt")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(at("pipe.lua")).status().unwrap();
        assert!(made.success());
        let paths = vec![root.path().to_owned()];
        let walk =
            Walk { root: root.path().to_owned(), paths, exclude: Exclude::default(), largest: 9 };
        let tree = walk.read(&|| ()).unwrap();
        let told: Vec<_> =
            tree.skipped.iter().map(|s| (s.path.as_str(), s.reason.as_str())).collect();
        let expected = [
            ("pipe.lua", "neither a file nor a folder"),
            ("shared", "a link, and links are not followed"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_git_excludes_here_stays_out() {
        let files: &[(&str, &[u8])] = &[
            (".git/info/exclude", b"mine.lua\n/only/\n"),
            ("a.lua", b""),
            ("b/mine.lua", b""),
            ("only/c.lua", b""),
        ];
        assert_eq!(paths(&walk(files, 9, &[])), ["a.lua"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_excluded_is_not_walked_and_said_when_it_was_named() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("old/deep")).unwrap();
        fs::write(at("old/deep/a.lua"), "").unwrap();
        fs::write(at("b.lua"), "").unwrap();
        // Seen, it would be told of.
        symlink(at("b.lua"), at("old/deep/link.lua")).unwrap();
        let read = |paths: Vec<PathBuf>, force| {
            let exclude = excluding(&["old"], force);
            let walk = Walk { root: root.path().to_owned(), paths, exclude, largest: 9 };
            walk.read(&|| ()).unwrap()
        };
        let tree = read(vec![root.path().to_owned()], false);
        assert_eq!((paths(&tree), tree.skipped.len()), (vec!["b.lua"], 0));
        let tree = read(vec![at("old/deep/a.lua"), at("b.lua")], true);
        assert_eq!(paths(&tree), ["b.lua"]);
        let told = tree.skipped.iter().map(|skip| (skip.path.as_str(), skip.reason.as_str()));
        assert_eq!(told.collect::<Vec<_>>(), [("old/deep/a.lua", EXCLUDED)]);
        let tree = read(vec![at("old/deep/a.lua")], false);
        assert_eq!(paths(&tree), ["old/deep/a.lua"]);
    }

    #[test]
    fn a_path_that_is_not_there_is_an_error() {
        let walk = Walk {
            root: PathBuf::from("/"),
            paths: vec![PathBuf::from("/no/such/path")],
            exclude: Exclude::default(),
            largest: 1,
        };
        assert!(walk.read(&|| ()).is_err());
    }
}
