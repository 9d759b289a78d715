//! The texts before a change, and which findings of today were there already.

use std::collections::BTreeMap;

use super::diff::{Hunk, Kind};
use crate::finding::Finding;
use crate::source::Tree;

/// The text that a file had; `None` when the text of today is not the one that the hunks lead to.
pub fn text(today: &str, hunks: &[Hunk]) -> Option<String> {
    let lines: Vec<&str> = today.split_inclusive('\n').collect();
    let mut before = String::with_capacity(today.len());
    let mut next = 0;
    for hunk in hunks {
        let first = if hunk.count == 0 { hunk.start } else { hunk.start.checked_sub(1)? } as usize;
        before.extend(lines.get(next..first)?.iter().copied());
        next = first;
        if !hunk.one_parent {
            return None;
        }
        for (kind, text) in &hunk.lines {
            if *kind == Kind::Removed {
                before.push_str(text);
                before.push('\n');
                continue;
            }
            let line = lines.get(next)?;
            if !is_same(line, text, next == 0) {
                return None;
            }
            if *kind == Kind::Kept {
                before.push_str(line);
            }
            next += 1;
        }
    }
    before.extend(lines.get(next..)?.iter().copied());
    Some(before)
}

/// Whether a line of a file is that of a diff: line ends may differ, and a file that was read has no
/// byte order mark.
fn is_same(line: &str, text: &str, first: bool) -> bool {
    let line = line.trim_end_matches(['\n', '\r']);
    let text = if first { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
    line == text.trim_end_matches('\r')
}

/// Says of each finding of today whether it was there before: under the same fingerprint in the same
/// file, or in another (it went there with its function), or under the name of another function (that
/// What a finding is called, and where it is; the flag says whether it is one of today.
type Naming<'n> = &'n dyn Fn(&Finding, bool) -> (String, String);

/// was renamed). Each finding of before speaks for one of today.
pub fn known<'a>(
    today: &[Finding],
    before: &[Finding],
    tree: &'a Tree,
    old_path: &dyn Fn(&'a str) -> &'a str,
) -> Vec<bool> {
    let path = |finding: &Finding| {
        let file = tree.file(finding.primary.file);
        // The fingerprint's own way to say a path.
        let path = file.map_or("", |file| old_path(&file.path));
        crate::finding::Fingerprint::of_path(path)
    };
    let print = |finding: &Finding| finding.fingerprint.clone().unwrap_or_default();
    let mut left: Vec<Option<&Finding>> = before.iter().map(Some).collect();
    let mut known = vec![false; today.len()];
    let rounds: [Naming<'_>; 3] = [
        &|finding, now| {
            let print = print(finding);
            (print.content, if now { path(finding) } else { print.path })
        },
        &|finding, _| (print(finding).content, String::new()),
        &|finding, now| {
            let place = if now { path(finding) } else { print(finding).path };
            (format!("{}\0{}", finding.rule, finding.subject), place)
        },
    ];
    for (round, name) in rounds.iter().enumerate() {
        let mut open: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (at, finding) in left.iter().enumerate() {
            if let Some(finding) = finding {
                open.entry(name(finding, false)).or_default().push(at);
            }
        }
        for (finding, known) in today.iter().zip(&mut known).filter(|(_, known)| !**known) {
            if round == 2 && finding.subject.is_empty() {
                continue;
            }
            let found = open.get_mut(&name(finding, true)).filter(|found| !found.is_empty());
            if let Some(found) = found {
                let at = found.remove(0);
                *known = true;
                if let Some(taken) = left.get_mut(at) {
                    *taken = None;
                }
            }
        }
    }
    known
}
