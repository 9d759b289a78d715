//! The `leaselint` binary.

fn main() {}
