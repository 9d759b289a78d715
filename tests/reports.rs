//! Every format on one set of findings that were made by hand, and on a clean run, against the files in
//! `tests/reports`. The reports and the sources they speak of are left in the folder for temporary
//! files of the target folder, where `.ci/reports` has other programs read them.
//!
//! The set has what renderers stumble over: steps in three files, spans of several lines, wide
//! characters, a tab, a byte order mark, every kind of line end, names with the signs of every format,
//! sentences and lines of code that would be commands, placeholders or links.

use std::path::{Path, PathBuf};

use leaselint::config::{Confidence, Severity};
use leaselint::finding::fix::{Applicability, Edit, Fix};
use leaselint::finding::{Finding, number};
use leaselint::report::{Format, Report, Statements, Style, write};
use leaselint::rules;
use leaselint::source::{Language, Position, Skipped, Span, Tree};
use serde_json::Value;

use crate::{package, updating};

/// A name with what URIs, workflow commands and XML give a meaning to.
const ODD_NAME: &str = "src/a, b: 100% [x];'ü'&.rs";

const RUST: &str = "\
pub fn gib_frei(schlüssel: &str) -> bool {
\tlet 鍵 = \"🔒全角\"; con.del(鍵);
    con
        .del(schlüssel)
        .is_ok()
}
// leaselint: allow(unconditional-del) -- nothing is deleted here
pub const TEXT: &str = \"
::error file=a.rs::forged\u{1b}[31m
##[error]forged ##vso[task.complete result=Failed;]
\";
";

const LUA: &str =
    "\u{feff}if redis.call('SET', KEYS[1], ARGV[1], 'NX') then\r\n  return 1\rend\r\n";

const SQL: &str = "CREATE TABLE stock (\n\tsku bigint PRIMARY KEY,\n\tamount bigint NOT NULL\n);\n";

fn texts() -> Vec<(String, Language, String)> {
    vec![
        ("migrations/1 stock.sql".into(), Language::Sql, SQL.into()),
        ("scripts/acquire.lua".into(), Language::Lua, LUA.into()),
        (ODD_NAME.into(), Language::Rust, RUST.into()),
    ]
}

/// The place of a part of a file.
fn span(tree: &Tree, path: &str, part: &str) -> Span {
    let file = tree.at(path).unwrap();
    let start = file.text.find(part).unwrap_or_else(|| panic!("{path} has no {part}"));
    file.range(start, start + part.len())
}

fn found(tree: &Tree) -> Vec<Finding> {
    let rule = |id: &str| rules::find(id).unwrap();
    let taken = span(tree, "scripts/acquire.lua", "redis.call('SET', KEYS[1], ARGV[1], 'NX')");
    let call = span(tree, ODD_NAME, "con\n        .del(schlüssel)");
    let comment =
        span(tree, ODD_NAME, "// leaselint: allow(unconditional-del) -- nothing is deleted here\n");
    let named = span(tree, ODD_NAME, "unconditional-del");
    let fix = |title: &str, applicability, span, text: &str| Fix {
        title: title.into(),
        applicability,
        edits: vec![Edit { span, text: text.into() }],
    };
    let mut all = vec![
        rule("setnx-without-expiry")
            .finding(taken, "`SET NX` gives `KEYS[1]` no expiry")
            .help("add `'PX', ARGV[2]`")
            .fix(fix("write `SETEX`", Applicability::Unsafe, taken, "return\n1")),
        rule("unconditional-del")
            .finding(span(tree, ODD_NAME, "del(鍵)"), "`DEL` deletes `全角` whoever holds it")
            .step(taken, "taken here"),
        rule("unconditional-del")
            .finding(call, "`DEL` deletes the lease `lock:{stock:<sku>}[0]\\` whoever holds it")
            .step(taken, "the lease [a] is taken here")
            .step(span(tree, "migrations/1 stock.sql", "stock"), "it guards `stock`")
            .step(span(tree, ODD_NAME, "schlüssel"), "its key comes in here")
            .step(call, "and is deleted here")
            .help("compare and delete in one script: `if x then return {} end`")
            .subject("lock:{stock:<sku>}")
            .function(Some("shop::gib_frei".into())),
        rule("unused-allow")
            .finding(named, "`unconditional-del` is not found here, so there is nothing to allow")
            .help("remove it from the allow comment")
            .fix(fix("remove the allow comment", Applicability::Safe, comment, "")),
        rule("pii-in-key")
            .finding(
                span(tree, ODD_NAME, "::error file=a.rs::forged\u{1b}[31m"),
                "a\n::error::b\r##[warning]c ##vso[task.x]d ##teamcity[e] 50% \u{1b}[31m \
                 <b>&\"' | ` ]]> {0} [l](1) @who #1 https://e.example \u{ffff}",
            )
            .severity(Severity::Note)
            .confidence(Confidence::Medium)
            .help("::stop-commands::x"),
    ];
    number(&mut all, tree);
    all
}

fn report(format: Format, findings: &[Finding], tree: &Tree, skipped: &[Skipped]) -> String {
    let report = Report {
        findings,
        tree,
        base: "",
        files_url: Some("https://forge.example/o/r/blob/0f1e/"),
        skipped,
        allowed: 1,
        hidden: 0,
        known: 0,
        outside: 0,
        statements: Statements { total: 1, read: 1 },
        unfollowed: None,
    };
    let mut out = Vec::new();
    write(format, &report, Style::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn skipped() -> Vec<Skipped> {
    vec![Skipped {
        path: "src/ä %.rs".into(),
        reason: "not UTF-8: invalid bytes were replaced, and the rest was linted".into(),
        place: Some(Position { line: 3, column: 7 }),
    }]
}

/// The ending by which other programs know a format.
fn ending(format: Format) -> &'static str {
    match format {
        Format::Human | Format::Short | Format::Github | Format::Azure | Format::Teamcity => "txt",
        Format::Json | Format::Gitlab | Format::Rdjson => "json",
        Format::Sarif => "sarif",
        Format::GithubSummary => "md",
        Format::Rdjsonl => "jsonl",
        Format::Junit | Format::Checkstyle => "xml",
    }
}

/// Puts a file into a folder that other programs look into.
fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Compares a report with the one that is kept.
fn compare(name: &str, text: &str, faults: &mut Vec<String>) {
    let kept: PathBuf = package().join("tests/reports").join(name);
    if updating() {
        put(&package().join("tests/reports"), name, text);
    } else if std::fs::read_to_string(&kept).ok().as_deref() != Some(text) {
        faults.push(format!("{name} is not as it was; `UPDATE=1 cargo test` writes it:\n{text}"));
    }
}

/// A SARIF log without the descriptions of all rules: those are on their pages.
fn without_rules(text: &str) -> String {
    let mut log: Value = serde_json::from_str(text).unwrap();
    let run = &mut log["runs"][0];
    run["tool"]["driver"]["rules"] = Value::Null;
    for result in run["results"].as_array_mut().unwrap() {
        result["ruleIndex"] = Value::Null;
    }
    format!("{log:#}\n")
}

#[test]
fn every_rule_is_described_as_code_scanning_wants_it() {
    let tree = Tree::from_texts(texts());
    let text = report(Format::Sarif, &found(&tree), &tree, &[]);
    let log: Value = serde_json::from_str(&text).unwrap();
    let run = &log["runs"][0];
    let described = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(described.len(), rules::RULES.len());
    for (rule, page) in described.iter().zip(rules::RULES) {
        assert_eq!(rule["id"], page.id);
        for key in ["shortDescription", "fullDescription"] {
            let length = rule[key]["text"].as_str().unwrap().chars().count();
            assert!((10..=1024).contains(&length), "{}: {key}", page.id);
        }
        for key in ["text", "markdown"] {
            let text = rule["help"][key].as_str().unwrap();
            assert!(text.starts_with(&format!("# {}\n", page.id)), "{}", page.id);
        }
        assert!(rule["properties"]["tags"].as_array().unwrap().len() <= 10, "{}", page.id);
    }
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(described[index]["id"], result["ruleId"]);
    }
}

#[test]
fn every_format_shows_what_was_found_and_that_nothing_was() {
    let tree = Tree::from_texts(texts());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports");
    for (path, _, text) in texts() {
        put(&folder.join("sources"), &path, &text);
    }
    let mut faults = Vec::new();
    for format in Format::ALL {
        let full = report(format, &found(&tree), &tree, &skipped());
        let clean = report(format, &[], &tree, &[]);
        for (what, text) in [("found", full), ("clean", clean)] {
            let name = format!("{what}-{}.{}", format.name(), ending(format));
            put(&folder, &name, &text);
            let kept = if format == Format::Sarif { without_rules(&text) } else { text };
            compare(&name, &kept, &mut faults);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A file whose name would be a command, and one finding in it.
fn hostile() -> (Tree, Vec<Finding>) {
    let path = "::error file=x::a\n::warning::b\r##[error]\u{1b}[31m%0A::c.rs";
    let tree = Tree::from_texts(vec![(path.into(), Language::Rust, "::error::x\n".into())]);
    let place = span(&tree, path, "::error::x");
    let rule = rules::find("unconditional-del").unwrap();
    let mut all = vec![rule.finding(place, "::error::d").step(place, "##[error]e").help("::f")];
    number(&mut all, &tree);
    (tree, all)
}

#[test]
fn nothing_in_a_report_is_a_command_or_steers_a_terminal() {
    let (tree, (odd, odd_findings)) = (Tree::from_texts(texts()), hostile());
    let all = Format::ALL.into_iter().flat_map(|format| {
        [
            (format, report(format, &found(&tree), &tree, &skipped())),
            (format, report(format, &odd_findings, &odd, &[])),
        ]
    });
    for (format, text) in all {
        for line in text.lines() {
            let own = match format {
                Format::Github => {
                    line.starts_with("::notice ")
                        || line.starts_with("::error ")
                        || line.starts_with("::warning ")
                }
                Format::Azure => {
                    line.matches("##").count() == 1 && line.starts_with("##vso[task.logissue ")
                }
                Format::Teamcity => {
                    line.matches("##").count() == 1 && line.starts_with("##teamcity[inspection")
                }
                _ => false,
            };
            let name = format.name();
            assert!(own || !line.trim_start().starts_with("::"), "{name}: {line}");
            for command in ["##[", "##vso[", "##teamcity["] {
                assert!(own || !line.contains(command), "{name}: {line}");
            }
            let control = |character: char| character.is_control() && character != '\t';
            assert!(!line.chars().any(control), "{name}: {line:?}");
        }
    }
}

#[test]
fn what_is_too_much_for_a_forge_is_cut_and_counted() {
    let tree = Tree::from_texts(texts());
    let kept = found(&tree);
    let (worst, note) = (&kept[0], kept.iter().find(|one| one.severity == Severity::Note).unwrap());
    let mut many = vec![note.clone(); 25_001];
    many.push(worst.clone());
    let sarif: Value = serde_json::from_str(&report(Format::Sarif, &many, &tree, &[])).unwrap();
    let run = &sarif["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 25_000);
    assert_eq!(results.last().unwrap()["level"], "error", "the worst are kept, in their order");
    let told = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert!(told.as_str().unwrap().starts_with("2 results are left out"), "{told}");

    let summary = report(Format::GithubSummary, &many, &tree, &[]);
    assert!(summary.len() < 1024 * 1024, "{}", summary.len());
    let rows = summary.lines().filter(|line| line.starts_with("| note |")).count();
    let left = format!("{} more findings: a step summary has no room", many.len() - 1 - rows);
    assert!(rows > 100 && summary.contains(&left), "{rows} {left}");
    assert!(summary.contains("| error |"), "the worst come first");
}
