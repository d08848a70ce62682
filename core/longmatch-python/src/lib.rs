//! The Python package `longmatch`: longest-prefix match for columns of IP addresses.
//!
//! `value` and `key` convert what Python gives; `table`, `frozen` and `live` are the classes; `input` recognizes the
//! batches that `lookup_many` takes, `numpy` and `arrow` borrow their memory as columns of `bulk`, which looks them up
//! without the interpreter; `store` holds routes and values by codes, `kinds` finds the type of a column of values,
//! `answers` turns codes into arrays and `arrow_column` gives them to other libraries.

mod answers;
mod arrow;
mod arrow_column;
mod bulk;
mod command;
mod data;
mod file;
mod frame;
mod frozen;
mod input;
mod key;
mod kinds;
mod live;
mod load;
mod mapping;
mod mmdb;
mod numpy;
mod output;
mod pause;
mod pickle;
mod routes;
mod store;
mod table;
mod text;
mod unpickle;
mod value;

use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::SeqCst;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The compiled part of the package `longmatch`.
#[pymodule(gil_used = false)]
mod _longmatch {
    #[pymodule_export]
    use crate::arrow_column::ArrowColumn;
    #[pymodule_export]
    use crate::command::_command;
    #[pymodule_export]
    use crate::frozen::FrozenTable;
    #[pymodule_export]
    use crate::live::{LiveReader, LiveTable};
    #[pymodule_export]
    use crate::load::{asn, compile, load, open};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::unpickle::{_freeze, _open, _rows};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::only_one_interpreter(module.py())?;
        use pyo3::types::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Refuses a second interpreter of the process: classes and the embedded table belong to the first.
fn only_one_interpreter(py: Python<'_>) -> PyResult<()> {
    static FIRST: AtomicI64 = AtomicI64::new(-1);
    // SAFETY: this thread is attached to an interpreter, as `py` proves.
    let state = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: the state of a live interpreter.
    let own = unsafe { ffi::PyInterpreterState_GetID(state) };
    if own < 0 {
        return Err(PyErr::fetch(py));
    }
    match FIRST.compare_exchange(-1, own, SeqCst, SeqCst) {
        Err(first) if first != own => Err(PyImportError::new_err(
            "longmatch does not support subinterpreters: another interpreter of this process has imported it; use \
             threads or processes",
        )),
        _ => Ok(()),
    }
}
