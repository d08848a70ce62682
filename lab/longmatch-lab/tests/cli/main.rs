//! Runs the built program as users do: these tests hold the behaviour that scripts rely on.

#[allow(dead_code, reason = "each program needs a part of it")]
#[path = "../../../../core/longmatch-cli/tests/cli/common.rs"]
mod common;
mod compiled;
mod matrix;
#[cfg(unix)]
mod pages;
mod replay;
mod report;
#[cfg(unix)]
#[path = "../../../../core/longmatch-cli/tests/cli/transcripts.rs"]
mod transcripts;

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_longmatch-lab");
