//! `cargo xtask data`: rebuilds the embedded tables from the public packages they come from.
//!
//! - `rules`: conversion of the packages' contents; pure functions, tested with every `cargo test`.
//! - `fetch`: fetches the packages with the ordinary clients, `cargo` and `go`.
//! - `build`: combines both, compresses, counts and compares.
//!
//! `fetch`, `build` and the C library for compression are compiled only with the feature `data`. Without the feature,
//! the command runs itself again with it.

#[cfg(feature = "data")]
mod build;
#[cfg(feature = "data")]
mod fetch;
#[cfg(any(test, feature = "data"))]
mod rules;

use crate::report::Outcome;

/// Use of the rebuilt tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Write the tables.
    Write,
    /// Write nothing; compare the tables with the files in data/.
    Check,
}

/// Rebuilds both tables; returns whether data/PROVENANCE.md records them.
#[cfg(feature = "data")]
pub fn run(mode: Mode) -> Outcome {
    build::run(mode)
}

/// Runs this command again with the feature that it needs.
#[cfg(not(feature = "data"))]
pub fn run(mode: Mode) -> Outcome {
    crate::workspace::again_with("data", if mode == Mode::Check { "data --check" } else { "data" })
}
