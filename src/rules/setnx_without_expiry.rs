//! A lease or marker is taken with no expiry in the same command.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("setnx-without-expiry", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
