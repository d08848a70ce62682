//! `FrozenTable`: a compiled table.

mod answers;
mod methods;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use longmatch::file::{FileSpec, FileTable};
use longmatch::table::{Column, PrefixData};
use longmatch::{
    Answers, EngineKind, EngineSpec, FrozenTable as RustFrozen, IpPrefix, NextHopId, TableSpec,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::data::{objects_as_data, rows_as_data};
use crate::file::{FileCells, FileStore, Opened, write};
use crate::key::{Key, key};
use crate::pause::{OBJECTS, pause};
use crate::routes::{CompiledRoutes, RouteNames};
use crate::store::{CellSource, Rows, Store, Typed};
use crate::value::{DropReferences, Inner, PyValue};

/// An opened file.
struct OpenFile {
    table: FileTable,
    opened: Opened,
}

/// The values of a frozen table.
enum Values {
    /// Python objects, which the store holds.
    Objects(Arc<RustFrozen<PyValue>>),
    /// Rows of named columns.
    Rows(Arc<dyn CellSource>),
}

/// A table compiled for lookups; made by ``Table.freeze``, ``load``, ``open`` and ``asn``.
///
/// It does not change, and any number of threads can use it at once.
///
/// >>> table = longmatch.Table({"10.0.0.0/8": "office", "10.9.0.0/16": "lab"}).freeze()
/// >>> table.lookup("10.9.1.1")
/// 'lab'
/// >>> table.lookup_many(["10.1.1.1", "10.9.1.1", "192.0.2.1", "not an address"])
/// ['office', 'lab', None, None]
#[pyclass(frozen, module = "longmatch", weakref, generic)]
pub struct FrozenTable {
    store: Arc<dyn Store>,
    values: Values,
    max_code: usize,
    engine: EngineSpec,
    strict: bool,
    /// The file of a table that was opened.
    file: Option<OpenFile>,
    routes: PyOnceLock<CompiledRoutes>,
    /// The values as objects by their codes, for answers that share them.
    objects: OnceLock<Vec<Option<Py<PyAny>>>>,
    values_by_code: OnceLock<Py<PyTuple>>,
    prefixes_by_code: PyOnceLock<Py<PyTuple>>,
    /// Objects that are dicts as rows, if a column was asked for.
    object_cells: PyOnceLock<Arc<dyn CellSource>>,
    /// The values and the columns that were asked for as values of one type.
    typed: PyOnceLock<Arc<Typed>>,
    typed_columns: Mutex<HashMap<usize, Arc<Typed>>>,
    /// After the values.
    _dropped: DropReferences,
}

/// Reads the name of an engine with its options.
pub fn engine_spec(engine: &str) -> PyResult<EngineSpec> {
    engine.parse().map_err(|error| PyValueError::new_err(format!("engine={engine:?}: {error}")))
}

/// Routes with the ids of their values.
type Routes = Vec<(IpPrefix, NextHopId)>;

/// The routes of a table with the ids of their values, and the values by these.
fn parts(py: Python<'_>, inner: &Inner) -> PyResult<(Routes, Vec<Option<Py<PyAny>>>)> {
    let mut objects = Vec::new();
    for (i, (id, value)) in inner.next_hops().iter().enumerate() {
        if i % OBJECTS == 0 {
            pause(py)?;
        }
        let id = id.get() as usize;
        if objects.len() <= id {
            objects.resize_with(id + 1, || None);
        }
        objects[id] = Some(value.get(py));
    }
    let routes = py.detach(|| {
        let ipv4 = inner.ipv4().iter().map(|route| (route.prefix.into(), route.next_hop));
        let ipv6 = inner.ipv6().iter().map(|route| (route.prefix.into(), route.next_hop));
        ipv4.chain(ipv6).collect()
    });
    Ok((routes, objects))
}

fn compile_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("the table cannot be compiled: {error}"))
}

impl FrozenTable {
    /// Compiles a table of objects.
    ///
    /// With columns, of the table that this one was thawed from, the values are their rows.
    pub fn of_objects(
        py: Python<'_>,
        inner: Inner,
        engine: &str,
        strict: bool,
        columns: Option<&[Column]>,
    ) -> PyResult<Self> {
        if let Some(columns) = columns {
            let (routes, objects) = parts(py, &inner)?;
            let data = objects_as_data(py, &objects, &routes, Some(columns))?;
            return Self::of_data(py, data, engine, strict);
        }
        let engine = engine_spec(engine)?;
        let spec = TableSpec::new(engine.clone());
        let frozen = py.detach(|| inner.freeze(spec)).map_err(compile_error)?;
        let frozen = Arc::new(frozen);
        Ok(Self::new(frozen.clone(), Values::Objects(frozen), engine, strict))
    }

    /// Compiles data with columns.
    pub fn of_data(py: Python<'_>, data: PrefixData, engine: &str, strict: bool) -> PyResult<Self> {
        let engine = engine_spec(engine)?;
        let spec = TableSpec::new(engine.clone());
        let columns = data.columns().to_vec();
        let made = py.detach(|| {
            let frozen = data.into_table().freeze(spec)?;
            let rows = Rows::new(columns, &frozen);
            Ok::<_, longmatch::CompileError>((frozen, rows))
        });
        let (frozen, rows) = made.map_err(compile_error)?;
        Ok(Self::new(Arc::new(frozen), Values::Rows(Arc::new(rows)), engine, strict))
    }

    /// A table in a file.
    pub fn of_file(table: FileTable, opened: Opened) -> Self {
        let store = Arc::new(FileStore(table.clone()));
        let cells = Arc::new(FileCells(table.clone()));
        let engine = EngineSpec::from(EngineKind::Auto);
        let mut frozen = Self::new(store, Values::Rows(cells), engine, true);
        frozen.file = Some(OpenFile { table, opened });
        frozen
    }

    /// The routes and values as data with columns.
    ///
    /// # Errors
    /// When the values are objects other than text, numbers, or dicts of these.
    fn data(&self, py: Python<'_>) -> PyResult<PrefixData> {
        match &self.values {
            Values::Rows(cells) => py.detach(|| rows_as_data(&**cells, &self.store.routes())),
            Values::Objects(_) => {
                let routes = py.detach(|| self.store.routes());
                objects_as_data(py, self.objects(py)?, &routes, None)
            }
        }
    }

    /// Writes the table as a compiled file.
    pub fn write(&self, py: Python<'_>, path: &Path, spec: &FileSpec) -> PyResult<()> {
        write(py, &self.data(py)?, path, spec)
    }

    fn new(store: Arc<dyn Store>, values: Values, engine: EngineSpec, strict: bool) -> Self {
        Self {
            max_code: store.max_code(),
            store,
            values,
            engine,
            strict,
            file: None,
            routes: PyOnceLock::new(),
            objects: OnceLock::new(),
            values_by_code: OnceLock::new(),
            prefixes_by_code: PyOnceLock::new(),
            object_cells: PyOnceLock::new(),
            typed: PyOnceLock::new(),
            typed_columns: Mutex::default(),
            _dropped: DropReferences,
        }
    }

    fn prefix(&self, object: &Bound<'_, PyAny>) -> PyResult<IpPrefix> {
        key(object)?.prefix(self.strict)
    }

    /// A prefix that is in the table.
    fn exact(&self, key: &Bound<'_, PyAny>) -> PyResult<IpPrefix> {
        let prefix = self.prefix(key)?;
        match self.store.exact(prefix) {
            Some(_) => Ok(prefix.unmapped()),
            None => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    /// The columns of the rows of data; `None` where the values are objects.
    pub fn columns_of_rows(&self) -> Option<Arc<[Column]>> {
        match &self.values {
            Values::Rows(cells) => Some(cells.columns().into()),
            Values::Objects(_) => None,
        }
    }

    /// The longest match of a key: an address or a prefix.
    fn longest(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<(IpPrefix, usize)>> {
        let key = key(object)?;
        let found = match key {
            Key { addr, len: None } => self.store.longest(addr),
            Key { .. } => self.store.cover(key.prefix(self.strict)?).pop(),
        };
        Ok(found.map(|(prefix, code)| (prefix, code.get() as usize)))
    }

    fn routes(&self, py: Python<'_>) -> PyResult<&CompiledRoutes> {
        self.routes.get_or_try_init(py, || {
            let compile = self.store.compile_routes();
            let spec = TableSpec::new(self.engine.clone());
            let store = &*self.store;
            let file = self.file.as_ref().map(|file| file.table.clone());
            let _dropped = DropReferences;
            py.detach(move || {
                let compiled = compile(spec)?;
                let names = match file {
                    Some(table) if table.answers() == Answers::Routes => RouteNames::File(table),
                    _ => RouteNames::new(store),
                };
                Ok(CompiledRoutes::new(compiled, names))
            })
            .map_err(|error: longmatch::CompileError| {
                PyValueError::new_err(format!(
                    "the table cannot be compiled such that answers name prefixes: {error}"
                ))
            })
        })
    }
}
