//! What the tables have in common as mappings.

use longmatch::IpPrefix;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyMapping};

use crate::frozen::FrozenTable;
use crate::pause::list_of;
use crate::table::Table;
use crate::text::prefix_str;

/// The exception for a key that is not there.
pub fn missing(object: &Bound<'_, PyAny>) -> PyErr {
    PyKeyError::new_err(object.clone().unbind())
}

/// Prefixes as text: a list.
pub fn keys_of<'py>(
    py: Python<'py>,
    prefixes: impl Iterator<Item = IpPrefix>,
) -> PyResult<Bound<'py, PyList>> {
    list_of(py, prefixes.map(|prefix| Ok(prefix_str(py, prefix).into_any().unbind())))
}

/// Prefixes as text with their values, for short answers.
pub fn pairs_of(entries: Vec<(IpPrefix, Py<PyAny>)>) -> Vec<(String, Py<PyAny>)> {
    entries.into_iter().map(|(prefix, value)| (prefix.to_string(), value)).collect()
}

/// The longest of the prefixes that cover a prefix, which is the last of them, and are shorter.
pub fn parent_of(cover: impl Iterator<Item = IpPrefix>, prefix: IpPrefix) -> Option<String> {
    cover.filter(|covering| covering.len() < prefix.len()).last().map(|parent| parent.to_string())
}

/// Pairs (prefix, value): a list.
pub fn items_of<'py>(
    py: Python<'py>,
    entries: impl Iterator<Item = (IpPrefix, Py<PyAny>)>,
) -> PyResult<Bound<'py, PyList>> {
    list_of(
        py,
        entries.map(|(prefix, value)| {
            Ok((prefix_str(py, prefix), value).into_pyobject(py)?.into_any().unbind())
        }),
    )
}

/// Whether routes are those of another table or mapping; `NotImplemented` for other objects.
pub fn equal(one: Vec<(IpPrefix, Py<PyAny>)>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let py = other.py();
    let two = if let Ok(table) = other.cast::<Table>() {
        table.get().entries(py)
    } else if let Ok(table) = other.cast::<FrozenTable>() {
        table.get().entries(py)?
    } else if other.cast::<PyMapping>().is_ok() {
        let equal = items_of(py, one.into_iter())?;
        let equal = py
            .get_type::<PyDict>()
            .call1((equal,))?
            .eq(py.get_type::<PyDict>().call1((other,))?)?;
        return Ok(PyBool::new(py, equal).to_owned().into_any().unbind());
    } else {
        return Ok(py.NotImplemented());
    };
    let mut equal = one.len() == two.len();
    for ((prefix, value), (its_prefix, its_value)) in one.iter().zip(&two) {
        equal = equal
            && prefix == its_prefix
            && (value.is(its_value) || value.bind(py).eq(its_value)?);
        if !equal {
            break;
        }
    }
    Ok(PyBool::new(py, equal).to_owned().into_any().unbind())
}
