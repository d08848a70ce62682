//! The functions that the pickles of frozen tables call.

use std::path::PathBuf;

use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::file::open_table;
use crate::frozen::FrozenTable;
use crate::pickle::{column_type, damaged, unpack};
use crate::table::Table;

/// Compiles a table again; the pickles of frozen tables of objects call it.
#[pyfunction]
pub fn _freeze(py: Python<'_>, table: &Bound<'_, Table>, engine: &str) -> PyResult<FrozenTable> {
    table.get().freeze(py, engine)
}

/// Makes a frozen table with columns; the pickles of these tables call it.
#[pyfunction]
pub fn _rows(
    py: Python<'_>,
    engine: &str,
    columns: Vec<(String, String)>,
    prefixes: &[u8],
    codes: Vec<u32>,
    rows: Vec<Vec<Bound<'_, PyAny>>>,
) -> PyResult<FrozenTable> {
    let columns: Vec<Column> = columns
        .into_iter()
        .map(|(name, ty)| Ok(Column::new(name, column_type(&ty)?)))
        .collect::<PyResult<_>>()?;
    let rows: Vec<Row> = rows.iter().map(|cells| row(&columns, cells)).collect::<PyResult<_>>()?;
    let mut data =
        PrefixData::new(columns).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let prefixes = unpack(prefixes)?;
    if prefixes.len() != codes.len() {
        return Err(damaged());
    }
    for (prefix, code) in prefixes.into_iter().zip(codes) {
        let row = (code as usize).checked_sub(1).and_then(|i| rows.get(i)).ok_or_else(damaged)?;
        data.insert(prefix, row.clone())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    FrozenTable::of_data(py, data, engine, true)
}

/// Opens a compiled table; the pickles of opened tables call it.
///
/// ``ValueError`` if the path names another table than that which was pickled.
#[pyfunction]
pub fn _open(
    py: Python<'_>,
    path: PathBuf,
    trust: bool,
    mmap: bool,
    identity: u64,
) -> PyResult<FrozenTable> {
    let (table, opened) = open_table(py, &path, trust, mmap)?;
    if opened.identity != identity {
        return Err(PyValueError::new_err(format!(
            "{}: the file has been replaced by another table since this one was pickled: reload the table before it is \
             pickled, or open the path in each process",
            path.display()
        )));
    }
    Ok(FrozenTable::of_file(table, opened))
}

fn row(columns: &[Column], cells: &[Bound<'_, PyAny>]) -> PyResult<Row> {
    if columns.len() != cells.len() {
        return Err(damaged());
    }
    let cell = |(column, cell): (&Column, &Bound<'_, PyAny>)| -> PyResult<Cell> {
        if cell.is_none() {
            return Ok(Cell::Null);
        }
        Ok(match column.ty {
            ColumnType::U64 => Cell::U64(cell.extract()?),
            ColumnType::I64 => Cell::I64(cell.extract()?),
            ColumnType::F64 => Cell::F64(cell.extract()?),
            _ => Cell::String(cell.extract::<String>()?.into()),
        })
    };
    columns.iter().zip(cells).map(cell).collect()
}
