//! Arguments, files, threads, exit code.
