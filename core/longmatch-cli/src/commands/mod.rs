//! The commands: each takes its arguments and returns a status or an error.

pub mod annotate;
pub mod bench;
pub mod compile;
pub mod completions;
pub mod demo;
pub mod forward;
pub mod licences;
pub mod lookup;
pub mod man;
pub mod replay;
pub mod report;
pub mod rov;
pub mod set;
pub mod stat;
pub mod verify;

use crate::args::Command;
use crate::error::Outcome;

/// Runs a command, or the demonstration if there is none.
///
/// # Errors
/// If the command cannot do its work.
pub fn run(command: Option<Command>) -> Outcome {
    match command {
        None => demo::run(),
        Some(Command::Lookup(args)) => lookup::run(&args),
        Some(Command::Compile(args)) => compile::run(&args),
        Some(Command::Annotate(args)) => annotate::run(&args.with_names()),
        Some(Command::Stat(args)) => stat::run(&args),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Forward(args)) => forward::run(&args),
        Some(Command::Set(args)) => set::run(&args),
        Some(Command::Rov(args)) => rov::run(&args),
        Some(Command::Completions(args)) => completions::run(&args),
        Some(Command::Man(args)) => man::run(&args),
        Some(Command::Licences) => licences::run(),
    }
}
