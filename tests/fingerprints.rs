//! Fingerprints hold no line: fifty lines above every finding, another file name, another order of the
//! functions, and each finding of the fixtures keeps its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use leaselint::cli::check::lint;
use leaselint::config::{Confidence, Settings};
use leaselint::source::{Language, Tree};

use crate::fixtures;

/// A file of a project: path, language, text.
type File = (String, Language, String);

/// The findings of files: content part of each fingerprint, with rule, path and line.
fn prints(files: &[File], settings: &Settings) -> Vec<(String, &'static str, String, u32)> {
    let linted = lint(Arc::new(Tree::from_texts(files.to_vec())), settings.clone());
    let tree = &linted.program.tree;
    let print = |finding: &leaselint::finding::Finding| {
        let file = tree.file(finding.primary.file).unwrap();
        let content = finding.fingerprint.as_ref().unwrap().content.clone();
        (content, finding.rule, file.path.clone(), file.lines.line(finding.primary.start))
    };
    linted.filtered.shown.iter().map(print).collect()
}

/// What the findings of files are called, each with its file.
fn names(files: &[File], settings: &Settings) -> Vec<(String, String)> {
    named(prints(files, settings))
}

fn named(found: Vec<(String, &'static str, String, u32)>) -> Vec<(String, String)> {
    let mut names: Vec<_> =
        found.into_iter().map(|(content, _, path, _)| (path, content)).collect();
    names.sort();
    names
}

/// The files and settings of every case.
fn projects() -> Vec<(String, Vec<File>, Settings)> {
    let cases = fixtures::cases().into_values().flatten();
    let project = |case: std::path::PathBuf| {
        let (tree, settings) = fixtures::read(&case);
        let files = tree.files().iter();
        let files = files.map(|file| (file.path.clone(), file.language, file.text.clone()));
        let settings = Settings { min_confidence: Some(Confidence::Low), ..settings };
        (case.display().to_string(), files.collect(), settings)
    };
    cases.map(project).collect()
}

/// Where fifty blank lines may stand so that those from a line on move: above it, or above the comments
/// and attributes that speak for it.
fn gap_above(lines: &[&str], line: usize) -> usize {
    let belongs = |text: &str| {
        let text = text.trim_start();
        ["//", "--", "#["].iter().any(|begin| text.starts_with(begin))
    };
    (0..line).rev().take_while(|at| belongs(lines[*at])).last().unwrap_or(line)
}

/// The text with fifty lines above each of the given ones (0-based).
fn with_gaps(text: &str, findings: &[usize]) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let gaps: Vec<usize> = findings.iter().map(|line| gap_above(&lines, *line)).collect();
    let mut moved = String::new();
    for (at, line) in lines.iter().enumerate() {
        if gaps.contains(&at) {
            moved.push_str(&"\n".repeat(50));
        }
        moved.push_str(line);
    }
    moved
}

/// Compares names; what differs is told.
fn compare(
    case: &str,
    what: &str,
    before: &[(String, String)],
    after: &[(String, String)],
) -> Option<String> {
    let lost = before.iter().filter(|name| !after.contains(name)).count();
    let same = before == after;
    (!same).then(|| {
        format!(
            "{case}: {what}: {lost} of {} have another name, {} found",
            before.len(),
            after.len()
        )
    })
}

#[test]
fn fifty_lines_above_every_finding_change_no_name() {
    crate::on_large_stack(|| {
        let (mut told, mut count) = (Vec::new(), 0);
        for (case, files, settings) in projects() {
            let found = prints(&files, &settings);
            count += found.len();
            let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (_, _, path, line) in &found {
                by_file.entry(path).or_default().push(*line as usize - 1);
            }
            let moved: Vec<File> = files
                .iter()
                .map(|(path, language, text)| {
                    let lines = by_file.get(path.as_str()).map_or(&[][..], Vec::as_slice);
                    (path.clone(), *language, with_gaps(text, lines))
                })
                .collect();
            let after = prints(&moved, &settings);
            let shifted = after.iter().all(|(.., line)| *line > 50);
            if !shifted && found.len() == after.len() {
                told.push(format!("{case}: a finding did not move"));
            }
            told.extend(compare(&case, "50 lines", &named(found), &named(after)));
        }
        assert!(count > 300, "only {count} findings");
        assert!(told.is_empty(), "{}", told.join("\n"));
    });
}

/// The files with one of them under another name, which the others know; `None` for a name that means
/// something.
fn renamed(files: &[File], index: usize) -> Option<Vec<File>> {
    let (path, language, _) = &files[index];
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.')?;
    let fixed = ["lib", "main", "mod", "build"].contains(&stem) && files.len() > 1;
    if fixed || *language == Language::Other {
        return None;
    }
    // Migrations run in the order of their names.
    let new = format!("{stem}_anew");
    let slash = if folder.is_empty() { "" } else { "/" };
    let new_path = format!("{folder}{slash}{new}.{extension}");
    let mut files = files.to_vec();
    for file in &mut files {
        file.2 = match language {
            // The module keeps its name, and its folder.
            Language::Rust => {
                let by_path = format!("#[path = \"{new}.{extension}\"] mod {stem};");
                file.2.replace(&format!("mod {stem};"), &by_path)
            }
            _ => file.2.replace(name, &format!("{new}.{extension}")),
        };
    }
    let inside = format!("{folder}{slash}{stem}/");
    if *language == Language::Rust && files.iter().any(|(path, ..)| path.starts_with(&inside)) {
        return None;
    }
    files[index].0 = new_path;
    Some(files)
}

#[test]
fn a_renamed_file_changes_no_name() {
    crate::on_large_stack(|| {
        let (mut told, mut count) = (Vec::new(), 0);
        for (case, files, settings) in projects() {
            let before = names(&files, &settings);
            for index in 0..files.len() {
                if !before.iter().any(|(path, _)| *path == files[index].0) {
                    continue;
                }
                let Some(after) = renamed(&files, index) else { continue };
                count += 1;
                let back = |(path, content): (String, String)| {
                    let old = if path == after[index].0 { files[index].0.clone() } else { path };
                    (old, content)
                };
                let mut found: Vec<_> = names(&after, &settings).into_iter().map(back).collect();
                found.sort();
                told.extend(compare(&case, &after[index].0, &before, &found));
            }
        }
        assert!(count > 100, "only {count} files were renamed");
        assert!(told.is_empty(), "{}", told.join("\n"));
    });
}

/// The text with its functions of no indent in the opposite order; `None` when it has not two. What stands
/// between them stays where it is.
fn reordered(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let heads =
        ["fn ", "pub fn ", "async fn ", "pub async fn ", "pub(crate) async fn ", "pub(crate) fn "];
    let begins = |line: &str| heads.iter().any(|head| line.starts_with(head));
    let mut parts: Vec<(bool, String)> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let own = gap_after(&lines, at);
        let Some(head) = own.filter(|head| lines.get(*head).is_some_and(|line| begins(line)))
        else {
            parts.push((false, lines[at].to_owned()));
            at += 1;
            continue;
        };
        let one_line = lines[head].trim_end().ends_with('}');
        let end = if one_line {
            head
        } else {
            (head..lines.len()).find(|line| lines[*line].trim_end() == "}")?
        };
        // A mark for the line above belongs to it.
        let marked = |line: &usize| {
            lines.get(*line).is_some_and(|text| text.trim_start().starts_with("//~^"))
        };
        let end = (end + 1..).take_while(marked).last().unwrap_or(end);
        parts.push((true, lines[at..=end].concat()));
        at = end + 1;
    }
    let functions: Vec<String> =
        parts.iter().filter(|(function, _)| *function).map(|(_, text)| text.clone()).collect();
    if functions.len() < 2 {
        return None;
    }
    let mut functions = functions.into_iter().rev();
    let part =
        |(function, text): (bool, String)| if function { functions.next().unwrap() } else { text };
    Some(parts.into_iter().map(part).collect())
}

/// The first line at or after one that is neither a comment nor an attribute.
fn gap_after(lines: &[&str], from: usize) -> Option<usize> {
    (from..lines.len()).find(|at| {
        let text = lines[*at].trim_start();
        !(text.starts_with("//") || text.starts_with("#["))
    })
}

#[test]
fn another_order_of_functions_changes_no_name() {
    crate::on_large_stack(|| {
        let (mut told, mut count) = (Vec::new(), 0);
        for (case, files, settings) in projects() {
            let found = prints(&files, &settings);
            if found.iter().any(|(_, rule, ..)| *rule == "syntax-error") {
                continue; // In a text that does not parse nothing says what a function is.
            }
            let mut after = files.clone();
            let mut any = false;
            for (_, language, text) in &mut after {
                // A region ends where it begins.
                let whole = *language == Language::Rust && !text.contains("#![");
                if let Some(other) = whole.then(|| reordered(text)).flatten() {
                    any |= other != *text;
                    *text = other;
                }
            }
            if any {
                count += 1;
                told.extend(compare(&case, "reordered", &named(found), &names(&after, &settings)));
            }
        }
        assert!(count > 100, "only {count} files were reordered");
        assert!(told.is_empty(), "{}", told.join("\n"));
    });
}

/// A function that takes a lease, and one that deletes it twice.
const TWICE: &str = "\
pub fn take(con: &mut redis::Connection, token: &str) -> redis::RedisResult<bool> {
    redis::cmd(\"SET\").arg(\"lock:a\").arg(token).arg(\"NX\").arg(\"PX\").arg(1000).query(con)
}
pub fn free(con: &mut redis::Connection, quick: bool) -> redis::RedisResult<()> {
    if quick {
        return redis::cmd(\"DEL\").arg(\"lock:a\").query(con);
    }
    redis::cmd(\"DEL\").arg(\"lock:a\").query(con)
}
";

#[test]
fn two_equal_findings_in_one_function_stay_two() {
    let names = |text: String| {
        let files = [("src/a.rs".to_owned(), Language::Rust, text)];
        let found = prints(&files, &Settings::default());
        found.into_iter().map(|(content, ..)| content).collect::<Vec<_>>()
    };
    let two = names(TWICE.to_owned());
    assert_eq!(two.len(), 2);
    assert_ne!(two[0], two[1]);
    assert_eq!(names(with_gaps(TWICE, &[5, 7])), two);
    assert_eq!(names(reordered(TWICE).unwrap()), two);
    // One is mended: what is left is one of the two.
    let one = names(
        TWICE.replace("return redis::cmd(\"DEL\").arg(\"lock:a\").query(con);", "return Ok(());"),
    );
    assert_eq!(one, two[..1]);
}
