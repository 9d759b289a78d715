//! A lease is held across a call that leaves the process.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("lock-across-http", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
