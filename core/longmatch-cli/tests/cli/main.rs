//! Runs the built program as users do: these tests hold the behaviour that scripts rely on.

mod annotate;
#[allow(dead_code, reason = "each program needs a part of it")]
mod common;
mod matrix;
#[cfg(unix)]
mod pages;
#[cfg(unix)]
mod transcripts;
#[cfg(unix)]
mod warehouses;

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_longmatch");
