//! `longmatch-forward`: forwards packets.
//!
//! Results go to standard output, all other messages to standard error. Exit codes: 0 ok, 1 an address without a route,
//! 2 bad usage or input, or an interface that cannot be used.
#![deny(unsafe_code)]

mod args;
mod forward;
mod help;

use std::process::ExitCode;

use longmatch_cli::error::Outcome;
use longmatch_cli::program::{self, completions, licences, man};

use crate::args::{Command, ForwardArgs};

/// The program's name.
const PROGRAM: &str = "longmatch-forward";

fn main() -> ExitCode {
    program::run(PROGRAM, run)
}

/// Forwards, or runs a command.
///
/// # Errors
/// If the command cannot do its work.
fn run(args: ForwardArgs) -> Outcome {
    match &args.command {
        None => forward::run(&args),
        Some(Command::Route(question)) => forward::ask(question),
        Some(Command::Completions(args)) => completions::run(PROGRAM, args),
        Some(Command::Man(args)) => man::run::<ForwardArgs>(args),
        Some(Command::Licences) => licences::run(true),
    }
}
