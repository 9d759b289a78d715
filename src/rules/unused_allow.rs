//! An allow comment silences nothing. Reported by [`filter`](crate::filter), which
//! reads the allow comments.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("unused-allow", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
