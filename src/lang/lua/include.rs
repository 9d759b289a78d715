//! Scripts that a loader puts together: `--- @include "includes/x"`, `-- @include x`, ERB partials.
//!
//! The pieces become one [`Text`] whose runs point into the files they come from. Each file is
//! taken once, as loaders do; nothing outside the tree is read.

use std::collections::BTreeSet;

use crate::ir::value::Text;
use crate::source::{FileId, Language, SourceFile, Tree, folders};

/// Files in files in files: deeper than any loader's user goes.
const MAXIMUM_DEPTH: usize = 16;

/// The text of a script file with its includes put in.
#[must_use]
pub fn expand(file: &SourceFile, tree: &Tree) -> Text {
    if !file.text.contains("@include") && !file.text.contains("include_partial") {
        return Text::verbatim(file.text.clone(), file.whole());
    }
    let mut taken = BTreeSet::from([file.id]);
    let mut text = Text::default();
    append(&mut text, file, tree, &mut taken, 0);
    text.or_at(file.whole())
}

fn append(
    text: &mut Text,
    file: &SourceFile,
    tree: &Tree,
    taken: &mut BTreeSet<FileId>,
    depth: usize,
) {
    let mut at = 0;
    for line in file.text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let included = included_name(line).map(|name| files_named(file, name, tree));
        match included {
            Some(files) if !files.is_empty() && depth < MAXIMUM_DEPTH => {
                for part in files {
                    if taken.insert(part.id) {
                        append(text, part, tree, taken, depth + 1);
                        newline(text, file, at);
                    }
                }
            }
            _ => text.push(line, file.range(start, at)),
        }
    }
}

/// A line end that stands in no file, after a piece whose last line has none.
fn newline(text: &mut Text, file: &SourceFile, at: usize) {
    if !text.content.is_empty() && !text.content.ends_with('\n') {
        text.push("\n", file.range(at, at));
    }
}

/// The name in a line that includes something.
fn included_name(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = if line.starts_with("--") {
        line.trim_start_matches('-').trim_start().strip_prefix("@include")?
    } else {
        let tag = line.strip_prefix("<%")?.strip_suffix("%>")?;
        tag.split_once("include_partial")?.1
    };
    let quotes =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | ')' | '-' | '=' | '<' | '>');
    let name = rest.trim_matches(quotes);
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

/// The files that an include names, seen from a file: next to it, or next to a folder above it.
fn files_named<'t>(file: &SourceFile, name: &str, tree: &'t Tree) -> Vec<&'t SourceFile> {
    let with_suffix = if name.ends_with(".lua") { name.to_owned() } else { format!("{name}.lua") };
    let found = |folder: &str| {
        let path = format!("{folder}/{with_suffix}");
        let found: Vec<&SourceFile> = match path.contains('*') {
            true => matching(path.trim_start_matches('/'), tree),
            false => tree.at(&path).into_iter().collect(),
        };
        (!found.is_empty()).then_some(found)
    };
    folders(&file.path).find_map(found).unwrap_or_default()
}

/// Lua files whose path matches a pattern with one `*`.
fn matching<'t>(pattern: &str, tree: &'t Tree) -> Vec<&'t SourceFile> {
    let Some((before, after)) = pattern.split_once('*') else { return Vec::new() };
    let fits = |file: &&SourceFile| {
        file.language == Language::Lua
            && file
                .path
                .strip_prefix(before)
                .and_then(|rest| rest.strip_suffix(after))
                .is_some_and(|name| !name.contains('/'))
    };
    tree.files().iter().map(AsRef::as_ref).filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_text_points_into_the_included_file() {
        let lua = |path: &str, text: &str| (path.to_owned(), Language::Lua, text.to_owned());
        let tree = Tree::from_texts(vec![
            lua("jobs/move-2.lua", "local a = 1\n--- @include \"includes/free\"\nfree(a)\n"),
            lua("jobs/includes/free.lua", "-- @include again\nlocal function free(x) end"),
            lua("jobs/includes/again.lua", "-- @include free\n"),
        ]);
        let text = expand(tree.at("jobs/move-2.lua").unwrap(), &tree);
        assert_eq!(text.content, "local a = 1\nlocal function free(x) end\nfree(a)\n");
        let at = text.content.find("local function").unwrap();
        let span = text.place(at, at + 5);
        assert_eq!(tree.file(span.file).unwrap().path, "jobs/includes/free.lua");
        assert_eq!(tree.file(span.file).unwrap().slice(span), "local");
    }
}
