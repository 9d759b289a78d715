//! One finding by hand, through every format: steps in two files, a span of two lines, letters of
//! more than one byte, and a name that would steer a terminal.

use expect_test::expect;

use super::{Format, Report, Statements, Style, clean, one_line, write};
use crate::config::Severity;
use crate::finding::{Finding, number};
use crate::rules;
use crate::source::{FileId, Language, Skipped, Span, Tree};

const RUST: &str = "fn gib_frei(schlüssel: &str) {\n    con\n        .del(schlüssel);\n}\n";
const LUA: &str = "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 9)\n";

fn tree() -> Tree {
    Tree::from_texts(vec![
        ("acquire\u{1b}.lua".into(), Language::Lua, LUA.into()),
        ("src/lock.rs".into(), Language::Rust, RUST.into()),
    ])
}

fn span(file: u32, text: &str, part: &str) -> Span {
    let start = u32::try_from(text.find(part).unwrap()).unwrap();
    Span::new(FileId(file), start, start + u32::try_from(part.len()).unwrap())
}

fn finding() -> Finding {
    let call = span(1, RUST, "con\n        .del(schlüssel)");
    let del = rules::find("unconditional-del").unwrap();
    del.finding(call, "`<schlüssel>` is deleted whoever holds it")
        .step(span(0, LUA, "redis.call"), "the lease is taken here")
        .step(span(1, RUST, "schlüssel"), "its key comes in here")
        .step(call, "and is deleted here")
        .help("compare and delete in one script")
        .subject("<schlüssel>")
        .function(Some("gib_frei".into()))
}

fn written(format: Format, findings: &[Finding], color: bool) -> String {
    let tree = tree();
    let skipped = [Skipped {
        path: "b.sql".into(),
        reason: "does not parse".into(),
        place: Some(crate::source::Position { line: 3, column: 1 }),
    }];
    let mut findings = findings.to_vec();
    number(&mut findings, &tree);
    let report = Report {
        findings: &findings,
        tree: &tree,
        base: "",
        files_url: None,
        skipped: &skipped,
        allowed: 1,
        hidden: 0,
        known: 0,
        outside: 0,
        statements: Statements::default(),
        unfollowed: None,
    };
    let mut out = Vec::new();
    write(format, &report, Style { color, ..Style::default() }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn people_see_the_code_and_every_step() {
    expect![[r#"
        unconditional-del

          × error: `<schlüssel>` is deleted whoever holds it
           ╭─[src/lock.rs:2:5]
         1 │     fn gib_frei(schlüssel: &str) {
           ·                 ────┬────
           ·                     ╰── 2. its key comes in here
         2 │ ╭─▶     con
         3 │ ├─▶         .del(schlüssel);
           · ╰──── 3. and is deleted here
         4 │     }
           ╰────
          help: compare and delete in one script
                see: https://github.com/leaselint/leaselint/blob/main/rules/unconditional-del.md

          ☞ 1. the lease is taken here
           ╭─[acquire\u{1b}.lua:1:8]
         1 │ return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 9)
           ·        ──────────
           ╰────

        not linted in full: b.sql:3:1: does not parse
        1 error in 2 files (1 allowed)
    "#]]
    .assert_eq(&written(Format::Human, &[finding()], false));
}

#[test]
fn programs_get_every_field() {
    expect![[r#"
        {
          "version": 1,
          "findings": [
            {
              "rule": "unconditional-del",
              "severity": "error",
              "confidence": "high",
              "path": "src/lock.rs",
              "line": 2,
              "column": 5,
              "end_line": 3,
              "end_column": 24,
              "message": "`<schlüssel>` is deleted whoever holds it",
              "help": "compare and delete in one script",
              "steps": [
                {
                  "path": "acquire\u001b.lua",
                  "line": 1,
                  "column": 8,
                  "end_line": 1,
                  "end_column": 18,
                  "message": "the lease is taken here"
                },
                {
                  "path": "src/lock.rs",
                  "line": 1,
                  "column": 13,
                  "end_line": 1,
                  "end_column": 22,
                  "message": "its key comes in here"
                },
                {
                  "path": "src/lock.rs",
                  "line": 2,
                  "column": 5,
                  "end_line": 3,
                  "end_column": 24,
                  "message": "and is deleted here"
                }
              ],
              "fixes": [],
              "fingerprint": "c7d8d836c36ccb42b705d50230a80639:9ce4c5920c454f1b",
              "function": "gib_frei",
              "url": "https://github.com/leaselint/leaselint/blob/main/rules/unconditional-del.md"
            }
          ],
          "summary": {
            "files": 2,
            "errors": 1,
            "warnings": 0,
            "notes": 0,
            "allowed": 1,
            "hidden": 0,
            "known": 0,
            "outside": 0,
            "statements": 0,
            "statements_read": 0
          },
          "skipped": [
            {
              "path": "b.sql",
              "reason": "does not parse",
              "line": 3
            }
          ]
        }
    "#]]
    .assert_eq(&written(Format::Json, &[finding()], false));
}

#[test]
fn a_place_that_is_not_there_is_no_panic() {
    let nowhere = Span::new(FileId(9), 5, 9);
    let past_the_end = Span::new(FileId(1), 9000, 9001);
    let within_a_letter = span(1, RUST, "ü");
    let within_a_letter = Span { start: within_a_letter.start + 1, ..within_a_letter };
    for primary in [nowhere, past_the_end, within_a_letter] {
        let mut odd = Finding { primary, severity: Severity::Note, ..finding() };
        odd.steps.push(crate::finding::Step { span: past_the_end, message: "there".into() });
        for format in [Format::Human, Format::Json] {
            assert!(written(format, &[odd.clone()], true).contains("whoever holds it"));
        }
    }
}

/// What people see of one finding in `a.lua`.
fn shown_in(text: &str, finding: Finding) -> String {
    let tree = Tree::from_texts(vec![("a.lua".into(), Language::Lua, text.into())]);
    let report = Report {
        findings: &[finding],
        tree: &tree,
        base: "",
        files_url: None,
        skipped: &[],
        allowed: 0,
        hidden: 0,
        known: 0,
        outside: 0,
        statements: Statements::default(),
        unfollowed: None,
    };
    let mut out = Vec::new();
    write(Format::Human, &report, Style::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_long_line_is_shown_in_part() {
    let text = format!(
        "return '{}' .. redis.call('DEL', KEYS[1]) .. '{}'",
        "a".repeat(5000),
        "b".repeat(5000)
    );
    let del = rules::find("unconditional-del").unwrap();
    let finding = del.finding(span(0, &text, "redis.call"), "deleted").help("compare");
    let out = shown_in(&text, finding);
    assert!(out.contains("redis.call") && out.len() < 2000, "{}: {out}", out.len());
    assert!(out.contains("[a.lua:1:5014]"), "{out}");
}

#[test]
fn labels_far_apart_on_one_line_get_frames_of_their_own() {
    let text = format!("taken(){}freed()\nnext\n", " ".repeat(70_000));
    let del = rules::find("unconditional-del").unwrap();
    let finding = || {
        let finding = del.finding(span(0, &text, "freed()"), "deleted");
        finding.step(span(0, &text, "taken()"), "taken here")
    };
    let out = shown_in(&text, finding());
    assert!(out.contains("taken here") && out.contains("[a.lua:1:70008]"), "{out}");
    assert!(out.len() < 4000, "{}", out.len());
    let whole = Span::new(FileId(0), 0, u32::try_from(text.len()).unwrap());
    let late = Span { start: 69_000, ..whole };
    for wide in [whole, late, Span { end: 70_010, ..whole }] {
        let out = shown_in(&text, finding().step(wide, "over all"));
        assert!(out.contains("over all") && out.contains("taken here"), "{out}");
        assert!(out.len() < 20_000, "{}", out.len());
    }
}

#[test]
fn names_and_sentences_stay_on_their_line() {
    assert_eq!(
        one_line("a\r\nb\t\u{1b}[0m\u{2028}\u{200b}é"),
        r"a\r\nb\t\u{1b}[0m\u{2028}\u{200b}é"
    );
    let del = rules::find("unconditional-del").unwrap();
    let text = "del\rerror\u{2028}x\r\n";
    let finding = del.finding(span(0, text, "del"), "`a\nerror: forged`").help("b\nforged");
    let out = shown_in(text, finding.step(span(0, text, "x"), "c\nforged"));
    let starts = |word: &str| out.lines().any(|line| line.trim_start().starts_with(word));
    assert!(!starts("forged") && !starts("error: forged"), "{out}");
    assert!(!out.contains(['\r', '\u{2028}']), "{out:?}");
}

#[test]
fn controls_become_marks_of_the_same_length() {
    let text = "a\u{1b}[31m\u{9b}b\u{202e}\tc\n";
    let shown = clean(text);
    assert_eq!(shown, "a?[31m¿b\u{fffd}\tc\n");
    assert_eq!(shown.len(), text.len());
}
