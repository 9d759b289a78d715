//! leaselint reads Rust, Lua and SQL as one program and says where a Redis lock can be stuck,
//! stolen, outlived or ignored.
//!
//! The modules are declared in floor order, and that order is the architecture: a module may
//! import only modules declared above it. `tests/tidy.rs` enforces the order and the walls.

#![forbid(unsafe_code)]

// A file, its text, its lines, its language; the walk over a tree. Knows no parser, no rule.
pub mod source;

// What `leaselint.toml` may say, as plain data. Knows no file system.
pub mod config;

// The small waist: values, control flow, effects, key templates, SQL. Knows no language.
pub mod ir;

// Which call of which library is which effect; the Redis command table. Knows no syntax tree.
pub mod catalog;

// Source text to `ir`, one folder a language. The only user of `syn` and `tree_sitter`.
pub mod lang;

// Ties files together: names, types, calls, constants, scripts, statements; calls become effects.
pub mod link;

// What a rule says: place, words, steps, fingerprint.
pub mod finding;

// The questions a rule may ask: leases, regions, summaries, result use, schema.
pub mod analysis;

// One short file a rule: one function finds, one gives the words.
pub mod rules;

// Allow comments and configuration: which findings are shown.
pub mod filter;

// One renderer a format.
pub mod report;

// Arguments, files, threads, exit code. The only floor that prints.
pub mod cli;
