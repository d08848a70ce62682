//! `cargo xtask docs`: the generated blocks of the documents, which a program of `longmatch-report` writes.

use std::process::Command;

use crate::report::Outcome;
use crate::workspace::cargo;

/// Returns the command that writes the blocks, or with `check` compares them.
pub fn command(check: bool) -> Command {
    let check = if check { " -- --check" } else { "" };
    cargo(&format!("run --quiet --package longmatch-report --bin documents{check}"))
}

/// Writes or compares all generated text; returns false if a file differs or the records lack a value.
pub fn run(check: bool) -> Outcome {
    Ok(command(check).status()?.success())
}
