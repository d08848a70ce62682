//! Pickles: tables as bytes of prefixes, values, and numbers of values.

use std::path::PathBuf;

use longmatch::IpPrefix;
use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::frozen::FrozenTable;
use crate::load::open;
use crate::store::{Cells, cell_object};
use crate::table::{Inner, Table, insert_error};
use crate::value::Value;

/// Prefixes, distinct values, and for each prefix the number of its value.
pub type Packed<'py> = (Bound<'py, PyBytes>, Bound<'py, PyList>, Vec<u32>);

/// The routes of a table.
pub fn packed<'py>(py: Python<'py>, table: &Table) -> PyResult<Packed<'py>> {
    let (bytes, values, codes) = {
        let inner = table.read(py);
        let mut bytes = Vec::new();
        inner.keys().for_each(|prefix| pack(prefix, &mut bytes));
        // Ids are numbers from 1 with gaps.
        let mut numbers = Vec::new();
        let mut values = Vec::new();
        for (id, value) in inner.next_hops().iter() {
            let id = id.get() as usize;
            numbers.resize(numbers.len().max(id + 1), 0);
            numbers[id] = values.len() as u32;
            values.push(value.get(py));
        }
        let ids4 = inner.ipv4().iter().map(|route| route.next_hop);
        let ids = ids4.chain(inner.ipv6().iter().map(|route| route.next_hop));
        let codes = ids.map(|id| numbers[id.get() as usize]).collect();
        (bytes, values, codes)
    };
    Ok((PyBytes::new(py, &bytes), PyList::new(py, values)?, codes))
}

/// The table that [`packed`] wrote.
pub fn unpacked(prefixes: &[u8], values: &Bound<'_, PyList>, codes: &[u32]) -> PyResult<Inner> {
    let prefixes = unpack(prefixes)?;
    if prefixes.len() != codes.len() {
        return Err(damaged());
    }
    let mut inner = Inner::new();
    for (prefix, code) in prefixes.into_iter().zip(codes) {
        let value = values.get_item(*code as usize)?;
        inner.insert(prefix, Value::new(value)).map_err(insert_error)?;
    }
    Ok(inner)
}

fn damaged() -> PyErr {
    PyValueError::new_err(
        "a damaged pickle of a table: its prefixes and values do not fit together",
    )
}

/// Appends a prefix: its family, 4 or 6, its length, and its address in network order.
fn pack(prefix: IpPrefix, bytes: &mut Vec<u8>) {
    match prefix {
        IpPrefix::V4(prefix) => {
            bytes.extend([4, prefix.len()]);
            bytes.extend(prefix.bits().to_be_bytes());
        }
        IpPrefix::V6(prefix) => {
            bytes.extend([6, prefix.len()]);
            bytes.extend(prefix.bits().to_be_bytes());
        }
    }
}

/// The prefixes that [`pack`] wrote.
fn unpack(mut bytes: &[u8]) -> PyResult<Vec<IpPrefix>> {
    let mut prefixes = Vec::new();
    while let [family, len, rest @ ..] = bytes {
        let (addr, rest) = match family {
            4 => {
                let (addr, rest) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
                ((*addr).into(), rest)
            }
            6 => {
                let (addr, rest) = rest.split_first_chunk::<16>().ok_or_else(damaged)?;
                ((*addr).into(), rest)
            }
            _ => return Err(damaged()),
        };
        prefixes.push(IpPrefix::new(addr, *len).map_err(|_| damaged())?);
        bytes = rest;
    }
    if bytes.is_empty() { Ok(prefixes) } else { Err(damaged()) }
}

/// The columns, routes and rows of a frozen table, as the arguments of [`_rows`].
pub type PackedRows<'py> =
    (Vec<(String, String)>, Bound<'py, PyBytes>, Vec<u32>, Vec<Vec<Py<PyAny>>>);

/// The routes of a frozen table with columns: the codes are numbers of rows, from 1.
pub fn packed_rows<'py>(
    py: Python<'py>,
    routes: &[(IpPrefix, u32)],
    cells: &dyn Cells,
    max_code: usize,
) -> PackedRows<'py> {
    let columns = cells.columns().iter();
    let columns = columns.map(|column| (column.name.to_string(), column.ty.to_string())).collect();
    let mut bytes = Vec::new();
    routes.iter().for_each(|(prefix, _)| pack(*prefix, &mut bytes));
    let codes = routes.iter().map(|(_, code)| *code).collect();
    let row = |code| {
        let columns = 0..cells.columns().len();
        columns.map(|column| cell_object(py, cells.cell(code, column))).collect()
    };
    (columns, PyBytes::new(py, &bytes), codes, (1..=max_code).map(row).collect())
}

/// Compiles a table again; the pickles of frozen tables of objects call it.
#[pyfunction]
pub fn _freeze(py: Python<'_>, table: &Bound<'_, Table>, engine: &str) -> PyResult<FrozenTable> {
    let strict = table.get().is_strict();
    FrozenTable::of_objects(py, table.get().read(py).clone(), engine, strict)
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
#[pyfunction]
pub fn _open(py: Python<'_>, path: PathBuf, trust: bool) -> PyResult<FrozenTable> {
    open(py, path, trust)
}

fn column_type(name: &str) -> PyResult<ColumnType> {
    let types = [ColumnType::String, ColumnType::U64, ColumnType::I64, ColumnType::F64];
    types.into_iter().find(|ty| ty.to_string() == name).ok_or_else(damaged)
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
