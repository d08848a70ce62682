//! The Python package `longmatch`: longest-prefix match for columns of IP addresses.
//!
//! `value` and `key` convert what Python gives; `table`, `frozen` and `live` are the classes; `input` recognizes the
//! batches that `lookup_many` takes, `numpy` and `arrow` borrow their memory as columns of `bulk`, which looks them up
//! without the interpreter; `store` holds routes and values by codes, `answers` turns codes into arrays.

mod answers;
mod arrow;
mod bulk;
mod data;
mod file;
mod frozen;
mod input;
mod key;
mod live;
mod load;
mod numpy;
mod output;
mod pickle;
mod store;
mod table;
mod text;
mod value;

use pyo3::prelude::*;

/// The compiled part of the package `longmatch`.
#[pymodule(gil_used = false)]
mod _longmatch {
    #[pymodule_export]
    use crate::arrow::ArrowColumn;
    #[pymodule_export]
    use crate::frozen::FrozenTable;
    #[pymodule_export]
    use crate::live::{LiveReader, LiveTable};
    #[pymodule_export]
    use crate::load::{asn, compile, load, open};
    #[pymodule_export]
    use crate::pickle::{_freeze, _open, _rows};
    #[pymodule_export]
    use crate::table::Table;
}
