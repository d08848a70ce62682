//! Tables as data with columns, for files.

use std::collections::HashMap;

use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
use longmatch::{IpPrefix, NextHopId};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::store::CellSource;

/// Routes that lead to codes.
type RouteCodes = [(IpPrefix, NextHopId)];

fn insert(data: &mut PrefixData, prefix: IpPrefix, row: Row) -> PyResult<()> {
    data.insert(prefix, row).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn new(columns: Vec<Column>) -> PyResult<PrefixData> {
    PrefixData::new(columns).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The rows of a table with columns.
pub fn rows_as_data(cells: &dyn CellSource, routes: &RouteCodes) -> PyResult<PrefixData> {
    let mut data = new(cells.columns().to_vec())?;
    for (prefix, code) in routes {
        let cell = |column| cells.cell(code.get() as usize, column).to_owned();
        insert(&mut data, *prefix, (0..cells.columns().len()).map(cell).collect())?;
    }
    Ok(data)
}

/// Python objects as rows: dicts have a column for each key, others one column `value`.
pub fn objects_as_data(
    py: Python<'_>,
    objects: &[Option<Py<PyAny>>],
    routes: &RouteCodes,
) -> PyResult<PrefixData> {
    let objects: Vec<Option<&Bound<'_, PyAny>>> =
        objects.iter().map(|object| object.as_ref().map(|object| object.bind(py))).collect();
    let mut columns = Columns::default();
    for object in objects.iter().flatten() {
        columns.include(object)?;
    }
    let rows: Vec<Option<Row>> = objects
        .iter()
        .map(|object| object.map(|object| columns.row(object)).transpose())
        .collect::<PyResult<_>>()?;
    let mut data = new(columns.columns()?)?;
    for (prefix, code) in routes {
        let row = rows.get(code.get() as usize).and_then(Clone::clone);
        insert(&mut data, *prefix, row.unwrap_or_default())?;
    }
    Ok(data)
}

/// The columns of Python objects, with the kinds of their cells.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    kinds: Vec<Option<ScalarType>>,
    numbers: HashMap<String, usize>,
    /// Whether the objects are dicts; `None` before the first.
    dicts: Option<bool>,
}

/// The type of the cells of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScalarType {
    String,
    I64,
    /// Integers beyond those of 64 bits with a sign.
    U64,
    F64,
}

/// The column of values that are not dicts.
const VALUE: &str = "value";

impl Columns {
    /// Adds what an object has.
    fn include(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let dict = object.cast::<PyDict>().ok();
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
                    "a dict with a key that is not a str: a file has columns with names",
                ));
            };
            self.include_cell(&name.to_string_lossy(), &cell)?;
        }
        Ok(())
    }

    fn include_cell(&mut self, name: &str, cell: &Bound<'_, PyAny>) -> PyResult<()> {
        let number = *self.numbers.entry(name.to_owned()).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.kinds.push(None);
            self.names.len() - 1
        });
        let Some(kind) = kind(cell)? else { return Ok(()) };
        let joined = match self.kinds[number] {
            None => Some(kind),
            Some(before) => before.join(kind),
        };
        self.kinds[number] = Some(joined.ok_or_else(|| {
            PyTypeError::new_err(format!("column {name:?}: text and numbers in one column"))
        })?);
        Ok(())
    }

    fn columns(&self) -> PyResult<Vec<Column>> {
        if self.dicts == Some(true) && self.numbers.is_empty() {
            return Ok(Vec::new());
        }
        let column = |(name, kind): (&String, &Option<ScalarType>)| {
            let ty = match kind {
                None | Some(ScalarType::String) => ColumnType::String,
                Some(ScalarType::I64) => ColumnType::I64,
                Some(ScalarType::U64) => ColumnType::U64,
                Some(ScalarType::F64) => ColumnType::F64,
            };
            Column::new(name.as_str(), ty)
        };
        Ok(self.names.iter().zip(&self.kinds).map(column).collect())
    }

    fn row(&self, object: &Bound<'_, PyAny>) -> PyResult<Row> {
        let cell = |(name, kind): (&String, &Option<ScalarType>)| {
            let cell = match object.cast::<PyDict>() {
                Ok(dict) => dict.get_item(name)?,
                Err(_) => Some(object.clone()),
            };
            let Some(cell) = cell.filter(|cell| !cell.is_none()) else { return Ok(Cell::Null) };
            Ok(match kind {
                None => Cell::Null,
                Some(ScalarType::String) => Cell::String(cell.extract::<String>()?.into()),
                Some(ScalarType::I64) => Cell::I64(cell.extract()?),
                Some(ScalarType::U64) => Cell::U64(cell.extract()?),
                Some(ScalarType::F64) => Cell::F64(cell.extract()?),
            })
        };
        self.names.iter().zip(&self.kinds).map(cell).collect()
    }
}

impl ScalarType {
    /// The kind that holds cells of both.
    fn join(self, other: Self) -> Option<Self> {
        match (self, other) {
            (one, other) if one == other => Some(one),
            (Self::String, _) | (_, Self::String) => None,
            (Self::F64, _) | (_, Self::F64) => Some(Self::F64),
            _ => Some(Self::U64),
        }
    }
}

/// The kind of a cell; `None` for ``None``.
fn kind(cell: &Bound<'_, PyAny>) -> PyResult<Option<ScalarType>> {
    if cell.is_none() {
        return Ok(None);
    }
    if cell.is_instance_of::<PyString>() {
        return Ok(Some(ScalarType::String));
    }
    if cell.is_instance_of::<PyFloat>() {
        return Ok(Some(ScalarType::F64));
    }
    if cell.is_instance_of::<PyInt>() && !cell.is_instance_of::<PyBool>() {
        let fits = cell.extract::<i64>().is_ok();
        return Ok(Some(if fits { ScalarType::I64 } else { ScalarType::U64 }));
    }
    Err(PyTypeError::new_err(format!(
        "a value of type {}: a file has text, integers of 64 bits, floats and None",
        cell.get_type().name()?
    )))
}
