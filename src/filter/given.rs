//! The findings that touch the files that were given, when the whole workspace was read.

use crate::finding::Finding;
use crate::source::{Span, Tree};

/// Leaves the findings of which any place, the steps' included, is in a file that `wanted` wants.
pub fn keep(findings: &mut Vec<Finding>, tree: &Tree, wanted: impl Fn(&str) -> bool) {
    let inside = |span: Span| tree.file(span.file).is_some_and(|file| wanted(&file.path));
    findings.retain(|finding| {
        inside(finding.primary) || finding.steps.iter().any(|step| inside(step.span))
    });
}
