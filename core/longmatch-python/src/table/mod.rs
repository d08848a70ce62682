//! `Table`: prefixes of both families and Python objects.

mod methods;

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use longmatch::IpPrefix;
use longmatch::table::Column;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;
use pyo3::types::{PyDict, PyMapping};

use crate::key::{Key, key};
use crate::pause::{OBJECTS, paced, pause};
use crate::text::prefix_str;
use crate::value::{DropReferences, Inner, PyValue, insert_error};

/// A mapping from IP prefixes to values, in which ``[]`` finds the longest prefix that covers a key.
///
/// IPv4 and IPv6 share one table and never collide. A key is a str (``"192.0.2.0/24"``, ``"::1"``), an object of
/// ``ipaddress``, bytes in network order (4 or 16), ``(int, family)`` or ``(int, family, length)`` with family 4 or 6.
/// An address in place of a prefix means its host prefix, /32 or /128. An IPv4-mapped IPv6 address or prefix
/// (``::ffff:192.0.2.1``) means the IPv4 one.
///
/// With ``strict=True`` a prefix with host bits (``10.0.0.1/8``) is a ``ValueError``; with ``strict=False`` the bits
/// are cleared.
///
/// >>> import longmatch
/// >>> table = longmatch.Table({"10.0.0.0/8": "office", "10.9.0.0/16": "lab", "2001:db8::/32": "docs"})
/// >>> table["10.9.1.1"], table["10.1.1.1"], table["2001:db8::1"]
/// ('lab', 'office', 'docs')
/// >>> table.get_key("10.9.1.1")
/// '10.9.0.0/16'
#[pyclass(frozen, module = "longmatch", weakref, generic)]
pub struct Table {
    inner: RwLock<Inner>,
    strict: RwLock<bool>,
    /// The columns of a table that was thawed, which a frozen one has again.
    columns: RwLock<Option<Columns>>,
    /// After the values.
    _dropped: DropReferences,
}

/// The columns of a table of rows.
pub type Columns = Arc<[Column]>;

impl Table {
    pub fn from_inner(inner: Inner, strict: bool, columns: Option<Columns>) -> Self {
        Self {
            inner: RwLock::new(inner),
            strict: RwLock::new(strict),
            columns: RwLock::new(columns),
            _dropped: DropReferences,
        }
    }

    pub fn columns(&self) -> Option<Columns> {
        self.columns.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn read(&self, py: Python<'_>) -> RwLockReadGuard<'_, Inner> {
        self.inner.read_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, py: Python<'_>) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_strict(&self) -> bool {
        *self.strict.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn prefix(&self, object: &Bound<'_, PyAny>) -> PyResult<IpPrefix> {
        key(object)?.prefix(self.is_strict())
    }

    /// Sets a value; the old one is dropped by the caller's [`DropReferences`].
    fn set(&self, prefix: IpPrefix, value: Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        let value = PyValue::new(value);
        let mut inner = self.write(py);
        inner.insert(prefix, value).map_err(insert_error)?;
        inner.reclaim();
        Ok(())
    }

    /// The longest match of a key with what `read` makes of it.
    fn longest<R>(
        &self,
        object: &Bound<'_, PyAny>,
        read: impl FnOnce(IpPrefix, &PyValue) -> R,
    ) -> PyResult<Option<R>> {
        let key = key(object)?;
        let prefix = key.prefix(self.is_strict())?;
        let inner = self.read(object.py());
        let found = match key {
            Key { addr, len: None } => inner.get_lpm(addr),
            Key { .. } => inner.cover(prefix).last(),
        };
        Ok(found.map(|(prefix, value)| read(prefix, value)))
    }

    /// The routes with new references to their values.
    pub fn entries(&self, py: Python<'_>) -> Vec<(IpPrefix, Py<PyAny>)> {
        self.read(py).iter().map(|(prefix, value)| (prefix, value.get(py))).collect()
    }

    fn remove(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let py = object.py();
        let prefix = self.prefix(object)?;
        let mut inner = self.write(py);
        let removed = inner.remove(prefix).map(|value| value.get(py));
        inner.reclaim();
        Ok(removed)
    }

    fn extend(&self, routes: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(other) = routes.cast::<Self>() {
            let other = other.get();
            for (prefix, value) in other.entries(routes.py()) {
                self.set(prefix, value.into_bound(routes.py()))?;
            }
            return Ok(());
        }
        for (i, (prefix, value)) in pairs(routes)?.into_iter().enumerate() {
            if i % OBJECTS == 0 {
                pause(routes.py())?;
            }
            let prefix = self.prefix(&prefix).map_err(|error| at(routes, i, &error))?;
            self.set(prefix, value)?;
        }
        Ok(())
    }
}

/// The error of a pair of an iterable, with its number; that of a mapping names its key itself.
fn at(routes: &Bound<'_, PyAny>, i: usize, error: &PyErr) -> PyErr {
    let py = routes.py();
    if routes.cast::<PyMapping>().is_ok() {
        return error.clone_ref(py);
    }
    let text = format!("pair {i}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(text)
    } else {
        PyValueError::new_err(text)
    }
}

/// The two parts of an item.
fn pair<'py>(item: &Bound<'py, PyAny>) -> PyResult<Pair<'py>> {
    item.extract().map_err(|_| {
        PyTypeError::new_err("expected a mapping, or an iterable of pairs (prefix, value)")
    })
}

/// A pair of Python objects.
type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The prefixes and values of a mapping or of an iterable of pairs.
pub fn pairs<'py>(routes: &Bound<'py, PyAny>) -> PyResult<Vec<Pair<'py>>> {
    let py = routes.py();
    if let Ok(table) = routes.cast::<Table>() {
        let entries = table.get().entries(py).into_iter();
        let text = |prefix| prefix_str(py, prefix).into_any();
        let pairs = entries.map(|(prefix, it)| Ok((text(prefix), it.into_bound(py))));
        return paced(py, pairs).collect();
    }
    if let Ok(dict) = routes.cast_exact::<PyDict>() {
        return Ok(dict.iter().collect());
    }
    match routes.cast::<PyMapping>() {
        Ok(mapping) => paced(py, mapping.items()?.iter().map(|item| pair(&item))).collect(),
        Err(_) => paced(py, routes.try_iter()?.map(|item| pair(&item?))).collect(),
    }
}
