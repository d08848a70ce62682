//! The methods of `FrozenTable`.

use std::path::PathBuf;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyTuple};

use super::{FrozenTable, OpenFile, Values};
use crate::bulk::{Bad, Id};
use crate::file::{file_error, file_spec};
use crate::input::{Form, Input};
use crate::key::address;
use crate::numpy;
use crate::output::{Output, thread_count};
use crate::pickle::packed_rows;
use crate::routes::prefix_output;
use crate::table::Table;
use crate::text::prefix_str;
use crate::value::{DropReferences, Inner, PyValue, insert_error};

#[pymethods]
impl FrozenTable {
    fn __len__(&self) -> usize {
        self.store.len()
    }

    /// The value of the longest prefix that covers the address, or the default.
    #[pyo3(signature = (address, default=None, /))]
    fn lookup(
        &self,
        address: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let py = address.py();
        match self.store.id(self::address(address)?) {
            Some(code) => self.object(py, code.get() as usize),
            None => Ok(default.unwrap_or_else(|| py.None())),
        }
    }

    /// The longest prefix that covers the address with its value: a pair, or ``None``.
    fn lookup_prefix(&self, address: &Bound<'_, PyAny>) -> PyResult<Option<(String, Py<PyAny>)>> {
        let found = self.store.longest(self::address(address)?);
        found
            .map(|(prefix, code)| {
                Ok((prefix.to_string(), self.object(address.py(), code.get() as usize)?))
            })
            .transpose()
    }

    /// Looks up many addresses.
    ///
    /// ``addresses`` is
    ///
    /// - a NumPy array: ``uint32`` or other integers (IPv4), ``S4``, ``S16``, ``V4``, ``V16`` or ``>u4`` (bytes in
    ///   network order), ``uint8`` of shape (n, 4) or (n, 16), ``uint64`` of shape (n, 2), text or objects;
    /// - anything with the Arrow PyCapsule interface (pyarrow, polars, pandas, DuckDB): text, integers, binary, or a
    ///   dictionary of these;
    /// - a list or another iterable of keys.
    ///
    /// ``out`` is the form of the answers: ``"values"`` (a list, or for NumPy an array of objects), ``"arrow"``
    /// (an :class:`ArrowColumn`), or ``"codes"`` (a NumPy array of ``uint32``: 0 means no match, the others are
    /// indices into ``values_by_code``). ``"auto"`` is ``"arrow"`` for Arrow and ``"values"`` for others.
    ///
    /// With ``return_prefix=True`` the result is a pair: the answers and the matched prefixes. With ``out="codes"`` the
    /// latter are indices into ``prefixes_by_code``. The first such call compiles the table a second time.
    ///
    /// Nulls and cells that are not addresses get no match: ``None``, null or 0. With ``strict=True`` the first that is
    /// neither null nor an address raises ``ValueError``. ``threads`` is the number of threads, 0 for one on each CPU.
    /// ``column`` names the column of the values, in tables that have columns.
    #[pyo3(signature = (addresses, /, *, return_prefix=false, threads=None, strict=false, out="auto", column=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the arguments of a Python function with keywords"
    )]
    fn lookup_many<'py>(
        &self,
        py: Python<'py>,
        addresses: &Bound<'py, PyAny>,
        return_prefix: bool,
        threads: Option<i64>,
        strict: bool,
        out: &str,
        column: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let threads = thread_count(threads)?;
        let column = column.map(|name| self.column(name)).transpose()?;
        let input = Input::new(addresses)?;
        let output = Output::new(out, input.form())?;
        let columns = input.columns()?;
        let refuse = |bad: Bad| match bad.first {
            Some(index) if strict => Err(input.refused(index)),
            _ => Ok(()),
        };
        if !return_prefix && output == Output::Codes {
            // Without a copy.
            let (array, ()) = numpy::filled_with_ids(py, columns.len(), |out| {
                refuse(columns.look_up(py, &*self.store, threads, out)?)
            })?;
            return Ok(array);
        }
        let mut ids = vec![None; columns.len()];
        if !return_prefix {
            refuse(columns.look_up(py, &*self.store, threads, &mut ids)?)?;
            return self.output(py, &ids, output, column);
        }
        let routes = self.routes(py)?;
        refuse(columns.look_up(py, &*routes.compiled, threads, &mut ids)?)?;
        let prefixes = prefix_output(py, routes, &ids, output)?;
        py.detach(|| routes.to_codes(&mut ids));
        let values = self.output(py, &ids, output, column)?;
        Ok((values, prefixes).into_pyobject(py)?.into_any())
    }

    /// The values by the codes that ``lookup_many`` returns: a tuple. Index 0, no match, has ``None``.
    #[getter]
    fn values_by_code<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(values) = self.values_by_code.get() {
            return Ok(values.bind(py).clone());
        }
        let objects = self.objects(py)?.iter();
        let objects = objects.map(|o| o.as_ref().map_or_else(|| py.None(), |o| o.clone_ref(py)));
        let values = PyTuple::new(py, objects.collect::<Vec<_>>())?.unbind();
        Ok(self.values_by_code.get_or_init(|| values).bind(py).clone())
    }

    /// The prefixes by the codes that ``lookup_many(..., return_prefix=True, out="codes")`` returns: a tuple of str.
    /// Index 0, no match, has ``None``; the others are in order.
    #[getter]
    fn prefixes_by_code<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let prefixes = self.prefixes_by_code.get_or_try_init(py, || {
            let prefixes = self.store.routes().into_iter();
            let texts = prefixes.map(|(prefix, _)| prefix_str(py, prefix).into_any().unbind());
            let texts = std::iter::once(py.None()).chain(texts);
            PyTuple::new(py, texts.collect::<Vec<_>>()).map(Bound::unbind)
        })?;
        Ok(prefixes.bind(py).clone())
    }

    /// The names of the columns of the values, or ``None`` where the values are objects.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        match &self.values {
            Values::Objects(_) => None,
            Values::Rows(cells) => {
                Some(cells.columns().iter().map(|column| column.name.to_string()).collect())
            }
        }
    }

    /// The engines of IPv4 and of IPv6 with their options: a pair of str.
    #[getter]
    fn engines(&self) -> (String, String) {
        self.store.engines()
    }

    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        match self.longest(key)? {
            Some((_, code)) => self.object(key.py(), code),
            None => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.longest(key)?.is_some())
    }

    /// The value of the longest prefix that covers the key, or the default.
    #[pyo3(signature = (key, default=None, /))]
    fn get(&self, key: &Bound<'_, PyAny>, default: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let py = key.py();
        match self.longest(key)? {
            Some((_, code)) => self.object(py, code),
            None => Ok(default.unwrap_or_else(|| py.None())),
        }
    }

    /// The longest prefix that covers the key, as a str, or the default.
    #[pyo3(signature = (key, default=None, /))]
    fn get_key(&self, key: &Bound<'_, PyAny>, default: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let py = key.py();
        match self.longest(key)? {
            Some((prefix, _)) => Ok(prefix_str(py, prefix).into_any().unbind()),
            None => Ok(default.unwrap_or_else(|| py.None())),
        }
    }

    /// Whether exactly this prefix is in the table.
    fn has_key(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.store.exact(self.prefix(key)?).is_some())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py)?.try_iter()
    }

    /// The prefixes in order, IPv4 first: a list of str.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let routes = self.store.routes();
        PyList::new(py, routes.into_iter().map(|(prefix, _)| prefix_str(py, prefix)))
    }

    /// The values in the order of their prefixes: a list.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ids: Vec<Id> = self.store.routes().into_iter().map(|(_, code)| Some(code)).collect();
        let values = self.output(py, &ids, Output::Values(Form::List), None)?;
        Ok(values.cast_into::<PyList>()?)
    }

    /// Pairs (prefix, value) in the order of the prefixes: a list.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let items: Vec<_> = self.keys(py)?.iter().zip(self.values(py)?.iter()).collect();
        PyList::new(py, items)
    }

    /// Writes the table as a compiled file (.lm), which ``open`` opens in milliseconds.
    ///
    /// Values are written as columns: numbers, strings and ``None`` as one column ``value``, dicts with these as a column
    /// for each key; others raise ``TypeError``. The file is replaced in one step. ``answers`` is ``"routes"``, or
    /// ``"values"`` for a smaller file that finds values faster and prefixes slower.
    #[pyo3(signature = (path, /, *, answers="routes"))]
    fn save(&self, py: Python<'_>, path: PathBuf, answers: &str) -> PyResult<()> {
        self.write(py, &path, &file_spec(answers)?)
    }

    /// The table in the file that the path names now: this one, if it is the same file, or a new one.
    ///
    /// ``ValueError`` for a table that was not opened from a file.
    fn reload(slf: &Bound<'_, Self>) -> PyResult<Py<Self>> {
        let py = slf.py();
        let Some(OpenFile { table, path, trust }) = &slf.get().file else {
            return Err(PyValueError::new_err("the table was not opened from a file"));
        };
        let mut table = table.clone();
        let replaced = py.detach(|| table.reload()).map_err(|error| file_error(&error))?;
        match replaced {
            false => Ok(slf.clone().unbind()),
            true => Py::new(py, Self::of_file(table, path.clone(), *trust)),
        }
    }

    /// The path of the file that the table was opened from, or ``None``.
    #[getter]
    fn path(&self) -> Option<String> {
        self.file.as_ref().map(|file| file.path.display().to_string())
    }

    /// A table with the same routes, which can be changed. Equal rows share one object.
    fn thaw(&self, py: Python<'_>) -> PyResult<Table> {
        let _dropped = DropReferences;
        if let Values::Objects(table) = &self.values {
            return Ok(Table::from_inner(table.table().clone(), self.strict));
        }
        let objects = self.objects(py)?;
        let mut inner = Inner::new();
        for (prefix, code) in self.store.routes() {
            let object = objects.get(code.get() as usize).and_then(Option::as_ref);
            let object = object.map_or_else(|| py.None(), |object| object.clone_ref(py));
            inner.insert(prefix, PyValue::new(object.into_bound(py))).map_err(insert_error)?;
        }
        Ok(Table::from_inner(inner, self.strict))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let (ipv4, ipv6) = self.store.engines();
        let columns = match self.columns() {
            Some(columns) => format!(", columns {}", columns.join(", ")),
            None => String::new(),
        };
        let routes = self.store.len();
        format!("<longmatch.FrozenTable: {routes} prefixes{columns}, engines {ipv4} and {ipv6}>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let this = slf.get();
        let module = py.import("longmatch._longmatch")?;
        if let Some(OpenFile { path, trust, .. }) = &this.file {
            // The path itself: each process opens the file.
            return (module.getattr("_open")?, (path, *trust)).into_pyobject(py);
        }
        let engine = this.engine.to_string();
        let Values::Rows(cells) = &this.values else {
            let arguments = (this.thaw(py)?, engine);
            return (module.getattr("_freeze")?, arguments).into_pyobject(py);
        };
        let routes: Vec<_> =
            this.store.routes().into_iter().map(|(prefix, code)| (prefix, code.get())).collect();
        let (columns, prefixes, codes, rows) = packed_rows(py, &routes, &**cells, this.max_code);
        (module.getattr("_rows")?, (engine, columns, prefixes, codes, rows)).into_pyobject(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Values::Objects(table) = &self.values {
            for (_, value) in table.table().next_hops().iter() {
                visit.call(value.object())?;
            }
        }
        for object in self.objects.get().into_iter().flatten().flatten() {
            visit.call(object)?;
        }
        self.values_by_code.get().map_or(Ok(()), |values| visit.call(values))
    }
}
