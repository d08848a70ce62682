//! The common parts of all programs: start and end, completions, manual pages and licences.

pub mod completions;
pub mod licences;
pub mod man;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::{CliError, Outcome};
use crate::output;
use crate::words::words;

/// Runs a program of this name: reads its arguments, or completes them for a shell, and reports its error.
pub fn run<P: Parser>(name: &'static str, command: impl FnOnce(P) -> Outcome) -> ExitCode {
    code(name, command).into()
}

/// Runs a program as [`run`] does, and returns its exit code.
pub fn code<P: Parser>(name: &'static str, command: impl FnOnce(P) -> Outcome) -> u8 {
    output::set_program(name);
    match completions::complete::<P>() {
        Ok(false) => {}
        Ok(true) => return 0,
        Err(error) => return failed(error),
    }
    let args = match P::try_parse_from(words()) {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    match command(args) {
        Ok(status) => status.code(),
        Err(error) => failed(error),
    }
}

/// Reports an error.
fn failed(error: CliError) -> u8 {
    match error {
        CliError::BrokenPipe => 0,
        CliError::Message(message) => {
            output::warn(message);
            2
        }
    }
}

/// Prints help if requested; otherwise reports the usage error in the form of all other errors.
fn usage(error: &clap::Error) -> u8 {
    // Without a command the help is the answer, but scripts have to see that nothing was done.
    let no_command = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || no_command {
        // The reader may have closed the pipe.
        let _ = error.print();
        return if no_command { 2 } else { 0 };
    }
    // clap wrote the lines, but the values in them come from the user and may need escaping.
    let text = error.render().to_string();
    let lines: Vec<_> = text.trim_end().lines().map(longmatch_feed::printable).collect();
    let mut text = lines.join("\n");
    if let Some((command, program)) = other_program(error) {
        text += &format!("\n\nFor '{command}' use the program {program}.");
    }
    output::warn(text.strip_prefix("error: ").unwrap_or(&text));
    2
}

/// The commands of each program that people may expect in another one.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("longmatch", &["lookup", "compile", "annotate", "set", "rov"]),
    ("longmatch-lab", &["stat", "verify", "bench", "replay", "report"]),
    ("longmatch-forward", &["forward"]),
    ("longmatch-filter", &["filter"]),
];

/// Returns an unknown command and the program that has it, if one has.
fn other_program(error: &clap::Error) -> Option<(&str, &'static str)> {
    let ContextValue::String(command) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let (program, _) = COMMANDS.iter().find(|(_, commands)| commands.contains(&&**command))?;
    Some((command, program))
}
