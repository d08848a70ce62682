//! Runs the built binary as users do: these tests hold the behaviour that scripts rely on.

mod annotate;
mod archives;
mod common;
mod compile;
mod forward;
#[cfg(unix)]
mod guide;
mod install;
mod limits;
mod load;
mod lookup;
mod matrix;
mod measure;
mod replay;
mod report;
mod set;
mod stat;
mod traffic;
mod usage;
