//! The last day of an allow comment has passed. Reported by [`filter`](crate::filter), which
//! reads the allow comments.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("expired-allow", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
