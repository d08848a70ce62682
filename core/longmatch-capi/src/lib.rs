//! The C library `liblongmatch`. Programs in C include `longmatch.h`, which cbindgen makes of this crate; its head and
//! the comments of each call are the documentation. `docs/c.md` is the guide.
//!
//! `status` has the codes and the message of each thread, `memory` turns arguments into references or a misuse, `handle`
//! has the tables behind handles, `live` the state of readers, `writer` live tables, `open` files and arrays, `lookup` the read path, `columns`
//! the rows of files.
#![allow(non_camel_case_types, reason = "the names of C")]
#![allow(clippy::missing_safety_doc, reason = "the head of the header has the rules of all calls")]

mod columns;
mod handle;
mod live;
mod lookup;
mod memory;
mod open;
mod status;
mod writer;

pub use columns::*;
pub use handle::lm_table;
pub use lookup::*;
pub use open::*;
pub use status::*;
pub use writer::*;
