//! A lease is released with no check of its owner.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("unconditional-del", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
