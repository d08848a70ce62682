//! Runs the built binary as users do: these tests hold the behaviour that scripts rely on.

mod annotate;
mod common;
mod forward;
mod matrix;
mod replay;
mod report;
#[cfg(unix)]
mod transcripts;
