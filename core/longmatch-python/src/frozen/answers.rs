//! The answers of a frozen table as Python objects, NumPy and Arrow arrays.

use std::sync::{Arc, PoisonError};

use longmatch::{IpPrefix, NextHopId};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{FrozenTable, Values};
use crate::arrow_column::ArrowColumn;
use crate::bulk::Id;
use crate::data::objects_as_rows;
use crate::input::Form;
use crate::output::{Output, arrow, codes_array, of_objects, typed_objects};
use crate::pause::{OBJECTS, paced, pause};
use crate::store::{CellSource, Rows, Typed, kinds_of, objects_by_code, row_object};

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
            Values::Objects(table) => objects_by_code(py, table)?,
            Values::Rows(_) => {
                let objects = (1..=self.max_code).map(|code| self.object(py, code).map(Some));
                std::iter::once(Ok(None)).chain(paced(py, objects)).collect::<PyResult<_>>()?
            }
        };
        // Two threads may get here; one of them then discards its objects.
        Ok(self.objects.get_or_init(|| objects))
    }

    /// The columns of the values: those of rows, or the keys of dicts that all have the same.
    ///
    /// # Errors
    /// Why objects have no columns.
    fn cells(&self, py: Python<'_>) -> PyResult<&Arc<dyn CellSource>> {
        match &self.values {
            Values::Rows(cells) => Ok(cells),
            Values::Objects(_) => self.object_cells.get_or_try_init(py, || {
                let (columns, rows) = objects_as_rows(py, self.objects(py)?)?;
                Ok(Arc::new(Rows::of_rows(columns, rows)) as Arc<dyn CellSource>)
            }),
        }
    }

    /// The names of the columns; `None` where the values are objects without common keys.
    pub(super) fn column_names(&self, py: Python<'_>) -> Option<Vec<String>> {
        let cells = self.cells(py).ok()?;
        Some(cells.columns().iter().map(|column| column.name.to_string()).collect())
    }

    /// Routes with the objects of their values; each has its own dict.
    pub(super) fn with_values(
        &self,
        py: Python<'_>,
        routes: Vec<(IpPrefix, NextHopId)>,
    ) -> PyResult<Vec<(IpPrefix, Py<PyAny>)>> {
        let object = |(prefix, code): (IpPrefix, NextHopId)| {
            Ok((prefix, self.object(py, code.get() as usize)?))
        };
        paced(py, routes.into_iter().map(object)).collect()
    }

    /// All routes with the objects of their values.
    pub fn entries(&self, py: Python<'_>) -> PyResult<Vec<(IpPrefix, Py<PyAny>)>> {
        let objects = self.objects(py)?;
        let routes = py.detach(|| self.store.routes());
        let mut entries = Vec::with_capacity(routes.len());
        let rows = matches!(&self.values, Values::Rows(cells) if cells.columns().len() > 1);
        for (i, (prefix, code)) in routes.into_iter().enumerate() {
            if i % OBJECTS == 0 {
                pause(py)?;
            }
            let object = objects.get(code.get() as usize).and_then(Option::as_ref);
            let object = match object {
                Some(row) if rows => row.bind(py).cast::<PyDict>()?.copy()?.into_any().unbind(),
                Some(object) => object.clone_ref(py),
                None => py.None(),
            };
            entries.push((prefix, object));
        }
        Ok(entries)
    }

    /// The number of a column.
    pub(super) fn column(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let cells = self.cells(py).map_err(|error| {
            PyValueError::new_err(format!(
                "column={name:?}: the values of this table are objects, which have no columns: {}",
                error.value(py)
            ))
        })?;
        let found = cells.columns().iter().position(|column| &*column.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = cells.columns().iter().map(|column| &*column.name).collect();
            PyValueError::new_err(format!("no column {name:?}: the table has {names:?}"))
        })
    }

    /// The values, or a column of them, as values of one type.
    pub(super) fn typed(&self, py: Python<'_>, column: Option<usize>) -> PyResult<Arc<Typed>> {
        let column = match (&self.values, column) {
            (_, Some(column)) => column,
            (Values::Objects(_), None) => return self.typed_objects(py),
            (Values::Rows(cells), None) => match cells.columns().len() {
                1 => 0,
                0 => {
                    let all = || Arc::new(Typed::Bools(vec![Some(true); self.max_code + 1]));
                    return Ok(self.typed.get_or_init(py, all).clone());
                }
                n => {
                    return Err(PyValueError::new_err(format!(
                        "an Arrow array has one column, and the table has {n}: name one with column=..."
                    )));
                }
            },
        };
        let cells = self.cells(py)?;
        let known = || self.typed_columns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(typed) = known().get(&column) {
            return Ok(typed.clone());
        }
        let made = Arc::new(py.detach(|| Typed::of_column(&**cells, column, self.max_code)));
        Ok(known().entry(column).or_insert(made).clone())
    }

    fn typed_objects(&self, py: Python<'_>) -> PyResult<Arc<Typed>> {
        let typed = self.typed.get_or_try_init(py, || {
            let objects = self.objects(py)?;
            if self.column_names(py).is_some_and(|names| !names.is_empty()) {
                return Err(PyValueError::new_err(
                    "the values are dicts, and an Arrow array has one column: name it with column=...",
                ));
            }
            typed_objects(py, objects, kinds_of(py, objects))
        });
        typed.cloned()
    }

    /// The answers in the form that was asked for.
    pub(super) fn output<'py>(
        &self,
        py: Python<'py>,
        ids: &[Id],
        output: Output,
        column: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let form = match output {
            Output::Codes => return codes_array(py, ids),
            Output::Arrow => return arrow(py, &self.typed(py, column)?, ids),
            Output::Values(form) => form,
        };
        if let Some(column) = column {
            let typed = self.typed(py, Some(column))?;
            if form == Form::NumPy && !matches!(*typed, Typed::Strings(_)) {
                return masked(py, ids, typed);
            }
            if let Typed::Strings(_) = *typed {
                // Each text becomes one object.
                let codes = 0..=self.max_code;
                let mut objects: Vec<Option<Py<PyAny>>> = codes.map(|_| None).collect();
                return of_objects(py, ids, form, |code| {
                    let object = objects.get_mut(code)?;
                    Some(object.get_or_insert_with(|| typed.object(py, code)).clone_ref(py))
                });
            }
            return of_objects(py, ids, form, |code| Some(typed.object(py, code)));
        }
        let objects = self.objects(py)?;
        match &self.values {
            // Each answer has its own dict, which its user may change.
            Values::Rows(cells) if cells.columns().len() > 1 => of_objects(py, ids, form, |code| {
                let row = objects.get(code)?.as_ref()?.bind(py);
                row.cast::<PyDict>().ok()?.copy().ok().map(|row| row.into_any().unbind())
            }),
            _ => of_objects(py, ids, form, |code| {
                objects.get(code)?.as_ref().map(|object| object.clone_ref(py))
            }),
        }
    }
}

/// The argument `column`: a name, or a list of names.
pub enum ColumnNames {
    One(String),
    Several(Vec<String>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for ColumnNames {
    type Error = PyErr;

    fn extract(names: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = names.extract() {
            return Ok(Self::One(name));
        }
        names.extract().map(Self::Several).map_err(|_| {
            PyTypeError::new_err("column: expected the name of a column, or a list of names")
        })
    }
}

/// The columns that were asked for, by their numbers.
pub enum Chosen {
    One(usize),
    Several(Vec<(String, usize)>),
}

impl Chosen {
    pub fn new(table: &FrozenTable, py: Python<'_>, names: ColumnNames) -> PyResult<Self> {
        Ok(match names {
            ColumnNames::One(name) => Self::One(table.column(py, &name)?),
            ColumnNames::Several(names) => {
                let number = |name: String| table.column(py, &name).map(|number| (name, number));
                Self::Several(names.into_iter().map(number).collect::<PyResult<_>>()?)
            }
        })
    }

    /// The answers: of the values, of one column, or a dict of several.
    pub fn output<'py>(
        chosen: Option<&Self>,
        table: &FrozenTable,
        py: Python<'py>,
        ids: &[Id],
        output: Output,
    ) -> PyResult<Bound<'py, PyAny>> {
        match chosen {
            None => table.output(py, ids, output, None),
            Some(Self::One(column)) => table.output(py, ids, output, Some(*column)),
            Some(Self::Several(columns)) => {
                let dict = PyDict::new(py);
                for (name, column) in columns {
                    dict.set_item(name, table.output(py, ids, output, Some(*column))?)?;
                }
                Ok(dict.into_any())
            }
        }
    }
}

/// A column of numbers as a masked array of NumPy.
fn masked<'py>(py: Python<'py>, ids: &[Id], values: Arc<Typed>) -> PyResult<Bound<'py, PyAny>> {
    let parts = ArrowColumn::new(ids.to_vec(), values)._numpy(py)?;
    let Some(parts) = parts else { return Err(PyTypeError::new_err("text is not masked")) };
    py.import("numpy")?.getattr("ma")?.call_method1("masked_array", parts)
}
