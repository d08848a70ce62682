//! The parts of a frozen table: routes that lead to codes, and values by their codes.

use std::net::IpAddr;

use longmatch::table::{Cell, Column, ColumnType, Row};
use longmatch::{Answers, CompileError, FrozenTable, IpPrefix, NextHopId, TableSpec};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::bulk::Compiled;
use crate::value::PyValue;

/// Compiles routes; to be called while other threads can run Python.
pub type CompileRoutes =
    Box<dyn FnOnce(TableSpec) -> Result<Box<dyn Compiled>, CompileError> + Send>;

/// Routes of both families that lead to codes, compiled.
///
/// A code is the id of a value, from 1; 0 means no match.
pub trait Store: Compiled {
    /// Number of routes.
    fn len(&self) -> usize;

    /// The greatest code.
    fn max_code(&self) -> usize;

    /// The code of exactly this prefix.
    fn exact(&self, prefix: IpPrefix) -> Option<NextHopId>;

    /// The longest match of an address with its prefix.
    fn longest(&self, addr: IpAddr) -> Option<(IpPrefix, NextHopId)>;

    /// The longest prefix that covers a prefix.
    fn covering(&self, prefix: IpPrefix) -> Option<(IpPrefix, NextHopId)>;

    /// The routes in order.
    fn routes(&self) -> Vec<(IpPrefix, NextHopId)>;

    /// Prepares to compile the routes such that ids identify routes, from 1 in order.
    fn compile_routes(&self) -> CompileRoutes;

    /// The engines of IPv4 and IPv6, with their options.
    fn engines(&self) -> (String, String);
}

impl<T: Clone + Send + Sync + 'static> Store for FrozenTable<T> {
    fn len(&self) -> usize {
        self.table().len()
    }

    fn max_code(&self) -> usize {
        self.table().next_hops().iter().map(|(id, _)| id.get() as usize).max().unwrap_or(0)
    }

    fn exact(&self, prefix: IpPrefix) -> Option<NextHopId> {
        match prefix.unmapped() {
            IpPrefix::V4(prefix) => self.table().ipv4().get(prefix),
            IpPrefix::V6(prefix) => self.table().ipv6().get(prefix),
        }
    }

    fn longest(&self, addr: IpAddr) -> Option<(IpPrefix, NextHopId)> {
        match addr.to_canonical() {
            IpAddr::V4(addr) => {
                let route = self.table().ipv4().get_lpm(addr)?;
                Some((route.prefix.into(), route.next_hop))
            }
            IpAddr::V6(addr) => {
                let route = self.table().ipv6().get_lpm(addr)?;
                Some((route.prefix.into(), route.next_hop))
            }
        }
    }

    fn covering(&self, prefix: IpPrefix) -> Option<(IpPrefix, NextHopId)> {
        let (prefix, _) = self.table().cover(prefix).last()?;
        Some((prefix, self.exact(prefix)?))
    }

    fn routes(&self) -> Vec<(IpPrefix, NextHopId)> {
        let ipv4 = self.table().ipv4().iter().map(|route| (route.prefix.into(), route.next_hop));
        let ipv6 = self.table().ipv6().iter().map(|route| (route.prefix.into(), route.next_hop));
        ipv4.chain(ipv6).collect()
    }

    fn compile_routes(&self) -> CompileRoutes {
        let table = self.table().clone();
        Box::new(|spec| Ok(Box::new(table.freeze(spec.answers(Answers::Routes))?)))
    }

    fn engines(&self) -> (String, String) {
        (self.ipv4().variant(), self.ipv6().variant())
    }
}

/// Cells of rows by their codes.
pub trait CellSource: Send + Sync {
    /// The columns.
    fn columns(&self) -> &[Column];

    /// A cell; null where no row has the code.
    fn cell(&self, code: usize, column: usize) -> Cell<&str>;
}

/// The rows of a table in memory.
pub struct Rows {
    columns: Vec<Column>,
    rows: Vec<Option<Row>>,
}

impl Rows {
    /// The rows of a table, by their ids.
    pub fn new(columns: Vec<Column>, table: &FrozenTable<Row>) -> Self {
        let mut rows = vec![None; Store::max_code(table) + 1];
        for (id, row) in table.table().next_hops().iter() {
            rows[id.get() as usize] = Some(row.clone());
        }
        Self { columns, rows }
    }
}

impl CellSource for Rows {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn cell(&self, code: usize, column: usize) -> Cell<&str> {
        let row = self.rows.get(code).and_then(Option::as_ref);
        row.map_or(Cell::Null, |row| row[column].borrowed())
    }
}

/// A cell as a Python object.
pub fn cell_object(py: Python<'_>, cell: Cell<&str>) -> Py<PyAny> {
    match cell {
        Cell::Null => py.None(),
        Cell::String(text) => PyString::new(py, text).into_any().unbind(),
        Cell::U64(number) => number.into_pyobject(py).map_or(py.None(), |n| n.into_any().unbind()),
        Cell::I64(number) => number.into_pyobject(py).map_or(py.None(), |n| n.into_any().unbind()),
        Cell::F64(number) => PyFloat::new(py, number).into_any().unbind(),
    }
}

/// A row as a Python object: its only cell, a new dict, or ``True`` for a row without columns.
pub fn row_object(py: Python<'_>, cells: &dyn CellSource, code: usize) -> PyResult<Py<PyAny>> {
    match cells.columns() {
        [] => Ok(PyBool::new(py, true).to_owned().into_any().unbind()),
        [_] => Ok(cell_object(py, cells.cell(code, 0))),
        columns => {
            let row = PyDict::new(py);
            for (i, column) in columns.iter().enumerate() {
                row.set_item(&*column.name, cell_object(py, cells.cell(code, i)))?;
            }
            Ok(row.into_any().unbind())
        }
    }
}

/// Values of one type by their codes: index 0 means no match.
#[derive(Debug)]
pub enum Typed {
    Strings(Vec<Option<Box<str>>>),
    I64(Vec<Option<i64>>),
    U64(Vec<Option<u64>>),
    F64(Vec<Option<f64>>),
    Bools(Vec<Option<bool>>),
}

impl Typed {
    /// The cells of a column.
    pub fn of_column(cells: &dyn CellSource, column: usize, max_code: usize) -> Self {
        let codes = 0..=max_code;
        let cell = |code| cells.cell(code, column);
        match cells.columns()[column].ty {
            ColumnType::U64 => Self::U64(
                codes
                    .map(|code| if let Cell::U64(n) = cell(code) { Some(n) } else { None })
                    .collect(),
            ),
            ColumnType::I64 => Self::I64(
                codes
                    .map(|code| if let Cell::I64(n) = cell(code) { Some(n) } else { None })
                    .collect(),
            ),
            ColumnType::F64 => Self::F64(
                codes
                    .map(|code| if let Cell::F64(n) = cell(code) { Some(n) } else { None })
                    .collect(),
            ),
            _ => Self::Strings(
                codes
                    .map(
                        |code| if let Cell::String(s) = cell(code) { Some(s.into()) } else { None },
                    )
                    .collect(),
            ),
        }
    }

    /// Python objects of one type or ``None``; `Err` has the name of a type that does not fit.
    pub fn of_objects(py: Python<'_>, objects: &[Option<Py<PyAny>>]) -> Result<Self, String> {
        let objects: Vec<Option<&Bound<'_, PyAny>>> = objects
            .iter()
            .map(|object| object.as_ref().map(|object| object.bind(py)).filter(|o| !o.is_none()))
            .collect();
        let Some(first) = objects.iter().flatten().next() else {
            return Ok(Self::Strings(vec![None; objects.len()]));
        };
        let all = |read: &dyn Fn(&Bound<'_, PyAny>) -> bool| match objects
            .iter()
            .flatten()
            .find(|object| !read(object))
        {
            Some(other) => Err(name_of(other)),
            None => Ok(()),
        };
        let each = || objects.iter();
        if first.is_instance_of::<PyString>() {
            all(&|object| object.extract::<String>().is_ok())?;
            let text = |object: &&Bound<'_, PyAny>| object.extract::<String>().ok().map(Into::into);
            return Ok(Self::Strings(each().map(|o| o.as_ref().and_then(text)).collect()));
        }
        if first.is_instance_of::<PyBool>() {
            all(&|object| object.is_instance_of::<PyBool>())?;
            let get = |o: &&Bound<'_, PyAny>| o.extract().ok();
            return Ok(Self::Bools(each().map(|o| o.as_ref().and_then(get)).collect()));
        }
        let number = |object: &Bound<'_, PyAny>| {
            !object.is_instance_of::<PyBool>()
                && (object.is_instance_of::<PyInt>() || object.is_instance_of::<PyFloat>())
        };
        all(&number)?;
        if each().flatten().all(|object| object.is_instance_of::<PyInt>()) {
            if each().flatten().all(|object| object.extract::<i64>().is_ok()) {
                let get = |o: &&Bound<'_, PyAny>| o.extract().ok();
                return Ok(Self::I64(each().map(|o| o.as_ref().and_then(get)).collect()));
            }
            all(&|object| object.extract::<u64>().is_ok())?;
            let get = |o: &&Bound<'_, PyAny>| o.extract().ok();
            return Ok(Self::U64(each().map(|o| o.as_ref().and_then(get)).collect()));
        }
        let get = |o: &&Bound<'_, PyAny>| o.extract().ok();
        Ok(Self::F64(each().map(|o| o.as_ref().and_then(get)).collect()))
    }
}

fn name_of(object: &Bound<'_, PyAny>) -> String {
    let ty = object.get_type();
    let name = ty.name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|_| String::from("object"))
}

/// The Python objects of a table of objects by their codes.
pub fn objects_by_code(py: Python<'_>, table: &FrozenTable<PyValue>) -> Vec<Option<Py<PyAny>>> {
    let mut objects: Vec<Option<Py<PyAny>>> = Vec::new();
    objects.resize_with(Store::max_code(table) + 1, || None);
    for (id, value) in table.table().next_hops().iter() {
        objects[id.get() as usize] = Some(value.get(py));
    }
    objects
}
