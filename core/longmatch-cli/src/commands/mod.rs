//! The commands: each takes its arguments and returns a status or an error.

pub mod annotate;
pub mod compile;
pub mod lookup;
pub mod rov;
pub mod set;

use crate::args::{Cli, Command};
use crate::error::Outcome;
use crate::program::{completions, licences, man};

/// Runs a command.
///
/// # Errors
/// If the command cannot do its work.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Lookup(args) => lookup::run(&args),
        Command::Compile(args) => compile::run(&args),
        Command::Annotate(args) => annotate::run(&args.with_names()),
        Command::Set(args) => set::run(&args),
        Command::Rov(args) => rov::run(&args),
        Command::Completions(args) => completions::run("longmatch", &args),
        Command::Man(args) => man::run::<Cli>(&args),
        Command::Licences => licences::run(false),
    }
}
