//! The owner of a lease is checked and the lease deleted in two commands.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("get-then-del", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
