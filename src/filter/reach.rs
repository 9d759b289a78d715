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
    let line = file.lines.line(comment.span.start);
    if comment.after_code {
        return (line, line);
    }
    let target = code_below(line, file);
    let statement = statement_end(target, file, program);
    let item = items(file, program)
        .map(|span| (file.lines.line(span.start), file.lines.line(span.end)))
        .filter(|(first, _)| (line + 1..=target).contains(first))
        .map(|(_, last)| last)
        .max();
    (line, item.unwrap_or(statement).max(statement))
}

/// The first line after the comment that is neither a comment nor an attribute.
fn code_below(line: u32, file: &SourceFile) -> u32 {
    let passed = |line: &u32| {
        let text = file.lines.text(&file.text, *line).trim_start();
        ["//", "--", "#"].iter().any(|leader| text.starts_with(leader))
    };
    (line + 1..=file.lines.count()).find(|line| !passed(line)).unwrap_or(line)
}

/// The last line of the statement that starts at a line: as the program reads it, or by its text
/// where a file has no bodies (an SQL statement goes on to its semicolon).
fn statement_end(first: u32, file: &SourceFile, program: &Program) -> u32 {
    let text = |line: u32| file.lines.text(&file.text, line).trim();
    let last = file.lines.count().min(first.saturating_add(LONGEST_STATEMENT));
    if file.language == Language::Sql {
        return (first..=last).find(|line| text(*line).ends_with(';')).unwrap_or(last);
    }
    // `let deleted: bool =`, with what is assigned on the lines below.
    let heads = (first..last).take_while(|line| text(*line).ends_with('=')).count();
    let heads = first..=first.saturating_add(u32::try_from(heads).unwrap_or(0));
    let bodies = program.bodies.iter().filter(|body| body.file == file.id);
    let spans = bodies.flat_map(|body| {
        let results = body.body.calls().filter_map(|(_, _, call)| body.body.value(call.result));
        body.body.ops.iter().map(|op| op.span).chain(results.map(|result| result.span))
    });
    let ends = spans
        .filter(|span| span.file == file.id && heads.contains(&file.lines.line(span.start)))
        .map(|span| file.lines.line(span.end));
    ends.max().unwrap_or(first).max(*heads.end())
}

/// The spans of a file's items.
fn items<'p>(file: &SourceFile, program: &'p Program) -> impl Iterator<Item = Span> + use<'p> {
    let index = program.index(file.id);
    let functions = index.into_iter().flat_map(|index| &index.functions).map(|item| item.span);
    let constants = index.into_iter().flat_map(|index| &index.constants).map(|item| item.span);
    let types = index.into_iter().flat_map(|index| &index.types).map(|item| item.span);
    functions.chain(constants).chain(types)
}
