//! Lua: Redis scripts in files and in strings of a host language to `ir`.
//!
//! A `.lua` file is a script, a library of Redis Functions, or a program for another Lua host
//! (OpenResty, tests, editors) whose strings may hold scripts; `index` decides. A file that never
//! speaks to Redis has an empty index.

use super::{Frontend, Surroundings};
use crate::ir::body::{Lowered, Problem, ProblemKind};
use crate::ir::index::{FileIndex, ItemId};
use crate::ir::value::Text;
use crate::source::{SourceFile, Tree};

pub(crate) mod comments;
mod include;
mod index;
mod literal;
mod lower;
mod parse;

/// The Lua front-end, for `.lua` files.
pub struct LuaFrontend;

impl Frontend for LuaFrontend {
    fn index(&self, file: &SourceFile, tree: &Tree) -> FileIndex {
        index::index(file, tree)
    }

    fn lower(
        &self,
        file: &SourceFile,
        index: &FileIndex,
        item: ItemId,
        around: &Surroundings<'_>,
    ) -> Lowered {
        let ItemId::Function(position) = item else { return Lowered::default() };
        let Some(function) = index.functions.get(position as usize) else {
            return Lowered::default();
        };
        if let Some(script) = index::embedded_text(file, function) {
            return lower_embedded(&script);
        }
        let text = include::expand(file, around.tree);
        let Some(script) = parse::parse(&text.content) else { return unread(&text) };
        let root = script.tree.root_node();
        let callback = index::callback(&text, &script, function);
        let part = callback.map_or(lower::Part::Chunk, lower::Part::Callback);
        let mut lowered = lower::lower(&text, &script.source, root, &part);
        flag(&mut lowered, &text);
        if position > 0 {
            // What is wrong around the callbacks is said once, with the first of them.
            lowered.problems.retain(|problem| function.span.covers(problem.span));
        }
        lowered
    }
}

/// Lowers a script that stands in a string of a host language; spans point into the host file.
/// Holes of the host's template are [`HOLE`](crate::ir::value::HOLE) characters in the text. Body
/// 0 is the script.
#[must_use]
pub fn lower_embedded(text: &Text) -> Lowered {
    match parse::parse(&text.content) {
        Some(script) => {
            let root = script.tree.root_node();
            let mut lowered = lower::lower(text, &script.source, root, &lower::Part::Chunk);
            flag(&mut lowered, text);
            lowered
        }
        None => unread(text),
    }
}

/// Notes on every body what the first line tells the server: `#!lua flags=no-writes,no-cluster`.
fn flag(lowered: &mut Lowered, text: &Text) {
    let first = text.content.lines().next().unwrap_or_default();
    let Some(told) = first.strip_prefix("#!") else { return };
    let lists = told.split_whitespace().filter_map(|word| word.strip_prefix("flags="));
    let flags: Vec<String> = lists.flat_map(|list| list.split(',')).map(str::to_owned).collect();
    lowered.bodies.iter_mut().for_each(|body| body.flags.clone_from(&flags));
}

/// Whether a text calls Redis the way only a script does: `redis.call`, `redis.pcall`,
/// `server.call`, `redis['call']`, or `redis` under another name.
#[must_use]
pub fn looks_like_script(text: &str) -> bool {
    ["redis", "server"].into_iter().any(|name| {
        text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let free =
                before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':')));
            free && text.get(at + name.len()..).is_some_and(|rest| speaks(rest, name))
        })
    })
}

/// Whether what follows the name of the Redis table uses it.
fn speaks(rest: &str, name: &str) -> bool {
    let member = rest.trim_start();
    let called = member.strip_prefix('.').map(str::trim_start).or_else(|| {
        let quoted = member.strip_prefix('[')?.trim_start();
        quoted.strip_prefix(['"', '\''])
    });
    let members: &[&str] = if name == "redis" {
        &["call", "pcall", "register_function", "setresp", "error_reply", "status_reply"]
    } else {
        &["call", "pcall"]
    };
    called.is_some_and(|called| members.iter().any(|member| word(called, member)))
}

/// Whether a text begins with a whole word.
fn word(text: &str, word: &str) -> bool {
    let next = text.strip_prefix(word).map(|rest| rest.chars().next());
    next.is_some_and(|next| next.is_none_or(|c| !(c.is_alphanumeric() || c == '_')))
}

fn unread(text: &Text) -> Lowered {
    let span = text.place(0, text.content.len());
    let message = "this Lua code has too many faults to be read".to_owned();
    Lowered {
        problems: vec![Problem { span, message, kind: ProblemKind::Syntax }],
        ..Lowered::default()
    }
}

#[cfg(test)]
mod tests;
