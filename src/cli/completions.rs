//! `leaselint completions` and `leaselint man`: both are made of the definition of the arguments.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use super::arguments::Arguments;
use super::{CLEAN, Failure, output};

/// Prints what a shell completes words by.
pub(super) fn completions(shell: Shell) -> Result<u8, Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "leaselint", &mut bytes);
    output(&bytes)?;
    Ok(CLEAN)
}

/// Prints the manual page, or writes a page for each command into a folder.
pub(super) fn man(folder: Option<&Path>) -> Result<u8, Failure> {
    let Some(folder) = folder else {
        let mut bytes = Vec::new();
        clap_mangen::Man::new(Arguments::command()).render(&mut bytes)?;
        output(&bytes)?;
        return Ok(CLEAN);
    };
    let cant = |error| Failure(format!("can't write into {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(cant)?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(cant)?;
    Ok(CLEAN)
}
