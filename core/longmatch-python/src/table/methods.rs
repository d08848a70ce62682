//! The methods of `Table`.

use std::sync::PoisonError;

use longmatch::IpPrefix;
use longmatch::table::Column;
use longmatch_feed::Options;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytesMethods, PyIterator, PyList, PyListMethods, PyString, PyTuple};

use super::{Columns, Table};
use crate::frame::{frame_data, is_frame};
use crate::frozen::FrozenTable;
use crate::key::{Key, checked_len, key};
use crate::live::LiveTable;
use crate::mapping::{equal, items_of, keys_of, missing};
use crate::pause::list_of;
use crate::pickle::{Packed, column_type, packed, unpacked};
use crate::text::prefix_str;
use crate::value::{DropReferences, Inner, PyValue, insert_error};

/// The state of a pickle: whether the table is strict, its routes, and the names and types of its columns.
type State<'py> = (bool, Packed<'py>, Option<Vec<(String, String)>>);

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (routes=None, /, *, strict=true))]
    fn new(routes: Option<&Bound<'_, PyAny>>, strict: bool) -> PyResult<Self> {
        let _dropped = DropReferences;
        let Some(routes) = routes else { return Ok(Self::from_inner(Inner::new(), strict, None)) };
        if !routes.is_instance_of::<PyString>() && is_frame(routes)? {
            let mut options = Options::default();
            options.mask_host_bits = !strict;
            let data = frame_data(routes, &options)?;
            let table = FrozenTable::of_data(routes.py(), data, "linear", strict)?;
            return table.thaw(routes.py());
        }
        let columns = match (routes.cast::<Self>(), routes.cast::<FrozenTable>()) {
            (Ok(table), _) => table.get().columns(),
            (_, Ok(table)) => table.get().columns_of_rows(),
            _ => None,
        };
        let table = Self::from_inner(Inner::new(), strict, columns);
        table.extend(routes)?;
        Ok(table)
    }

    /// Whether a prefix with host bits is an error (``True``) or has them cleared (``False``).
    #[getter]
    fn strict(&self) -> bool {
        self.is_strict()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.read(py).len()
    }

    /// The value of the longest prefix that covers the key.
    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.longest(key, |_, value| value.get(key.py()))?.ok_or_else(|| missing(key))
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        self.set(self.prefix(key)?, value)
    }

    /// Removes exactly this prefix.
    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        self.delete(key)
    }

    /// Whether a prefix covers the key.
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.longest(key, |_, _| ())?.is_some())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py)?.try_iter()
    }

    /// insert(prefix, value) or insert(address, length, value)
    /// --
    ///
    /// Gives a prefix a value, in place of the one that it had.
    ///
    /// >>> table = longmatch.Table()
    /// >>> table.insert("10.0.0.0/8", "office")
    /// >>> table.insert("10.9.0.0", 16, "lab")
    /// >>> table.keys()
    /// ['10.0.0.0/8', '10.9.0.0/16']
    #[pyo3(signature = (prefix, /, *args))]
    fn insert(&self, prefix: &Bound<'_, PyAny>, args: &Bound<'_, PyTuple>) -> PyResult<()> {
        let _dropped = DropReferences;
        match args.len() {
            1 => self.set(self.prefix(prefix)?, args.get_item(0)?),
            2 => {
                let Key { addr, len } = key(prefix)?;
                if len.is_some() {
                    let text = "the prefix has a length already: insert(prefix, value)";
                    return Err(PyTypeError::new_err(text));
                }
                let width = if addr.is_ipv4() { 32 } else { 128 };
                let len = Some(checked_len(args.get_item(0)?.extract()?, width)?);
                self.set(Key { addr, len }.prefix(self.is_strict())?, args.get_item(1)?)
            }
            n => Err(PyTypeError::new_err(format!(
                "insert() takes (prefix, value) or (address, length, value), got {} arguments",
                n + 1
            ))),
        }
    }

    /// Removes exactly this prefix; ``KeyError`` if it is not in the table.
    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        self.remove(key)?.map(drop).ok_or_else(|| missing(key))
    }

    /// The value of the longest prefix that covers the key, or the default.
    #[pyo3(signature = (key, default=None, /))]
    fn get(&self, key: &Bound<'_, PyAny>, default: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let py = key.py();
        let found = self.longest(key, |_, value| value.get(py))?;
        Ok(found.or(default).unwrap_or_else(|| py.None()))
    }

    /// The longest prefix that covers the key, as a str, or the default.
    #[pyo3(signature = (key, default=None, /))]
    fn get_key(&self, key: &Bound<'_, PyAny>, default: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let py = key.py();
        match self.longest(key, |prefix, _| prefix)? {
            Some(prefix) => Ok(prefix_str(py, prefix).into_any().unbind()),
            None => Ok(default.unwrap_or_else(|| py.None())),
        }
    }

    /// Whether exactly this prefix is in the table.
    fn has_key(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let prefix = self.prefix(key)?;
        Ok(self.read(key.py()).contains(prefix))
    }

    /// The longest prefix of the table that covers this one and is shorter, or ``None``.
    ///
    /// ``KeyError`` if exactly this prefix is not in the table.
    fn parent(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let prefix = self.prefix(key)?;
        let inner = self.read(key.py());
        if !inner.contains(prefix) {
            drop(inner);
            return Err(missing(key));
        }
        let mut parent = None;
        let mut last = None;
        for (prefix, _) in inner.cover(prefix) {
            parent = last.replace(prefix);
        }
        Ok(parent.map(|prefix: IpPrefix| prefix.to_string()))
    }

    /// The longer prefixes of the table that this one covers, in order.
    ///
    /// ``KeyError`` if exactly this prefix is not in the table.
    fn children(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let prefix = self.prefix(key)?;
        let inner = self.read(key.py());
        if !inner.contains(prefix) {
            drop(inner);
            return Err(missing(key));
        }
        // The first is the prefix itself.
        Ok(inner.children(prefix).skip(1).map(|(prefix, _)| prefix.to_string()).collect())
    }

    /// All prefixes that cover the key with their values, shortest first.
    fn covering(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Py<PyAny>)>> {
        let py = key.py();
        let prefix = self.prefix(key)?;
        let inner = self.read(py);
        Ok(inner.cover(prefix).map(|(prefix, value)| (prefix.to_string(), value.get(py))).collect())
    }

    /// All prefixes that the key covers with their values, in order.
    fn covered(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Py<PyAny>)>> {
        let py = key.py();
        let prefix = self.prefix(key)?;
        let inner = self.read(py);
        let covered = inner.children(prefix);
        Ok(covered.map(|(prefix, value)| (prefix.to_string(), value.get(py))).collect())
    }

    /// The prefixes in order, IPv4 first: a list of str.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let prefixes: Vec<_> = self.read(py).keys().collect();
        keys_of(py, prefixes.into_iter())
    }

    /// The values in the order of their prefixes: a list.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let values: Vec<_> = self.read(py).values().map(|value| value.get(py)).collect();
        list_of(py, values.into_iter().map(Ok))
    }

    /// Pairs (prefix, value) in the order of the prefixes: a list.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        items_of(py, self.entries(py).into_iter())
    }

    /// Removes exactly this prefix and returns its value, or the default; without one ``KeyError``.
    #[pyo3(signature = (key, /, *default))]
    fn pop(&self, key: &Bound<'_, PyAny>, default: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let _dropped = DropReferences;
        if default.len() > 1 {
            return Err(PyTypeError::new_err("pop() takes a key and at most one default"));
        }
        match self.remove(key)? {
            Some(value) => Ok(value),
            None if default.is_empty() => Err(missing(key)),
            None => Ok(default.get_item(0)?.unbind()),
        }
    }

    /// The value of exactly this prefix; if it is not in the table, adds it with the default.
    #[pyo3(signature = (key, default=None, /))]
    fn setdefault<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let _dropped = DropReferences;
        let py = key.py();
        let prefix = self.prefix(key)?;
        let default = default.unwrap_or_else(|| py.None().into_bound(py));
        let mut inner = self.write(py);
        if let Some(value) = inner.get(prefix) {
            return Ok(value.get(py));
        }
        inner.insert(prefix, PyValue::new(default.clone())).map_err(insert_error)?;
        Ok(default.unbind())
    }

    /// Adds the routes of a mapping, a table or an iterable of pairs.
    fn update(&self, routes: &Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        self.extend(routes)
    }

    /// Removes the last prefix and returns it with its value; ``KeyError`` if there is none.
    fn popitem(&self, py: Python<'_>) -> PyResult<(String, Py<PyAny>)> {
        let _dropped = DropReferences;
        let mut inner = self.write(py);
        let last = inner.last().map(|(prefix, value)| (prefix, value.get(py)));
        let Some((prefix, value)) = last else {
            return Err(PyKeyError::new_err("the table has no prefixes"));
        };
        inner.remove(prefix);
        inner.reclaim();
        Ok((prefix.to_string(), value))
    }

    fn __reversed__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let keys = self.keys(py)?;
        keys.reverse()?;
        keys.try_iter()
    }

    fn __or__(&self, py: Python<'_>, routes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let _dropped = DropReferences;
        let table = self.copy(py);
        table.extend(routes)?;
        Ok(table)
    }

    fn __ior__(&self, routes: &Bound<'_, PyAny>) -> PyResult<()> {
        self.update(routes)
    }

    /// Removes all prefixes.
    fn clear(&self, py: Python<'_>) {
        let _dropped = DropReferences;
        let old = std::mem::take(&mut *self.write(py));
        drop(old);
    }

    /// A copy; the values are shared.
    fn copy(&self, py: Python<'_>) -> Self {
        Self::from_inner(self.read(py).clone(), self.is_strict(), self.columns())
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        // Copies, since the values' own comparison may change the tables.
        equal(self.entries(other.py()), other)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 3;
        let (len, first) = {
            let inner = self.read(py);
            let first = inner.iter().take(SHOWN).map(|(prefix, value)| (prefix, value.get(py)));
            (inner.len(), first.collect::<Vec<_>>())
        };
        let mut text = String::from("Table({");
        for (i, (prefix, value)) in first.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let value = value.bind(py).repr()?;
            text.push_str(&format!("{comma}'{prefix}': {}", value.to_string_lossy()));
        }
        if len > SHOWN {
            text.push_str(&format!(", ... {} more", len - SHOWN));
        }
        text.push('}');
        if !self.is_strict() {
            text.push_str(", strict=False");
        }
        text.push(')');
        Ok(text)
    }

    /// Compiles the table for fast lookups, one or millions at a time.
    ///
    /// ``engine`` is ``"auto"`` or a name, with options as on the command line: ``"poptrie"``, ``"dxr:d=18"``.
    /// The frozen table does not follow later changes of this one.
    #[pyo3(signature = (engine="auto"))]
    pub fn freeze(&self, py: Python<'_>, engine: &str) -> PyResult<FrozenTable> {
        let _dropped = DropReferences;
        let inner = self.read(py).clone();
        FrozenTable::of_objects(py, inner, engine, self.is_strict(), self.columns().as_deref())
    }

    /// Compiles the table for lookups by many threads while one changes it.
    #[pyo3(signature = (engine="auto"))]
    fn live(&self, py: Python<'_>, engine: &str) -> PyResult<LiveTable> {
        let _dropped = DropReferences;
        let inner = self.read(py).clone();
        LiveTable::new(py, inner, engine, self.is_strict(), self.columns())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let _dropped = DropReferences;
        let py = slf.py();
        let columns = slf.get().columns().map(|columns| {
            let pair = |column: &Column| (column.name.to_string(), column.ty.to_string());
            columns.iter().map(pair).collect::<Vec<_>>()
        });
        let state = (slf.get().is_strict(), packed(py, &slf.get().read(py).clone())?, columns);
        (slf.get_type(), PyTuple::empty(py), state).into_pyobject(py)
    }

    fn __setstate__(&self, py: Python<'_>, state: State<'_>) -> PyResult<()> {
        let _dropped = DropReferences;
        let (strict, (prefixes, values, codes), columns) = state;
        if let Some(columns) = columns {
            let column = |(name, ty): (String, String)| Ok(Column::new(name, column_type(&ty)?));
            let columns = columns.into_iter().map(column).collect::<PyResult<Columns>>()?;
            *self.columns.write().unwrap_or_else(PoisonError::into_inner) = Some(columns);
        }
        *self.strict.write().unwrap_or_else(PoisonError::into_inner) = strict;
        let inner = unpacked(prefixes.as_bytes(), &values, codes.as_bytes())?;
        let old = std::mem::replace(&mut *self.write(py), inner);
        drop(old);
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A table that is being changed is in use.
        if let Ok(inner) = self.inner.try_read() {
            for (_, value) in inner.next_hops().iter() {
                visit.call(value.object())?;
            }
        }
        Ok(())
    }

    fn __clear__(&self, py: Python<'_>) {
        self.clear(py);
    }
}
