//! Long calls: they let other threads run and see Ctrl-C, every few milliseconds.

use pyo3::prelude::*;
use pyo3::types::PyList;

/// Python objects that are made between two pauses.
pub const OBJECTS: usize = 1 << 14;

/// Lets other threads run Python, and the handlers of signals.
///
/// # Errors
/// What a handler raises, such as `KeyboardInterrupt`.
pub fn pause(py: Python<'_>) -> PyResult<()> {
    // The lock goes to a thread that waits for it.
    py.detach(|| ());
    py.check_signals()
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
