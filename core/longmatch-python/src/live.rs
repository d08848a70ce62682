//! `LiveTable`: a table that one thread changes while others look up.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use longmatch::{
    Answers, Ipv4, Ipv6, Keys, NextHopId, TableReader, TableSpec, TableView, TableWriter,
};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::bulk::{Compiled, Id};
use crate::frozen::engine_spec;
use crate::input::Input;
use crate::key::{address, key};
use crate::output::{Answered, Output, thread_count};
use crate::table::pairs;
use crate::value::{DropReferences, Inner, PyValue, insert_error};

/// Pool of readers; each call borrows one.
struct Readers {
    /// Never empty: the last is only cloned.
    readers: Mutex<Vec<TableReader<PyValue>>>,
}

impl Readers {
    fn new(reader: TableReader<PyValue>) -> Self {
        Self { readers: Mutex::new(vec![reader]) }
    }

    fn list(&self, py: Python<'_>) -> MutexGuard<'_, Vec<TableReader<PyValue>>> {
        self.readers.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, py: Python<'_>) -> PyResult<TableReader<PyValue>> {
        let mut readers = self.list(py);
        let reader = if readers.len() > 1 { readers.pop() } else { readers.first().cloned() };
        reader.ok_or_else(|| PyRuntimeError::new_err("the table has no reader"))
    }

    /// Calls `read` with the table as of the last commit.
    fn read<R>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&TableView<'_, PyValue>) -> PyResult<R>,
    ) -> PyResult<R> {
        let mut reader = self.take(py)?;
        let result = read(&reader.pin());
        self.list(py).push(reader);
        result
    }

    fn lookup(&self, object: &Bound<'_, PyAny>, default: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let py = object.py();
        let addr = address(object)?;
        let found = self.read(py, |view| Ok(view.lookup(addr).map(|value| value.get(py))))?;
        Ok(found.or(default).unwrap_or_else(|| py.None()))
    }

    fn lookup_prefix(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<(String, Py<PyAny>)>> {
        let py = object.py();
        let addr = address(object)?;
        self.read(py, |view| {
            Ok(view.get_lpm(addr).map(|(prefix, value)| (prefix.to_string(), value.get(py))))
        })
    }

    fn lookup_many<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        options: &Options<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = addresses.py();
        let threads = thread_count(options.threads)?;
        let input = Input::new(addresses)?;
        let output = Output::new(options.out, input.form())?;
        if output == Output::Codes {
            return Err(PyValueError::new_err(
                "out='codes': the codes of a live table change with it; use 'values' or 'arrow'",
            ));
        }
        let columns = input.columns()?;
        let mut ids = vec![None; columns.len()];
        // Ids keep their meaning only as long as the reader is pinned.
        let answered = self.read(py, |view| {
            let bad = columns.look_up(py, &View(view), threads, &mut ids)?;
            if let (true, Some(index)) = (options.strict, bad.first) {
                return Err(input.refused(index));
            }
            Ok(resolve(py, view, &mut ids))
        })?;
        let values = answered.values(py, &ids, output)?;
        if !options.return_prefix {
            return Ok(values);
        }
        let prefixes = answered.prefixes(py, &ids, output)?;
        Ok((values, prefixes).into_pyobject(py)?.into_any())
    }
}

/// The options of `lookup_many`.
struct Options<'a> {
    return_prefix: bool,
    threads: Option<i64>,
    strict: bool,
    out: &'a str,
}

/// Replaces ids, which identify routes while the view lives, by the numbers of values or prefixes.
fn resolve(py: Python<'_>, view: &TableView<'_, PyValue>, ids: &mut [Id]) -> Answered {
    let mut numbers = HashMap::<NextHopId, Id>::new();
    let mut answered = Answered::default();
    for id in ids {
        let Some(route) = *id else { continue };
        *id = *numbers.entry(route).or_insert_with(|| {
            let (prefix, value) = view.route(route)?;
            answered.push(prefix, value.get(py))
        });
    }
    answered
}

struct View<'a, 'r>(&'a TableView<'r, PyValue>);

impl Compiled for View<'_, '_> {
    fn id(&self, addr: std::net::IpAddr) -> Id {
        self.0.lookup_id(addr)
    }

    fn ids_ipv4(&self, keys: Keys<'_, Ipv4>, out: &mut [Id]) {
        self.0.lookup_ids(keys, out);
    }

    fn ids_ipv6(&self, keys: Keys<'_, Ipv6>, out: &mut [Id]) {
        self.0.lookup_ids(keys, out);
    }
}

/// A table that one thread changes while others look up; made by ``Table.live``.
///
/// Lookups see the routes as of the last ``commit`` and never wait. While a commit runs, each address of a batch is
/// answered as before the commit or as after it. As a context manager the table commits at the end, or rolls back if
/// there was an exception.
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
    writer: Mutex<TableWriter<PyValue>>,
    readers: Readers,
    strict: bool,
    /// After the values.
    _dropped: DropReferences,
}

impl LiveTable {
    pub fn new(py: Python<'_>, inner: Inner, engine: &str, strict: bool) -> PyResult<Self> {
        let spec = TableSpec::new(engine_spec(engine)?).answers(Answers::Routes);
        let writer = py.detach(|| inner.live(spec)).map_err(|error| {
            PyValueError::new_err(format!("the table cannot be compiled for changes: {error}"))
        })?;
        let readers = Readers::new(writer.reader());
        Ok(Self { writer: Mutex::new(writer), readers, strict, _dropped: DropReferences })
    }

    fn writer(&self, py: Python<'_>) -> MutexGuard<'_, TableWriter<PyValue>> {
        self.writer.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, prefix: &Bound<'_, PyAny>, value: Bound<'_, PyAny>) -> PyResult<()> {
        let py = prefix.py();
        let prefix = key(prefix)?.prefix(self.strict)?;
        let value = PyValue::new(value);
        self.writer(py).insert(prefix, value).map(drop).map_err(insert_error)
    }
}

#[pymethods]
impl LiveTable {
    /// Number of prefixes, changes that are not committed included.
    fn __len__(&self, py: Python<'_>) -> usize {
        self.writer(py).len()
    }

    fn __setitem__(&self, prefix: &Bound<'_, PyAny>, value: Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        self.set(prefix, value)
    }

    fn __delitem__(&self, prefix: &Bound<'_, PyAny>) -> PyResult<()> {
        self.delete(prefix)
    }

    /// Gives a prefix a value; lookups see it after ``commit``.
    fn insert(&self, prefix: &Bound<'_, PyAny>, value: Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        self.set(prefix, value)
    }

    /// Removes exactly this prefix; ``KeyError`` if it is not in the table.
    fn delete(&self, prefix: &Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        let py = prefix.py();
        let found = key(prefix)?.prefix(self.strict)?;
        let removed = self.writer(py).remove(found).is_some();
        if removed { Ok(()) } else { Err(PyKeyError::new_err(prefix.clone().unbind())) }
    }

    /// Adds the routes of a mapping or of an iterable of pairs.
    fn update(&self, routes: &Bound<'_, PyAny>) -> PyResult<()> {
        let _dropped = DropReferences;
        for (prefix, value) in pairs(routes)? {
            self.set(&prefix, value)?;
        }
        Ok(())
    }

    /// Lets all lookups see the changes since the last commit.
    ///
    /// ``ValueError`` if an engine cannot hold the routes; the changes of its family are undone then.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let _dropped = DropReferences;
        let committed = py.detach(|| {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let committed = writer.commit();
            // Also the values of earlier commits that readers have left meanwhile.
            writer.reclaim();
            committed
        });
        committed.map_err(|refused| {
            PyValueError::new_err(format!("the changes cannot be committed: {refused}"))
        })
    }

    /// Undoes the changes since the last commit.
    fn rollback(&self, py: Python<'_>) {
        let _dropped = DropReferences;
        self.writer(py).roll_back();
    }

    /// A reader for another thread. Any number of threads can use one reader, or the table itself.
    fn reader(&self, py: Python<'_>) -> LiveReader {
        LiveReader { readers: Readers::new(self.writer(py).reader()), _dropped: DropReferences }
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
    #[pyo3(signature = (addresses, /, *, return_prefix=false, threads=None, strict=false, out="auto"))]
    fn lookup_many<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        return_prefix: bool,
        threads: Option<i64>,
        strict: bool,
        out: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.readers.lookup_many(addresses, &Options { return_prefix, threads, strict, out })
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exception: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        if exception.is_none() {
            self.commit(py)?
        } else {
            self.rollback(py)
        }
        Ok(false)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<longmatch.LiveTable: {} prefixes>", self.writer(py).len())
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
    #[pyo3(signature = (addresses, /, *, return_prefix=false, threads=None, strict=false, out="auto"))]
    fn lookup_many<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        return_prefix: bool,
        threads: Option<i64>,
        strict: bool,
        out: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.readers.lookup_many(addresses, &Options { return_prefix, threads, strict, out })
    }

    fn __repr__(&self) -> &'static str {
        "<longmatch.LiveReader>"
    }
}
