//! How far an allow comment reaches: its line, the statement below it, or the item below it.

use std::collections::BTreeMap;

use super::allow::Comment;
use crate::link::Program;
use crate::source::{Language, SourceFile, Span};

/// How many lines a statement may go on for an allow above it.
const LONGEST_STATEMENT: u32 = 200;

/// What of a file lies below a line; found out once, however many comments ask.
pub struct Below<'f> {
    file: &'f SourceFile,
    /// For each line, the first after it that is neither a comment nor an attribute; itself when there
    /// is none.
    code: Vec<u32>,
    /// The last line of what the program reads as operations, by the line they begin on.
    operations: BTreeMap<u32, u32>,
    /// The last line of items, by the line they begin on.
    items: BTreeMap<u32, u32>,
}

impl<'f> Below<'f> {
    /// Looks at a file.
    pub fn of(file: &'f SourceFile, program: &Program) -> Self {
        let operations = if file.language == Language::Sql {
            BTreeMap::new()
        } else {
            last_lines(operations(file, program), file)
        };
        let items = last_lines(items(file, program).into_iter(), file);
        Self { file, code: code_below(file), operations, items }
    }

    /// The lines an allow comment speaks for, 1-based, both included.
    pub fn lines(&self, comment: &Comment) -> (u32, u32) {
        if matches!(&comment.says, Ok(allow) if allow.whole_file) {
            return (1, u32::MAX);
        }
        let line = self.file.lines.line(comment.span.start);
        if comment.after_code {
            return (line, line);
        }
        let target = self.code.get(line as usize).copied().unwrap_or(line);
        let statement = self.statement_end(target);
        let first = (line + 1).min(target);
        let item = self.items.range(first..=target).map(|(_, last)| *last).max();
        (line, item.unwrap_or(statement).max(statement))
    }

    /// The last line of the statement that starts at a line: as the program reads it, or by its text
    /// where a file has no bodies (an SQL statement goes on to its semicolon).
    fn statement_end(&self, first: u32) -> u32 {
        let text = |line: u32| self.file.lines.text(&self.file.text, line).trim();
        let last = self.file.lines.count().min(first.saturating_add(LONGEST_STATEMENT));
        if self.file.language == Language::Sql {
            return (first..=last).find(|line| text(*line).ends_with(';')).unwrap_or(last);
        }
        // `let deleted: bool =`, with what is assigned on the lines below.
        let heads = (first..last).take_while(|line| text(*line).ends_with('=')).count();
        let heads = first..=first.saturating_add(u32::try_from(heads).unwrap_or(0));
        let ends = self.operations.range(heads.clone()).map(|(_, last)| *last);
        ends.max().unwrap_or(first).max(*heads.end())
    }
}

/// For each line, the first after it that is neither a comment nor an attribute; itself when there is
/// none. Lines are numbered from 1.
fn code_below(file: &SourceFile) -> Vec<u32> {
    let mut below = Vec::new();
    let mut next = None;
    for line in (1..=file.lines.count()).rev() {
        below.push(next.unwrap_or(line));
        let text = file.lines.text(&file.text, line).trim_start();
        if !["//", "--", "#"].iter().any(|leader| text.starts_with(leader)) {
            next = Some(line);
        }
    }
    below.push(next.unwrap_or(0));
    below.reverse();
    below
}

/// The last line of the spans that begin on a line.
fn last_lines(spans: impl Iterator<Item = Span>, file: &SourceFile) -> BTreeMap<u32, u32> {
    let mut lines: BTreeMap<u32, u32> = BTreeMap::new();
    for span in spans.filter(|span| span.file == file.id) {
        let last = lines.entry(file.lines.line(span.start)).or_default();
        *last = (*last).max(file.lines.line(span.end));
    }
    lines
}

/// The spans of what a file's bodies do.
fn operations<'p>(file: &SourceFile, program: &'p Program) -> impl Iterator<Item = Span> + use<'p> {
    let id = file.id;
    let bodies = program.bodies.iter().filter(move |body| body.file == id);
    bodies.flat_map(|body| {
        let results = body.body.calls().filter_map(|(_, _, call)| body.body.value(call.result));
        body.body.ops.iter().map(|op| op.span).chain(results.map(|result| result.span))
    })
}

/// The spans of a file's items.
fn items(file: &SourceFile, program: &Program) -> Vec<Span> {
    let Some(index) = program.index(file.id) else { return Vec::new() };
    let functions = index.functions.iter().map(|item| item.span);
    let constants = index.constants.iter().map(|item| item.span);
    let types = index.types.iter().map(|item| item.span);
    functions.chain(constants).chain(types).collect()
}
