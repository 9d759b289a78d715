//! The analysis gave up on something within a bound. What is met again and again in one file is told
//! where it is met first, with how often: a generated file would fill the screen.

use std::collections::BTreeMap;

use crate::analysis::Analysis;
use crate::finding::Findings;
use crate::ir::body::{Problem, ProblemKind};

rule!("analysis-limit", check);

fn check(analysis: &Analysis<'_>, findings: &mut Findings) {
    let mut alike: BTreeMap<_, Vec<&Problem>> = BTreeMap::new();
    for problem in analysis.problems().filter(|problem| problem.kind == ProblemKind::Limit) {
        alike.entry((problem.span.file, problem.message.as_str())).or_default().push(problem);
    }
    for ((_, message), problems) in alike {
        let Some(first) = problems.iter().min_by_key(|problem| problem.span) else { continue };
        let more = match problems.len() - 1 {
            0 => String::new(),
            1 => ", and once more in this file".to_owned(),
            more => format!(", and {more} more times in this file"),
        };
        let finding = RULE.finding(first.span, format!("{message}{more}"));
        findings.report(
            finding.help("what the message names was not looked into; the rest was linted"),
        );
    }
}
