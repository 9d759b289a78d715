//! An entry of the baseline stands for nothing any more. Reported by [`filter`](crate::filter), which
//! reads the baseline.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("stale-baseline", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
