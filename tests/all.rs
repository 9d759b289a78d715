//! The only test binary: one link step. `UPDATE=1 cargo test` rewrites what is generated.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod marks;

mod baseline;
mod changed;
mod cli;
mod fixes;
mod fingerprints;
mod fixtures;
mod gaps;
mod lowering;
mod pages;
mod outputs;
mod readme;
mod reports;
mod rewrites;
mod robust;
mod settings;
mod suppressions;
mod tidy;
mod unknown;

use std::path::{Path, PathBuf};

/// Rules whose page or fixtures do not hold yet. Exactly these may fail; the list is to be emptied.
const UNFINISHED: &[&str] = &[];

/// Fixtures that are no rule's own and do not hold yet.
const UNFINISHED_PROJECTS: &[&str] = &[];

/// The folder of the package.
fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files under a folder with this extension, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    walk.map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}

/// The text of a file of the package.
fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether generated text is to be written instead of compared.
fn updating() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value == "1")
}

/// Runs a test body on a stack as large as the program's own.
fn on_large_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(128 * 1024 * 1024).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}
