//! Allow comments as text: `// leaselint: allow(rule, …) -- reason`, with the comment leader of the
//! language (`//`, `--`, `#`).
//!
//! A comment that says `leaselint:` and is not exactly that is a mistake and allows nothing.

use crate::source::Language;

/// An allow comment, or a mistake in place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// 1-based line.
    pub line: u32,
    /// Byte offset of the comment's leader in its line, and of its end.
    pub columns: (usize, usize),
    /// Whether code stands before it on its line.
    pub after_code: bool,
    /// What it says, or why that can't be told.
    pub says: Result<Allow, String>,
}

/// What an allow comment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The rules as written, and the offset in the line at which each begins.
    pub rules: Vec<(String, usize)>,
    /// Whether it speaks for the whole file.
    pub whole_file: bool,
}

/// The word that makes a comment ours.
const WORD: &str = "leaselint:";

/// What a comment of a language may begin with (MySQL knows `#` as well).
fn leaders(language: Language) -> &'static [&'static str] {
    match language {
        Language::Rust => &["//"],
        Language::Lua => &["--"],
        Language::Sql => &["--", "#"],
        Language::Other => &[],
    }
}

/// The allow comments of a text.
pub fn comments(text: &str, language: Language) -> Vec<Comment> {
    if !text.contains(WORD) {
        return Vec::new();
    }
    let numbered = text.lines().zip(1..);
    numbered.filter_map(|(line, number)| comment(line, number, leaders(language))).collect()
}

fn comment(line: &str, number: u32, leaders: &[&str]) -> Option<Comment> {
    let at = line.find(WORD)?;
    let (before, rest) = (line.get(..at)?.trim_end(), line.get(at + WORD.len()..)?);
    let leader = leaders.iter().find(|leader| before.ends_with(**leader))?;
    let code = before.strip_suffix(leader)?;
    // Documentation that shows an allow comment is none, and neither is a URL or a path.
    let documents = ["///", "//!", "---"].iter().any(|doc| line.trim_start().starts_with(doc));
    if documents || !(code.is_empty() || code.ends_with(char::is_whitespace)) {
        return None;
    }
    Some(Comment {
        line: number,
        columns: (code.len(), line.trim_end().len()),
        after_code: !code.trim().is_empty(),
        says: parse(rest, at + WORD.len()),
    })
}

/// Parses what follows `leaselint:`, which stands at an offset of its line.
fn parse(rest: &str, offset: usize) -> Result<Allow, String> {
    let open = offset + rest.find('(').unwrap_or(0) + 1;
    let rest = rest.trim().trim_end_matches("*/").trim_end();
    let (verb, rest) = rest.split_once('(').ok_or("expected `allow(rule) -- reason`")?;
    let whole_file = match verb.trim() {
        "allow" => false,
        "allow-file" => true,
        verb => return Err(format!("`{verb}` is neither `allow` nor `allow-file`")),
    };
    let (list, rest) = rest.split_once(')').ok_or("the list of rules has no `)`")?;
    let rules = names(list, open);
    if rules.iter().any(|(name, _)| name.is_empty()) {
        return Err("the list of rules has an empty place".to_owned());
    }
    let reason =
        rest.trim_start().strip_prefix("--").ok_or("the reason is missing: ` -- reason`")?;
    if !reason.chars().any(char::is_alphanumeric) {
        return Err("the reason is empty".to_owned());
    }
    Ok(Allow { rules, whole_file })
}

/// The names of a list that stands at an offset of its line.
fn names(list: &str, mut offset: usize) -> Vec<(String, usize)> {
    let mut names = Vec::new();
    for name in list.split(',') {
        let blank = name.len() - name.trim_start().len();
        names.push((name.trim().to_owned(), offset + blank));
        offset += name.len() + 1;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Option<Result<Allow, String>> {
        let language = match line {
            line if line.contains("-- leaselint") || line.contains("# leaselint") => Language::Sql,
            _ => Language::Rust,
        };
        comments(line, language).pop().map(|comment| comment.says)
    }

    #[test]
    fn allows_are_read_in_every_language() {
        let names = |line: &str| {
            let allow = one(line).unwrap().unwrap();
            allow
                .rules
                .into_iter()
                .map(|(name, at)| (line[at..].starts_with(&name), name))
                .collect()
        };
        let both: Vec<_> = [(true, "a".to_owned()), (true, "b-c".to_owned())].into();
        for line in [
            "x(); // leaselint: allow(a, b-c) -- why",
            "-- leaselint: allow(a,b-c) -- why",
            "  # leaselint: allow( a , b-c)-- why",
            "//leaselint:  allow-file(a, b-c) -- why",
        ] {
            let found: Vec<_> = names(line);
            assert_eq!(found, both, "{line}");
            assert_eq!(one(line).unwrap().unwrap().whole_file, line.contains("file"));
        }
    }

    #[test]
    fn mistakes_allow_nothing() {
        for line in [
            "// leaselint: allow(a)",
            "// leaselint: allow(a) --",
            "// leaselint: allow() -- why",
            "// leaselint: allow(a, ) -- why",
            "// leaselint: ignore(a) -- why",
            "// leaselint: allow a -- why",
            "// leaselint: allow(a -- why",
            "// leaselint: off",
        ] {
            assert!(matches!(one(line), Some(Err(_))), "{line}");
        }
    }

    #[test]
    fn another_language_s_comments_are_none() {
        let line = "-- leaselint: allow(a) -- why";
        assert_eq!(comments(line, Language::Rust), []);
        assert_eq!(comments(line, Language::Lua).len(), 1);
        assert_eq!(comments("# leaselint: allow(a) -- why", Language::Lua), []);
    }

    #[test]
    fn documentation_and_texts_are_no_allows() {
        for line in [
            "//! // leaselint: allow(a) -- why",
            "/// leaselint: allow(a) -- why",
            "let x = \"leaselint: allow(a) -- why\";",
            "see http://leaselint: allow(a) -- why",
        ] {
            assert_eq!(one(line), None, "{line}");
        }
    }
}
