//! Arguments, files, threads, exit code. The only floor that prints.
//!
//! Whatever happens, a run ends with one of three codes: [`CLEAN`], [`FOUND`], [`FAILED`]. A fault
//! in leaselint itself ends with the last of them and a sentence, never with a backtrace.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;

use clap::Parser;

/// What the command line may say.
mod arguments;
/// The CI system that runs this.
mod ci;
/// The baseline.
mod baseline;
/// Of which change findings are shown.
mod changed;
/// `leaselint check`: from files to findings.
pub mod check;
/// `leaselint explain` and `leaselint rules`.
mod explain;
/// Files that a run writes.
mod files;
/// Asking git.
mod git;
/// `leaselint ir`.
mod ir;
/// What is written where.
mod output;
/// A sign of life on long runs.
mod progress;
/// `leaselint completions` and `leaselint man`.
mod completions;
/// `leaselint init`.
mod init;
/// `leaselint suppressions`.
mod suppressions;
/// Which settings hold: the configuration file, then the command line.
pub mod settings;
/// What a run reads.
mod workspace;

use crate::report::one_line;
use arguments::{Arguments, Command};

/// Exit code: nothing that fails the run.
pub const CLEAN: u8 = 0;
/// Exit code: findings of the failing severity.
pub const FOUND: u8 = 1;
/// Exit code: the run itself failed.
pub const FAILED: u8 = 2;

/// Stack of the threads that read source: trees of hostile depth are walked on it.
const STACK: usize = 128 * 1024 * 1024;

/// What went wrong with a run, in one sentence for people.
pub(crate) struct Failure(String);

impl<E: std::fmt::Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Runs the program with the process's arguments and gives the process's exit code.
#[must_use]
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let arguments = without_cargo(arguments);
    match Arguments::try_parse_from(&arguments) {
        Ok(arguments) => ExitCode::from(on_large_stack(arguments)),
        Err(error) => {
            // The complaint repeats the arguments: it is made of ones fit for a terminal.
            let fit = arguments.iter().map(|word| one_line(&word.to_string_lossy()).into_owned());
            let error = Arguments::try_parse_from(fit).err().unwrap_or(error);
            let code = if error.use_stderr() { FAILED } else { CLEAN };
            let printed = error.print();
            ExitCode::from(if printed.is_ok() || code == CLEAN { code } else { FAILED })
        }
    }
}

/// `cargo leaselint …` runs `cargo-leaselint leaselint …`: the second word goes, if that is it.
fn without_cargo(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let called_by_cargo = arguments.first().is_some_and(|program| {
        let name = std::path::Path::new(program).file_stem();
        name.is_some_and(|name| name == "cargo-leaselint")
    });
    if called_by_cargo && arguments.get(1).is_some_and(|word| word == "leaselint") {
        arguments.remove(1);
    }
    arguments
}

/// Runs a command on a thread with a large stack; the worker threads have large ones too.
fn on_large_stack(arguments: Arguments) -> u8 {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
        complain(&format!("a fault in leaselint itself{}", place.unwrap_or_default()));
    }));
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).build_global();
    if let Err(error) = pool {
        complain(&format!("can't start threads: {error}"));
        return FAILED;
    }
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || dispatch(&arguments));
    let outcome = thread.map(thread::JoinHandle::join);
    match outcome {
        Ok(Ok(Ok(code))) => code,
        Ok(Ok(Err(failure))) => {
            complain(&failure.0);
            FAILED
        }
        Ok(Err(_)) => FAILED,
        Err(error) => {
            complain(&format!("can't start a thread: {error}"));
            FAILED
        }
    }
}

fn dispatch(arguments: &Arguments) -> Result<u8, Failure> {
    let color = arguments.color;
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments, color),
        Command::Explain { rule } => explain::explain(rule),
        Command::Rules => explain::rules(),
        Command::Ir { file } => ir::run(file),
        Command::Suppressions(arguments) => suppressions::run(arguments),
        Command::Init(arguments) => init::run(arguments),
        Command::Completions { shell } => completions::completions(*shell),
        Command::Man { folder } => completions::man(folder.as_deref()),
    }
}

/// One sentence on the error stream.
fn complain(message: &str) {
    // Nothing is left to do when that stream is closed.
    let _ = writeln!(io::stderr(), "leaselint: {}", one_line(message));
}

/// Writes a finished text to the output. A reader that has gone (`leaselint … | head`) is no fault.
pub(crate) fn output(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure(format!("can't write the output: {error}")))
        }
        _ => Ok(()),
    }
}
