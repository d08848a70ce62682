//! Long calls: they let other threads run and see Ctrl-C, every few milliseconds.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Python objects that are made between two pauses.
pub const OBJECTS: usize = 1 << 12;

/// Lets other threads run Python, and the handlers of signals.
///
/// # Errors
/// What a handler raises, such as `KeyboardInterrupt`.
pub fn pause(py: Python<'_>) -> PyResult<()> {
    // The lock goes to a thread that waits for it.
    py.detach(|| ());
    py.check_signals()
}

/// Many items, with a pause before each [`OBJECTS`].
pub fn paced<'py, T>(
    py: Python<'py>,
    items: impl Iterator<Item = PyResult<T>>,
) -> impl Iterator<Item = PyResult<T>> {
    items.enumerate().map(move |(i, item)| {
        if i % OBJECTS == 0 {
            pause(py)?;
        }
        item
    })
}

/// The slices of an object that `slice` returns for a start and an end, as tuples of [`OBJECTS`] items each.
///
/// # Errors
/// What `slice` returns, or a handler of a signal raises.
pub fn slices_of<'py>(
    py: Python<'py>,
    slice: impl Fn(usize, usize) -> PyResult<Bound<'py, PyTuple>>,
) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let mut slices = Vec::new();
    loop {
        let start = slices.len() * OBJECTS;
        let items = slice(start, start + OBJECTS)?;
        let is_last = items.len() < OBJECTS;
        slices.push(items);
        if is_last {
            return Ok(slices);
        }
        pause(py)?;
    }
}

/// A list of many items.
pub fn list_of<'py>(
    py: Python<'py>,
    items: impl Iterator<Item = PyResult<Py<PyAny>>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    let mut items = items.fuse();
    loop {
        let chunk = items.by_ref().take(OBJECTS).collect::<PyResult<Vec<_>>>()?;
        if chunk.is_empty() {
            return Ok(list);
        }
        let len = list.len();
        // Whole chunks, so that nobody sees a list with places that are not filled yet.
        list.set_slice(len, len, PyList::new(py, chunk)?.as_any())?;
        pause(py)?;
    }
}
