//! How far an allow comment reaches: its line, the statement below it, or the item below it.

use super::allow::Comment;
use crate::link::Program;
use crate::source::{Language, SourceFile, Span};

/// How many lines a statement may go on for an allow above it.
const LONGEST_STATEMENT: u32 = 200;

/// The lines an allow comment speaks for, 1-based, both included.
pub fn lines(comment: &Comment, file: &SourceFile, program: &Program) -> (u32, u32) {
    if matches!(&comment.says, Ok(allow) if allow.whole_file) {
        return (1, u32::MAX);
    }
    if comment.after_code {
        return (comment.line, comment.line);
    }
    let target = code_below(comment.line, file);
    let statement = statement_end(target, file);
    let item = items(file, program)
        .map(|span| (file.lines.line(span.start), file.lines.line(span.end)))
        .filter(|(first, _)| (comment.line + 1..=target).contains(first))
        .map(|(_, last)| last)
        .max();
    (comment.line, item.unwrap_or(statement).max(statement))
}

/// The first line after the comment that is neither a comment nor an attribute.
fn code_below(line: u32, file: &SourceFile) -> u32 {
    let passed = |line: &u32| {
        let text = file.lines.text(&file.text, *line).trim_start();
        ["//", "--", "#"].iter().any(|leader| text.starts_with(leader))
    };
    (line + 1..=file.lines.count()).find(|line| !passed(line)).unwrap_or(line)
}

/// The last line of the statement that starts at a line: a chain of calls goes on with a dot, an SQL
/// statement to its semicolon.
fn statement_end(first: u32, file: &SourceFile) -> u32 {
    let text = |line: u32| file.lines.text(&file.text, line).trim();
    let last = file.lines.count().min(first.saturating_add(LONGEST_STATEMENT));
    if file.language == Language::Sql {
        return (first..=last).find(|line| text(*line).ends_with(';')).unwrap_or(last);
    }
    let goes_on = |line: &u32| text(*line).starts_with(['.', '?']);
    (first + 1..=last).take_while(goes_on).last().unwrap_or(first)
}

/// The spans of a file's items.
fn items<'p>(file: &SourceFile, program: &'p Program) -> impl Iterator<Item = Span> + use<'p> {
    let index = program.index(file.id);
    let functions = index.into_iter().flat_map(|index| &index.functions).map(|item| item.span);
    let constants = index.into_iter().flat_map(|index| &index.constants).map(|item| item.span);
    let types = index.into_iter().flat_map(|index| &index.types).map(|item| item.span);
    functions.chain(constants).chain(types)
}
