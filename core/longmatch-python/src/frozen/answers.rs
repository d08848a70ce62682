//! The answers of a frozen table as Python objects, NumPy and Arrow arrays.

use std::sync::Arc;

use longmatch::NextHopId;
use longmatch::table::{Cell, ColumnType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};

use super::{FrozenTable, Values};
use crate::bulk::Id;
use crate::input::Form;
use crate::output::{Output, TypedColumn, arrow, codes_array, of_objects};
use crate::store::{Typed, cell_object, objects_by_code, row_object};

impl FrozenTable {
    /// The value of a code.
    pub(super) fn object(&self, py: Python<'_>, code: usize) -> PyResult<Py<PyAny>> {
        match &self.values {
            Values::Objects(table) => {
                let value = NextHopId::new(code as u32).and_then(|id| table.value(id));
                Ok(value.map_or_else(|| py.None(), |value| value.get(py)))
            }
            Values::Rows(cells) => row_object(py, &**cells, code),
        }
    }

    /// The values that answers share, by their codes.
    pub(super) fn objects(&self, py: Python<'_>) -> PyResult<&Vec<Option<Py<PyAny>>>> {
        if let Some(objects) = self.objects.get() {
            return Ok(objects);
        }
        let objects = match &self.values {
            Values::Objects(table) => objects_by_code(py, table),
            Values::Rows(_) => {
                let objects = (1..=self.max_code).map(|code| self.object(py, code).map(Some));
                std::iter::once(Ok(None)).chain(objects).collect::<PyResult<_>>()?
            }
        };
        // Two threads may get here; one of them then discards its objects.
        Ok(self.objects.get_or_init(|| objects))
    }

    /// The number of a column.
    pub(super) fn column(&self, name: &str) -> PyResult<usize> {
        let Values::Rows(cells) = &self.values else {
            return Err(PyValueError::new_err(format!(
                "column={name:?}: the values of this table are objects, which have no columns"
            )));
        };
        let found = cells.columns().iter().position(|column| &*column.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = cells.columns().iter().map(|column| &*column.name).collect();
            PyValueError::new_err(format!("no column {name:?}: the table has {names:?}"))
        })
    }

    fn typed(&self, py: Python<'_>, column: Option<usize>) -> PyResult<&Arc<TypedColumn>> {
        match (&self.values, column) {
            (Values::Rows(cells), column) => {
                let column = match (column, cells.columns().len()) {
                    (Some(column), _) => column,
                    (None, 1) => 0,
                    (None, 0) => {
                        return self.typed.get_or_try_init(py, || {
                            let all = Typed::Bools(vec![Some(true); self.max_code + 1]);
                            TypedColumn::new(all).map(Arc::new)
                        });
                    }
                    (None, n) => {
                        return Err(PyValueError::new_err(format!(
                            "an Arrow array has one column, and the table has {n}: name one with column=..."
                        )));
                    }
                };
                self.typed_columns[column].get_or_try_init(py, || {
                    let typed = py.detach(|| Typed::of_column(&**cells, column, self.max_code));
                    TypedColumn::new(typed).map(Arc::new)
                })
            }
            (Values::Objects(_), _) => self.typed.get_or_try_init(py, || {
                TypedColumn::of_objects(py, self.objects(py)?).map(Arc::new)
            }),
        }
    }

    /// The answers in the form that was asked for.
    pub(super) fn output<'py>(
        &self,
        py: Python<'py>,
        ids: &[Id],
        output: Output,
        column: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match output {
            Output::Codes => codes_array(py, ids),
            Output::Arrow => arrow(py, self.typed(py, column)?, ids),
            Output::Values(form) => match (&self.values, column) {
                (Values::Rows(cells), Some(column)) => {
                    if form == Form::NumPy && cells.columns()[column].ty != ColumnType::String {
                        return self.masked(py, ids, column);
                    }
                    let objects: Vec<_> = (0..=self.max_code)
                        .map(|code| cell_object(py, cells.cell(code, column)))
                        .collect();
                    of_objects(py, ids, form, |code| objects.get(code).map(|o| o.clone_ref(py)))
                }
                // Each answer has its own dict, which its user may change.
                (Values::Rows(cells), None) if cells.columns().len() > 1 => {
                    let objects = self.objects(py)?;
                    of_objects(py, ids, form, |code| {
                        let row = objects.get(code)?.as_ref()?.bind(py);
                        row.cast::<PyDict>().ok()?.copy().ok().map(|row| row.into_any().unbind())
                    })
                }
                _ => {
                    let objects = self.objects(py)?;
                    of_objects(py, ids, form, |code| {
                        objects.get(code)?.as_ref().map(|object| object.clone_ref(py))
                    })
                }
            },
        }
    }

    /// A column of numbers as a masked array of NumPy.
    fn masked<'py>(
        &self,
        py: Python<'py>,
        ids: &[Id],
        column: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Values::Rows(cells) = &self.values else {
            return Err(PyTypeError::new_err("the table has no columns"));
        };
        let numpy = py.import("numpy")?;
        let cell = |id: &Id| id.map_or(Cell::Null, |id| cells.cell(id.get() as usize, column));
        let nulls: Vec<u8> =
            py.detach(|| ids.iter().map(|id| u8::from(cell(id).ty().is_none())).collect());
        let mut bytes = Vec::with_capacity(ids.len() * 8);
        let dtype = match cells.columns()[column].ty {
            ColumnType::U64 => "uint64",
            ColumnType::I64 => "int64",
            _ => "float64",
        };
        py.detach(|| {
            for id in ids {
                bytes.extend(match cell(id) {
                    Cell::U64(number) => number.to_ne_bytes(),
                    Cell::I64(number) => number.to_ne_bytes(),
                    Cell::F64(number) => number.to_ne_bytes(),
                    _ => [0; 8],
                });
            }
        });
        let array = |bytes: &[u8], dtype: &str| {
            numpy.call_method1("frombuffer", (PyByteArray::new(py, bytes), dtype))
        };
        let (data, mask) = (array(&bytes, dtype)?, array(&nulls, "bool")?);
        numpy.getattr("ma")?.call_method1("masked_array", (data, mask))
    }
}
