//! The parts of a frozen table: routes that lead to codes, and values by their codes.

use std::net::IpAddr;

use longmatch::table::{Cell, Column, ColumnType, Row};
use longmatch::{Answers, CompileError, FrozenTable, IpPrefix, NextHopId, TableSpec};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyString};

use crate::bulk::Compiled;
use crate::kinds::{Kinds, Scalar};
use crate::pause::paced;
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

    /// The prefixes that cover a prefix, shortest first.
    fn cover(&self, prefix: IpPrefix) -> Vec<(IpPrefix, NextHopId)>;

    /// The prefixes that a prefix covers, in order.
    fn children(&self, prefix: IpPrefix) -> Vec<(IpPrefix, NextHopId)>;

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

    fn cover(&self, prefix: IpPrefix) -> Vec<(IpPrefix, NextHopId)> {
        let prefixes = self.table().cover(prefix).map(|(prefix, _)| prefix);
        prefixes.filter_map(|prefix| Some((prefix, self.exact(prefix)?))).collect()
    }

    fn children(&self, prefix: IpPrefix) -> Vec<(IpPrefix, NextHopId)> {
        let prefixes = self.table().children(prefix).map(|(prefix, _)| prefix);
        prefixes.filter_map(|prefix| Some((prefix, self.exact(prefix)?))).collect()
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
        Self::of_rows(columns, rows)
    }

    /// Rows by their codes.
    pub fn of_rows(columns: Vec<Column>, rows: Vec<Option<Row>>) -> Self {
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

/// Texts by their codes, one after another in memory.
#[derive(Debug, Default)]
pub struct Texts {
    data: String,
    /// The end of each text, and whether it is one or a null.
    ends: Vec<(usize, bool)>,
}

impl Texts {
    pub fn new<S: AsRef<str>>(texts: impl Iterator<Item = Option<S>>) -> Self {
        let mut made = Self::default();
        for text in texts {
            made.data.push_str(text.as_ref().map_or("", |text| text.as_ref()));
            made.ends.push((made.data.len(), text.is_some()));
        }
        made
    }

    /// The text of a code; `None` for a null and for a code that is not there.
    #[inline]
    pub fn get(&self, code: usize) -> Option<&str> {
        let (end, is_text) = *self.ends.get(code)?;
        let start = code.checked_sub(1).map_or(0, |before| self.ends[before].0);
        is_text.then(|| &self.data[start..end])
    }
}

/// Values of one type by their codes: index 0 means no match.
#[derive(Debug)]
pub enum Typed {
    Strings(Texts),
    I64(Vec<Option<i64>>),
    U64(Vec<Option<u64>>),
    F64(Vec<Option<f64>>),
    Bools(Vec<Option<bool>>),
}

impl Typed {
    /// The cells of a column.
    pub fn of_column(cells: &dyn CellSource, column: usize, max_code: usize) -> Self {
        let codes = (0..=max_code).map(|code| cells.cell(code, column));
        match cells.columns()[column].ty {
            ColumnType::U64 => Self::U64(
                codes.map(|cell| if let Cell::U64(n) = cell { Some(n) } else { None }).collect(),
            ),
            ColumnType::I64 => Self::I64(
                codes.map(|cell| if let Cell::I64(n) = cell { Some(n) } else { None }).collect(),
            ),
            ColumnType::F64 => Self::F64(
                codes.map(|cell| if let Cell::F64(n) = cell { Some(n) } else { None }).collect(),
            ),
            _ => Self::Strings(Texts::new(
                codes.map(|cell| if let Cell::String(s) = cell { Some(s) } else { None }),
            )),
        }
    }

    /// Python objects that all have the type of these kinds or are ``None``.
    ///
    /// # Errors
    /// The names of the kinds, when they have no common type.
    pub fn of_objects(
        py: Python<'_>,
        objects: &[Option<Py<PyAny>>],
        kinds: Kinds,
    ) -> Result<Self, String> {
        let each = || objects.iter().map(|object| object.as_ref().map(|object| object.bind(py)));
        Ok(match kinds.scalar()? {
            Scalar::Text => Self::Strings(Texts::new(
                each().map(|object| object.and_then(|object| object.extract::<String>().ok())),
            )),
            Scalar::Bool => Self::Bools(each().map(|o| o.and_then(|o| o.extract().ok())).collect()),
            Scalar::I64 => Self::I64(each().map(|o| o.and_then(|o| o.extract().ok())).collect()),
            Scalar::U64 => Self::U64(each().map(|o| o.and_then(|o| o.extract().ok())).collect()),
            Scalar::F64 => Self::F64(each().map(|o| o.and_then(|o| o.extract().ok())).collect()),
        })
    }

    /// The value of a code as a Python object.
    pub fn object(&self, py: Python<'_>, code: usize) -> Py<PyAny> {
        let cell = match self {
            Self::Strings(texts) => texts.get(code).map(Cell::String),
            Self::I64(numbers) => numbers[code].map(Cell::I64),
            Self::U64(numbers) => numbers[code].map(Cell::U64),
            Self::F64(numbers) => numbers[code].map(Cell::F64),
            Self::Bools(values) => {
                return values[code].map_or_else(
                    || py.None(),
                    |value| PyBool::new(py, value).to_owned().into_any().unbind(),
                );
            }
        };
        cell_object(py, cell.unwrap_or(Cell::Null))
    }
}

/// The kinds of all of these objects.
pub fn kinds_of(py: Python<'_>, objects: &[Option<Py<PyAny>>]) -> Kinds {
    let kinds = objects.iter().flatten().map(|object| Kinds::of(object.bind(py)));
    kinds.fold(Kinds::default(), Kinds::join)
}

/// The Python objects of a table of objects by their codes.
pub fn objects_by_code(
    py: Python<'_>,
    table: &FrozenTable<PyValue>,
) -> PyResult<Vec<Option<Py<PyAny>>>> {
    let mut objects: Vec<Option<Py<PyAny>>> = Vec::new();
    objects.resize_with(Store::max_code(table) + 1, || None);
    for value in paced(py, table.table().next_hops().iter().map(Ok)) {
        let (id, value) = value?;
        objects[id.get() as usize] = Some(value.get(py));
    }
    Ok(objects)
}
