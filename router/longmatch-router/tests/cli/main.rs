//! Runs the built program as users do, from end to end.

mod captures;
#[allow(dead_code, reason = "each program needs a part of it")]
#[path = "../../../../core/longmatch-cli/tests/cli/common.rs"]
mod common;
mod counts;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod filter;
// The tests of captures, which other systems have too, need a part of it.
#[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), allow(dead_code))]
mod frames;
mod matrix;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod network;
#[cfg(unix)]
mod pages;
#[cfg(unix)]
#[path = "../../../../core/longmatch-cli/tests/cli/transcripts.rs"]
mod transcripts;

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_longmatch-forward");
