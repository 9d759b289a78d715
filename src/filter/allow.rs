//! Allow comments as text: `// leaselint: allow(rule, …) -- reason`, with the comment leader of the
//! language (`//`, `--`, `#`), and perhaps the last day on which it holds: `allow(rule, until=2027-01-31)`.
//!
//! A comment that means to be one and is not written exactly so is a mistake, and allows nothing.

use crate::config::day::Day;
use crate::lang::comments::{self, Kind};
use crate::source::{SourceFile, Span};

/// An allow comment, or a mistake in place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From its leader to its end.
    pub span: Span,
    /// Whether code stands before it on its line.
    pub after_code: bool,
    /// What it says, or why that can't be told.
    pub says: Result<Allow, String>,
}

/// What an allow comment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The rules as written, each with its place in the file.
    pub rules: Vec<(String, Span)>,
    /// Whether it speaks for the whole file.
    pub whole_file: bool,
    /// The last day on which it holds; for good when not said.
    pub until: Option<Day>,
    /// Why, in the author's words.
    pub reason: String,
}

/// The word that makes a comment ours; a `:` follows it.
const WORD: &str = "leaselint";

/// What comments of this and other tools say to silence something, without `-` and `_`.
const DIRECTIVES: [&str; 14] = [
    "allow",
    "allowfile",
    "deny",
    "disable",
    "enable",
    "expect",
    "ignore",
    "ignorefile",
    "nolint",
    "noqa",
    "off",
    "permit",
    "skip",
    "suppress",
];

/// How many edits make another word of ours.
const SLIPS: usize = 2;

/// Whether a text can hold a comment that means to be ours, however it is spelt.
pub fn can_speak(text: &str) -> bool {
    ["lint", "Lint", "LINT"].iter().any(|word| text.contains(word))
}

/// The allow comments among the comments of a file, mistakes included.
pub fn comments(file: &SourceFile, comments: &[comments::Comment]) -> Vec<Comment> {
    comments
        .iter()
        .flat_map(|comment| pieces(file, comment))
        .filter_map(|piece| piece.read())
        .collect()
}

/// One line of a comment.
struct Piece<'f> {
    file: &'f SourceFile,
    kind: Kind,
    /// Where its words begin and end in the file.
    words: std::ops::Range<usize>,
    /// Where its leader stands.
    start: usize,
}

/// The lines of a comment; of a line comment it is one.
fn pieces<'f>(file: &'f SourceFile, comment: &comments::Comment) -> Vec<Piece<'f>> {
    let words = comment.range.start + comment.opening..comment.range.end;
    let (mut at, mut pieces) = (words.start, Vec::new());
    for line in file.text.get(words).unwrap_or("").split('\n') {
        let start =
            if at == comment.range.start + comment.opening { comment.range.start } else { at };
        let decoration = if comment.kind == Kind::Line { 0 } else { decoration(line) };
        pieces.push(Piece {
            file,
            kind: comment.kind,
            words: at + decoration..at + line.len(),
            start,
        });
        at += line.len() + 1;
    }
    pieces
}

/// Bytes of what block comments put before their lines.
fn decoration(line: &str) -> usize {
    line.len() - line.trim_start().trim_start_matches('*').len()
}

impl Piece<'_> {
    fn read(&self) -> Option<Comment> {
        let words = self.file.text.get(self.words.clone())?.trim_end();
        let says = match spoken(words) {
            Some(Spoken::Exactly(rest)) if self.kind == Kind::Line => {
                self.parse(self.words.start + rest, words.get(rest..)?)
            }
            Some(Spoken::Exactly(_)) if self.kind == Kind::Block => {
                Err("it is no line comment of its own".to_owned())
            }
            Some(Spoken::Exactly(_)) => Err("it is a documentation comment".to_owned()),
            Some(Spoken::Nearly(mistake)) => Err(mistake),
            None if self.kind == Kind::Line && self.speaks_later(words) => {
                Err("nothing may stand before `leaselint:` in its comment".to_owned())
            }
            None => return None,
        };
        let span = self.file.range(self.start, self.words.start + words.len());
        let line = self.file.lines.start(self.file.lines.line(span.start))? as usize;
        let after_code = !self.file.text.get(line..self.start)?.trim().is_empty();
        Some(Comment { span, after_code, says })
    }

    /// Whether the words of a comment come to an allow further on. What is quoted is spoken of, and what
    /// has a leader of its own is code that was commented out.
    fn speaks_later(&self, words: &str) -> bool {
        let leader = self.file.text.get(self.start..self.words.start).unwrap_or("");
        words.match_indices("leaselint:").skip_while(|(at, _)| *at == 0).any(|(at, word)| {
            let (before, after) = (words.get(..at).unwrap_or(""), words.get(at + word.len()..));
            let own = before.ends_with(char::is_whitespace) && !before.trim_end().ends_with(leader);
            own && after.is_some_and(|after| after.trim_start().starts_with("allow"))
        })
    }

    /// Parses what follows `leaselint:`, which stands at an offset of the file.
    fn parse(&self, offset: usize, rest: &str) -> Result<Allow, String> {
        let (verb, list) = rest.split_once('(').ok_or("expected `allow(rule) -- reason`")?;
        let whole_file = match verb.trim() {
            "allow" => false,
            "allow-file" => true,
            verb => return Err(format!("`{verb}` is neither `allow` nor `allow-file`")),
        };
        let (list, rest) = list.split_once(')').ok_or("the list of rules has no `)`")?;
        let (mut rules, mut until) = (Vec::new(), None);
        let mut at = offset + verb.len() + 1;
        for entry in list.split(',') {
            let name = entry.trim();
            let start = at + entry.len() - entry.trim_start().len();
            at += entry.len() + 1;
            match name.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                None if name.is_empty() => {
                    return Err("the list of rules has an empty place".to_owned());
                }
                None => rules.push((name.to_owned(), self.file.range(start, start + name.len()))),
                Some(("until", _)) if until.is_some() => {
                    return Err("`until` is said twice".to_owned());
                }
                Some(("until", day)) => until = Some(day.parse()?),
                Some((key, _)) => return Err(format!("`{key}=` is not known, only `until=`")),
            }
        }
        if rules.is_empty() {
            return Err("it names no rule".to_owned());
        }
        let reason =
            rest.trim_start().strip_prefix("--").ok_or("the reason is missing: ` -- reason`")?;
        if !reason.chars().any(char::is_alphanumeric) {
            return Err("the reason is empty".to_owned());
        }
        Ok(Allow { rules, whole_file, until, reason: reason.trim().to_owned() })
    }
}

/// How the words of a comment begin.
enum Spoken {
    /// With `leaselint:`; what it says begins at this byte.
    Exactly(usize),
    /// With what was meant to be that, and what is wrong with it.
    Nearly(String),
}

/// Whether the words of a comment begin with our word, or with what was meant to be it.
fn spoken(words: &str) -> Option<Spoken> {
    let text = words.trim_start();
    let (word, rest) = text.split_at(name_length(text));
    if word == WORD && rest.starts_with(':') {
        return Some(Spoken::Exactly(words.len() - rest.len() + 1));
    }
    let folded = folded(word);
    let colon = rest.trim_start().starts_with(':');
    let told = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == ':');
    let near = match folded.strip_prefix(WORD) {
        Some("") => colon || commands(told),
        Some(more) => DIRECTIVES.iter().any(|directive| more.starts_with(directive)),
        None => colon && commands(told) && strsim::osa_distance(&folded, WORD) <= SLIPS,
    };
    let mistake = || match (word == WORD, colon) {
        (true, true) => "a space stands before the `:`".to_owned(),
        (true, false) => "the `:` after `leaselint` is missing".to_owned(),
        _ => format!("`{word}` is not `leaselint:`"),
    };
    near.then(|| Spoken::Nearly(mistake()))
}

/// Whether a text is a directive and what it is about, and no sentence that begins with such a word.
fn commands(text: &str) -> bool {
    let (word, rest) = text.split_at(name_length(text));
    let rest = rest.trim_start();
    let names_rule = || rest.split_whitespace().next().is_some_and(|next| next.contains('-'));
    DIRECTIVES.contains(&folded(word).as_str())
        && (rest.is_empty() || rest.starts_with(['(', '[', '{', ':', '=', '-']) || names_rule())
}

/// Bytes of the name that a text begins with.
fn name_length(text: &str) -> usize {
    let ends = |letter: char| !(letter.is_alphanumeric() || letter == '-' || letter == '_');
    text.find(ends).unwrap_or(text.len())
}

/// A name in lower case without `-` and `_`; its beginning, if it is very long.
fn folded(name: &str) -> String {
    let letters = name.chars().take(60).filter(|letter| !matches!(letter, '-' | '_'));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::sql::Dialect;
    use crate::source::{FileId, Language};

    fn all(text: &str, language: Language) -> Vec<Comment> {
        let file = SourceFile::new(FileId(0), "a", language, text);
        comments(&file, &comments::of(&file, Dialect::Generic))
    }

    fn one(line: &str) -> Option<Result<Allow, String>> {
        let sql = line.contains("-- leaselint") || line.contains("# leaselint");
        let language = if sql { Language::Sql } else { Language::Rust };
        all(line, language).pop().map(|comment| comment.says)
    }

    #[test]
    fn allows_are_read_in_every_language() {
        for line in [
            "x(); // leaselint: allow(a, b-c) -- why",
            "-- leaselint: allow(a,b-c) -- why",
            "  # leaselint: allow( a , b-c)-- why",
            "//leaselint:  allow-file(a, b-c) -- why",
            "// leaselint: allow (a, b-c, until = 2027-01-31) -- why",
        ] {
            let allow = one(line).unwrap().unwrap();
            let names: Vec<_> = allow.rules.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["a", "b-c"], "{line}");
            for (name, span) in &allow.rules {
                assert_eq!(&line[span.start as usize..span.end as usize], name);
            }
            assert_eq!(allow.whole_file, line.contains("file"));
            assert_eq!(allow.until.is_some(), line.contains("until"));
            assert_eq!(allow.reason, "why");
        }
    }

    #[test]
    fn mistakes_allow_nothing() {
        for line in [
            "// leaselint: allow(a)",
            "// leaselint: allow(a) --",
            "// leaselint: allow() -- why",
            "// leaselint: allow(a, ) -- why",
            "// leaselint: allow(until=2027-01-31) -- why",
            "// leaselint: allow(a, until=2027-02-30) -- why",
            "// leaselint: allow(a, until=soon) -- why",
            "// leaselint: allow(a, until=2027-01-31, until=2027-01-31) -- why",
            "// leaselint: allow(a, reason=x) -- why",
            "// leaselint: ignore(a) -- why",
            "// leaselint: allow a -- why",
            "// leaselint: allow(a -- why",
            "// leaselint: off",
            "// leaselint : allow(a) -- why",
            "// leaselint allow(a) -- why",
            "// leaselint allow lock-across-http",
            "// Leaselint: allow(a) -- why",
            "// lease-lint: allow(a) -- why",
            "// leaslint: allow(a) -- why",
            "// leaselint-ignore a",
            "// leaselint-disable-next-line a",
            "// TODO leaselint: allow(a) -- why",
            "/// leaselint: allow(a) -- why",
            "/* leaselint: allow(a) -- why */",
            "/*\n * leaselint: allow(a) -- why\n */",
        ] {
            assert!(matches!(one(line), Some(Err(_))), "{line}: {:?}", one(line));
        }
    }

    #[test]
    fn another_language_s_comments_are_none() {
        let line = "-- leaselint: allow(a) -- why";
        assert_eq!(all(line, Language::Rust), []);
        assert_eq!(all(line, Language::Lua).len(), 1);
        assert_eq!(all("# leaselint: allow(a) -- why", Language::Lua), []);
    }

    #[test]
    fn documentation_and_texts_and_prose_are_no_allows() {
        for line in [
            "//! // leaselint: allow(a) -- why",
            "/// Write `// leaselint: allow(a) -- why`.",
            "let x = \"leaselint: allow(a) -- why\";",
            "let x = \"see // leaselint: allow(a) -- why\";",
            "let x = r#\"\n// leaselint: allow(a) -- why\n\"#;",
            "x(\"http://leaselint: allow(a) -- why\")",
            "// write `leaselint: allow(a) -- why`",
            "// x(); // leaselint: allow(a) -- why",
            "// leaselint allows this when it is told to",
            "// leaselint is quiet about it",
            "// lint: allow(a)",
        ] {
            assert_eq!(one(line), None, "{line}");
        }
    }
}
