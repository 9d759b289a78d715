//! An allow comment names a rule that does not exist. Reported by [`filter`](crate::filter), which
//! reads the allow comments.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("unknown-rule", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
