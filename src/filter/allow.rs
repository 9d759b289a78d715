//! Allow comments as text: `// leaselint: allow(rule, …) -- reason`, with the comment leader of the
//! language (`//`, `--`, `#`).
//!
//! A comment that says `leaselint:` and is not exactly that is a mistake and allows nothing.

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
    /// The rules, as written.
    pub rules: Vec<String>,
    /// Whether it speaks for the whole file.
    pub whole_file: bool,
}

/// The word that makes a comment ours.
const WORD: &str = "leaselint:";

/// The comment leaders of the languages.
const LEADERS: [&str; 3] = ["//", "--", "#"];

/// The allow comments of a text.
pub fn comments(text: &str) -> Vec<Comment> {
    if !text.contains(WORD) {
        return Vec::new();
    }
    let numbered = text.lines().zip(1..);
    numbered.filter_map(|(line, number)| comment(line, number)).collect()
}

fn comment(line: &str, number: u32) -> Option<Comment> {
    let at = line.find(WORD)?;
    let (before, rest) = (line.get(..at)?.trim_end(), line.get(at + WORD.len()..)?);
    let leader = LEADERS.into_iter().find(|leader| before.ends_with(leader))?;
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
        says: parse(rest),
    })
}

/// Parses what follows `leaselint:`.
fn parse(rest: &str) -> Result<Allow, String> {
    let rest = rest.trim().trim_end_matches("*/").trim_end();
    let (verb, rest) = rest.split_once('(').ok_or("expected `allow(rule) -- reason`")?;
    let whole_file = match verb.trim() {
        "allow" => false,
        "allow-file" => true,
        verb => return Err(format!("`{verb}` is neither `allow` nor `allow-file`")),
    };
    let (list, rest) = rest.split_once(')').ok_or("the list of rules has no `)`")?;
    let rules: Vec<String> = list.split(',').map(|rule| rule.trim().to_owned()).collect();
    if rules.iter().any(String::is_empty) {
        return Err("the list of rules has an empty place".to_owned());
    }
    let reason = rest.trim_start().strip_prefix("--").ok_or("the reason is missing: ` -- reason`")?;
    if !reason.chars().any(char::is_alphanumeric) {
        return Err("the reason is empty".to_owned());
    }
    Ok(Allow { rules, whole_file })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Option<Result<Allow, String>> {
        comments(line).pop().map(|comment| comment.says)
    }

    #[test]
    fn allows_are_read_in_every_language() {
        let both = Allow { rules: vec!["a".into(), "b-c".into()], whole_file: false };
        assert_eq!(one("x(); // leaselint: allow(a, b-c) -- why"), Some(Ok(both.clone())));
        assert_eq!(one("-- leaselint: allow(a,b-c) -- why"), Some(Ok(both.clone())));
        assert_eq!(one("  # leaselint: allow(a, b-c)-- why"), Some(Ok(both)));
        let file = Allow { rules: vec!["a".into()], whole_file: true };
        assert_eq!(one("//leaselint: allow-file(a) -- why"), Some(Ok(file)));
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
