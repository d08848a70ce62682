//! Pickles: tables as bytes of prefixes, values, and numbers of values.

use longmatch::IpPrefix;
use longmatch::table::ColumnType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::pause::{list_of, paced};
use crate::store::{CellSource, Store, cell_object};
use crate::value::{Inner, PyValue, insert_error};

/// Prefixes, distinct values, and for each prefix the number of its value.
pub type Packed<'py> = (Bound<'py, PyBytes>, Bound<'py, PyList>, Bound<'py, PyBytes>);

/// The routes of a table.
pub fn packed<'py>(py: Python<'py>, inner: &Inner) -> PyResult<Packed<'py>> {
    // Ids are numbers from 1 with gaps.
    let mut numbers = Vec::new();
    let mut values = Vec::new();
    for (id, value) in inner.next_hops().iter() {
        let id = id.get() as usize;
        numbers.resize(numbers.len().max(id + 1), 0);
        numbers[id] = values.len() as u32;
        values.push(value.get(py).into_any());
    }
    let (bytes, codes) = py.detach(|| {
        let mut bytes = Vec::new();
        inner.keys().for_each(|prefix| pack(prefix, &mut bytes));
        let ids4 = inner.ipv4().iter().map(|route| route.next_hop);
        let ids = ids4.chain(inner.ipv6().iter().map(|route| route.next_hop));
        (bytes, number_bytes(ids.map(|id| numbers[id.get() as usize])))
    });
    let values = list_of(py, values.into_iter().map(Ok))?;
    Ok((PyBytes::new(py, &bytes), values, PyBytes::new(py, &codes)))
}

/// The table that [`packed`] wrote.
pub fn unpacked(prefixes: &[u8], values: &Bound<'_, PyList>, codes: &[u8]) -> PyResult<Inner> {
    let (prefixes, codes) = (unpack(prefixes)?, numbers(codes)?);
    if prefixes.len() != codes.len() {
        return Err(damaged());
    }
    let mut inner = Inner::new();
    for pair in paced(values.py(), prefixes.into_iter().zip(codes).map(Ok)) {
        let (prefix, code) = pair?;
        let value = values.get_item(code as usize)?;
        inner.insert(prefix, PyValue::new(value)).map_err(insert_error)?;
    }
    Ok(inner)
}

/// Numbers as bytes, 4 each, the lowest first.
fn number_bytes(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    numbers.flat_map(u32::to_le_bytes).collect()
}

/// The numbers that [`number_bytes`] wrote.
pub fn numbers(bytes: &[u8]) -> PyResult<Vec<u32>> {
    match bytes.as_chunks() {
        (numbers, []) => Ok(numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()),
        _ => Err(damaged()),
    }
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
    (Vec<(String, String)>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyList>);

/// The routes of a frozen table with columns: the codes are numbers of rows, from 1.
pub fn packed_rows<'py>(
    py: Python<'py>,
    store: &dyn Store,
    cells: &dyn CellSource,
) -> PyResult<PackedRows<'py>> {
    let columns = cells.columns().iter();
    let columns = columns.map(|column| (column.name.to_string(), column.ty.to_string())).collect();
    let (bytes, codes) = py.detach(|| {
        let routes = store.routes();
        let mut bytes = Vec::new();
        routes.iter().for_each(|(prefix, _)| pack(*prefix, &mut bytes));
        (bytes, number_bytes(routes.iter().map(|(_, code)| code.get())))
    });
    let row = |code| {
        let columns = 0..cells.columns().len();
        let row = PyList::new(py, columns.map(|column| cell_object(py, cells.cell(code, column))));
        Ok(row?.into_any().unbind())
    };
    let rows = list_of(py, (1..=store.max_code()).map(row))?;
    Ok((columns, PyBytes::new(py, &bytes), PyBytes::new(py, &codes), rows))
}
