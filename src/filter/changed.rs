//! Changed lines: which findings are those of a change.
//!
//! A finding is in when any of its places is on a line that the change wrote, and its primary place
//! moves there. Two kinds of lines say less: one that the change only *moved* (it is gone elsewhere in
//! the same words), and one whose function lost or got others. There the finding is in if it was not
//! there before: the texts before the change are known from the diff, so that can be asked. A release
//! that was deleted is told that way, and a function that went to another file unchanged is not. A diff
//! that does not fit the files says nothing of before: then moved lines count as written.

use std::collections::{BTreeMap, BTreeSet};

use crate::filter::Filtered;
use crate::finding::Finding;
use crate::link::Program;
use crate::rules::stale_baseline;
use crate::source::{Span, Tree};

/// Findings of the texts before, and which of today's are none of theirs.
mod before;
/// Unified diffs.
pub mod diff;
/// Names in diffs and paths in trees.
mod places;

pub use places::Places;

use diff::{Diff, FileDiff, Hunk, Kind};

/// What a change did to the files of a tree.
#[derive(Debug, Default)]
pub struct Changes {
    files: BTreeMap<String, Change>,
    /// What turns the tree into the one before: texts by path, `None` for a file that was not there.
    undo: BTreeMap<String, Option<String>>,
    /// Whether all texts before are known.
    undoable: bool,
    /// The first file that is not as the diff says it is: its path.
    pub unfit: Option<String>,
}

/// What a change did to one file.
#[derive(Debug, Default)]
struct Change {
    /// Lines that it wrote.
    written: Lines,
    /// Lines that went from one place to another.
    moved: Lines,
    /// Where lines went away: the line before, 0 for the beginning.
    lost: Vec<u32>,
    /// What the file was called, if it was there.
    old: Option<String>,
}

/// Line numbers, 1-based, in ascending order.
#[derive(Debug, Default)]
enum Lines {
    #[default]
    None,
    Some(Vec<u32>),
    All,
}

impl Lines {
    fn push(&mut self, line: u32) {
        match self {
            Self::None => *self = Self::Some(vec![line]),
            Self::Some(lines) => lines.push(line),
            Self::All => {}
        }
    }

    /// Whether one of them is among `first..=last`.
    fn meet(&self, first: u32, last: u32) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Some(lines) => {
                let from = lines.partition_point(|line| *line < first);
                lines.get(from).is_some_and(|line| *line <= last)
            }
        }
    }
}

impl Changes {
    /// What a diff says of a tree that is as it is after the change.
    #[must_use]
    pub fn new(diff: &Diff, tree: &Tree, places: &Places) -> Self {
        let mut changes = Self { undoable: true, ..Self::default() };
        let gone = removed_texts(diff);
        for file in &diff.files {
            changes.take(file, tree, places, &gone);
        }
        changes
    }

    /// Takes a file that no version before has: every line of it is written.
    pub fn take_new(&mut self, path: String) {
        self.undo.insert(path.clone(), None);
        self.files.insert(path, Change { written: Lines::All, ..Change::default() });
    }

    fn take(&mut self, file: &FileDiff, tree: &Tree, places: &Places, gone: &BTreeSet<&str>) {
        let found = places.find(file, tree);
        let Some(new) = found.new else {
            // Deleted, or no file of this run.
            if let Some(old) = found.old.filter(|_| file.new.is_none()) {
                self.undo.entry(old).or_insert_with(|| Some(removed(&file.hunks)));
            }
            return;
        };
        let mut change = Change { old: found.old, ..Change::default() };
        if file.copied {
            change.written = Lines::All;
        }
        file.hunks.iter().for_each(|hunk| change.take(hunk, gone));
        let text = tree.text(&new).unwrap_or_default();
        let before = if file.copied { None } else { before::text(text, &file.hunks) };
        match (&change.old, before) {
            _ if file.copied => {
                self.undo.insert(new.clone(), None);
            }
            (None, Some(_)) => {
                self.undo.entry(new.clone()).or_insert(None);
            }
            (Some(old), Some(before)) => {
                if *old != new {
                    self.undo.entry(new.clone()).or_insert(None);
                }
                self.undo.insert(old.clone(), Some(before));
            }
            (_, None) => {
                self.undoable = false;
                if file.hunks.iter().all(|hunk| hunk.one_parent) {
                    self.unfit.get_or_insert(new.clone());
                }
            }
        }
        self.files.insert(new, change);
    }

    /// Keeps the findings that are those of the change, and counts the others. `before` lints the
    /// tree as it was; it is asked once at most, and only when that decides something.
    pub fn apply(
        &self,
        filtered: &mut Filtered,
        program: &Program,
        before: &dyn Fn(Tree) -> Vec<Finding>,
    ) {
        let all = std::mem::take(&mut filtered.shown);
        let mut kept = Vec::new();
        let mut doubtful = Vec::new();
        for (index, finding) in all.iter().enumerate() {
            if finding.rule == stale_baseline::RULE.id {
                kept.push(finding.clone());
            } else if let Some(moved) = self.on_written_lines(finding, program) {
                kept.push(moved);
            } else if let Some(place) = self.doubtful_place(finding, program) {
                doubtful.push((index, place));
            }
        }
        if self.undoable && !doubtful.is_empty() {
            let old = before(program.tree.edited(&self.undo));
            let known = before::known(&all, &old, &program.tree, &|path| self.old_path(path));
            for (index, place) in doubtful {
                let fresh = known.get(index) == Some(&false);
                if let Some(mut finding) = all.get(index).cloned().filter(|_| fresh) {
                    finding.move_to(place);
                    kept.push(finding);
                }
            }
        }
        filtered.outside += all.len() - kept.len();
        kept.sort_by_key(|finding| (finding.primary, finding.rule));
        filtered.shown = kept;
    }

    /// The finding, or what it stands for, moved to a line that was written.
    fn on_written_lines(&self, finding: &Finding, program: &Program) -> Option<Finding> {
        let written = |span: Span| {
            self.on(span, program, |change| &change.written)
                || !self.undoable && self.on(span, program, |change| &change.moved)
        };
        let at = |one: &Finding| place_of(one, &written);
        if let Some(place) = at(finding) {
            let mut finding = finding.clone();
            finding.move_to(place);
            return Some(finding);
        }
        let (other, place) = finding.alike.iter().find_map(|one| Some((one, at(one)?)))?;
        // In a run of everything it is the other that is shown, under its name.
        let mut other = other.clone();
        other.fingerprint.clone_from(&finding.fingerprint);
        other.move_to(place);
        Some(other)
    }

    /// Where a finding would be shown whose lines were only moved, or lie where others changed.
    fn doubtful_place(&self, finding: &Finding, program: &Program) -> Option<Span> {
        place_of(finding, &|span| {
            self.on(span, program, |change| &change.moved) || self.is_near(span, program)
        })
    }

    /// Whether a span meets some lines of its file's change.
    fn on(&self, span: Span, program: &Program, lines: impl Fn(&Change) -> &Lines) -> bool {
        let Some(file) = program.tree.file(span.file) else { return false };
        let Some(change) = self.files.get(&file.path) else { return false };
        let (first, last) = lines_of(span, program);
        lines(change).meet(first, last)
    }

    /// Whether the function around a span, or the file of one in no function, is not as it was.
    fn is_near(&self, span: Span, program: &Program) -> bool {
        let Some(file) = program.tree.file(span.file) else { return false };
        let Some(change) = self.files.get(&file.path) else { return false };
        let functions = program.index(span.file).into_iter().flat_map(|index| &index.functions);
        let around = functions.filter(|item| item.span.covers(span));
        let item = around.min_by_key(|item| item.span.end - item.span.start);
        // A script is one function, and so is the whole file.
        let (first, last) = item.map_or((1, u32::MAX), |item| lines_of(item.span, program));
        change.written.meet(first, last)
            || change.moved.meet(first, last)
            || change.lost.iter().any(|line| (first.saturating_sub(1)..=last).contains(line))
    }

    /// The path that a file had.
    fn old_path<'p>(&'p self, path: &'p str) -> &'p str {
        self.files.get(path).and_then(|change| change.old.as_deref()).unwrap_or(path)
    }
}

impl Change {
    fn take(&mut self, hunk: &Hunk, gone: &BTreeSet<&str>) {
        let mut next = if hunk.count == 0 { hunk.start.saturating_add(1) } else { hunk.start };
        for (kind, text) in &hunk.lines {
            let text = text.trim();
            match kind {
                Kind::Removed => {
                    if !text.is_empty() {
                        self.lost.push(next.saturating_sub(1));
                    }
                    continue;
                }
                Kind::Added if text.is_empty() => {}
                Kind::Added if gone.contains(text) => self.moved.push(next),
                Kind::Added => self.written.push(next),
                Kind::Kept => {}
            }
            next = next.saturating_add(1);
        }
    }
}

/// The texts of all lines that a diff takes away somewhere, without the blanks around them.
fn removed_texts(diff: &Diff) -> BTreeSet<&str> {
    let lines = diff.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines);
    lines.filter(|(kind, _)| *kind == Kind::Removed).map(|(_, text)| text.trim()).collect()
}

/// The text of a file that a diff deletes.
fn removed(hunks: &[Hunk]) -> String {
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
    let removed = lines.filter(|(kind, _)| *kind == Kind::Removed);
    removed.flat_map(|(_, text)| [text.as_str(), "\n"]).collect()
}

/// The first and last line of a span.
fn lines_of(span: Span, program: &Program) -> (u32, u32) {
    let Some(file) = program.tree.file(span.file) else { return (0, 0) };
    let last = span.end.max(span.start.saturating_add(1)).saturating_sub(1);
    (file.lines.line(span.start), file.lines.line(last))
}

/// Of the places of a finding the one to be shown at, if any is wanted: its own, or else the next one on
/// the way from it to where it ends, or else the nearest before it.
fn place_of(finding: &Finding, wanted: &dyn Fn(Span) -> bool) -> Option<Span> {
    if wanted(finding.primary) {
        return Some(finding.primary);
    }
    let own = finding.steps.iter().position(|step| step.span == finding.primary);
    let (before, after) = finding.steps.split_at_checked(own.unwrap_or(0))?;
    let steps = after.iter().chain(before.iter().rev()).chain(&finding.unshown);
    steps.map(|step| step.span).find(|span| wanted(*span))
}

#[cfg(test)]
mod tests;
