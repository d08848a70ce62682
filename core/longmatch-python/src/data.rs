//! Tables as data with columns, for files and for tables that were thawed.

use std::collections::HashMap;

use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
use longmatch::{IpPrefix, NextHopId};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::kinds::{Kinds, Scalar};
use crate::pause::{OBJECTS, pause};
use crate::store::CellSource;
use crate::value::plain;

/// Routes that lead to codes.
type RouteCodes = [(IpPrefix, NextHopId)];

/// Data of routes whose codes are numbers of rows.
pub fn data_of(
    columns: Vec<Column>,
    routes: &RouteCodes,
    row: impl Fn(usize) -> Row,
) -> PyResult<PrefixData> {
    let mut data =
        PrefixData::new(columns).map_err(|error| PyValueError::new_err(error.to_string()))?;
    for (prefix, code) in routes {
        data.insert(*prefix, row(code.get() as usize))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    Ok(data)
}

/// The rows of a table with columns.
pub fn rows_as_data(cells: &dyn CellSource, routes: &RouteCodes) -> PyResult<PrefixData> {
    data_of(cells.columns().to_vec(), routes, |code| {
        (0..cells.columns().len()).map(|column| cells.cell(code, column).to_owned()).collect()
    })
}

/// Python objects as rows: dicts have a column for each key, `True` none, others one column `value`. With `columns`, the
/// objects have these columns, as the rows that a thawed table was made of.
///
/// # Errors
/// When an object does not fit; the message names its prefix.
pub fn objects_as_data(
    py: Python<'_>,
    objects: &[Option<Py<PyAny>>],
    routes: &RouteCodes,
    columns: Option<&[Column]>,
) -> PyResult<PrefixData> {
    let read = match columns {
        Some(columns) => rows_of(py, columns, objects),
        None => columns_of(py, objects, true).and_then(|columns| rows_of(py, &columns, objects)),
    };
    let (columns, rows) = read.map_err(|refused| refused.named(py, routes))?;
    py.detach(|| {
        data_of(columns, routes, |code| rows.get(code).and_then(Clone::clone).unwrap_or_default())
    })
}

/// Dicts as rows, for answers of one of their keys.
///
/// # Errors
/// When some object is not a dict, or the dicts have not the same keys or types that columns have.
pub fn objects_as_rows(py: Python<'_>, objects: &[Option<Py<PyAny>>]) -> PyResult<Table> {
    let columns = columns_of(py, objects, false);
    columns.and_then(|columns| rows_of(py, &columns, objects)).map_err(|refused| refused.error)
}

/// Columns, and rows by their codes.
pub type Table = (Vec<Column>, Vec<Option<Row>>);

/// Why an object cannot be a row, and its code.
struct Refused {
    code: usize,
    error: PyErr,
}

impl Refused {
    /// The error with the first prefix that has the object.
    fn named(self, py: Python<'_>, routes: &RouteCodes) -> PyErr {
        let found = routes.iter().find(|(_, code)| code.get() as usize == self.code);
        let Some((prefix, _)) = found else { return self.error };
        let text = format!("{prefix}: {}", self.error.value(py));
        if self.error.is_instance_of::<PyTypeError>(py) {
            PyTypeError::new_err(text)
        } else {
            PyValueError::new_err(text)
        }
    }
}

/// The column of values that are not dicts.
const VALUE: &str = "value";

/// The columns that objects have. Without `scalars` all must be dicts.
fn columns_of(
    py: Python<'_>,
    objects: &[Option<Py<PyAny>>],
    scalars: bool,
) -> Result<Vec<Column>, Refused> {
    let bound = || each(objects).map(|(code, object)| (code, object.bind(py)));
    let refused = |code, error| Refused { code, error };
    let is_true = |object: &Bound<'_, PyAny>| {
        object.is_instance_of::<PyBool>() && object.is_truthy().unwrap_or(false)
    };
    if scalars && bound().next().is_some() && bound().all(|(_, object)| is_true(object)) {
        return Ok(Vec::new());
    }
    let mut columns = Found::default();
    for (i, (code, object)) in bound().enumerate() {
        if i % OBJECTS == 0 {
            pause(py).map_err(|error| refused(code, error))?;
        }
        columns.include(object, scalars).map_err(|error| refused(code, error))?;
    }
    Ok(columns.columns())
}

/// The objects with their codes, without codes that have no object.
fn each(objects: &[Option<Py<PyAny>>]) -> impl Iterator<Item = (usize, &Py<PyAny>)> {
    objects.iter().enumerate().filter_map(|(code, object)| Some((code, object.as_ref()?)))
}

/// The columns that were found so far, with the kinds of their cells.
#[derive(Default)]
struct Found {
    names: Vec<String>,
    kinds: Vec<Kinds>,
    numbers: HashMap<String, usize>,
    /// Whether the objects are dicts; `None` before the first.
    dicts: Option<bool>,
}

impl Found {
    /// Adds an object.
    fn include(&mut self, object: &Bound<'_, PyAny>, scalars: bool) -> PyResult<()> {
        let dict = object.cast::<PyDict>().ok();
        if dict.is_none() && !scalars {
            return Err(PyTypeError::new_err("some value is not a dict"));
        }
        let before = self.dicts;
        if !object.is_none()
            && self.dicts.replace(dict.is_some()).is_some_and(|d| d != dict.is_some())
        {
            return Err(PyTypeError::new_err(
                "some values are dicts and others not: a file has columns",
            ));
        }
        let Some(dict) = dict else { return self.include_cell(VALUE, object) };
        for (name, cell) in dict.iter() {
            let Ok(name) = name.cast::<PyString>() else {
                return Err(PyTypeError::new_err(
                    "a dict with a key that is not a str: a column has a name",
                ));
            };
            let name = name.to_string_lossy();
            if before == Some(true) && !self.numbers.contains_key(&*name) {
                return Err(PyValueError::new_err(format!(
                    "the dict has the key {name:?}, which the dicts before it lack: give all the same keys, with None for what is missing"
                )));
            }
            self.include_cell(&name, &cell)?;
        }
        if let Some(missing) = self.names.iter().find(|name| !dict.contains(name).unwrap_or(false))
        {
            return Err(PyValueError::new_err(format!(
                "the dict lacks the key {missing:?}, which the dicts before it have: give it None"
            )));
        }
        Ok(())
    }

    fn include_cell(&mut self, name: &str, cell: &Bound<'_, PyAny>) -> PyResult<()> {
        let number = *self.numbers.entry(name.to_owned()).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.kinds.push(Kinds::default());
            self.names.len() - 1
        });
        let kinds = self.kinds[number].join(Kinds::of(&plain(cell.clone())?));
        match kinds.scalar() {
            Ok(Scalar::Bool) => Err(PyTypeError::new_err(format!(
                "column {name:?}: a value of type bool; a column has text, integers of 64 bits or floats, and None: use 0 and 1"
            ))),
            Ok(_) => {
                self.kinds[number] = kinds;
                Ok(())
            }
            Err(names) => Err(PyTypeError::new_err(format!(
                "column {name:?}: values of these types: {names}; a column has text, integers of 64 bits or floats, and None"
            ))),
        }
    }

    fn columns(&self) -> Vec<Column> {
        let column = |(name, kinds): (&String, &Kinds)| {
            let ty = match kinds.scalar() {
                Ok(Scalar::I64) => ColumnType::I64,
                Ok(Scalar::U64) => ColumnType::U64,
                Ok(Scalar::F64) => ColumnType::F64,
                _ => ColumnType::String,
            };
            Column::new(name.as_str(), ty)
        };
        self.names.iter().zip(&self.kinds).map(column).collect()
    }
}

/// The rows of objects with known columns.
fn rows_of(
    py: Python<'_>,
    columns: &[Column],
    objects: &[Option<Py<PyAny>>],
) -> Result<Table, Refused> {
    let mut rows = vec![None; objects.len()];
    for (i, (code, object)) in each(objects).enumerate() {
        let read = if i % OBJECTS == 0 { pause(py) } else { Ok(()) };
        let read = read.and_then(|()| row_of(columns, object.bind(py)));
        rows[code] = Some(read.map_err(|error| Refused { code, error })?);
    }
    Ok((columns.to_vec(), rows))
}

/// The row of an object with known columns.
fn row_of(columns: &[Column], object: &Bound<'_, PyAny>) -> PyResult<Row> {
    let names = || columns.iter().map(|column| &*column.name).collect::<Vec<_>>().join(", ");
    if object.is_none() {
        return Ok(columns.iter().map(|_| Cell::Null).collect());
    }
    match (object.cast::<PyDict>(), columns) {
        (Err(_), []) if object.is_instance_of::<PyBool>() && object.is_truthy()? => Ok([].into()),
        (Err(_), [column]) => Ok([cell_of(column, object)?].into()),
        (Ok(dict), columns) if dict.len() == columns.len() => {
            let cell = |column: &Column| match dict.get_item(&*column.name)? {
                Some(cell) => cell_of(column, &cell),
                None => Err(PyValueError::new_err(format!(
                    "the dict lacks the key {:?}: the table has the columns {}",
                    column.name,
                    names()
                ))),
            };
            columns.iter().map(cell).collect()
        }
        _ => Err(PyTypeError::new_err(format!(
            "the value {} does not have the columns of the table ({}): give it these, or copy the routes with Table(dict(table.items()))",
            object.repr()?.to_string_lossy().chars().take(60).collect::<String>(),
            if columns.is_empty() { String::from("none: the value is True") } else { names() }
        ))),
    }
}

/// A cell of the type of a column.
pub fn cell_of(column: &Column, cell: &Bound<'_, PyAny>) -> PyResult<Cell> {
    let cell = plain(cell.clone())?;
    if cell.is_none() {
        return Ok(Cell::Null);
    }
    let own = match column.ty {
        ColumnType::U64 => Kinds::U64,
        ColumnType::I64 => Kinds::I64,
        ColumnType::F64 => Kinds::F64,
        _ => Kinds::TEXT,
    };
    if !Kinds::of(&cell).fits(own) {
        return Err(PyTypeError::new_err(format!(
            "column {:?} of type {} cannot hold {} exactly",
            column.name,
            column.ty,
            cell.repr()?.to_string_lossy().chars().take(60).collect::<String>()
        )));
    }
    Ok(match column.ty {
        ColumnType::U64 => Cell::U64(cell.extract()?),
        ColumnType::I64 => Cell::I64(cell.extract()?),
        ColumnType::F64 => Cell::F64(cell.extract()?),
        _ => Cell::String(cell.extract::<String>()?.into()),
    })
}
