//! The commands: each takes its arguments and returns a status or an error.

pub mod bench;
pub mod demo;
pub mod replay;
pub mod report;
pub mod stat;
pub mod verify;

use longmatch_cli::error::Outcome;
use longmatch_cli::program::{completions, licences, man};

use crate::args::{Cli, Command};

/// Runs a command, or the demonstration if there is none.
///
/// # Errors
/// If the command cannot do its work.
pub fn run(command: Option<Command>) -> Outcome {
    match command {
        None => demo::run(),
        Some(Command::Stat(args)) => stat::run(&args),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Completions(args)) => completions::run("longmatch-lab", &args),
        Some(Command::Man(args)) => man::run::<Cli>(&args),
        Some(Command::Licences) => licences::run(true),
    }
}
