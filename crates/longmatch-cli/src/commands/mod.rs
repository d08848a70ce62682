//! The commands: each takes its arguments and ends with a status or an error.

pub mod lookup;
pub mod stat;

use crate::args::Command;
use crate::error::Outcome;

/// Carries out a command; the demonstration when there is none.
///
/// # Errors
/// When the command cannot do its work.
pub fn run(command: Option<Command>) -> Outcome {
    match command {
        None => Ok(crate::error::Status::Ok),
        Some(Command::Lookup(args)) => lookup::run(&args),
        Some(Command::Stat(args)) => stat::run(&args),
        Some(Command::Verify(_)) | Some(Command::Bench(_)) => Ok(crate::error::Status::Ok),
    }
}
