//! The `leaselint` binary.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Reading many files is allocating much: this one takes three quarters of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    leaselint::cli::run(std::env::args_os().collect())
}
