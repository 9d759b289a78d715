//! A file, its text, its lines and its language.
//!
//! Everything above this floor speaks of places as [`Span`]s: byte offsets into the text of one
//! [`SourceFile`], which is always valid UTF-8 and has no byte order mark. Columns shown to people
//! are 1-based and count characters.

use std::collections::BTreeMap;
use std::sync::Arc;

pub mod exclude;
pub mod lines;
pub mod walk;

pub use lines::LineIndex;

/// Which file of a [`Tree`]; its position in [`Tree::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A range of bytes in one file, end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// The span of `start..end` in `file`.
    #[must_use]
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end: end.max(start) }
    }

    /// The smallest span that covers both; `self` when they are in different files.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether `other` lies wholly inside.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }
}

/// The language of a file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// `.rs`
    Rust,
    /// `.lua`
    Lua,
    /// `.sql`
    Sql,
    /// A file that is only served as text (`Cargo.toml`, `.sqlx/query-*.json`, …).
    Other,
}

/// One file of the tree, read and decoded.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its number in the tree.
    pub id: FileId,
    /// Path relative to the root, `/` between parts, no leading `./`.
    pub path: String,
    /// The language its name says.
    pub language: Language,
    /// The text: no byte order mark; invalid bytes are replaced by U+FFFD, and so is U+FFFC, which
    /// stands for holes above this floor.
    pub text: String,
    /// Where its lines begin.
    pub lines: LineIndex,
    /// The text with the mark and the characters that were taken out of it; `None` when it is the
    /// same.
    whole: Option<Box<str>>,
    /// Whether it may have characters that stand for bytes of another number.
    replaced: bool,
}

/// The mark that some editors put before a text.
const MARK: char = '\u{feff}';

impl SourceFile {
    /// A file with the given text; a byte order mark is cut off, and U+FFFC is replaced.
    #[must_use]
    pub fn new(id: FileId, path: impl Into<String>, language: Language, text: &str) -> Self {
        let read = text.strip_prefix(MARK).unwrap_or(text).replace('\u{fffc}', "\u{fffd}");
        let lines = LineIndex::new(&read);
        let whole = (read != text).then(|| text.into());
        let replaced = text.contains(char::REPLACEMENT_CHARACTER);
        Self { id, path: path.into(), language, text: read, lines, whole, replaced }
    }

    /// The text as it stands in the file, but for bytes that are not UTF-8.
    #[must_use]
    pub fn as_written(&self) -> &str {
        self.whole.as_deref().unwrap_or(&self.text)
    }

    /// Whether offsets into the text are those of the file on disk, but for the mark before it: not where
    /// bytes that are no UTF-8 may have been replaced.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.replaced
    }

    /// How many bytes of the file stand before the text: those of a byte order mark.
    #[must_use]
    pub fn mark_len(&self) -> usize {
        if self.as_written().starts_with(MARK) { MARK.len_utf8() } else { 0 }
    }

    /// The text of a span; empty when the span does not lie on character borders of this file.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// 1-based line and column (in characters) of a byte offset.
    #[must_use]
    pub fn position(&self, offset: u32) -> Position {
        self.lines.position(&self.text, offset)
    }

    /// A span over the whole file.
    #[must_use]
    pub fn whole(&self) -> Span {
        self.range(0, self.text.len())
    }

    /// The span of the bytes `start..end`.
    #[must_use]
    pub fn range(&self, start: usize, end: usize) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(self.id, offset(start), offset(end))
    }
}

/// A place as people read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
}

/// A file that was found and could not be read, or not in full, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Path relative to the root.
    pub path: String,
    /// One sentence, lower case, no full stop.
    pub reason: String,
    /// Where in the file, if the reason has a place.
    pub place: Option<Position>,
}

/// All files of one run, sorted by path.
#[derive(Debug, Default)]
pub struct Tree {
    files: Vec<Arc<SourceFile>>,
    by_path: BTreeMap<String, FileId>,
    /// Files that were found and not read.
    pub skipped: Vec<Skipped>,
}

impl Tree {
    /// A tree of the given (path, language, text) triples; they are sorted by path.
    #[must_use]
    pub fn from_texts(mut texts: Vec<(String, Language, String)>) -> Self {
        texts.sort();
        let mut tree = Self::default();
        for (path, language, text) in texts {
            tree.push(|id| SourceFile::new(id, path, language, &text));
        }
        tree
    }

    /// Adds the file that `make` returns for the next free number. Callers add in path order.
    pub fn push(&mut self, make: impl FnOnce(FileId) -> SourceFile) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        let file = make(id);
        self.by_path.insert(file.path.clone(), id);
        self.files.push(Arc::new(file));
        id
    }

    /// Another tree of the same files, under the same numbers.
    #[must_use]
    pub fn copy(&self) -> Self {
        let (files, by_path) = (self.files.clone(), self.by_path.clone());
        Self { files, by_path, skipped: self.skipped.clone() }
    }

    /// This tree with other texts, by path: files are replaced, added, or left out where there is no
    /// text. One whose name says no language of ours is not added.
    #[must_use]
    pub fn edited(&self, edits: &BTreeMap<String, Option<String>>) -> Self {
        let mut paths: BTreeMap<&str, Option<&SourceFile>> =
            self.files.iter().map(|file| (file.path.as_str(), Some(file.as_ref()))).collect();
        paths.extend(edits.keys().map(|path| (path.as_str(), None)));
        let mut tree = Self { skipped: self.skipped.clone(), ..Self::default() };
        for (path, same) in paths {
            let language = walk::language_of(path);
            match (same, edits.get(path), language) {
                (Some(file), ..) => {
                    tree.push(|id| SourceFile { id, ..file.clone() });
                }
                (None, Some(Some(text)), Some(language)) => {
                    tree.push(|id| SourceFile::new(id, path, language, text));
                }
                _ => {}
            }
        }
        tree
    }

    /// All files, in path order.
    #[must_use]
    pub fn files(&self) -> &[Arc<SourceFile>] {
        &self.files
    }

    /// The file with this number; `None` for a number of another tree.
    #[must_use]
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize).map(AsRef::as_ref)
    }

    /// The file at a path relative to the root (`/` between parts, `.` and `..` are folded).
    /// `None` when it is not in the tree: nothing outside the root is ever read.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<&SourceFile> {
        let folded = fold(path)?;
        self.by_path.get(&folded).and_then(|id| self.file(*id))
    }

    /// The manifests above a path, the nearest first: folder and file.
    pub fn manifests<'t>(
        &'t self,
        path: &'t str,
    ) -> impl Iterator<Item = (&'t str, &'t SourceFile)> {
        folders(path).filter_map(|folder| Some((folder, self.at(&format!("{folder}/Cargo.toml"))?)))
    }

    /// The folder of the nearest manifest above a path; `None` when there is none.
    #[must_use]
    pub fn package<'t>(&'t self, path: &'t str) -> Option<&'t str> {
        self.manifests(path).next().map(|(folder, _)| folder)
    }

    /// The text at a path relative to the root: serves `include_str!` and `query_file!`.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        self.at(path).map(|file| file.text.as_str())
    }
}

/// The folder that a path lies in; empty for the root.
#[must_use]
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folders around a path, innermost first; the root, which is empty, comes last.
pub fn folders(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder(path)), |inner| (!inner.is_empty()).then(|| folder(inner)))
}

/// The beginning of a text: at most so many bytes, cut at a character.
#[must_use]
pub fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Folds `.` and `..`; `None` when the path climbs out of the root.
#[must_use]
pub fn fold(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fold_and_never_leave_the_root() {
        assert_eq!(fold("a/./b/../c.lua"), Some("a/c.lua".to_owned()));
        assert_eq!(fold("a/../../c.lua"), None);
    }

    #[test]
    fn the_nearest_manifest_above_a_file_is_its_package() {
        assert_eq!(folders("a/b/c.rs").collect::<Vec<_>>(), ["a/b", "a", ""]);
        let file = |path: &str| (path.to_owned(), Language::Other, String::new());
        let tree = Tree::from_texts(vec![file("Cargo.toml"), file("a/Cargo.toml")]);
        assert_eq!(tree.package("a/src/lib.rs"), Some("a"));
        assert_eq!(tree.package("b/lib.rs"), Some(""));
        assert_eq!(Tree::default().package("b/lib.rs"), None);
        assert_eq!(beginning("aé", 2), "a");
    }

    #[test]
    fn an_edited_tree_has_other_texts_in_path_order() {
        let file = |path: &str| (path.to_owned(), Language::Rust, "old".to_owned());
        let tree = Tree::from_texts(vec![file("a.rs"), file("b.rs"), file("d.rs")]);
        let edit = |path: &str, text: Option<&str>| (path.to_owned(), text.map(str::to_owned));
        let edits = [edit("a.rs", None), edit("b.rs", Some("new")), edit("c.rs", Some("more"))];
        let edited = tree.edited(&edits.into_iter().chain([edit("e.txt", Some(""))]).collect());
        let told: Vec<_> = edited.files().iter().map(|file| (&*file.path, &*file.text)).collect();
        assert_eq!(told, [("b.rs", "new"), ("c.rs", "more"), ("d.rs", "old")]);
        assert_eq!(edited.at("d.rs").unwrap().id, FileId(2));
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let file = SourceFile::new(FileId(0), "a.lua", Language::Lua, "\u{feff}return 1");
        assert_eq!(file.text, "return 1");
        assert_eq!(file.position(7), Position { line: 1, column: 8 });
        assert_eq!((file.as_written(), file.mark_len()), ("\u{feff}return 1", 3));
    }

    #[test]
    fn the_sign_of_a_hole_is_no_text() {
        let file = SourceFile::new(FileId(0), "a.lua", Language::Lua, "a\u{fffc}b");
        assert_eq!(file.text, "a\u{fffd}b");
        assert_eq!((file.as_written(), file.mark_len()), ("a\u{fffc}b", 0));
    }
}
