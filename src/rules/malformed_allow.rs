//! An allow comment is not written as one. Reported by [`filter`](crate::filter), which
//! reads the allow comments.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("malformed-allow", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
