//! A lease is renewed with no check of its owner.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("unconditional-pexpire", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
