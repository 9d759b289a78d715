//! The first step of the Rust front-end: what a file declares.
//!
//! The file is parsed once, walked once, and dropped: the index keeps byte ranges and names. What
//! the parser refuses is cut into items and read piece by piece.

use super::read::{Refusal, read};
use super::recover::{nothing_saved, recover};
use super::span::{self, Place};
use super::{module, role};
use crate::ir::body::Problem;
use crate::ir::index::FileIndex;
use crate::source::{SourceFile, Span, Tree};
use walk::{Around, Walker};

mod declarations;
pub(super) mod expand;
mod functions;
mod imports;
mod macros;
mod tables;
mod walk;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

/// Most problems that are told one by one.
const MOST_PROBLEMS: usize = 50;

/// Items, names and headers of a file. Uses at most a worker thread's stack, whatever the text.
pub(crate) fn index(file: &SourceFile, tree: &Tree) -> FileIndex {
    let mut index = FileIndex::new(file.id);
    index.module = module::module_path(file, tree);
    index.role = role::of_path(&file.path);
    let base = span::head_length(file);
    let text = file.text.get(base..).unwrap_or("");
    let base = u32::try_from(base).unwrap_or(u32::MAX);
    let place = Place { file: file.id, base, made: None };
    let (parsed, refusals) = parse(text);
    index.problems = problems(refusals, &place);
    if let Some(parsed) = parsed {
        let around = Around::file(&index, &parsed.attrs, file, &place);
        let mut walker = Walker { file, tree, place, index };
        walker.items(&parsed.items, &around);
        index = walker.index;
    }
    // Spans can't be read from here on; nothing of the tree is left.
    proc_macro2::extra::invalidate_current_thread_spans();
    index
}

/// The whole file, or what can be saved of it.
fn parse(text: &str) -> (Option<syn::File>, Vec<Refusal>) {
    let refusal = match read::<syn::File>(text) {
        Ok(parsed) => return (Some(parsed), Vec::new()),
        Err(refusal) => refusal,
    };
    let (kept, lost) = recover(text);
    match read::<syn::File>(&kept) {
        Ok(parsed) => (Some(parsed), lost),
        Err(_) => (None, vec![nothing_saved(refusal)]),
    }
}

/// What was lost, in the order of the text; past a bound, one line for all the rest.
fn problems(refusals: Vec<Refusal>, place: &Place) -> Vec<Problem> {
    let mut all: Vec<Problem> = refusals.into_iter().map(|one| problem(one, place)).collect();
    all.sort();
    if all.len() > MOST_PROBLEMS {
        let rest = all.len() - MOST_PROBLEMS;
        all.truncate(MOST_PROBLEMS);
        if let Some(last) = all.last().cloned() {
            let message = format!("{rest} more parts of this file were not read");
            all.push(Problem { message, ..last });
        }
    }
    all
}

fn problem(refusal: Refusal, place: &Place) -> Problem {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX).saturating_add(place.base);
    let span = Span::new(place.file, offset(refusal.at.start), offset(refusal.at.end));
    Problem { span, message: refusal.reason, kind: refusal.kind }
}
