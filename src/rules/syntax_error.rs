//! Source that does not parse was not linted.

use crate::analysis::Analysis;
use crate::finding::Findings;
use crate::ir::body::ProblemKind;

rule!("syntax-error", check);

fn check(analysis: &Analysis<'_>, findings: &mut Findings) {
    for problem in analysis.problems().filter(|problem| problem.kind == ProblemKind::Syntax) {
        let finding = RULE.finding(problem.span, problem.message.clone());
        findings.report(finding.help("mend the part that does not parse: no rule saw it"));
    }
}
