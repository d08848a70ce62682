//! Runs the built binary as users do: what scripts rely on is kept here.

mod common;
mod limits;
mod load;
mod lookup;
mod measure;
mod replay;
mod report;
mod stat;
mod traffic;
mod usage;
