//! The command `man`: the manual pages, one for each command.

mod page;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use longmatch_feed::printable;

use crate::args::ManArgs;
use crate::error::{CliError, Outcome, Status};
use crate::output::{Out, plural, warn};

/// Runs the command of the program `P`.
///
/// # Errors
/// If there is no such command, or if the output cannot be written.
pub fn run<P: CommandFactory>(args: &ManArgs) -> Outcome {
    // The pages have no use for the command 'help', which clap adds with a copy of all commands.
    let mut top = P::command().disable_help_subcommand(true);
    top.build();
    let Some(dir) = &args.out else {
        let mut out = Out::new();
        out.write_all(&page::render(find(&top, &args.command)?))?;
        out.flush()?;
        return Ok(Status::Ok);
    };
    fs::create_dir_all(dir).map_err(|error| cannot_write(dir, &error))?;
    let written = write_all(&top, dir)?;
    warn(format!("{} in {}", plural(written, "page"), printable(&dir.to_string_lossy())));
    Ok(Status::Ok)
}

/// Finds the command that words such as `set aggregate` name.
fn find<'a>(top: &'a Command, words: &[String]) -> Result<&'a Command, CliError> {
    words.iter().try_fold(top, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let lists = if command.has_subcommands() { command } else { top };
            let lists = lists.get_bin_name().unwrap_or("longmatch");
            let problem = format!("no such command: '{lists} --help' lists the commands");
            CliError::input(words.join(" "), problem)
        })
    })
}

/// Writes the pages of a command and of all commands below it; returns their number.
fn write_all(command: &Command, dir: &Path) -> Result<u64, CliError> {
    let path = dir.join(page::file_name(command));
    fs::write(&path, page::render(command)).map_err(|error| cannot_write(&path, &error))?;
    command.get_subcommands().try_fold(1, |written, below| Ok(written + write_all(below, dir)?))
}

fn cannot_write(path: &Path, error: &io::Error) -> CliError {
    CliError::input(path.display(), format!("cannot be written: {error}"))
}
