//! Marks: what a fixture or page expects, on the line where it expects it.
//!
//! ```text
//! //~ rule              this line is reported by that rule (`--~` in Lua and SQL, `#~` in TOML)
//! //~^ rule             the line above, one caret a line
//! //~ rule "words"      and the message holds the words
//! //~ note: rule        and its severity is this: `error:`, `warning:` or `note:`
//! //~ a b               two rules
//! //~ FN rule reason    it should be reported and is not; the run fails on the day it is
//! //~ FP rule reason    it is reported and should not be; the same
//! ```

use std::sync::Arc;

use leaselint::cli::check::lint;
use leaselint::config::{Settings, Severity};
use leaselint::finding::Finding;
use leaselint::source::{Span, Tree};

/// One thing that a mark expects.
#[derive(Debug, PartialEq)]
pub struct Mark {
    pub path: String,
    pub line: u32,
    pub rule: String,
    pub severity: Option<Severity>,
    pub words: Option<String>,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Expected,
    FalseNegative,
    FalsePositive,
}

/// The words that a severity is asked for by, before the rule.
const SEVERITIES: [(&str, Severity); 3] =
    [("error:", Severity::Error), ("warning:", Severity::Warning), ("note:", Severity::Note)];

/// The marks of one text.
pub fn read(path: &str, text: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (line, number) in text.lines().zip(1u32..) {
        let leader = ["//~", "--~", "#~"].iter().find_map(|leader| line.split_once(leader));
        if let Some((_, mark)) = leader {
            let up = mark.chars().take_while(|character| *character == '^').count();
            let line = number - u32::try_from(up).unwrap();
            marks.extend(parse(path, line, &mark[up..]));
        }
    }
    marks
}

fn parse(path: &str, line: u32, mark: &str) -> Vec<Mark> {
    let one = |rule: &str, kind| Mark {
        path: path.to_owned(),
        line,
        rule: rule.to_owned(),
        severity: None,
        words: None,
        kind,
    };
    let mut rest = mark.trim();
    for (word, kind) in [("FN ", Kind::FalseNegative), ("FP ", Kind::FalsePositive)] {
        if let Some(known) = rest.strip_prefix(word) {
            let (rule, reason) = known.split_once(' ').unwrap_or((known, ""));
            assert!(!reason.trim().is_empty(), "{path}:{line}: {word}needs a reason");
            return vec![one(rule, kind)];
        }
    }
    let mut marks: Vec<Mark> = Vec::new();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (words, after) = quoted.split_once('"').expect("a quote that ends");
            marks.last_mut().expect("a rule before its words").words = Some(words.to_owned());
            rest = after.trim_start();
        } else {
            let asked = SEVERITIES.iter().find(|(word, _)| rest.starts_with(word));
            let rule = asked.map_or(rest, |(word, _)| rest[word.len()..].trim_start());
            let (rule, after) = rule.split_once(' ').unwrap_or((rule, ""));
            let severity = asked.map(|(_, severity)| *severity);
            marks.push(Mark { severity, ..one(rule, Kind::Expected) });
            rest = after.trim_start();
        }
    }
    assert!(!marks.is_empty(), "{path}:{line}: a mark without a rule");
    marks
}

/// The day on which pages and fixtures are read.
const TODAY: &str = "2026-06-15";

/// Lints a tree and says, one line each, where the findings are not what the marks expect.
pub fn differences(tree: Tree, settings: Settings) -> Vec<String> {
    let marks: Vec<Mark> =
        tree.files().iter().flat_map(|file| read(&file.path, &file.text)).collect();
    let linted = lint(Arc::new(tree), Settings { today: TODAY.parse().ok(), ..settings });
    let findings = &linted.filtered.shown;
    let tree = &linted.program.tree;
    let mut answered = vec![false; findings.len()];
    let mut complaints = Vec::new();
    for mark in &marks {
        let found = findings
            .iter()
            .enumerate()
            .position(|(index, finding)| !answered[index] && fits(mark, finding, tree));
        let Mark { path, line, rule, severity, words, kind } = mark;
        match (found, kind) {
            (Some(index), Kind::Expected | Kind::FalsePositive) => answered[index] = true,
            (None, Kind::FalseNegative) => {}
            (None, Kind::Expected) => {
                let words = words.as_ref().map(|words| format!(" with \"{words}\""));
                let words = words.unwrap_or_default();
                let severity = severity.map(|severity| format!("{} ", word(severity)));
                let severity = severity.unwrap_or_default();
                complaints.push(format!("{path}:{line}: expected {severity}{rule}{words}"));
            }
            (None, Kind::FalsePositive) => {
                complaints.push(format!("{path}:{line}: no longer reported: remove FP {rule}"));
            }
            (Some(index), Kind::FalseNegative) => {
                answered[index] = true;
                complaints.push(format!("{path}:{line}: now reported: remove FN {rule}"));
            }
        }
    }
    for (finding, _) in findings.iter().zip(answered).filter(|(_, answered)| !answered) {
        let (path, line) = place(finding, tree);
        let message = &finding.message;
        let Finding { severity, rule, .. } = finding;
        let severity = word(*severity);
        complaints.push(format!("{path}:{line}: unexpected {severity} {rule}: {message}"));
    }
    complaints.extend(findings.iter().flat_map(|finding| style(finding, tree)));
    complaints
}

/// Lints a tree in which code was moved. A mark is answered by a finding that has its line as its place
/// or as one of its steps.
pub fn differences_up_to_steps(tree: Tree, settings: Settings) -> Vec<String> {
    let marks: Vec<Mark> =
        tree.files().iter().flat_map(|file| read(&file.path, &file.text)).collect();
    let linted = lint(Arc::new(tree), settings);
    let tree = &linted.program.tree;
    let mut findings: Vec<&Finding> = linted.filtered.shown.iter().collect();
    let mut complaints = Vec::new();
    for mark in marks.iter().filter(|mark| mark.kind != Kind::FalseNegative) {
        let at = |span: Span| {
            let file = tree.file(span.file).expect("a finding in a file of the tree");
            (file.path.as_str(), file.lines.line(span.start)) == (mark.path.as_str(), mark.line)
        };
        let answers = |finding: &&Finding| {
            let mut spans = finding.steps.iter().map(|step| step.span).chain([finding.primary]);
            finding.rule == mark.rule
                && mark.severity.is_none_or(|severity| severity == finding.severity)
                && spans.any(at)
        };
        match findings.iter().position(answers) {
            Some(index) => {
                findings.remove(index);
            }
            None => complaints.push(format!("{}:{}: expected {}", mark.path, mark.line, mark.rule)),
        }
    }
    complaints.extend(findings.into_iter().map(|finding| {
        let (path, line) = place(finding, tree);
        format!("{path}:{line}: unexpected {}: {}", finding.rule, finding.message)
    }));
    complaints
}

/// The word of a severity, as marks write it.
fn word(severity: Severity) -> &'static str {
    SEVERITIES.iter().find(|(_, other)| *other == severity).map_or("", |(word, _)| *word)
}

fn fits(mark: &Mark, finding: &Finding, tree: &Tree) -> bool {
    let words = mark.words.as_deref().unwrap_or("");
    finding.rule == mark.rule
        && mark.severity.is_none_or(|severity| severity == finding.severity)
        && place(finding, tree) == (mark.path.as_str(), mark.line)
        && finding.message.contains(words)
}

fn place<'t>(finding: &Finding, tree: &'t Tree) -> (&'t str, u32) {
    let file = tree.file(finding.primary.file).expect("a finding in a file of the tree");
    (&file.path, file.lines.line(finding.primary.start))
}

/// How every message is written: lower case first letter, no full stop, the field's words.
fn style(finding: &Finding, tree: &Tree) -> Vec<String> {
    let (path, line) = place(finding, tree);
    let steps = finding.steps.iter().map(|step| ("step", step.message.as_str()));
    let texts = [("message", finding.message.as_str()), ("help", finding.help.as_str())];
    let texts = texts.into_iter().chain(steps);
    let faults = texts.flat_map(|(what, text)| {
        let fault = sentence_fault(text).or_else(|| crate::tidy::banned_word(text));
        fault.map(|fault| format!("{path}:{line}: {} {what} {fault}: {text}", finding.rule))
    });
    let mut faults: Vec<_> = faults.collect();
    if finding.help.is_empty() {
        faults.push(format!("{path}:{line}: {} gives no help", finding.rule));
    }
    faults
}

fn sentence_fault(text: &str) -> Option<String> {
    let mut characters = text.chars();
    let capital = characters.next().is_some_and(char::is_uppercase)
        && characters.next().is_some_and(char::is_lowercase);
    if capital {
        return Some("begins with a capital".to_owned());
    }
    text.ends_with('.').then(|| "ends with a full stop".to_owned())
}

#[test]
fn marks_are_read() {
    let text = "x //~ a \"some words\" b\n--~^ note: c\n#~ FN d it is hard\n";
    let marks = read("f", text);
    let told: Vec<_> = marks.iter().map(|m| (m.line, m.rule.as_str(), m.kind)).collect();
    let expected = [
        (1, "a", Kind::Expected),
        (1, "b", Kind::Expected),
        (1, "c", Kind::Expected),
        (3, "d", Kind::FalseNegative),
    ];
    assert_eq!(told, expected);
    assert_eq!(marks[0].words.as_deref(), Some("some words"));
    assert_eq!(marks[1].words, None);
    assert_eq!((marks[1].severity, marks[2].severity), (None, Some(Severity::Note)));
}

#[test]
fn a_missing_and_an_unexpected_finding_are_both_told() {
    let text = "// leaselint: allow(nonsense) -- x\n// leaselint: off\n//~^ unused-allow\n";
    let tree =
        Tree::from_texts(vec![("a.rs".into(), leaselint::source::Language::Rust, text.into())]);
    let told = differences(tree, Settings::default()).join("\n");
    assert!(told.contains("a.rs:2: expected unused-allow"), "{told}");
    assert!(told.contains("a.rs:1: unexpected warning: unknown-rule"), "{told}");
    assert!(told.contains("a.rs:2: unexpected warning: malformed-allow"), "{told}");
}
