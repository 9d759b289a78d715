//! The expiry of a lease is set by a second command.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("expiry-not-atomic", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
