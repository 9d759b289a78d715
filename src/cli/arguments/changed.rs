//! `--diff`, `--diff-file`, `--staged`: show what a change brings. The whole program is still linted.

use std::path::PathBuf;

use clap::Args;

/// Of which change findings are shown.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Changed lines")]
pub struct ChangedArguments {
    /// Show what changed since the branch left BASE (their merge base): a finding with a place on a
    /// changed line, at that line
    #[arg(long, value_name = "BASE", group = "change")]
    pub diff: Option<String>,
    /// Show what a unified diff changed; `-` reads the standard input
    #[arg(long, value_name = "FILE", group = "change")]
    pub diff_file: Option<PathBuf>,
    /// Show what the next commit changes, and lint the files as they are staged
    #[arg(long, group = "change")]
    pub staged: bool,
}
