//! `longmatch-filter`: filters packets by lists of prefixes, inside the Linux kernel.
//!
//! Results go to standard output, all other messages to standard error. Exit codes: 0 ok, 1 an address whose packets are
//! dropped, 2 bad usage or input, or a filter that cannot be used.
#![deny(unsafe_code)]

mod args;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod commands;
mod help;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod lists;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod metrics;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod print;

use std::process::ExitCode;

use longmatch_cli::error::Outcome;
use longmatch_cli::program::{self, completions, licences, man};

use self::args::{Command, FilterArgs};

/// The program's name.
const PROGRAM: &str = "longmatch-filter";

fn main() -> ExitCode {
    program::run(PROGRAM, run)
}

/// Runs a command.
///
/// # Errors
/// If the command cannot do its work.
fn run(args: FilterArgs) -> Outcome {
    match &args.command {
        Command::Completions(args) => completions::run(PROGRAM, args),
        Command::Man(args) => man::run::<FilterArgs>(args),
        Command::Licences => licences::run(true),
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        command => commands::run(command),
        #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
        _ => Err(longmatch_cli::error::CliError::new("filters exist on 64-bit Linux only")),
    }
}
