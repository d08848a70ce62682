//! `LiveTable`: a table that is changed while threads look up.

mod readers;
mod writer;

use longmatch::{Answers, IpPrefix, TableSpec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyListMethods};

use crate::frozen::{FrozenTable, engine_spec};
use crate::key::{Key, key};
use crate::kinds::Kinds;
use crate::mapping::{items_of, keys_of, missing, pairs_of, parent_of};
use crate::pause::{OBJECTS, list_of, pause};
use crate::table::{Columns, Table, pairs};
use crate::text::prefix_str;
use crate::value::{DropReferences, Inner, PyValue, insert_error};
use readers::{Asked, Committed, Readers};
use writer::Writer;

/// A table that is changed while threads look up; made by ``Table.live``.
///
/// ``lookup``, ``lookup_prefix`` and ``lookup_many`` see the routes as of the last ``commit`` and never wait. While a commit
/// runs, each address of a batch is answered as before the commit or as after it. The methods of a mapping (``[]``, ``get``,
/// ``in``, ``keys``, ``covering`` and others) see the changes that are not committed, too.
///
/// As a context manager the table commits at the end, or rolls back if there was an exception. One thread changes the table
/// at a time: a ``with`` block waits for the end of that of another thread, and other changes meanwhile are a
/// ``RuntimeError``, as is a rollback that would lose changes of another thread.
///
/// >>> table = longmatch.Table({"10.0.0.0/8": "office"}).live()
/// >>> reader = table.reader()
/// >>> with table:
/// ...     table["10.9.0.0/16"] = "lab"
/// ...     reader.lookup("10.9.1.1")
/// 'office'
/// >>> reader.lookup("10.9.1.1")
/// 'lab'
#[pyclass(frozen, module = "longmatch", weakref, generic)]
pub struct LiveTable {
    writer: Writer,
    readers: Readers,
    strict: bool,
    columns: Option<Columns>,
    /// After the values.
    _dropped: DropReferences,
}

impl LiveTable {
    pub fn new(
        py: Python<'_>,
        inner: Inner,
        engine: &str,
        strict: bool,
        columns: Option<Columns>,
    ) -> PyResult<Self> {
        let spec = TableSpec::new(engine_spec(engine)?).answers(Answers::Routes);
        let values = inner.next_hops().iter().map(|(_, value)| Kinds::of(value.object().bind(py)));
        let committed = Committed::new(values.fold(Kinds::default(), Kinds::join));
        let table = py.detach(|| inner.live(spec)).map_err(|error| {
            PyValueError::new_err(format!("the table cannot be compiled for changes: {error}"))
        })?;
        let readers = Readers::new(table.reader(), committed.clone(), strict);
        let writer = Writer::new(table, committed);
        Ok(Self { writer, readers, strict, columns, _dropped: DropReferences })
    }

    fn prefix(&self, object: &Bound<'_, PyAny>) -> PyResult<IpPrefix> {
        key(object)?.prefix(self.strict)
    }

    /// The longest match of a key with what `read` makes of it.
    fn longest<R>(
        &self,
        object: &Bound<'_, PyAny>,
        read: impl FnOnce(IpPrefix, &PyValue) -> R,
    ) -> PyResult<Option<R>> {
        let key = key(object)?;
        let prefix = key.prefix(self.strict)?;
        let changes = self.writer.read(object.py());
        let found = match key {
            Key { addr, len: None } => changes.table.get_lpm(addr),
            Key { .. } => changes.table.cover(prefix).last(),
        };
        Ok(found.map(|(prefix, value)| read(prefix, value)))
    }

    /// The routes, with the changes that are not committed.
    fn entries(&self, py: Python<'_>) -> Vec<(IpPrefix, Py<PyAny>)> {
        let changes = self.writer.read(py);
        changes.table.iter().map(|(prefix, value)| (prefix, value.get(py))).collect()
    }
}

#[pymethods]
impl LiveTable {
    /// Number of prefixes, changes that are not committed included.
    fn __len__(&self, py: Python<'_>) -> usize {
        self.writer.read(py).table.len()
    }

    fn __setitem__(&self, prefix: &Bound<'_, PyAny>, value: Bound<'_, PyAny>) -> PyResult<()> {
        self.insert(prefix, value)
    }

    fn __delitem__(&self, prefix: &Bound<'_, PyAny>) -> PyResult<()> {
        self.delete(prefix)
    }

    /// Gives a prefix a value; lookups see it after ``commit``.
    fn insert(&self, prefix: &Bound<'_, PyAny>, value: Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        self.writer.insert(prefix.py(), self.prefix(prefix)?, PyValue::new(value))
    }

    /// Removes exactly this prefix; ``KeyError`` if it is not in the table.
    fn delete(&self, prefix: &Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        let removed = self.writer.remove(prefix.py(), self.prefix(prefix)?)?;
        if removed { Ok(()) } else { Err(missing(prefix)) }
    }

    /// Adds the routes of a mapping or of an iterable of pairs.
    fn update(&self, routes: &Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        for (i, (prefix, value)) in pairs(routes)?.into_iter().enumerate() {
            if i % OBJECTS == 0 {
                pause(routes.py())?;
            }
            self.insert(&prefix, value)?;
        }
        Ok(())
    }

    /// Lets all lookups see the changes since the last commit.
    ///
    /// ``ValueError`` if an engine cannot hold the routes; the changes of its family are undone then.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let _dropped = DropReferences;
        self.writer.commit(py)
    }

    /// Undoes the changes since the last commit.
    ///
    /// ``RuntimeError`` if some are of another thread.
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        let _dropped = DropReferences;
        self.writer.roll_back(py)
    }

    /// A reader for another thread. Any number of threads can use one reader, or the table itself.
    fn reader(&self, py: Python<'_>) -> LiveReader {
        let reader = self.writer.read(py).table.reader();
        let readers = Readers::new(reader, self.readers.committed().clone(), self.strict);
        LiveReader { readers, _dropped: DropReferences }
    }

    /// The value of the longest prefix that covers the address, or the default, as of the last commit.
    #[pyo3(signature = (address, default=None, /))]
    fn lookup(
        &self,
        address: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        self.readers.lookup(address, default)
    }

    /// The longest prefix that covers the address with its value: a pair, or ``None``.
    fn lookup_prefix(&self, address: &Bound<'_, PyAny>) -> PyResult<Option<(String, Py<PyAny>)>> {
        self.readers.lookup_prefix(address)
    }

    /// Looks up many addresses; see ``FrozenTable.lookup_many``.
    #[pyo3(signature = (addresses, /, *, return_prefix=false, return_status=false, threads=None, strict=false, lenient=false, out="auto"))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the arguments of a Python function with keywords"
    )]
    fn lookup_many<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        return_prefix: bool,
        return_status: bool,
        threads: Option<i64>,
        strict: bool,
        lenient: bool,
        out: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asked = Asked { return_prefix, return_status, threads, strict, lenient, out };
        self.readers.lookup_many(addresses, &asked)
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        slf.get().writer.enter(slf.py())?;
        Ok(slf.clone())
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exception: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let ended = if exception.is_none() { self.commit(py) } else { self.rollback(py) };
        self.writer.exit(py);
        ended.map(|()| false)
    }

    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.longest(key, |_, value| value.get(key.py()))?.ok_or_else(|| missing(key))
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.longest(key, |_, _| ())?.is_some())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py)?.try_iter()
    }

    fn __reversed__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let keys = self.keys(py)?;
        keys.reverse()?;
        keys.try_iter()
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
        Ok(self.writer.read(key.py()).table.get(prefix).is_some())
    }

    /// The longest prefix of the table that covers this one and is shorter, or ``None``.
    ///
    /// ``KeyError`` if exactly this prefix is not in the table.
    fn parent(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let prefix = self.prefix(key)?.unmapped();
        let changes = self.writer.read(key.py());
        if changes.table.get(prefix).is_none() {
            return Err(missing(key));
        }
        Ok(parent_of(changes.table.cover(prefix).map(|(prefix, _)| prefix), prefix))
    }

    /// The longer prefixes of the table that this one covers, in order.
    ///
    /// ``KeyError`` if exactly this prefix is not in the table.
    fn children(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let prefix = self.prefix(key)?;
        let changes = self.writer.read(key.py());
        if changes.table.get(prefix).is_none() {
            return Err(missing(key));
        }
        // The first is the prefix itself.
        Ok(changes.table.children(prefix).skip(1).map(|(prefix, _)| prefix.to_string()).collect())
    }

    /// All prefixes that cover the key with their values, shortest first.
    fn covering(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Py<PyAny>)>> {
        let prefix = self.prefix(key)?;
        let changes = self.writer.read(key.py());
        let cover = changes.table.cover(prefix);
        Ok(pairs_of(cover.map(|(prefix, value)| (prefix, value.get(key.py()))).collect()))
    }

    /// All prefixes that the key covers with their values, in order.
    fn covered(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Py<PyAny>)>> {
        let prefix = self.prefix(key)?;
        let changes = self.writer.read(key.py());
        let covered = changes.table.children(prefix);
        Ok(pairs_of(covered.map(|(prefix, value)| (prefix, value.get(key.py()))).collect()))
    }

    /// The prefixes in order, IPv4 first: a list of str.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        keys_of(py, self.entries(py).into_iter().map(|(prefix, _)| prefix))
    }

    /// The values in the order of their prefixes: a list.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, self.entries(py).into_iter().map(|(_, value)| Ok(value)))
    }

    /// Pairs (prefix, value) in the order of the prefixes: a list.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        items_of(py, self.entries(py).into_iter())
    }

    /// A copy that can be changed without readers, with the changes that are not committed.
    fn thaw(&self, py: Python<'_>) -> PyResult<Table> {
        let _dropped = DropReferences;
        let mut inner = Inner::new();
        for (i, (prefix, value)) in self.entries(py).into_iter().enumerate() {
            if i % OBJECTS == 0 {
                pause(py)?;
            }
            inner.insert(prefix, PyValue::new(value.into_bound(py))).map_err(insert_error)?;
        }
        Ok(Table::from_inner(inner, self.strict, self.columns.clone()))
    }

    /// Compiles the table, with the changes that are not committed; see ``Table.freeze``.
    #[pyo3(signature = (engine="auto"))]
    fn freeze(&self, py: Python<'_>, engine: &str) -> PyResult<FrozenTable> {
        self.thaw(py)?.freeze(py, engine)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<longmatch.LiveTable: {} prefixes>", self.__len__(py))
    }
}

/// Looks up addresses in a live table, from any thread; made by ``LiveTable.reader``.
#[pyclass(frozen, module = "longmatch", weakref, generic)]
pub struct LiveReader {
    readers: Readers,
    /// After the values.
    _dropped: DropReferences,
}

#[pymethods]
impl LiveReader {
    /// The value of the longest prefix that covers the address, or the default, as of the last commit.
    #[pyo3(signature = (address, default=None, /))]
    fn lookup(
        &self,
        address: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        self.readers.lookup(address, default)
    }

    /// The longest prefix that covers the address with its value: a pair, or ``None``.
    fn lookup_prefix(&self, address: &Bound<'_, PyAny>) -> PyResult<Option<(String, Py<PyAny>)>> {
        self.readers.lookup_prefix(address)
    }

    /// Looks up many addresses; see ``FrozenTable.lookup_many``.
    #[pyo3(signature = (addresses, /, *, return_prefix=false, return_status=false, threads=None, strict=false, lenient=false, out="auto"))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the arguments of a Python function with keywords"
    )]
    fn lookup_many<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        return_prefix: bool,
        return_status: bool,
        threads: Option<i64>,
        strict: bool,
        lenient: bool,
        out: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asked = Asked { return_prefix, return_status, threads, strict, lenient, out };
        self.readers.lookup_many(addresses, &asked)
    }

    fn __repr__(&self) -> &'static str {
        "<longmatch.LiveReader>"
    }
}
