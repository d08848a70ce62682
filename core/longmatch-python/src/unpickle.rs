//! The functions that the pickles of frozen tables call.

use std::path::PathBuf;

use longmatch::table::{Cell, Column, ColumnError, ColumnType, PrefixData, Row};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::file::open_table;
use crate::frozen::FrozenTable;
use crate::pause::paced;
use crate::pickle::{column_type, damaged, numbers, unpack};
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
    codes: &[u8],
    rows: &Bound<'_, PyList>,
) -> PyResult<FrozenTable> {
    let columns: Vec<Column> = columns
        .into_iter()
        .map(|(name, ty)| Ok(Column::new(name, column_type(&ty)?)))
        .collect::<PyResult<_>>()?;
    let row = |cells: Bound<'_, PyAny>| row(&columns, &cells.extract::<Vec<_>>()?);
    let rows: Vec<Row> = paced(py, rows.iter().map(row)).collect::<PyResult<_>>()?;
    let (prefixes, codes) = (unpack(prefixes)?, numbers(codes)?);
    if prefixes.len() != codes.len() {
        return Err(damaged());
    }
    let data = py.detach(|| {
        let refused = |error: ColumnError| PyValueError::new_err(error.to_string());
        let mut data = PrefixData::new(columns).map_err(refused)?;
        for (prefix, code) in prefixes.into_iter().zip(codes) {
            let row = (code as usize).checked_sub(1).and_then(|i| rows.get(i));
            data.insert(prefix, row.ok_or_else(damaged)?.clone()).map_err(refused)?;
        }
        Ok::<_, PyErr>(data)
    })?;
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
