//! Script text to a syntax tree, holes of a host language tolerated.
//!
//! The text that is parsed has the same length as the text that is given, so an offset in the tree
//! is an offset in the given text. A [`HOLE`] parses as a name by itself; where a name can't stand
//! it is painted over. What `printf`, ERB or a template engine would fill in (`%s`, `<%= … %>`,
//! `{x}`) is painted over only if the text does not parse as it is.

use std::ops::ControlFlow;

use tree_sitter::{Language, ParseOptions, ParseState, Parser, Tree};

use crate::ir::value::HOLE;
use crate::source::beginning;

/// How often the parser may report, every 100 steps, once the text was seen to have a fault: about
/// 40,000 bytes of text that is full of them, more of text that has one.
const MAXIMUM_CHECKS: usize = 1_000;

/// A parsed script.
pub struct Script {
    /// The tree; its offsets are those of the given text.
    pub tree: Tree,
    /// What was parsed: the given text with holes painted over.
    pub source: String,
}

/// Parses; `None` for a long text with so many faults that the parser gives up.
#[must_use]
pub fn parse(content: &str) -> Option<Script> {
    let source = paint_host_holes(content);
    let tree = tree_of(&source)?;
    if !tree.root_node().has_error() {
        return Some(Script { tree, source });
    }
    let painted = paint_template_holes(&source);
    let second = (painted != source).then(|| tree_of(&painted)).flatten();
    match second {
        Some(tree) if !tree.root_node().has_error() => Some(Script { tree, source: painted }),
        _ => Some(Script { tree, source }),
    }
}

/// Parses; gives up some way behind a first fault, where going on takes time that grows with the
/// square of the text.
fn tree_of(source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&Language::new(tree_sitter_lua::LANGUAGE)).ok()?;
    let bytes = source.as_bytes();
    let mut checks = 0;
    let mut progress = |state: &ParseState| {
        checks += usize::from(state.has_error());
        if checks > MAXIMUM_CHECKS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let read = &mut |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(read, None, Some(options))
}

/// A hole next to a digit becomes digits; a hole alone on its line becomes a comment.
fn paint_host_holes(content: &str) -> String {
    if !content.contains(HOLE) {
        return content.to_owned();
    }
    let mut source = String::with_capacity(content.len());
    for line in content.split_inclusive('\n') {
        if !line.trim().is_empty() && line.trim().chars().all(|c| c == HOLE || c == ';') {
            source.push_str(&line.replace(HOLE, "-- "));
            continue;
        }
        let mut word = Word::None;
        for c in line.chars() {
            if c == HOLE && word == Word::Digit {
                source.push_str("000");
            } else {
                source.push(c);
                word = word.with(c);
            }
        }
    }
    source
}

/// The word that a text ends in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// None.
    None,
    /// A name.
    Name,
    /// A number; its last character is a digit.
    Digit,
    /// A number; its last character is no digit.
    Number,
}

impl Word {
    /// The word after one more character.
    fn with(self, c: char) -> Self {
        match (self, c.is_alphanumeric() || matches!(c, '_' | '.'), c.is_ascii_digit()) {
            (_, false, _) => Self::None,
            (Self::None, _, false) | (Self::Name, ..) => Self::Name,
            (_, _, true) => Self::Digit,
            (_, _, false) => Self::Number,
        }
    }
}

/// Paints over `<%…%>`, `${…}`, `#{…}`, `{{…}}`, `{name}`, `@name` and `%s`: alone on a line as a
/// comment, elsewhere as a name. Lengths stay.
fn paint_template_holes(source: &str) -> String {
    let mut painted = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((at, length)) = next_hole(rest) {
        let (before, hole) = rest.split_at(at);
        let (hole, after) = hole.split_at(length);
        painted.push_str(before);
        let on_its_own = ends_line(painted.chars().rev()) && ends_line(after.chars());
        let alone = on_its_own && length > 2 && !hole.contains('\n');
        let fill = |c: char| if c == '\n' { "\n".to_owned() } else { "_".repeat(c.len_utf8()) };
        if alone {
            painted.push_str("--");
            painted.push_str(&" ".repeat(length - 2));
        } else {
            painted.extend(hole.chars().map(fill));
        }
        rest = after;
    }
    painted.push_str(rest);
    painted
}

/// Whether only blanks come before the next line end.
fn ends_line(mut characters: impl Iterator<Item = char>) -> bool {
    characters.find(|c| *c == '\n' || !c.is_whitespace()).is_none_or(|c| c == '\n')
}

/// The bytes of the longest template hole that is looked for.
const MAXIMUM_HOLE: usize = 300;

/// Where the next template hole starts, and its length.
fn next_hole(text: &str) -> Option<(usize, usize)> {
    text.char_indices().find_map(|(at, c)| {
        let rest = beginning(text.get(at..)?, MAXIMUM_HOLE);
        let closed = |open: &str, close: &str| {
            let inside = rest.strip_prefix(open)?;
            Some(open.len() + inside.find(close)? + close.len())
        };
        let length = match c {
            '<' => closed("<%", "%>"),
            '$' => closed("${", "}"),
            '#' => closed("#{", "}"),
            '{' => closed("{{", "}}").or_else(|| {
                let name = rest.get(1..)?.split('}').next()?;
                let plain =
                    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
                (plain && rest.len() > name.len() + 1).then_some(name.len() + 2)
            }),
            '%' => ["%s", "%d", "%v"].iter().find(|hole| rest.starts_with(**hole)).map(|_| 2),
            '@' => Some(1),
            _ => None,
        };
        length.map(|length| (at, length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> bool {
        let script = parse(text).unwrap();
        assert_eq!(script.source.len(), text.len(), "{text}");
        !script.tree.root_node().has_error()
    }

    #[test]
    fn holes_of_a_host_language_parse() {
        assert!(clean("for i = 1, \u{FFFC} do redis.call('DEL', 'a:\u{FFFC}') end"));
        assert!(clean("local a = 10\u{FFFC} + 1"));
        assert!(clean("\u{FFFC}\nreturn redis.call('GET', KEYS[1])"));
        assert!(clean("for i = 1, %d do redis.call('DEL', KEYS[i]) end"));
        assert!(clean("<%= include_partial \"shared/_common.lua\" %>\nreturn 1"));
        assert!(clean("redis.call('SET', @key, ${value})"));
        assert!(clean("return 7 % 2"));
        assert!(!clean("if x then"));
    }
}
