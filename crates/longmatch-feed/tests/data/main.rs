//! Prefix data in every format.

#[path = "../common/mod.rs"]
mod common;
mod formats;
mod join;
mod listings;
mod mmdb;
mod ranges;
mod robust;
mod routes;
mod show;
mod text;
mod writer;
