//! The command `licences`: the licences of the program and of its tables, which must accompany the tables.

use std::io::Write;

use crate::error::{Outcome, Status};
use crate::output::Out;

/// The subject and the text of the licence of each table of routes.
const ROUTES: [(&str, &str); 2] = [
    ("the IPv4 routes of the demonstration", include_str!("../../data/LICENSE-rotonda-store")),
    ("the IPv6 routes of the demonstration", include_str!("../../data/LICENSE-bart")),
];

/// The same of what every program contains.
const ALWAYS: [(&str, &str); 3] = [
    ("longmatch, at your choice", include_str!("../../LICENSE-MIT")),
    ("or", include_str!("../../LICENSE-APACHE")),
    (
        "the default table, by RouteViews (routeviews.org), DB-IP (db-ip.com) and NRO (nro.net): CC BY 4.0, \
         https://creativecommons.org/licenses/by/4.0/; merged by ip-location-db, then made into prefixes, without \
         special-purpose ones, by longmatch",
        include_str!("../../data/LICENSE-ip-location-db"),
    ),
];

/// Runs the command of a program with or without the embedded tables of routes.
///
/// # Errors
/// If standard output cannot be written.
pub fn run(with_routes: bool) -> Outcome {
    let mut out = Out::new();
    let routes = if with_routes { &ROUTES[..] } else { &[] };
    for (subject, text) in ALWAYS.iter().chain(routes) {
        writeln!(out, "{}\n\n{}\n", out.bold(subject), text.trim_end())?;
    }
    out.flush()?;
    Ok(Status::Ok)
}
