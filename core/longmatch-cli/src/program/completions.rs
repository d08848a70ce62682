//! The command `completions`: the script by which a shell completes commands, options and values.
//!
//! The script asks the program itself for the words, so that columns of the tables of a line can be completed.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;

use crate::args::CompletionsArgs;
use crate::error::{CliError, Outcome, Status};
use crate::output::Out;
use crate::words::words;

/// The variable with which the script of a shell asks for words. Its name is unlikely in a user's own environment.
const VARIABLE: &str = "LONGMATCH_COMPLETE";

/// Runs the command of the program of this name.
///
/// # Errors
/// If standard output cannot be written.
pub fn run(program: &str, args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(&args.shell.to_string()) {
        shell.write_registration(VARIABLE, program, program, program, &mut script)?;
    }
    let mut out = Out::new();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Status::Ok)
}

/// Prints the words that complete a line if the script of a shell asks for them; returns whether it did.
///
/// # Errors
/// If standard output cannot be written.
pub fn complete<P: CommandFactory>() -> Result<bool, CliError> {
    let directory = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(P::command).var(VARIABLE);
    let answered = asked.try_complete(words().iter().cloned(), directory.as_deref());
    answered.map_err(|error| CliError::new(error.to_string()))
}
