//! The analysis gave up on something within a bound.

use crate::analysis::Analysis;
use crate::finding::Findings;
use crate::ir::body::ProblemKind;

rule!("analysis-limit", check);

fn check(analysis: &Analysis<'_>, findings: &mut Findings) {
    for problem in analysis.problems().filter(|problem| problem.kind == ProblemKind::Limit) {
        let finding = RULE.finding(problem.span, problem.message.clone());
        findings.report(
            finding.help("what the message names was not looked into; the rest was linted"),
        );
    }
}
