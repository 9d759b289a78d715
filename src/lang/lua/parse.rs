//! Script text to a syntax tree, holes of a host language tolerated.
//!
//! The text that is parsed has the same length as the text that is given, so an offset in the tree
//! is an offset in the given text. A [`HOLE`] parses as a name by itself; where a name can't stand
//! it is painted over. What `printf`, ERB or a template engine would fill in (`%s`, `<%= … %>`,
//! `{x}`) is painted over only if the text does not parse as it is.

use tree_sitter::{Language, Parser, Tree};

use crate::ir::value::HOLE;

/// A parsed script.
pub struct Script {
    /// The tree; its offsets are those of the given text.
    pub tree: Tree,
    /// What was parsed: the given text with holes painted over.
    pub source: String,
}

/// Parses; `None` only when the parser gives up (it has no time limit, so in practice never).
#[must_use]
pub fn parse(content: &str) -> Option<Script> {
    let source = paint_host_holes(content);
    let tree = tree_of(&source)?;
    if !tree.root_node().has_error() {
        return Some(Script { tree, source });
    }
    let painted = paint_template_holes(&source);
    if painted != source {
        let second = tree_of(&painted)?;
        if !second.root_node().has_error() {
            return Some(Script { tree: second, source: painted });
        }
    }
    Some(Script { tree, source })
}

fn tree_of(source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&Language::new(tree_sitter_lua::LANGUAGE)).ok()?;
    parser.parse(source, None)
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
        let mut before = ' ';
        for c in line.chars() {
            match c {
                HOLE if before.is_ascii_digit() && ends_in_number(&source) => {
                    source.push_str("000")
                }
                c => source.push(c),
            }
            before = if c == HOLE && source.ends_with("000") { '0' } else { c };
        }
    }
    source
}

/// Whether the last word of the text begins with a digit.
fn ends_in_number(text: &str) -> bool {
    let word = text.rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).next();
    word.and_then(|word| word.chars().next()).is_some_and(|c| c.is_ascii_digit())
}

/// Paints over `<%…%>`, `${…}`, `#{…}`, `{{…}}`, `{name}`, `@name` and `%s`: alone on a line as a
/// comment, elsewhere as a name. Lengths stay.
fn paint_template_holes(source: &str) -> String {
    let mut painted = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((at, length)) = next_hole(rest) {
        let (before, hole) = rest.split_at(at);
        let (hole, after) = hole.split_at(length);
        let line_start = before.rsplit('\n').next().is_some_and(|start| start.trim().is_empty());
        let line_end = after.split('\n').next().is_some_and(|end| end.trim().is_empty());
        painted.push_str(before);
        let alone = line_start && line_end && length > 2 && !hole.contains('\n');
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

/// Where the next template hole starts, and its length.
fn next_hole(text: &str) -> Option<(usize, usize)> {
    text.char_indices().find_map(|(at, c)| {
        let rest = text.get(at..)?;
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
