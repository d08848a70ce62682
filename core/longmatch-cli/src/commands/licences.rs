//! `longmatch licences`: the licences of the program and of the embedded tables, which must
//! accompany the tables.

use std::io::Write;

use crate::error::{Outcome, Status};
use crate::output::Out;

/// The subject and the text of each licence.
const LICENCES: [(&str, &str); 5] = [
    ("longmatch, at your choice", include_str!("../../../../LICENSE-MIT")),
    ("or", include_str!("../../../../LICENSE-APACHE")),
    (
        "the default table, by RouteViews (routeviews.org), DB-IP (db-ip.com) and NRO (nro.net): CC BY 4.0, \
         https://creativecommons.org/licenses/by/4.0/; merged by ip-location-db, then made into prefixes, without \
         special-purpose ones, by longmatch",
        include_str!("../../../../data/LICENSE-ip-location-db"),
    ),
    (
        "the IPv4 routes of the demonstration",
        include_str!("../../../../data/LICENSE-rotonda-store"),
    ),
    ("the IPv6 routes of the demonstration", include_str!("../../../../data/LICENSE-bart")),
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
