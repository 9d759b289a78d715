//! One script, transaction or command touches keys of different hash slots.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("cross-slot-keys", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
