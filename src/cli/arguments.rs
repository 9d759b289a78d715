//! What the command line may say, and the words of `--help`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::{Confidence, Severity};

/// Which settings hold.
mod settings;
/// Formats, and where they go.
mod output;

#[cfg(test)]
pub use output::Output;
pub use output::OutputArguments;
pub use settings::SettingsArguments;
/// What may be said of the baseline.
mod baseline;
/// What may be said of changed lines.
mod changed;

pub use baseline::BaselineArguments;
pub use changed::ChangedArguments;

/// Shown under `leaselint --help`.
const AFTER: &str = "\
Examples:
  leaselint check                         lint the current folder
  leaselint check src migrations          lint these, as one program
  leaselint check --format json . > out   for other programs
  leaselint check --diff origin/main      only what your branch brings
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
    /// List the allow comments: what they allow and why, and whether they still silence something
    Suppressions(SuppressionsArguments),
    /// Write a leaselint.toml with comments and what is found out about the folder
    Init(InitArguments),
    /// Print what a shell completes words by
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Write a page for each command into this folder instead
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
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
    /// Formats, and where they go
    #[command(flatten)]
    pub output: OutputArguments,
    /// Fail on findings of this severity and above: note, warning (default) or error
    #[arg(long, value_name = "LEVEL", value_parser = severity)]
    pub fail_on: Option<Severity>,
    /// Exit with 0 whatever is found
    #[arg(long)]
    pub exit_zero: bool,
    /// Read the whole repository around the paths, and show what touches them
    #[arg(long)]
    pub workspace: bool,
    /// Print how many findings each rule has instead of the findings
    #[arg(long)]
    pub statistics: bool,
    /// List where an acquire, a release or a row count could not be followed, and why
    #[arg(long)]
    pub show_unknown: bool,
    /// Which settings hold.
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// Of which change.
    #[command(flatten)]
    pub changed: ChangedArguments,
    /// What is known already.
    #[command(flatten)]
    pub baseline: BaselineArguments,
}

/// What `suppressions` may be told.
#[derive(Args)]
pub struct SuppressionsArguments {
    /// Files and folders to look through
    #[arg(default_value = ".", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How to print them
    #[arg(long, value_enum, default_value_t = ListFormat::Human)]
    pub format: ListFormat,
    /// Which settings hold.
    #[command(flatten)]
    pub settings: SettingsArguments,
}

/// What `init` may be told.
#[derive(Args)]
pub struct InitArguments {
    /// The folder to write the file in
    #[arg(default_value = ".", value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    pub force: bool,
    /// Print the file instead of writing it
    #[arg(long)]
    pub print: bool,
}

/// How to print a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Lines for people
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
