//! Which place a finding is shown at, and what was there before.

use std::sync::Arc;

use super::*;
use crate::config::Settings;
use crate::finding::{Step, number};
use crate::rules;
use crate::source::{FileId, Language};

const TEXT: &str = "fn one() {\n    a();\n    b();\n}\nfn two() {\n    c();\n    d();\n}\n";

fn tree(text: &str) -> Tree {
    Tree::from_texts(vec![("src/a.rs".into(), Language::Rust, text.into())])
}

/// The span of a call, by its letter.
fn at(text: &str, letter: char) -> Span {
    let start = u32::try_from(text.find(&format!("{letter}()")).unwrap()).unwrap();
    Span::new(FileId(0), start, start + 3)
}

/// A finding at a call, with a step at each letter.
fn finding(text: &str, letters: &str) -> Finding {
    let mut letters = letters.chars();
    let primary = at(text, letters.next().unwrap());
    let steps = letters.map(|letter| Step { span: at(text, letter), message: letter.into() });
    rules::find("unconditional-del").unwrap().finding(primary, "x").steps(steps)
}

/// What is shown of findings, as the letter of its place, when a diff leads to a text; `before` are the
/// findings of the text that it comes from.
fn shown(hunks: &str, text: &str, findings: &[&str], before: &[&str]) -> String {
    let diff = format!("--- a/src/a.rs\n+++ b/src/a.rs\n{hunks}");
    let diff = diff::read(diff.as_bytes(), &|_| true).unwrap();
    let tree = tree(text);
    let places = Places { root: None, top: None, exact: false };
    let changes = Changes::new(&diff, &tree, &places);
    assert_eq!(changes.unfit, None);
    let numbered = |tree: &Tree, findings: &[&str]| {
        let text = tree.text("src/a.rs").unwrap().to_owned();
        let mut all: Vec<_> = findings.iter().map(|letters| finding(&text, letters)).collect();
        number(&mut all, tree);
        all
    };
    let mut filtered = Filtered { shown: numbered(&tree, findings), ..Filtered::default() };
    let program = Program::build(Arc::new(tree), Settings::default());
    changes.apply(&mut filtered, &program, &|old| numbered(&old, before));
    assert_eq!(filtered.outside, findings.len() - filtered.shown.len());
    let letter = |finding: &Finding| text[finding.primary.start as usize..].chars().next().unwrap();
    filtered.shown.iter().map(letter).collect()
}

#[test]
fn a_finding_goes_to_the_line_that_was_written() {
    let hunk = "@@ -7 +7 @@\n-    e();\n+    d();\n";
    assert_eq!(shown(hunk, TEXT, &["d", "c"], &["c"]), "d");
    assert_eq!(shown(hunk, TEXT, &["aabd"], &[]), "d");
    // Its own line first; then what comes after it on the way, then what comes before.
    let two = "@@ -2,2 +2,2 @@\n-    x();\n-    y();\n+    a();\n+    b();\n@@ -7 +7 @@\n-    e();\n+    d();\n";
    assert_eq!(shown(two, TEXT, &["dabd"], &[]), "d");
    assert_eq!(shown(two, TEXT, &["cacbd"], &[]), "b");
    assert_eq!(shown(two, TEXT, &["cabc"], &[]), "b");
}

#[test]
fn a_moved_finding_keeps_its_place_among_the_steps_and_its_name() {
    let mut moved = finding(TEXT, "abd");
    let steps: Vec<Step> = moved.steps.drain(..1).collect();
    moved.unshown = steps;
    moved.move_to(at(TEXT, 'b'));
    let spans: Vec<_> = moved.steps.iter().map(|step| step.span).collect();
    assert_eq!(spans, [at(TEXT, 'a'), at(TEXT, 'd'), at(TEXT, 'b')]);
    assert_eq!((moved.primary, moved.origin()), (at(TEXT, 'b'), at(TEXT, 'a')));
    moved.move_to(at(TEXT, 'd'));
    assert_eq!(moved.origin(), at(TEXT, 'a'), "the first place of all");
}

#[test]
fn what_moved_is_shown_when_it_was_not_there() {
    let text = "fn one() {\n    b();\n    a();\n}\n";
    let hunk = "@@ -2 +1,0 @@\n-    a();\n@@ -3,0 +3 @@\n+    a();\n";
    assert_eq!(shown(hunk, text, &["a"], &["a"]), "");
    assert_eq!(shown(hunk, text, &["a"], &[]), "a");
}

#[test]
fn what_went_is_felt_in_its_function_only() {
    let hunk = "@@ -3 +2,0 @@\n-    gone();\n";
    assert_eq!(shown(hunk, TEXT, &["a", "c"], &[]), "a");
    assert_eq!(shown(hunk, TEXT, &["a", "c"], &["a", "c"]), "");
    // Blank lines are nothing.
    let blank = "@@ -3 +2,0 @@\n-   \n";
    assert_eq!(shown(blank, TEXT, &["a"], &[]), "");
}

#[test]
fn the_text_before_is_known() {
    let hunks = |text: &str| {
        let diff = format!("--- a/x\n+++ b/x\n{text}");
        diff::read(diff.as_bytes(), &|_| true).unwrap().files.remove(0).hunks
    };
    let before = |today: &str, diff: &str| before::text(today, &hunks(diff));
    let both = "@@ -1,2 +1,2 @@\n-x\n+a\n b\n@@ -4,0 +5 @@\n+e\n";
    assert_eq!(before("a\nb\nc\nd\ne\n", both).as_deref(), Some("x\nb\nc\nd\n"));
    assert_eq!(before("a\r\nb\r\nc\r\nd\r\ne", both).as_deref(), Some("x\nb\r\nc\r\nd\r\n"));
    assert_eq!(before("a\nB\nc\nd\ne\n", both), None);
    assert_eq!(before("a\n", both), None);
    assert_eq!(before("", "@@ -1,2 +0,0 @@\n-a\n-b\n").as_deref(), Some("a\nb\n"));
    assert_eq!(before("a\n", "@@ -9 +9 @@\n-a\n+a\n"), None);
}
