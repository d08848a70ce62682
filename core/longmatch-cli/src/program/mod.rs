//! What every program has: its start and its end, completions, manual pages and licences.

pub mod completions;
pub mod licences;
pub mod man;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::error::{CliError, Outcome};
use crate::output;

/// Runs a program of this name: reads its arguments, or completes them for a shell, and reports its error.
pub fn run<P: Parser>(name: &'static str, command: impl FnOnce(P) -> Outcome) -> ExitCode {
    output::set_program(name);
    match completions::complete::<P>() {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => return failed(error),
    }
    let args = match P::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    match command(args) {
        Ok(status) => status.into(),
        Err(error) => failed(error),
    }
}

/// Reports an error.
fn failed(error: CliError) -> ExitCode {
    match error {
        CliError::BrokenPipe => ExitCode::SUCCESS,
        CliError::Message(message) => {
            output::warn(message);
            ExitCode::from(2)
        }
    }
}

/// Prints help if requested; otherwise reports the usage error in the form of all other errors.
fn usage(error: &clap::Error) -> ExitCode {
    // Without a command the help is the answer, but scripts have to see that nothing was done.
    let no_command = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || no_command {
        // The reader may have closed the pipe.
        let _ = error.print();
        return if no_command { ExitCode::from(2) } else { ExitCode::SUCCESS };
    }
    // clap wrote the lines, but the values in them come from the user and may need escaping.
    let text = error.render().to_string();
    let lines: Vec<_> = text.trim_end().lines().map(longmatch_feed::printable).collect();
    let text = lines.join("\n");
    output::warn(text.strip_prefix("error: ").unwrap_or(&text));
    ExitCode::from(2)
}
