//! The `cargo leaselint` binary: the same program.

#![forbid(unsafe_code)]

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    leaselint::cli::run(std::env::args_os().collect())
}
