//! The arguments that say which settings hold. Every command that lints takes them.

use std::path::PathBuf;

use clap::Args;

use super::{confidence, severity};
use crate::config::day::Day;
use crate::config::{Confidence, Severity};

/// Which settings hold.
#[derive(Args, Default)]
#[command(next_help_heading = "Settings")]
pub struct SettingsArguments {
    /// Only these rules (repeatable, or separated by commas)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub select: Vec<String>,
    /// These rules too: pedantic ones are off unless named
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub extend_select: Vec<String>,
    /// Not these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Give a rule another severity: note, warning or error
    #[arg(long, value_name = "RULE=LEVEL")]
    pub severity: Vec<String>,
    /// Show findings of this severity and above: note (default), warning or error
    #[arg(long, value_name = "LEVEL", value_parser = severity)]
    pub min_severity: Option<Severity>,
    /// Show findings of this confidence and above: low, medium (default) or high
    #[arg(long, value_name = "LEVEL", value_parser = confidence)]
    pub min_confidence: Option<Confidence>,
    /// Read settings from this file alone
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Leave out what `exclude` names even if it is named on the command line
    #[arg(long)]
    pub force_exclude: bool,
    /// Lint test code too
    #[arg(long)]
    pub include_tests: bool,
    /// Show what allow comments silence, too
    #[arg(long)]
    pub ignore_allows: bool,
    /// Judge the `until=` of allow comments by this day instead of today [env: SOURCE_DATE_EPOCH]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub today: Option<Day>,
    /// Do not read files of more bytes [default: 2097152]
    #[arg(long, value_name = "BYTES")]
    pub max_file_size: Option<u64>,
    /// Lower packages too that speak to no store: slower, the same findings
    #[arg(long)]
    pub no_prefilter: bool,
}
