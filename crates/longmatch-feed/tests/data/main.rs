//! Prefix data in every format.

#[path = "../common/mod.rs"]
mod common;
mod ranges;
mod routes;
mod show;
mod text;
