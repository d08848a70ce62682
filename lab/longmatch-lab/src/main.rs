//! `longmatch-lab`: checks and measures longest-prefix match, and the demonstration.
//!
//! Results go to standard output, all other messages to standard error. Exit codes: 0 ok, 1 a wrong answer or an engine
//! without a result, 2 bad usage or input.
#![deny(unsafe_code)]

mod args;
mod commands;
mod destinations;
mod headings;
mod help;
mod routes;
mod updates;
mod widen;

use std::process::ExitCode;

fn main() -> ExitCode {
    longmatch_cli::program::run("longmatch-lab", |cli: args::Cli| commands::run(cli.command))
}
