//! What the command line may say, and the words of `--help`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::{Confidence, Severity};

/// Shown under `leaselint --help`.
const AFTER: &str = "\
Examples:
  leaselint check                         lint the current folder
  leaselint check src migrations          lint these, as one program
  leaselint check --format json . > out   for other programs
  leaselint explain unconditional-del     what a rule says, and what to write instead

Exit codes:
  0  nothing that fails the run
  1  findings of warning severity or above (see --fail-on)
  2  the run itself failed";

/// Shown under `leaselint check --help`.
const AFTER_CHECK: &str = "\
Settings are read from leaselint.toml, or from [workspace.metadata.leaselint] in Cargo.toml, in the
folder that is linted or one above it. The command line adds to them and wins.

To allow a finding, write `// leaselint: allow(rule) -- reason` (`--` in Lua and SQL) on its line, on
the line above, or above the item. The reason is required.

Exit codes:
  0  nothing that fails the run
  1  findings of warning severity or above (see --fail-on)
  2  the run itself failed";

/// leaselint reads Rust, Lua and SQL as one program and says where a Redis lock can be stuck, stolen,
/// outlived or ignored.
#[derive(Parser)]
#[command(name = "leaselint", version, after_help = AFTER, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// When to use colours; NO_COLOR turns them off in `auto`.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Lint files and folders, as one program
    #[command(after_help = AFTER_CHECK)]
    Check(CheckArguments),
    /// Print the page of a rule: why it matters, wrong and right code, when to allow it
    Explain {
        /// The rule's id, as `leaselint rules` lists it.
        rule: String,
    },
    /// List the rules
    Rules,
    /// Print what a file is lowered to: its functions, operations and effects
    Ir {
        /// A Rust, Lua or SQL file.
        file: PathBuf,
    },
}

/// What `check` may be told.
#[derive(Args)]
pub struct CheckArguments {
    /// Files and folders to lint
    #[arg(default_value = ".", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How to print findings
    #[arg(long, value_enum, default_value_t = FormatName::Human)]
    pub format: FormatName,
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
    /// Show findings of this severity and above
    #[arg(long, value_name = "LEVEL", value_parser = severity)]
    pub min_severity: Option<Severity>,
    /// Show findings of this confidence and above: low, medium (default) or high
    #[arg(long, value_name = "LEVEL", value_parser = confidence)]
    pub min_confidence: Option<Confidence>,
    /// Fail on findings of this severity and above: note, warning (default) or error
    #[arg(long, value_name = "LEVEL", value_parser = severity)]
    pub fail_on: Option<Severity>,
    /// Read settings from this file alone
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Lint test code too
    #[arg(long)]
    pub include_tests: bool,
    /// List where an acquire, a release or a row count could not be followed, and why
    #[arg(long)]
    pub show_unknown: bool,
    /// Lower packages too that speak to no store: slower, the same findings
    #[arg(long)]
    pub no_prefilter: bool,
    /// Do not read files of more bytes [default: 2097152]
    #[arg(long, value_name = "BYTES")]
    pub max_file_size: Option<u64>,
}

/// The output formats by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Code frames for people
    Human,
    /// One JSON object
    Json,
}

/// The severity a word names.
pub fn severity(word: &str) -> Result<Severity, String> {
    Severity::of_word(word).ok_or_else(|| "expected note, warning or error".to_owned())
}

fn confidence(word: &str) -> Result<Confidence, String> {
    Confidence::of_word(word).ok_or_else(|| "expected low, medium or high".to_owned())
}
