//! The command `longmatch`, in a process of the interpreter that ends with it.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these words, of which the first is the program, and returns its exit code. Once in a process.
#[pyfunction]
pub fn _command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| longmatch_cli::run(words))
}
