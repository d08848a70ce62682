//! `longmatch`: longest-prefix match on the command line.
//!
//! Answers go to standard output, everything else to standard error. Exit codes: 0 ok, 1 no match
//! or a difference, 2 bad usage or input.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod error;
mod help;
mod input;
mod lines;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use crate::error::CliError;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    match commands::run(cli.command) {
        Ok(status) => status.into(),
        Err(CliError::BrokenPipe) => ExitCode::SUCCESS,
        Err(CliError::Message(message)) => {
            output::warn(message);
            ExitCode::from(2)
        }
    }
}
