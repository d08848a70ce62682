//! The common parts of the programs `longmatch`, `longmatch-lab`, `longmatch-forward` and `longmatch-filter`, and all of `longmatch`, the
//! longest-prefix match on the command line. It is not an interface for other programs: it changes with these.
//!
//! Results go to standard output, all other messages to standard error. Exit codes: 0 ok, 1 no
//! match, a difference or an engine without a result, 2 bad usage or input.
#![doc(hidden)]
#![deny(unsafe_code)]

pub mod args;
#[cfg(unix)]
#[allow(unsafe_code, reason = "the handler of a signal")]
mod bus_error;
#[cfg(feature = "columnar")]
mod cell_arrays;
mod cells;
mod commands;
mod default_table;
pub mod error;
pub mod families;
pub mod help;
pub mod input;
mod lines;
mod lists;
mod name_list;
mod ordered;
pub mod output;
pub mod paths;
mod pipeline;
mod prefix_data;
pub mod program;
pub mod progress;
pub mod reports;
mod stdin;
#[allow(unsafe_code, reason = "mapped files, which are only replaced")]
pub mod table_file;
pub mod target;
mod vrps;
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// Runs `longmatch`.
pub fn main() -> ExitCode {
    program::run("longmatch", |cli: args::Cli| commands::run(cli.command))
}

/// The bytes of the default table, a compiled table.
pub fn default_table() -> &'static [u8] {
    default_table::bytes()
}

/// Runs `longmatch` with these words, of which the first is the program, in a process that ends then; returns its exit code.
pub fn run(words: Vec<OsString>) -> u8 {
    words::set_words(words);
    let code = program::code("longmatch", |cli: args::Cli| commands::run(cli.command));
    // Only Rust's own `main` flushes standard output at its end. The reader may have closed the pipe.
    let _ = io::stdout().flush();
    code
}
