//! Reading unified diffs: those of git, and what `diff -u` and its kin print.
//!
//! The counts of a hunk's header say where it ends, not the look of its lines: a deleted SQL comment is
//! a line that begins with `---`. What is no part of a file or hunk (a mail around it, a binary patch) is
//! passed over. Of files that nobody wants only the lines are counted.

use std::io::{self, BufRead, Read};

/// What a diff says of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// Its name before; `None` when there was no file.
    pub old: Option<Name>,
    /// Its name after; `None` when there is no file any more.
    pub new: Option<Name>,
    /// What changed, in the order of the lines.
    pub hunks: Vec<Hunk>,
    /// Whether every line is new although the hunks do not say so: the file is a copy.
    pub copied: bool,
}

/// A name as a diff writes it, quotes taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its bytes.
    pub path: Vec<u8>,
    /// Whether nothing like `a/` or `b/` stands before it.
    pub bare: bool,
}

/// Lines that changed, with lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The first of its lines in the new file, 1-based; the line before, when it has none there.
    pub start: u32,
    /// How many of its lines are in the new file.
    pub count: u32,
    /// Its lines.
    pub lines: Vec<(Kind, String)>,
    /// Whether the old file can be told from it: a diff against several parents has several.
    pub one_parent: bool,
}

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In both files.
    Kept,
    /// In the new file only.
    Added,
    /// In the old file only.
    Removed,
}

/// A submodule that git has something to say of, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submodule {
    /// Its path.
    pub path: Vec<u8>,
    /// What is said, as git words it: `1234567..89abcde (commits not present)`.
    pub says: String,
}

/// Everything that a diff says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Of files, in its order.
    pub files: Vec<FileDiff>,
    /// Of submodules.
    pub submodules: Vec<Submodule>,
    /// Whether there was anything to read that is more than blank.
    pub has_text: bool,
}

/// Why a diff can't be read.
#[derive(Debug)]
pub enum Unreadable {
    /// The stream failed.
    Stream(io::Error),
    /// A line is not what it should be: its number, and why.
    Line(usize, String),
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stream(error) => write!(f, "{error}"),
            Self::Line(line, why) => write!(f, "line {line}: {why}"),
        }
    }
}

/// A line is read up to so many bytes: no file that is linted has a longer one.
const LONGEST_LINE: u64 = 4 * 1024 * 1024;

/// Reads a diff. Hunks are kept of the files that `wanted` asks for by a name.
///
/// # Errors
/// When the stream fails, a hunk ends before its header says, or the text is UTF-16.
pub fn read(input: impl BufRead, wanted: &dyn Fn(&[u8]) -> bool) -> Result<Diff, Unreadable> {
    let mut lines = Lines { input, line: Vec::new(), number: 0 };
    let mut reader = Reader { diff: Diff::default(), open: None, wanted, from: None };
    while lines.advance().map_err(Unreadable::Stream)? {
        if lines.number == 1 && [&b"\xff\xfe"[..], b"\xfe\xff"].contains(&lines.beginning(2)) {
            return Err(Unreadable::Line(1, "the diff is UTF-16, and only UTF-8 is read".into()));
        }
        reader.diff.has_text |= !lines.line.trim_ascii().is_empty();
        reader.line(&mut lines)?;
    }
    reader.close();
    Ok(reader.diff)
}

/// The lines of a stream, one at a time.
struct Lines<R> {
    input: R,
    /// The line that was read last, without its `\n`.
    line: Vec<u8>,
    number: usize,
}

impl<R: BufRead> Lines<R> {
    /// Reads a line; `false` at the end. What is longer than any line of a source is cut.
    fn advance(&mut self) -> io::Result<bool> {
        self.line.clear();
        let read = self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.line)?;
        self.number += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if read as u64 == LONGEST_LINE {
            self.input.skip_until(b'\n')?;
        }
        Ok(read > 0)
    }

    fn beginning(&self, bytes: usize) -> &[u8] {
        self.line.get(..bytes).unwrap_or_default()
    }
}

struct Reader<'w> {
    diff: Diff,
    open: Option<FileDiff>,
    wanted: &'w dyn Fn(&[u8]) -> bool,
    /// What the line before said after `--- `, if it was one.
    from: Option<Vec<u8>>,
}

impl Reader<'_> {
    /// Takes a line that stands outside of hunks.
    fn line<R: BufRead>(&mut self, lines: &mut Lines<R>) -> Result<(), Unreadable> {
        let line = lines.line.as_slice();
        let from = self.from.take();
        if let Some(to) = line.strip_prefix(b"+++ ")
            && let Some(from) = from
        {
            self.names(&from, to);
        } else if let Some(old) = line.strip_prefix(b"--- ") {
            self.from = Some(old.to_vec());
        } else if line.starts_with(b"@@") && self.open.as_ref().is_some_and(is_named) {
            self.hunk(lines)?;
        } else if line.starts_with(b"diff --") {
            self.close();
            self.open = Some(FileDiff::default());
        } else if let Some(rest) = line.strip_prefix(b"Submodule ") {
            self.close();
            self.diff.submodules.extend(submodule(rest));
        } else if let Some(open) = &mut self.open {
            extended(open, line);
        }
        Ok(())
    }

    /// Takes the names of a file's header. Where nothing stood before it, the header begins a file.
    fn names(&mut self, from: &[u8], to: &[u8]) {
        if self.open.as_ref().is_none_or(|open| !open.hunks.is_empty() || is_headed(open)) {
            self.close();
        }
        let open = self.open.get_or_insert_default();
        if !open.old.as_ref().is_some_and(|old| old.bare) {
            open.old = name(from, false);
        }
        if !open.new.as_ref().is_some_and(|new| new.bare) {
            open.new = name(to, false);
        }
    }

    fn close(&mut self) {
        self.diff.files.extend(self.open.take().filter(is_named));
    }

    /// Reads a hunk, whose header was read.
    fn hunk<R: BufRead>(&mut self, lines: &mut Lines<R>) -> Result<(), Unreadable> {
        let at = lines.number;
        let wrong = || Unreadable::Line(at, "this is no header of a hunk".to_owned());
        let header = String::from_utf8_lossy(&lines.line).into_owned();
        let (mut old, new) = header_ranges(&header).ok_or_else(wrong)?;
        let parents = old.len();
        let mut left = new.count;
        let mut hunk = Hunk {
            start: new.start,
            count: new.count,
            lines: Vec::new(),
            one_parent: parents == 1,
        };
        let kept = self.open.as_ref().is_some_and(|open| {
            [&open.old, &open.new].into_iter().flatten().any(|name| (self.wanted)(&name.path))
        });
        while left > 0 || old.iter().any(|range| range.count > 0) {
            if !lines.advance().map_err(Unreadable::Stream)? {
                return Err(Unreadable::Line(at, "the hunk is not whole".to_owned()));
            }
            if lines.line.first() == Some(&b'\\') {
                continue;
            }
            let Some((signs, text)) = signs(&lines.line, parents) else {
                let why = "the hunk ends before its header says".to_owned();
                return Err(Unreadable::Line(lines.number, why));
            };
            let kind = match signs {
                signs if signs.contains(&b'-') => Kind::Removed,
                signs if signs.contains(&b'+') => Kind::Added,
                _ => Kind::Kept,
            };
            let spent = if kind == Kind::Removed { b'-' } else { b' ' };
            for (range, _) in old.iter_mut().zip(signs).filter(|(_, sign)| **sign == spent) {
                range.count = range.count.saturating_sub(1);
            }
            left = left.saturating_sub(u32::from(kind != Kind::Removed));
            if kept {
                hunk.lines.push((kind, text_of(text)));
            }
        }
        if let Some(open) = &mut self.open {
            open.hunks.push(hunk);
        }
        Ok(())
    }
}

/// Whether a file has a name, so that hunks may follow.
fn is_named(file: &FileDiff) -> bool {
    file.old.is_some() || file.new.is_some()
}

/// Whether a file's names come from the two lines above its hunks.
fn is_headed(file: &FileDiff) -> bool {
    [&file.old, &file.new].into_iter().flatten().any(|name| !name.bare)
}

/// Takes what git says between the names and the hunks.
fn extended(file: &mut FileDiff, line: &[u8]) {
    for (word, copies) in [("rename", false), ("copy", true)] {
        let Some(rest) = line.strip_prefix(word.as_bytes()) else { continue };
        if let Some(old) = rest.strip_prefix(b" from ") {
            file.old = name(old, true);
        } else if let Some(new) = rest.strip_prefix(b" to ") {
            file.new = name(new, true);
            file.copied |= copies;
        }
    }
}

/// The name in a header's line; `None` for `/dev/null`.
fn name(text: &[u8], bare: bool) -> Option<Name> {
    let path = match text.strip_prefix(b"\"") {
        Some(quoted) => unquoted(quoted),
        // A time, or nothing, stands behind a tab.
        None => text.split(|byte| matches!(byte, b'\t' | b'\r')).next()?.to_vec(),
    };
    (path != b"/dev/null").then_some(Name { path, bare })
}

/// The bytes of a name that git quotes as C does, up to the closing quote.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let mut path = Vec::new();
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next().filter(|byte| *byte != b'"') {
        if byte != b'\\' {
            path.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'a') => path.push(7),
            Some(b'b') => path.push(8),
            Some(b't') => path.push(b'\t'),
            Some(b'n') => path.push(b'\n'),
            Some(b'v') => path.push(11),
            Some(b'f') => path.push(12),
            Some(b'r') => path.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(next) = bytes.next_if(|next| matches!(next, b'0'..=b'7')) else {
                        break;
                    };
                    value = value * 8 + u32::from(next - b'0');
                }
                path.push(u8::try_from(value & 0xff).unwrap_or(b'?'));
            }
            Some(other) => path.push(other),
            None => {}
        }
    }
    path
}

/// `sub/module 1234567..89abcde:` and what else git may say there.
fn submodule(rest: &[u8]) -> Option<Submodule> {
    let line = rest.strip_suffix(b"\r").unwrap_or(rest);
    let contains = [&b" contains "[..]].into_iter().find_map(|word| at(line, word));
    // The last blank before what looks like `1234567..89abcde`.
    let range = || {
        let dots = at(line, b"..")?;
        line.get(..dots)?.iter().rposition(|byte| *byte == b' ')
    };
    let end = contains.or_else(range)?;
    let says = String::from_utf8_lossy(line.get(end + 1..)?).into_owned();
    Some(Submodule { path: line.get(..end)?.to_vec(), says })
}

/// Where a word begins last in a text.
fn at(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).rposition(|window| window == word)
}

/// Lines of one side of a hunk.
#[derive(Clone, Copy)]
struct Range {
    start: u32,
    count: u32,
}

/// The ranges of `@@ -1,2 +3,4 @@`; of more than one parent there are as many with a `-`.
fn header_ranges(header: &str) -> Option<(Vec<Range>, Range)> {
    let parents = header.bytes().take_while(|byte| *byte == b'@').count().checked_sub(1)?;
    let mut words = header.split_ascii_whitespace().skip(1);
    let old: Option<Vec<Range>> =
        words.by_ref().take(parents).map(|word| range(word, '-')).collect();
    let old = old.filter(|old| old.len() == parents && parents > 0)?;
    Some((old, range(words.next()?, '+')?))
}

fn range(word: &str, sign: char) -> Option<Range> {
    let word = word.strip_prefix(sign)?;
    let (start, count) = word.split_once(',').unwrap_or((word, "1"));
    Some(Range { start: start.parse().ok()?, count: count.parse().ok()? })
}

/// The signs of a hunk's line, one a parent, and its text. An empty line is one that both files have:
/// some tools cut the blank off.
fn signs(line: &[u8], parents: usize) -> Option<(&[u8], &[u8])> {
    if line.trim_ascii().is_empty() && line.len() < parents + 1 {
        return Some((b"                ".get(..parents)?, b""));
    }
    let (signs, text) = line.split_at_checked(parents)?;
    signs.iter().all(|sign| matches!(sign, b' ' | b'+' | b'-')).then_some((signs, text))
}

/// A line as the text of a file would have it, without its end.
fn text_of(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    String::from_utf8_lossy(line).replace('\u{fffc}', "\u{fffd}")
}

#[cfg(test)]
mod tests;
