//! `FrozenTable`: a compiled table.

mod answers;
mod methods;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use longmatch::file::{FileSpec, FileTable};
use longmatch::table::PrefixData;
use longmatch::{Answers, EngineKind, EngineSpec, FrozenTable as RustFrozen, IpPrefix, TableSpec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::data::{objects_as_data, rows_as_data};
use crate::file::{FileCells, FileStore, write};
use crate::key::{Key, key};
use crate::output::TypedColumn;
use crate::routes::{CompiledRoutes, RouteNames};
use crate::store::{CellSource, Rows, Store};
use crate::value::{DropReferences, Inner, PyValue};

/// An opened file.
struct OpenFile {
    table: FileTable,
    path: PathBuf,
    trust: bool,
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
    /// The values and the columns that were asked for as Arrow arrays.
    typed: PyOnceLock<Arc<TypedColumn>>,
    typed_columns: Vec<PyOnceLock<Arc<TypedColumn>>>,
    /// After the values.
    _dropped: DropReferences,
}

/// Reads the name of an engine with its options.
pub fn engine_spec(engine: &str) -> PyResult<EngineSpec> {
    engine.parse().map_err(|error| PyValueError::new_err(format!("engine={engine:?}: {error}")))
}

fn compile_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("the table cannot be compiled: {error}"))
}

impl FrozenTable {
    /// Compiles a table of objects.
    pub fn of_objects(py: Python<'_>, inner: Inner, engine: &str, strict: bool) -> PyResult<Self> {
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
    pub fn of_file(table: FileTable, path: PathBuf, trust: bool) -> Self {
        let store = Arc::new(FileStore(table.clone()));
        let cells = Arc::new(FileCells(table.clone()));
        let engine = EngineSpec::from(EngineKind::Auto);
        let mut frozen = Self::new(store, Values::Rows(cells), engine, true);
        frozen.file = Some(OpenFile { table, path, trust });
        frozen
    }

    /// The routes and values as data with columns.
    ///
    /// # Errors
    /// When the values are objects other than text, numbers, or dicts of these.
    fn data(&self, py: Python<'_>) -> PyResult<PrefixData> {
        match &self.values {
            Values::Rows(cells) => {
                let routes = self.store.routes();
                py.detach(|| rows_as_data(&**cells, &routes))
            }
            Values::Objects(_) => objects_as_data(py, self.objects(py)?, &self.store.routes()),
        }
    }

    /// Writes the table as a compiled file.
    pub fn write(&self, py: Python<'_>, path: &Path, spec: &FileSpec) -> PyResult<()> {
        write(py, &self.data(py)?, path, spec)
    }

    fn new(store: Arc<dyn Store>, values: Values, engine: EngineSpec, strict: bool) -> Self {
        let columns = match &values {
            Values::Objects(_) => 0,
            Values::Rows(cells) => cells.columns().len(),
        };
        let mut typed_columns = Vec::new();
        typed_columns.resize_with(columns, PyOnceLock::new);
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
            typed: PyOnceLock::new(),
            typed_columns,
            _dropped: DropReferences,
        }
    }

    fn prefix(&self, object: &Bound<'_, PyAny>) -> PyResult<IpPrefix> {
        key(object)?.prefix(self.strict)
    }

    /// The longest match of a key: an address or a prefix.
    fn longest(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<(IpPrefix, usize)>> {
        let key = key(object)?;
        let found = match key {
            Key { addr, len: None } => self.store.longest(addr),
            Key { .. } => self.store.covering(key.prefix(self.strict)?),
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
