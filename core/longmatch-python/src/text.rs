//! The text of Python strings without a copy, and prefixes as strings.

use std::ffi::c_char;

use longmatch::IpPrefix;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

unsafe extern "C" {
    /// Part of the stable ABI since Python 3.10, and exported with the same signature by every CPython before it.
    fn PyUnicode_AsUTF8AndSize(
        unicode: *mut ffi::PyObject,
        size: *mut ffi::Py_ssize_t,
    ) -> *const c_char;
}

/// The UTF-8 of a string, which lives as long as the string.
///
/// # Errors
/// When the string has lone surrogates, which UTF-8 cannot encode.
#[inline]
pub fn utf8<'a>(text: &'a Bound<'_, PyString>) -> PyResult<&'a [u8]> {
    let mut size = 0;
    // SAFETY: `text` is a string, `size` is writable, and this thread is attached to the interpreter, as `Bound` proves.
    let data = unsafe { PyUnicode_AsUTF8AndSize(text.as_ptr(), &raw mut size) };
    if data.is_null() {
        return Err(PyErr::fetch(text.py()));
    }
    // SAFETY: the string owns `size` bytes at `data` as long as it lives; `'a` borrows a reference to it.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), size as usize) })
}

/// Calls `read` with the UTF-8 of a string; text that UTF-8 cannot encode is passed with replacements.
pub fn with_text<R>(text: &Bound<'_, PyString>, read: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    match utf8(text) {
        Ok(bytes) => Ok(read(bytes)),
        // Bytes that are not UTF-8 are not an address; `read` makes the error.
        Err(_) => Ok(read("\u{fffd}".as_bytes())),
    }
}

/// A prefix as a Python string.
pub fn prefix_str(py: Python<'_>, prefix: IpPrefix) -> Bound<'_, PyString> {
    PyString::new(py, &prefix.to_string())
}
