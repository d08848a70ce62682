//! Pickles: tables as bytes of prefixes, values, and numbers of values.

use std::ops::Deref;

use longmatch::IpPrefix;
use longmatch::table::ColumnType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::store::{CellSource, cell_object};
use crate::value::{Inner, PyValue, insert_error};

/// Prefixes, distinct values, and for each prefix the number of its value.
pub type Packed<'py> = (Bound<'py, PyBytes>, Bound<'py, PyList>, Vec<u32>);

/// The routes of a table.
pub fn packed<'py>(py: Python<'py>, inner: impl Deref<Target = Inner>) -> PyResult<Packed<'py>> {
    let (bytes, values, codes) = {
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
        // A guard of the table ends before Python runs.
        drop(inner);
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
        inner.insert(prefix, PyValue::new(value)).map_err(insert_error)?;
    }
    Ok(inner)
}

/// The exception for a pickle that is damaged.
pub fn damaged() -> PyErr {
    PyValueError::new_err(
        "a damaged pickle of a table: its prefixes and values do not fit together",
    )
}

/// The type of a column of this name.
pub fn column_type(name: &str) -> PyResult<ColumnType> {
    let types = [ColumnType::String, ColumnType::U64, ColumnType::I64, ColumnType::F64];
    types.into_iter().find(|ty| ty.to_string() == name).ok_or_else(damaged)
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
pub fn unpack(mut bytes: &[u8]) -> PyResult<Vec<IpPrefix>> {
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

/// The columns, routes and rows of a frozen table, as the arguments of `_rows`.
pub type PackedRows<'py> =
    (Vec<(String, String)>, Bound<'py, PyBytes>, Vec<u32>, Vec<Vec<Py<PyAny>>>);

/// The routes of a frozen table with columns: the codes are numbers of rows, from 1.
pub fn packed_rows<'py>(
    py: Python<'py>,
    routes: &[(IpPrefix, u32)],
    cells: &dyn CellSource,
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
