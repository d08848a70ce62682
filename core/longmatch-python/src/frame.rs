//! Frames as sources of tables: DataFrames, tables of Arrow, relations of DuckDB, Parquet files.
//!
//! `longmatch._frames` reads their columns as lists of Python objects.

use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
use longmatch_feed::{Duplicates, KeptColumn, Options};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::data::cell_of;
use crate::key::key;
use crate::kinds::{Kinds, Scalar};
use crate::pause::{OBJECTS, pause};
use crate::value::plain;

/// Whether a source is a frame.
///
/// # Errors
/// If a property of the object raises.
pub fn is_frame(source: &Bound<'_, PyAny>) -> PyResult<bool> {
    let module = source.py().import("longmatch._frames")?;
    module.call_method1("is_frame", (source,))?.is_truthy()
}

/// The routes of a frame; of the options, those of the prefix, the columns, duplicates and host bits apply.
///
/// # Errors
/// When there is no column of prefixes, a cell is no prefix or has no type of a column; the message names the row.
pub fn frame_data(source: &Bound<'_, PyAny>, options: &Options) -> PyResult<PrefixData> {
    let module = source.py().import("longmatch._frames")?;
    let pair = |kept: &KeptColumn| (kept.column.clone(), kept.name.clone());
    let kept: Option<Vec<_>> = options.columns.as_ref().map(|all| all.iter().map(pair).collect());
    let found = module.call_method1("columns", (source, options.prefix.clone(), kept))?;
    type Columns<'py> = (Bound<'py, PyList>, Vec<(String, Bound<'py, PyList>)>);
    let (prefixes, columns): Columns<'_> = found.extract()?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    rows.resize_with(prefixes.len(), || Vec::with_capacity(columns.len()));
    let mut described = Vec::with_capacity(columns.len());
    for (name, cells) in columns {
        let column = Column::new(name.as_str(), column_type(&name, &cells)?);
        for (i, cell) in cells.iter().enumerate() {
            if i % OBJECTS == 0 {
                pause(cells.py())?;
            }
            rows[i].push(cell_of(&column, &cell)?);
        }
        described.push(column);
    }
    let refused = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let mut data = PrefixData::new(described).map_err(|error| refused(&error))?;
    for (i, (prefix, row)) in prefixes.iter().zip(rows).enumerate() {
        if i % OBJECTS == 0 {
            pause(prefix.py())?;
        }
        let prefix = key(&prefix).and_then(|key| key.prefix(!options.mask_host_bits));
        let prefix = prefix.map_err(|error| {
            PyValueError::new_err(format!("row {i}: {}", error.value(source.py())))
        })?;
        let row = Row::from(row);
        let differs = options.duplicates != Duplicates::Last
            && data.table().get(prefix).is_some_and(|before| *before != row);
        if differs && options.duplicates == Duplicates::First {
            continue;
        }
        if differs {
            return Err(PyValueError::new_err(format!(
                "row {i}: {prefix} has other cells than in a row before; duplicates='last' or 'first' keeps one of the rows"
            )));
        }
        data.insert(prefix, row).map_err(|error| refused(&error))?;
    }
    Ok(data)
}

/// The type of a column of Python objects.
fn column_type(name: &str, cells: &Bound<'_, PyList>) -> PyResult<ColumnType> {
    let mut kinds = Kinds::default();
    for (i, cell) in cells.iter().enumerate() {
        if i % OBJECTS == 0 {
            pause(cells.py())?;
        }
        kinds = kinds.join(Kinds::of(&plain(cell)?));
        let names = match kinds.scalar() {
            Ok(Scalar::Bool) => String::from("bool"),
            Ok(_) => continue,
            Err(names) => names,
        };
        return Err(PyTypeError::new_err(format!(
            "row {i}, column {name:?}: values of these types: {names}; a column has text, integers of 64 bits or floats: cast it"
        )));
    }
    Ok(match kinds.scalar() {
        Ok(Scalar::I64) => ColumnType::I64,
        Ok(Scalar::U64) => ColumnType::U64,
        Ok(Scalar::F64) => ColumnType::F64,
        _ => ColumnType::String,
    })
}
