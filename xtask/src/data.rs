//! `cargo xtask data`: rebuilds the embedded tables from the public packages they come from.
//!
//! - `rules`: what becomes of the packages' contents; pure functions, tested with every `cargo test`.
//! - `fetch`: gets the packages with the ordinary clients, `cargo` and `go`.
//! - `build`: puts the two together, compresses, counts and compares.
//!
//! The last two, and the C library that compresses, are compiled only with the feature `data`. Without it this
//! command runs itself again with it.

#[cfg(feature = "data")]
mod build;
#[cfg(feature = "data")]
mod fetch;
#[cfg(any(test, feature = "data"))]
mod rules;

use crate::Outcome;

/// What to do with the rebuilt tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Write them.
    Write,
    /// Write nothing, only compare them with the files that are there.
    Check,
}

/// Rebuilds both tables; returns whether they are the ones that data/PROVENANCE.md records.
#[cfg(feature = "data")]
pub fn run(mode: Mode) -> Outcome {
    build::run(mode)
}

/// Runs this command again with the feature that it needs.
#[cfg(not(feature = "data"))]
pub fn run(mode: Mode) -> Outcome {
    let mut again = crate::workspace::cargo("run --quiet --package xtask --features data -- data");
    if mode == Mode::Check {
        again.arg("--check");
    }
    let status = again.status().map_err(|error| format!("cargo could not be started: {error}"))?;
    // 1 is "not the recorded tables", already told; anything else above 0 is work that could not be done.
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(format!("rebuilding the tables ended with {status}").into()),
    }
}
