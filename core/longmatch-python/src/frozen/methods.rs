//! The methods of `FrozenTable`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use longmatch::IpPrefix;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyIterator, PyList, PyListMethods, PyTuple};

use super::{FrozenTable, OpenFile, Values};
use crate::answers::layout_of;
use crate::bulk::{Bad, Id, Reread};
use crate::file::{Opened, file_error, file_spec, open_table};
use crate::frozen::answers::{Chosen, ColumnNames};
use crate::input::{Form, Input, Options};
use crate::key::address;
use crate::mapping::{equal, items_of, keys_of, missing, pairs_of, parent_of};
use crate::mmdb::{self, Description, is_mmdb};
use crate::numpy;
use crate::output::{Output, thread_count};
use crate::pause::{OBJECTS, list_of, pause};
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
    /// - a NumPy array: ``uint32`` or other integers (IPv4), ``S4``, ``S16``, ``V4`` or ``V16`` (bytes in network order),
    ///   ``uint8`` of shape (n, 4) or (n, 16), ``uint64`` of shape (n, 2) or records of two, text or objects;
    /// - a Series of pandas, or anything with the Arrow PyCapsule interface (pyarrow, polars, DuckDB): text, integers,
    ///   binary, or a dictionary or runs of these;
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
    /// ``column`` names the column of the values, in tables that have columns or whose values are dicts with the same keys.
    ///
    /// ``column`` may also be a list of names: the answers are then a dict of columns. With ``lenient=True`` spaces around
    /// an address, a port, brackets, a zone and ``/32`` or ``/128`` are read, and the bits of negative integers of 32 bits.
    /// With ``prefixes=True`` an item may be a prefix, which gets the longest prefix that covers it. With
    /// ``return_status=True`` the result has one more part, the state of each item: ``"match"``, ``"no match"``, ``"not an
    /// address"`` or null; as codes 1, 2, 3 and 0.
    #[pyo3(signature = (addresses, /, *, return_prefix=false, return_status=false, threads=None, strict=false, lenient=false, prefixes=false, out="auto", column=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the arguments of a Python function with keywords"
    )]
    fn lookup_many<'py>(
        &self,
        py: Python<'py>,
        addresses: &Bound<'py, PyAny>,
        return_prefix: bool,
        return_status: bool,
        threads: Option<i64>,
        strict: bool,
        lenient: bool,
        prefixes: bool,
        out: &str,
        column: Option<ColumnNames>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let threads = thread_count(threads)?;
        let column = column.map(|names| Chosen::new(self, py, names)).transpose()?;
        let input = Input::new(addresses)?;
        let output = Output::new(out, input.form())?;
        let columns = input.columns()?;
        let reread = |covering| {
            let wanted = lenient || prefixes || return_status;
            wanted.then_some(Reread { lenient, covering, strict: self.strict })
        };
        let refuse = |bad: Bad| match bad.first {
            Some(index) if strict => Err(input.refused(index)),
            _ => Ok(()),
        };
        let mut states = if return_status { vec![None; columns.len()] } else { Vec::new() };
        let states_out = return_status.then_some(&mut *states);
        let covering = |prefix| self.store.cover(prefix).pop().map(|(_, code)| code);
        let covering: Option<&(dyn Fn(IpPrefix) -> Id + Sync)> =
            if prefixes { Some(&covering) } else { None };
        if !return_prefix && !return_status && output == Output::Codes {
            // Without a copy.
            let options = Options { threads, reread: reread(covering) };
            let (array, ()) = numpy::filled_with_ids(py, columns.len(), |out| {
                refuse(columns.look_up(py, &*self.store, &options, out, states_out)?)
            })?;
            return Ok(array);
        }
        let mut ids = vec![None; columns.len()];
        let mut results = Vec::new();
        if return_prefix {
            let routes = self.routes(py)?;
            let covering = |prefix| routes.id_of(self.store.cover(prefix).pop()?.0);
            let covering: Option<&(dyn Fn(IpPrefix) -> Id + Sync)> =
                if prefixes { Some(&covering) } else { None };
            let options = Options { threads, reread: reread(covering) };
            refuse(columns.look_up(py, &*routes.compiled, &options, &mut ids, states_out)?)?;
            results.push(prefix_output(py, routes, &ids, output)?);
            py.detach(|| routes.to_codes(&mut ids));
        } else {
            let options = Options { threads, reread: reread(covering) };
            refuse(columns.look_up(py, &*self.store, &options, &mut ids, states_out)?)?;
        }
        results.insert(0, Chosen::output(column.as_ref(), self, py, &ids, output)?);
        if return_status {
            results.push(crate::output::states(py, &states, output)?);
        }
        match <[_; 1]>::try_from(results) {
            Ok([answers]) => Ok(answers),
            Err(results) => Ok(PyTuple::new(py, results)?.into_any()),
        }
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
            let prefixes = py.detach(|| self.store.routes()).into_iter();
            let texts = prefixes.map(|(prefix, _)| Ok(prefix_str(py, prefix).into_any().unbind()));
            let texts = list_of(py, std::iter::once(Ok(py.None())).chain(texts))?;
            Ok::<_, PyErr>(texts.to_tuple().unbind())
        })?;
        Ok(prefixes.bind(py).clone())
    }

    /// The names of the columns of the values: those that the data had, or the keys of dicts that all have the same;
    /// ``None`` where the values are other objects.
    #[getter]
    fn columns(&self, py: Python<'_>) -> Option<Vec<String>> {
        self.column_names(py)
    }

    /// The name of the type that Arrow answers have, of the values or of a column: it follows from the table, never from
    /// the addresses. ``None`` where the values have no common type.
    ///
    /// >>> longmatch.Table({"10.0.0.0/8": 1}).freeze().arrow_type()
    /// 'int64'
    #[pyo3(signature = (column=None))]
    fn arrow_type(&self, py: Python<'_>, column: Option<&str>) -> PyResult<Option<String>> {
        let column = column.map(|name| self.column(py, name)).transpose()?;
        match self.typed(py, column) {
            Ok(typed) => Ok(Some(layout_of(&typed).name())),
            Err(error) if error.is_instance_of::<PyTypeError>(py) => Ok(None),
            Err(error) => Err(error),
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
            None => Err(missing(key)),
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

    /// The longest prefix of the table that covers this one and is shorter, or ``None``.
    ///
    /// ``KeyError`` if exactly this prefix is not in the table.
    fn parent(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let prefix = self.exact(key)?;
        Ok(parent_of(self.store.cover(prefix).into_iter().map(|(prefix, _)| prefix), prefix))
    }

    /// The longer prefixes of the table that this one covers, in order.
    ///
    /// ``KeyError`` if exactly this prefix is not in the table.
    fn children(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let children = self.store.children(self.exact(key)?).into_iter();
        // The first is the prefix itself.
        Ok(children.skip(1).map(|(prefix, _)| prefix.to_string()).collect())
    }

    /// All prefixes that cover the key with their values, shortest first.
    fn covering(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Py<PyAny>)>> {
        self.with_values(key.py(), self.store.cover(self.prefix(key)?)).map(pairs_of)
    }

    /// All prefixes that the key covers with their values, in order.
    fn covered(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Py<PyAny>)>> {
        self.with_values(key.py(), self.store.children(self.prefix(key)?)).map(pairs_of)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py)?.try_iter()
    }

    fn __reversed__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let keys = self.keys(py)?;
        keys.reverse()?;
        keys.try_iter()
    }

    fn __eq__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        if slf.is(other) {
            return Ok(PyBool::new(slf.py(), true).to_owned().into_any().unbind());
        }
        equal(slf.get().entries(slf.py())?, other)
    }

    fn __hash__(&self) -> u64 {
        // Equal tables have as many prefixes; their values may have no hash.
        let mut hasher = DefaultHasher::new();
        self.store.len().hash(&mut hasher);
        hasher.finish()
    }

    /// The prefixes in order, IPv4 first: a list of str.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let routes = py.detach(|| self.store.routes());
        keys_of(py, routes.into_iter().map(|(prefix, _)| prefix))
    }

    /// The values in the order of their prefixes: a list.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let routes = py.detach(|| self.store.routes());
        let ids: Vec<Id> = routes.into_iter().map(|(_, code)| Some(code)).collect();
        let values = self.output(py, &ids, Output::Values(Form::List), None)?;
        Ok(values.cast_into::<PyList>()?)
    }

    /// Pairs (prefix, value) in the order of the prefixes: a list.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        items_of(py, self.entries(py)?.into_iter())
    }

    /// Writes the table as a compiled file (.lm), which ``open`` opens in milliseconds, or as a MaxMind DB if the path ends
    /// with ``.mmdb``.
    ///
    /// Values are written as columns: numbers, strings and ``None`` as one column ``value``, dicts with these as a column
    /// for each key, which all have; ``True`` alone as no column. What a column cannot hold exactly is an error that names
    /// the prefix. The file is replaced in one step. ``answers`` is ``"routes"``, or
    /// ``"values"`` for a smaller file that finds values faster and prefixes slower.
    ///
    /// The other keywords are those of a MaxMind DB: ``database_type``; ``languages``, a list; ``description``, a text in
    /// English or a dict of texts by language; ``fields``, the places of columns, such as ``{"site": "city.names.en",
    /// "asn": "asn:uint32"}`` (without one, the column's name is its path); ``build_time`` in seconds since 1970;
    /// ``aliases``, whether 6to4 and Teredo addresses answer as the IPv4 address in them; ``drop_compatible``, which leaves
    /// out IPv6 prefixes inside ``::/96`` instead of refusing them.
    #[pyo3(signature = (path, /, *, answers="routes", database_type=None, languages=None, description=None, fields=None, build_time=None, aliases=false, drop_compatible=false))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the arguments of a Python function with keywords"
    )]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        answers: &str,
        database_type: Option<String>,
        languages: Option<Vec<String>>,
        description: Option<Description>,
        fields: Option<BTreeMap<String, String>>,
        build_time: Option<u64>,
        aliases: bool,
        drop_compatible: bool,
    ) -> PyResult<()> {
        let spec = file_spec(answers)?;
        let given = mmdb::Given {
            database_type,
            languages,
            description,
            fields,
            build_time,
            aliases,
            drop_compatible,
        };
        if !is_mmdb(&path) {
            given.refuse()?;
            return self.write(py, &path, &spec);
        }
        if answers == "values" {
            return Err(PyValueError::new_err("answers='values': a MaxMind DB has no such form"));
        }
        mmdb::write(py, &self.data(py)?, &path, &given.options()?)
    }

    /// The table in the file that the path names now: this one, if it is the same file, or a new one.
    ///
    /// ``ValueError`` for a table that was not opened from a file.
    fn reload(slf: &Bound<'_, Self>) -> PyResult<Py<Self>> {
        let py = slf.py();
        let Some(OpenFile { table, opened }) = &slf.get().file else {
            return Err(PyValueError::new_err("the table was not opened from a file"));
        };
        let mut table = table.clone();
        let replaced = py.detach(|| table.reload()).map_err(|error| file_error(&error))?;
        match replaced {
            false => Ok(slf.clone().unbind()),
            true => {
                let (table, opened) = open_table(py, &opened.path, opened.trust, opened.mmap)?;
                Py::new(py, Self::of_file(table, opened))
            }
        }
    }

    /// The absolute path of the file that the table was opened from, or ``None``.
    #[getter]
    fn path(&self) -> Option<String> {
        self.file.as_ref().map(|file| file.opened.path.display().to_string())
    }

    /// A table with the same routes, which can be changed. Equal rows share one object.
    ///
    /// The table remembers the names and the types of the columns: if its values still have them, ``freeze`` and ``save``
    /// give the same columns again, else an error that names the prefix.
    pub fn thaw(&self, py: Python<'_>) -> PyResult<Table> {
        let _dropped = DropReferences;
        if let Values::Objects(table) = &self.values {
            return Ok(Table::from_inner(table.table().clone(), self.strict, None));
        }
        let objects = self.objects(py)?;
        let mut inner = Inner::new();
        for (i, (prefix, code)) in py.detach(|| self.store.routes()).into_iter().enumerate() {
            if i % OBJECTS == 0 {
                pause(py)?;
            }
            let object = objects.get(code.get() as usize).and_then(Option::as_ref);
            let object = object.map_or_else(|| py.None(), |object| object.clone_ref(py));
            inner.insert(prefix, PyValue::new(object.into_bound(py))).map_err(insert_error)?;
        }
        Ok(Table::from_inner(inner, self.strict, self.columns_of_rows()))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (ipv4, ipv6) = self.store.engines();
        let columns = match self.columns(py) {
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
        if let Some(OpenFile { opened: Opened { path, trust, mmap, identity }, .. }) = &this.file {
            // The path itself: each process opens the file, and finds out whether it is still this one.
            let arguments = (path, *trust, *mmap, *identity);
            return (module.getattr("_open")?, arguments).into_pyobject(py);
        }
        let engine = this.engine.to_string();
        let Values::Rows(cells) = &this.values else {
            let arguments = (this.thaw(py)?, engine);
            return (module.getattr("_freeze")?, arguments).into_pyobject(py);
        };
        let (columns, prefixes, codes, rows) = packed_rows(py, &*this.store, &**cells)?;
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
