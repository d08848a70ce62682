//! `cargo xtask docs`: the generated blocks of the documents, which a program of `longmatch-report` writes.

use crate::steps::CommandResult;
use crate::workspace::cargo;

/// Writes the blocks, or with `check` compares them; returns false if a file differs or the records lack a value.
pub fn run(check: bool) -> CommandResult {
    let check = if check { " -- --check" } else { "" };
    let words = format!("run --quiet --package longmatch-report --bin documents{check}");
    Ok(cargo(&words).status()?.success())
}
