//! A script touches a key that is not passed in KEYS.

use crate::analysis::Analysis;
use crate::finding::Findings;

rule!("undeclared-script-key", check);

fn check(_analysis: &Analysis<'_>, _findings: &mut Findings) {}
