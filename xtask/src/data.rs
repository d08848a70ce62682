//! `cargo xtask data`: rebuilds the embedded tables from the public packages they come from.
//!
//! - `rules`: conversion of the packages' contents; pure functions, tested with every `cargo test`.
//!   `default_rules`: the same for the default table.
//! - `fetch`: fetches the packages with the ordinary clients, `cargo`, `go` and `npm`.
//! - `build`: combines both, compresses, counts and compares. `default_table`: the same for the default table.
//!
//! All but the rules, and the C library for compression, are compiled only with the feature `data`. Without the feature,
//! the command runs itself again with it.

#[cfg(feature = "data")]
mod build;
#[cfg(any(test, feature = "data"))]
mod default_rules;
#[cfg(feature = "data")]
mod default_table;
#[cfg(feature = "data")]
mod fetch;
#[cfg(any(test, feature = "data"))]
mod rules;

use crate::steps::{CommandResult, OutputMode};

/// The tables to rebuild.
#[derive(Debug, Clone, Copy)]
pub enum RebuiltTables<'a> {
    /// The routing tables.
    Routes,
    /// The default table, from this version of its source, or from the one that it has.
    Default(Option<&'a str>),
}

/// Rebuilds tables; returns whether data/PROVENANCE.md records them.
#[cfg(feature = "data")]
pub fn run(tables: RebuiltTables<'_>, mode: OutputMode) -> CommandResult {
    match tables {
        RebuiltTables::Routes => build::run(mode),
        RebuiltTables::Default(version) => default_table::run(version, mode),
    }
}

/// Runs this command again with the feature that it needs.
#[cfg(not(feature = "data"))]
pub fn run(tables: RebuiltTables<'_>, mode: OutputMode) -> CommandResult {
    let tables = match tables {
        RebuiltTables::Routes => String::new(),
        RebuiltTables::Default(version) => {
            format!(" default-table {}", version.unwrap_or_default())
        }
    };
    let check = if mode == OutputMode::Check { " --check" } else { "" };
    crate::workspace::again_with("data", &format!("data{tables}{check}"))
}
