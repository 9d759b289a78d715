//! Allow comments, settings, baseline and changed lines: which findings are shown.
//!
//! An allow comment silences the rules it names, where it stands, and nothing else. One that is
//! malformed, names no rule of ours, or silences nothing is a finding itself.

use crate::config::Settings;
use crate::finding::{Finding, Findings, number};
use crate::ir::index::{Role, is_test_folder};
use crate::lang;
use crate::lang::sql::{Dialect, Dialects};
use crate::link::Program;
use crate::rules::{self, expired_allow, malformed_allow, unknown_rule, unused_allow};
use crate::source::{FileId, Language, Span};

/// Allow comments as text.
mod allow;
/// The findings that touch the files that were given.
pub mod given;
/// What mends an allow comment.
mod mending;
/// Findings that are known and not to be shown.
pub mod baseline;
/// Changed lines.
pub mod changed;
/// How far an allow comment reaches.
mod reach;
/// What an allow comment says of one rule, and what came of it.
pub mod suppression;

use reach::Below;
use suppression::{State, Suppression};

/// What is left of the findings.
#[derive(Clone, Debug, Default)]
pub struct Filtered {
    /// The findings to show, in the order of their places.
    pub shown: Vec<Finding>,
    /// How many an allow comment silenced.
    pub allowed: usize,
    /// The allow comments, in the order of their places.
    pub suppressions: Vec<Suppression>,
    /// Those that are not sure or not bad enough to be shown.
    pub hidden: Vec<Finding>,
    /// How many the baseline knows.
    pub known: usize,
    /// How many are none of the changed lines'.
    pub outside: usize,
}

/// One rule of one allow comment that can silence something.
struct Permit {
    rule: String,
    file: FileId,
    lines: (u32, u32),
    /// Which of the suppressions it is.
    suppression: usize,
}

/// Applies the settings and the allow comments of the program's files.
#[must_use]
pub fn apply(findings: Vec<Finding>, program: &Program, settings: &Settings) -> Filtered {
    let mut filtered = Filtered::default();
    let mut kept = Findings::default();
    let permits = permits(program, settings, &mut filtered.suppressions);
    for finding in findings {
        if !counts(finding.primary, program, settings) {
            continue;
        }
        let permitted = permit(&finding, program, &permits, &mut filtered.suppressions);
        if permitted && !settings.ignore_allows {
            filtered.allowed += 1;
        } else {
            kept.report(finding);
        }
    }
    for suppression in &mut filtered.suppressions {
        if !counts(suppression.span, program, settings) {
            suppression.state = State::TestCode;
        }
    }
    for comment in filtered.suppressions.chunk_by(|one, next| one.comment == next.comment) {
        for suppression in comment {
            if let Some(finding) = told(suppression, settings) {
                kept.report(mended(finding, suppression, comment, program));
            }
        }
    }
    let mut kept = kept.finish();
    number(&mut kept, &program.tree);
    for finding in kept {
        filtered.sort_in(finding, settings);
    }
    filtered
}

impl Filtered {
    /// Gives a finding the severity that the settings say, and puts it where they want it.
    fn sort_in(&mut self, mut finding: Finding, settings: &Settings) {
        if let Some(severity) = settings.severity.get(finding.rule) {
            finding.severity = *severity;
            finding.alike.iter_mut().for_each(|other| other.severity = *severity);
        }
        let is_shown = |finding: &Finding| {
            finding.confidence >= settings.shown_confidence()
                && finding.severity >= settings.shown_severity()
        };
        finding.alike.retain(is_shown);
        if is_shown(&finding) {
            self.shown.push(finding);
        } else {
            self.hidden.push(finding);
        }
    }
}

/// The allow comments of all files that can silence something; all there are go to `suppressions`.
fn permits(
    program: &Program,
    settings: &Settings,
    suppressions: &mut Vec<Suppression>,
) -> Vec<Permit> {
    let mut permits = Vec::new();
    let mut dialects = None;
    for file in program.tree.files() {
        if file.language == Language::Other || !allow::can_speak(&file.text) {
            continue;
        }
        let dialect = match file.language {
            Language::Sql => {
                settings.dialect.as_deref().and_then(Dialect::named).unwrap_or_else(|| {
                    dialects.get_or_insert_with(|| Dialects::new(&program.tree)).of(file)
                })
            }
            _ => Dialect::Generic,
        };
        let mut below = None;
        for comment in allow::comments(file, &lang::comments::of(file, dialect)) {
            let lines = match &comment.says {
                Ok(_) => below.get_or_insert_with(|| Below::of(file, program)).lines(&comment),
                Err(_) => (0, 0),
            };
            for suppression in said(comment, settings) {
                if matches!(suppression.state, State::Unused | State::Off) {
                    permits.push(Permit {
                        rule: suppression.rule.clone().unwrap_or_default(),
                        file: file.id,
                        lines,
                        suppression: suppressions.len(),
                    });
                }
                suppressions.push(suppression);
            }
        }
    }
    permits
}

/// What a comment says of each of its rules, before anything was found.
fn said(comment: allow::Comment, settings: &Settings) -> Vec<Suppression> {
    let span = comment.span;
    let allow = match comment.says {
        Ok(allow) => allow,
        Err(mistake) => {
            return vec![Suppression {
                comment: span,
                span,
                rule: None,
                whole_file: false,
                until: None,
                reason: String::new(),
                state: State::Malformed(mistake),
            }];
        }
    };
    let expired = allow.until.zip(settings.today).is_some_and(|(until, today)| until < today);
    let state = |name: &str| match rules::find(name) {
        None => State::UnknownRule,
        Some(_) if expired => State::Expired,
        Some(rule) if rule.is_active(settings) => State::Unused,
        Some(_) => State::Off,
    };
    let of_rule = |(rule, place): (String, Span)| Suppression {
        comment: span,
        span: place,
        state: state(&rule),
        rule: Some(rule),
        whole_file: allow.whole_file,
        until: allow.until,
        reason: allow.reason.clone(),
    };
    allow.rules.into_iter().map(of_rule).collect()
}

/// Whether an allow comment silences a finding; all that do are told of it.
fn permit(
    finding: &Finding,
    program: &Program,
    permits: &[Permit],
    suppressions: &mut [Suppression],
) -> bool {
    let Some(file) = program.tree.file(finding.primary.file) else { return false };
    let first = file.lines.line(finding.primary.start);
    let last = file.lines.line(finding.primary.end.max(finding.primary.start + 1) - 1);
    let mut allowed = false;
    for permit in permits.iter().filter(|permit| permit.file == file.id) {
        if permit.rule == finding.rule && permit.lines.0 <= last && first <= permit.lines.1 {
            allowed = true;
            if let Some(suppression) = suppressions.get_mut(permit.suppression) {
                suppression.state = match suppression.state {
                    State::Silences(count) => State::Silences(count + 1),
                    _ => State::Silences(1),
                };
            }
        }
    }
    allowed
}

/// The finding with what mends the allow comment it is about.
fn mended(
    finding: Finding,
    suppression: &Suppression,
    comment: &[Suppression],
    program: &Program,
) -> Finding {
    let file = program.tree.file(suppression.span.file);
    let fix = file.and_then(|file| match suppression.state {
        State::Unused => mending::removal(comment, file),
        State::UnknownRule => mending::renaming(suppression, file),
        _ => None,
    });
    fix.into_iter().fold(finding, Finding::fix)
}

/// What is to be said of an allow comment that does not do what its author believes.
fn told(suppression: &Suppression, settings: &Settings) -> Option<Finding> {
    let name = suppression.rule.as_deref().unwrap_or_default();
    let (rule, message, help) = match &suppression.state {
        State::Silences(_) | State::Off | State::TestCode => return None,
        State::Unused if settings.ignore_allows => return None,
        State::Unused => (
            &unused_allow::RULE,
            format!("`{name}` is not found here, so there is nothing to allow"),
            "remove it from the allow comment".to_owned(),
        ),
        State::Expired => (
            &expired_allow::RULE,
            suppression.until.map_or_else(String::new, |until| {
                format!("this comment allowed `{name}` until {until}, and no longer")
            }),
            "mend what it allowed, or say until when it holds now and why".to_owned(),
        ),
        State::UnknownRule => (
            &unknown_rule::RULE,
            format!("there is no rule `{name}` to allow"),
            rules::nearest(name).map_or_else(
                || "`leaselint rules` lists the rules".to_owned(),
                |near| format!("did you mean `{near}`?"),
            ),
        ),
        State::Malformed(mistake) => (
            &malformed_allow::RULE,
            format!("this allow comment allows nothing: {mistake}"),
            "write `leaselint: allow(rule) -- reason`".to_owned(),
        ),
    };
    let finding = || rule.finding(suppression.span, message).help(help).subject(name);
    rule.is_active(settings).then(finding)
}

/// Whether a place counts: it is no test code, or that is wanted too.
pub(crate) fn counts(span: Span, program: &Program, settings: &Settings) -> bool {
    settings.include_tests || !in_test_code(span, program)
}

/// Whether a place is in code that only serves tests.
fn in_test_code(span: Span, program: &Program) -> bool {
    let Some(file) = program.tree.file(span.file) else { return false };
    let Some(index) = program.index(span.file) else {
        let mut folders = file.path.split('/').rev().skip(1);
        return folders.any(|folder| is_test_folder(folder, file.language));
    };
    let is_test = |role: Role| role == Role::Test;
    is_test(index.role)
        || index.functions.iter().any(|item| is_test(item.role) && item.span.covers(span))
        || index.constants.iter().any(|item| is_test(item.role) && item.span.covers(span))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{Confidence, Severity};
    use crate::source::Tree;

    const SOURCE: &str = "\
// leaselint: allow(unconditional-del) -- the whole function
#[inline]
fn release(con: &mut Connection) {
    con
        .del(1);
}

fn other(con: &mut Connection) {
    // leaselint: allow(unconditional-del) -- the whole chain
    con
        .del(2);
    con.del(3);
    // leaselint: allow(unconditional-del) -- the whole call, as it is laid out
    run(
        con,
        con.del(5),
    )
    .again();
    // leaselint: allow(unconditional-del) -- what is bound
    let gone: bool =
        con
            .del(6);
}

#[cfg(test)]
mod tests {
    fn clean_up(con: &mut Connection) {
        con.del(4);
        // leaselint: allow(unconditional-dell) -- nobody is told of it
        // leaselint: allow
    }
}
";

    /// What is left of findings at each `del`, by the digit in its parentheses.
    fn left(settings: &Settings, confidence: Confidence) -> (String, usize) {
        let text = SOURCE.to_owned();
        let tree = Tree::from_texts(vec![("src/a.rs".into(), Language::Rust, text)]);
        let file = Arc::clone(&tree.files()[0]);
        let program = Program::build(Arc::new(tree), settings.clone());
        let rule = rules::find("unconditional-del").unwrap();
        let findings = SOURCE.match_indices("del(").map(|(at, _)| {
            let start = u32::try_from(at).unwrap();
            rule.finding(Span::new(file.id, start, start + 5), "x").confidence(confidence)
        });
        let filtered = apply(findings.collect(), &program, settings);
        let digit = |finding: &Finding| file.slice(finding.primary).chars().last().unwrap();
        (filtered.shown.iter().map(digit).collect(), filtered.allowed)
    }

    #[test]
    fn an_allow_reaches_an_item_or_a_statement_and_tests_are_left_alone() {
        assert_eq!(left(&Settings::default(), Confidence::High), ("3".to_owned(), 4));
        let all = Settings { include_tests: true, ..Settings::default() };
        assert_eq!(left(&all, Confidence::High), ("34lw".to_owned(), 4));
    }

    #[test]
    fn what_is_not_sure_or_not_bad_enough_is_hidden() {
        assert_eq!(left(&Settings::default(), Confidence::Low).0, "");
        let low = Settings { min_confidence: Some(Confidence::Low), ..Settings::default() };
        assert_eq!(left(&low, Confidence::Low).0, "3");
        let note = [("unconditional-del".to_owned(), Severity::Note)].into();
        let warnings = Settings {
            severity: note,
            min_severity: Some(Severity::Warning),
            ..Settings::default()
        };
        assert_eq!(left(&warnings, Confidence::High).0, "");
    }
}
