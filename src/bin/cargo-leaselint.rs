//! The `cargo leaselint` binary: the same program.

fn main() {}
