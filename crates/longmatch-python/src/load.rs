//! Tables from files, and the embedded one.

use longmatch::table::{Cell, Column, ColumnType, PrefixData};
use longmatch_feed::{Event, Options, SinkError, load_bytes};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::frozen::FrozenTable;

const IPV4: &[u8] = include_bytes!("../../../data/ipv4.txt.zst");
const IPV6: &[u8] = include_bytes!("../../../data/ipv6.txt.zst");

/// The table in the package: prefixes of the global routing table and the AS that originates each.
///
/// Its values are numbers of autonomous systems (column ``asn``). They are known for IPv4; the IPv6 prefixes are real
/// too, but their AS is not known, so their value is ``None``. The table is from 2021 (docs/tables.md): good for tests
/// and examples; load a current one for anything else. Loaded once, in about a second.
///
/// >>> longmatch.asn().lookup("1.1.1.1")
/// 13335
#[pyfunction]
pub fn asn(py: Python<'_>) -> PyResult<Py<FrozenTable>> {
    static ASN: PyOnceLock<Py<FrozenTable>> = PyOnceLock::new();
    let table = ASN.get_or_try_init(py, || {
        let data = py.detach(embedded).map_err(|error| {
            PyRuntimeError::new_err(format!("the embedded table cannot be read: {error}"))
        })?;
        Py::new(py, FrozenTable::of_data(py, data, "auto", true)?)
    })?;
    Ok(table.clone_ref(py))
}

fn embedded() -> Result<PrefixData, Box<dyn std::error::Error + Send + Sync>> {
    let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)])?;
    for (name, bytes) in [("data/ipv4.txt.zst", IPV4), ("data/ipv6.txt.zst", IPV6)] {
        let mut sink = |event: Event<'_>| insert(&mut data, event);
        load_bytes(bytes, Some(name), &Options::default(), &mut sink)?;
    }
    Ok(data)
}

/// Adds a route of the embedded tables: a prefix and `AS` with a number, or another word.
fn insert(data: &mut PrefixData, event: Event<'_>) -> Result<(), SinkError> {
    let Event::Announce(prefix, next_hop) = event else { return Ok(()) };
    let asn = next_hop.strip_prefix("AS").and_then(|number| number.parse().ok());
    let row = [asn.map_or(Cell::Null, Cell::U64)];
    data.insert(prefix, row.into())?;
    Ok(())
}
