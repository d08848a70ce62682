//! `longmatch licences`: the licences of the program and of the tables inside it, which ask to go
//! wherever the tables go.

use std::io::Write;

use crate::error::{Outcome, Status};
use crate::output::Out;

/// What each licence is for, and its text.
const LICENCES: [(&str, &str); 4] = [
    ("longmatch, at your choice", include_str!("../../../../LICENSE-MIT")),
    ("or", include_str!("../../../../LICENSE-APACHE")),
    ("the embedded IPv4 table", include_str!("../../../../data/LICENSE-rotonda-store")),
    ("the embedded IPv6 table", include_str!("../../../../data/LICENSE-bart")),
];

/// Carries out the command.
///
/// # Errors
/// When standard output fails.
pub fn run() -> Outcome {
    let mut out = Out::new();
    for (subject, text) in LICENCES {
        writeln!(out, "{}\n\n{}\n", out.bold(subject), text.trim_end())?;
    }
    out.flush()?;
    Ok(Status::Ok)
}
