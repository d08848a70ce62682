//! `longmatch`: longest-prefix match on the command line.
//!
//! Results go to standard output, all other messages to standard error. Exit codes: 0 ok, 1 no
//! match, a difference or an engine without a result, 2 bad usage or input.
#![deny(unsafe_code)]

mod args;
mod cells;
mod commands;
mod default_table;
mod destinations;
mod error;
mod families;
mod help;
mod input;
mod lines;
mod lists;
mod name_list;
mod ordered;
mod output;
mod paths;
mod pipeline;
mod prefix_data;
mod progress;
mod reports;
mod stdin;
#[allow(unsafe_code, reason = "mapped files, which are only replaced")]
mod table_file;
mod target;
mod updates;
mod vrps;
mod widen;

use std::process::ExitCode;

use clap::Parser;

use crate::error::CliError;

fn main() -> ExitCode {
    match commands::completions::complete() {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => return failed(error),
    }
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match commands::run(cli.command) {
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
    if !error.use_stderr() {
        // The reader may have closed the pipe.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    // clap wrote the lines, but the values in them come from the user and may need escaping.
    let text = error.render().to_string();
    let lines: Vec<_> = text.trim_end().lines().map(longmatch_feed::printable).collect();
    let text = lines.join("\n");
    output::warn(text.strip_prefix("error: ").unwrap_or(&text));
    ExitCode::from(2)
}
