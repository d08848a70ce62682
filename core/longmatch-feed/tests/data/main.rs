//! Prefix data in every format.

mod cases;
#[path = "../common/mod.rs"]
mod common;
mod inputs;
mod join;
mod mmdb;
mod robust;
mod routes;
mod show;
mod writer;
