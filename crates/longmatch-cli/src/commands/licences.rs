//! `longmatch licences`: the licences of the program and of the embedded tables, which must
//! accompany the tables.

use std::io::Write;

use crate::error::{Outcome, Status};
use crate::output::Out;

/// The subject and the text of each licence.
const LICENCES: [(&str, &str); 4] = [
    ("longmatch, at your choice", include_str!("../../../../LICENSE-MIT")),
    ("or", include_str!("../../../../LICENSE-APACHE")),
    ("the embedded IPv4 table", include_str!("../../../../data/LICENSE-rotonda-store")),
    ("the embedded IPv6 table", include_str!("../../../../data/LICENSE-bart")),
];

/// Runs the command.
///
/// # Errors
/// If standard output cannot be written.
pub fn run() -> Outcome {
    let mut out = Out::new();
    for (subject, text) in LICENCES {
        writeln!(out, "{}\n\n{}\n", out.bold(subject), text.trim_end())?;
    }
    out.flush()?;
    Ok(Status::Ok)
}
