//! Allow comments and settings: which findings are shown.
//!
//! An allow comment silences the rules it names, where it stands, and nothing else. One that is
//! malformed, names no rule of ours, or silences nothing is a finding itself.

use crate::config::Settings;
use crate::finding::{Finding, Findings, number};
use crate::ir::index::{Role, is_test_folder};
use crate::link::Program;
use crate::rules::{self, malformed_allow, unknown_rule, unused_allow};
use crate::source::{Language, Span};

/// Allow comments as text.
mod allow;
/// How far an allow comment reaches.
mod reach;

/// What is left of the findings.
#[derive(Clone, Debug, Default)]
pub struct Filtered {
    /// The findings to show, in the order of their places.
    pub shown: Vec<Finding>,
    /// How many an allow comment silenced.
    pub allowed: usize,
    /// How many were not sure or not bad enough to be shown.
    pub hidden: usize,
}

/// One rule of one allow comment.
struct Permit {
    rule: String,
    span: Span,
    lines: (u32, u32),
    used: bool,
}

/// Applies the settings and the allow comments of the program's files.
#[must_use]
pub fn apply(findings: Vec<Finding>, program: &Program, settings: &Settings) -> Filtered {
    let mut filtered = Filtered::default();
    let mut kept = Findings::default();
    let mut permits = permits(program, settings, &mut kept);
    for finding in findings {
        if !counts(finding.primary, program, settings) {
            continue;
        }
        if permit(&finding, program, &mut permits) {
            filtered.allowed += 1;
        } else {
            kept.report(finding);
        }
    }
    report_unused(&permits, program, settings, &mut kept);
    let mut kept = kept.finish();
    number(&mut kept, &program.tree);
    for mut finding in kept {
        if let Some(severity) = settings.severity.get(finding.rule) {
            finding.severity = *severity;
        }
        if finding.confidence >= settings.shown_confidence()
            && finding.severity >= settings.shown_severity()
        {
            filtered.shown.push(finding);
        } else {
            filtered.hidden += 1;
        }
    }
    filtered
}

/// The allow comments of all files; mistakes in them go to `findings`.
fn permits(program: &Program, settings: &Settings, findings: &mut Findings) -> Vec<Permit> {
    let mut permits = Vec::new();
    for file in program.tree.files() {
        if file.language == Language::Other {
            continue;
        }
        for comment in allow::comments(&file.text, file.language) {
            let start = file.lines.start(comment.line).unwrap_or(0);
            let offset = |column: usize| start + u32::try_from(column).unwrap_or(0);
            let span = Span::new(file.id, offset(comment.columns.0), offset(comment.columns.1));
            let lines = reach::lines(&comment, file, program);
            match comment.says {
                Ok(allow) => permits.extend(allow.rules.into_iter().map(|(rule, column)| {
                    let span = Span::new(file.id, offset(column), offset(column + rule.len()));
                    Permit { rule, span, lines, used: false }
                })),
                Err(mistake) if counts(span, program, settings) => {
                    report_malformed(span, &mistake, settings, findings);
                }
                Err(_) => {}
            }
        }
    }
    permits.retain(|permit| {
        let known = rules::find(&permit.rule).is_some();
        if !known && counts(permit.span, program, settings) {
            report_unknown(permit, settings, findings);
        }
        known
    });
    permits
}

/// Whether an allow comment silences a finding; all that do are used.
fn permit(finding: &Finding, program: &Program, permits: &mut [Permit]) -> bool {
    let Some(file) = program.tree.file(finding.primary.file) else { return false };
    let first = file.lines.line(finding.primary.start);
    let last = file.lines.line(finding.primary.end.max(finding.primary.start + 1) - 1);
    let mut allowed = false;
    for permit in permits.iter_mut().filter(|permit| permit.span.file == file.id) {
        if permit.rule == finding.rule && permit.lines.0 <= last && first <= permit.lines.1 {
            permit.used = true;
            allowed = true;
        }
    }
    allowed
}

fn report_malformed(span: Span, mistake: &str, settings: &Settings, findings: &mut Findings) {
    if malformed_allow::RULE.is_active(settings) {
        let message = format!("this allow comment allows nothing: {mistake}");
        let finding = malformed_allow::RULE.finding(span, message);
        findings.report(finding.help("write `leaselint: allow(rule) -- reason`"));
    }
}

fn report_unknown(permit: &Permit, settings: &Settings, findings: &mut Findings) {
    if unknown_rule::RULE.is_active(settings) {
        let message = format!("there is no rule `{}` to allow", permit.rule);
        let help = rules::nearest(&permit.rule).map_or_else(
            || "`leaselint rules` lists the rules".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let finding = unknown_rule::RULE.finding(permit.span, message).help(help);
        findings.report(finding.subject(permit.rule.clone()));
    }
}

/// Reports allow comments that silenced nothing although their rule ran here.
fn report_unused(
    permits: &[Permit],
    program: &Program,
    settings: &Settings,
    findings: &mut Findings,
) {
    if !unused_allow::RULE.is_active(settings) {
        return;
    }
    let ran = |rule: &str| rules::find(rule).is_some_and(|rule| rule.is_active(settings));
    for permit in permits.iter().filter(|permit| !permit.used && ran(&permit.rule)) {
        if !counts(permit.span, program, settings) {
            continue;
        }
        let message = format!("`{}` is not found here, so there is nothing to allow", permit.rule);
        let finding = unused_allow::RULE.finding(permit.span, message);
        let finding = finding.help("remove it from the allow comment");
        findings.report(finding.subject(permit.rule.clone()));
    }
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
