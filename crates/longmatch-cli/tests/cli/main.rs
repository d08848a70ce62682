//! Runs the built binary as users do: what scripts rely on is kept here.

mod common;
mod lookup;
mod measure;
mod stat;
mod usage;
