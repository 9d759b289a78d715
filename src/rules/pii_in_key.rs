//! A Redis key holds personal data.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("pii-in-key", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
