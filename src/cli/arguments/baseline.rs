//! `--baseline`, `--write-baseline`, `--prune-baseline`: leave known findings alone.

use std::path::PathBuf;

use clap::Args;

/// Which findings are known already.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Baseline")]
pub struct BaselineArguments {
    /// Leave the findings alone that FILE knows; entries whose finding is gone are reported
    #[arg(long, value_name = "FILE", conflicts_with = "write_baseline")]
    pub baseline: Option<PathBuf>,
    /// Write all findings to FILE, for `--baseline`
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Remove entries whose finding is gone from the file that `--baseline` names
    #[arg(long, requires = "baseline")]
    pub prune_baseline: bool,
}
