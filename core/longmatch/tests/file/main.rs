//! Files of compiled tables: the same answers as the tables in memory, refused damage, replacement
//! under readers.

#[path = "../common/mod.rs"]
mod common;
mod damage;
mod data;
mod python;
mod real;
mod replace;
mod same;
