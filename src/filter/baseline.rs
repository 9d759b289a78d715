//! The baseline: findings that were there when leaselint came, by fingerprint.
//!
//! A line is an entry, in JSON; lines are sorted, and no line hangs on another, so two branches merge
//! line by line. An entry stands for a finding of its fingerprint in its file, or in any file once its own
//! is gone: lines may move and files be renamed. One that stands for nothing any more is stale, and told.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::config::Settings;
use crate::filter::Filtered;
use crate::finding::{Finding, number};
use crate::rules::{self, stale_baseline};
use crate::source::{SourceFile, Tree, fold};

/// The first line of a baseline. The number grows when fingerprints are made of other things.
const HEADER: &str = "{\"leaselint-baseline\":1}";

/// One finding that is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The path of its file, from the folder of the baseline.
    pub path: String,
    /// Its rule.
    pub rule: String,
    /// The function around it: for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The content part of its fingerprint.
    pub fingerprint: String,
}

/// A baseline that was read.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// Its entries, and the 1-based lines they stand on.
    pub entries: Vec<(Entry, u32)>,
}

/// Why a baseline can't be read: the line, and what is wrong with it.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    /// 1-based.
    pub line: u32,
    /// One sentence without a full stop.
    pub message: String,
}

/// Where paths of entries and of reports count from: two absolute folders, `/` between parts.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The folder of the baseline.
    pub home: String,
    /// The folder that paths in reports are relative to.
    pub root: String,
}

/// What a run can tell of an entry that it did not meet.
pub struct Reach<'r> {
    /// Whether there is a file at a path of an entry.
    pub exists: &'r dyn Fn(&str) -> bool,
    /// Whether a path of the tree lies under those that were linted.
    pub covers: &'r dyn Fn(&str) -> bool,
}

/// What became of the entries.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Those that stand for nothing any more, by position.
    pub stale: Vec<usize>,
    /// Those whose finding is in another file now, and its path.
    pub renamed: BTreeMap<usize, String>,
}

/// Reads the text of a baseline, in any order; blank lines and repeated ones do no harm.
///
/// # Errors
/// When a line is neither the header nor an entry.
pub fn parse(text: &str) -> Result<Baseline, Mistake> {
    let mut baseline = Baseline::default();
    let mut headed = false;
    let mut seen = BTreeSet::new();
    for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
        let line = line.trim();
        let mistake = |message: String| Mistake { line: number, message };
        if line.is_empty() {
            continue;
        }
        if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|mark| line.starts_with(mark)) {
            let message = "a conflict is left from a merge: keep the lines of both sides";
            return Err(mistake(message.to_owned()));
        }
        if line == HEADER {
            headed = true;
            continue;
        }
        if line.starts_with("{\"leaselint-baseline\"") {
            let message = "made by another version: write it again with --write-baseline";
            return Err(mistake(message.to_owned()));
        }
        let entry: Entry =
            serde_json::from_str(line).map_err(|error| mistake(format!("no entry: {error}")))?;
        if seen.insert(entry.clone()) {
            baseline.entries.push((entry, number));
        }
    }
    if !headed {
        let message = format!("no baseline: the line `{HEADER}` is missing");
        return Err(Mistake { line: 1, message });
    }
    Ok(baseline)
}

/// The text of a baseline.
#[must_use]
pub fn print(mut entries: Vec<Entry>) -> String {
    entries.sort();
    entries.dedup();
    let lines = entries.iter().filter_map(|entry| serde_json::to_string(entry).ok());
    let lines = std::iter::once(HEADER.to_owned()).chain(lines);
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// The entries of findings.
#[must_use]
pub fn entries(findings: &[Finding], tree: &Tree, folders: &Folders) -> Vec<Entry> {
    findings.iter().filter_map(|finding| entry(finding, tree, folders)).collect()
}

fn entry(finding: &Finding, tree: &Tree, folders: &Folders) -> Option<Entry> {
    Some(Entry {
        path: folders.to_entry(&tree.file(finding.primary.file)?.path),
        rule: finding.rule.to_owned(),
        function: finding.function.clone(),
        fingerprint: finding.fingerprint.as_ref()?.content.clone(),
    })
}

impl Folders {
    /// The path of a file of the tree, from the folder of the baseline.
    #[must_use]
    pub fn to_entry(&self, path: &str) -> String {
        let whole = format!("{}/{path}", self.root);
        let parts: Vec<&str> = whole.split('/').filter(|part| !part.is_empty()).collect();
        let home: Vec<&str> = self.home.split('/').filter(|part| !part.is_empty()).collect();
        let same = parts.iter().zip(&home).take_while(|(one, other)| one == other).count();
        let up = std::iter::repeat_n("..", home.len() - same);
        up.chain(parts.into_iter().skip(same)).collect::<Vec<_>>().join("/")
    }

    /// The path in the tree of a path from the folder of the baseline; `None` when it lies outside
    /// of the root.
    #[must_use]
    pub fn to_tree(&self, path: &str) -> Option<String> {
        let whole = fold(&format!("{}/{path}", self.home))?;
        let root = fold(&self.root)?;
        if root.is_empty() {
            return Some(whole);
        }
        whole.strip_prefix(&root)?.strip_prefix('/').map(str::to_owned)
    }
}

impl Baseline {
    /// Takes the known findings out of those to be shown, and says what became of the entries.
    #[must_use]
    pub fn apply(
        &self,
        filtered: &mut Filtered,
        tree: &Tree,
        folders: &Folders,
        reach: &Reach<'_>,
        settings: &Settings,
    ) -> Outcome {
        let shown = std::mem::take(&mut filtered.shown);
        let today: Vec<Option<Entry>> = shown
            .iter()
            .chain(&filtered.hidden)
            .map(|finding| entry(finding, tree, folders))
            .collect();
        let mut known = vec![false; today.len()];
        let mut met = vec![false; self.entries.len()];
        let mut renamed = BTreeMap::new();
        let gone: Vec<bool> = self
            .entries
            .iter()
            .map(|(entry, _)| {
                let read =
                    folders.to_tree(&entry.path).is_some_and(|path| tree.at(&path).is_some());
                !read && !(reach.exists)(&entry.path)
            })
            .collect();
        self.meet(&today, &mut known, |at, today, entry| {
            let same = today.path == entry.path;
            if same && let Some(met) = met.get_mut(at) {
                *met = true;
            }
            same
        });
        self.meet(&today, &mut known, |at, today, _| {
            let free = gone.get(at) == Some(&true) && met.get(at) == Some(&false);
            if free && let Some(met) = met.get_mut(at) {
                *met = true;
                renamed.insert(at, today.path.clone());
            }
            free
        });
        for (finding, known) in shown.into_iter().zip(known) {
            if known { filtered.known += 1 } else { filtered.shown.push(finding) }
        }
        let judged = |at: &usize| {
            let Some((entry, _)) = self.entries.get(*at) else { return false };
            let ran = rules::find(&entry.rule).is_none_or(|rule| rule.is_active(settings));
            let path = folders.to_tree(&entry.path);
            let read = path.as_deref().is_some_and(|path| tree.at(path).is_some());
            let missed =
                gone.get(*at) == Some(&true) && path.is_some_and(|path| (reach.covers)(&path));
            ran && (read || missed)
        };
        let unmet = met.iter().enumerate().filter(|(_, met)| !**met).map(|(at, _)| at);
        Outcome { stale: unmet.filter(judged).collect(), renamed }
    }

    /// Marks the findings for which an entry of the same fingerprint stands.
    fn meet(
        &self,
        today: &[Option<Entry>],
        known: &mut [bool],
        mut stands: impl FnMut(usize, &Entry, &Entry) -> bool,
    ) {
        let mut by_print: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, (entry, _)) in self.entries.iter().enumerate() {
            by_print.entry(&entry.fingerprint).or_default().push(at);
        }
        for (today, known) in today.iter().zip(known).filter(|(_, known)| !**known) {
            let Some(today) = today else { continue };
            for at in by_print.get(today.fingerprint.as_str()).into_iter().flatten() {
                let Some((entry, _)) = self.entries.get(*at) else { continue };
                if entry.rule == today.rule && stands(*at, today, entry) {
                    *known = true;
                    break;
                }
            }
        }
    }

    /// The entries that are left without the stale ones, those of renamed files under their new path.
    #[must_use]
    pub fn pruned(&self, outcome: &Outcome) -> Vec<Entry> {
        let left = self.entries.iter().enumerate().filter(|(at, _)| !outcome.stale.contains(at));
        left.map(|(at, (entry, _))| {
            let path = outcome.renamed.get(&at).unwrap_or(&entry.path).clone();
            Entry { path, ..entry.clone() }
        })
        .collect()
    }
}

/// Reports stale entries, on their lines in the file of the baseline.
pub fn report_stale(
    baseline: &Baseline,
    stale: &[usize],
    file: &SourceFile,
    tree: &Tree,
    settings: &Settings,
    filtered: &mut Filtered,
) {
    if !stale_baseline::RULE.is_active(settings) {
        return;
    }
    let mut findings = Vec::new();
    for (entry, line) in stale.iter().filter_map(|at| baseline.entries.get(*at)) {
        let start = file.lines.start(*line).unwrap_or(0) as usize;
        let span = file.range(start, start + file.lines.text(&file.text, *line).len());
        let within = entry.function.as_deref().map(|name| format!(" in `{name}`"));
        let within = within.unwrap_or_default();
        let message = format!(
            "the baseline knows `{}`{within} of {}, and it is gone",
            entry.rule, entry.path
        );
        let finding = stale_baseline::RULE.finding(span, message);
        let finding = finding.help("remove the line, or let `--prune-baseline` do it");
        let subject = format!("{} {} {}", entry.rule, entry.path, entry.fingerprint);
        findings.push(finding.subject(subject));
    }
    number(&mut findings, tree);
    findings.into_iter().for_each(|finding| filtered.sort_in(finding, settings));
}

#[cfg(test)]
mod tests;
