//! `longmatch completions`: the script by which a shell completes commands, options and values.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::error::{Outcome, Status};
use crate::output::Out;

/// Runs the command.
///
/// # Errors
/// If standard output cannot be written.
pub fn run(args: &CompletionsArgs) -> Outcome {
    // clap_complete panics if its writer fails, as a closed pipe does; memory does not fail.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "longmatch", &mut script);
    let mut out = Out::new();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Status::Ok)
}
