//! What mends an allow comment: the rules in it that silence nothing go, and with the last of them the
//! comment; a name that is none of a rule becomes the nearest one that is.

use super::suppression::{State, Suppression};
use crate::finding::fix::{Applicability, Edit, Fix};
use crate::rules;
use crate::source::{SourceFile, Span};

/// A comment of more rules is mended by hand: each of them would come with the whole change.
const MOST_RULES: usize = 50;

/// Takes out of a comment whatever silences nothing. All that stands in one comment is given at once,
/// so that the same change mends each of it; `None` when nothing is to be taken out, or the places
/// in the file on disk are not known for sure.
pub fn removal(comment: &[Suppression], file: &SourceFile) -> Option<Fix> {
    let first = comment.first()?;
    let is_unused = |one: &&Suppression| one.state == State::Unused;
    let unused: Vec<Span> = comment.iter().filter(is_unused).map(|one| one.span).collect();
    if unused.is_empty() || comment.len() > MOST_RULES || !file.is_exact() {
        return None;
    }
    let edit = if unused.len() == comment.len() {
        Edit { span: whole(first.comment, file)?, text: String::new() }
    } else {
        without(&unused, comment, file)?
    };
    let title = if edit.text.is_empty() {
        "remove the allow comment"
    } else {
        "remove from the allow comment what silences nothing"
    };
    Some(fix(title.to_owned(), Applicability::Safe, edit))
}

/// Writes the nearest rule for a name that is none. What it then silences may not be what was meant.
pub fn renaming(suppression: &Suppression, file: &SourceFile) -> Option<Fix> {
    let near = rules::nearest(suppression.rule.as_deref()?)?;
    if !file.is_exact() {
        return None;
    }
    let edit = Edit { span: suppression.span, text: near.to_owned() };
    Some(fix(format!("write `{near}`"), Applicability::Unsafe, edit))
}

fn fix(title: String, applicability: Applicability, edit: Edit) -> Fix {
    Fix { title, applicability, edits: vec![edit] }
}

/// The list of a comment without some of its entries.
fn without(unused: &[Span], comment: &[Suppression], file: &SourceFile) -> Option<Edit> {
    let (first, last) = (comment.first()?, comment.last()?);
    let offset = |at: u32| at as usize;
    let before = file.text.get(offset(first.comment.start)..offset(first.span.start))?;
    let start = offset(first.comment.start) + before.rfind('(')? + 1;
    let after = file.text.get(offset(last.span.end)..offset(last.comment.end))?;
    let end = offset(last.span.end) + after.find(')')?;
    let (mut at, mut left) = (start, Vec::new());
    for entry in file.text.get(start..end)?.split(',') {
        let begins = at + entry.len() - entry.trim_start().len();
        if !unused.iter().any(|span| offset(span.start) == begins) {
            left.push(entry.trim());
        }
        at += entry.len() + 1;
    }
    Some(Edit { span: file.range(start, end), text: left.join(", ") })
}

/// What goes with a comment: its line, or the blanks between it and the code before it.
fn whole(comment: Span, file: &SourceFile) -> Option<Span> {
    let line = file.lines.line(comment.start);
    let start = file.lines.start(line)?;
    let before = file.text.get(start as usize..comment.start as usize)?;
    let code = u32::try_from(before.trim_end().len()).ok()?;
    if code > 0 {
        return Some(Span::new(comment.file, start + code, comment.end));
    }
    let size = u32::try_from(file.text.len()).ok()?;
    Some(Span::new(comment.file, start, file.lines.start(line + 1).unwrap_or(size)))
}
