//! Scanners of lines and rows: where the addresses are, and where something can be added.
//!
//! They are pure functions over bytes. None builds a tree or copies a cell: a [`csv::Row`], a
//! [`ndjson::Object`] or a line of [`text`] is a set of byte ranges, so that a caller can pass the
//! input through unchanged.

pub mod address;
pub mod csv;
pub mod ndjson;
pub mod text;
pub mod words;
