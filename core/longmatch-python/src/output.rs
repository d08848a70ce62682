//! The forms in which batches are answered.

use std::sync::Arc;

use longmatch::{IpPrefix, NextHopId};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::answers::{dictionary, encoded, gathered};
use crate::arrow::{ArrowColumn, ColumnData};
use crate::bulk::Id;
use crate::input::Form;
use crate::numpy;
use crate::store::Typed;
use crate::text::prefix_str;

/// What `lookup_many` returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Codes,
    Values(Form),
    Arrow,
}

impl Output {
    pub fn new(name: &str, form: Form) -> PyResult<Self> {
        match (name, form) {
            ("codes", _) => Ok(Self::Codes),
            ("arrow", _) | ("auto", Form::Arrow) => Ok(Self::Arrow),
            ("values" | "auto", form) => Ok(Self::Values(form)),
            _ => Err(PyValueError::new_err(format!(
                "out={name:?}: expected 'auto', 'codes', 'values' or 'arrow'"
            ))),
        }
    }
}

/// A column of values, ready for answers.
pub struct TypedColumn {
    pub typed: Typed,
    /// The dictionary of strings.
    pub dictionary: Option<Arc<ColumnData>>,
}

impl TypedColumn {
    pub fn new(typed: Typed) -> PyResult<Self> {
        let dictionary = match &typed {
            Typed::Strings(values) => {
                // Without index 0, which means no match.
                let strings = values.iter().skip(1).map(Option::as_deref);
                Some(Arc::new(dictionary(strings).map_err(PyValueError::new_err)?))
            }
            _ => None,
        };
        Ok(Self { typed, dictionary })
    }

    /// Values that are Python objects of one type.
    ///
    /// # Errors
    /// When they are of several types, or of one that Arrow has not.
    pub fn of_objects(py: Python<'_>, objects: &[Option<Py<PyAny>>]) -> PyResult<Self> {
        Self::new(Typed::of_objects(py, objects).map_err(|name| {
            PyTypeError::new_err(format!(
                "values of several types or of type {name} make no Arrow array: use out='values' or out='codes'"
            ))
        })?)
    }

    pub fn answers(&self, ids: &[Id]) -> ColumnData {
        match (&self.typed, &self.dictionary) {
            (Typed::Strings(values), Some(dictionary)) => {
                encoded(ids, dictionary.clone(), |code| values[code].is_none())
            }
            (typed, _) => gathered(ids, typed),
        }
    }
}

/// Codes as an array of NumPy.
pub fn codes_array<'py>(py: Python<'py>, ids: &[Id]) -> PyResult<Bound<'py, PyAny>> {
    let (array, ()) = numpy::filled_with_ids(py, ids.len(), |out| {
        out.copy_from_slice(ids);
        Ok(())
    })?;
    Ok(array)
}

/// The objects of the answers: a list, or an array of NumPy for the answers to one.
pub fn of_objects<'py>(
    py: Python<'py>,
    ids: &[Id],
    form: Form,
    mut object: impl FnMut(usize) -> Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let objects = ids
        .iter()
        .map(|id| id.and_then(|id| object(id.get() as usize)).unwrap_or_else(|| py.None()));
    if form == Form::NumPy {
        return numpy::objects(py, objects);
    }
    Ok(PyList::new(py, objects)?.into_any())
}

/// The number of threads for `threads=`.
pub fn thread_count(threads: Option<i64>) -> PyResult<usize> {
    match threads {
        None => Ok(1),
        Some(0) => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        Some(n) if (1..=1024).contains(&n) => Ok(n as usize),
        Some(n) => Err(PyValueError::new_err(format!(
            "threads={n}: expected 1 to 1024, or 0 for one on each CPU"
        ))),
    }
}

/// The answers as an Arrow array.
pub fn arrow<'py>(py: Python<'py>, typed: &TypedColumn, ids: &[Id]) -> PyResult<Bound<'py, PyAny>> {
    let data = py.detach(|| typed.answers(ids));
    arrow_column(py, data)
}

/// An Arrow array as a Python object.
pub fn arrow_column(py: Python<'_>, data: ColumnData) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, ArrowColumn { data: Arc::new(data) })?.into_any())
}

/// The texts of prefixes, for arrays that refer to them.
pub fn prefix_dictionary(prefixes: impl Iterator<Item = IpPrefix>) -> PyResult<Arc<ColumnData>> {
    let texts: Vec<_> = prefixes.map(|prefix| prefix.to_string()).collect();
    let texts = texts.iter().map(|text| Some(text.as_str()));
    Ok(Arc::new(dictionary(texts).map_err(PyValueError::new_err)?))
}

/// Prefixes and values that answers denote, by their numbers.
#[derive(Default)]
pub struct Answered {
    prefixes: Vec<IpPrefix>,
    /// Index 0 means no match.
    values: Vec<Option<Py<PyAny>>>,
}

impl Answered {
    /// Adds a route; returns its number.
    pub fn push(&mut self, prefix: IpPrefix, value: Py<PyAny>) -> Id {
        if self.values.is_empty() {
            self.values.push(None);
        }
        self.prefixes.push(prefix);
        self.values.push(Some(value));
        NextHopId::new(self.prefixes.len() as u32)
    }

    /// The values of the answers.
    pub fn values<'py>(
        &self,
        py: Python<'py>,
        ids: &[Id],
        output: Output,
    ) -> PyResult<Bound<'py, PyAny>> {
        match output {
            Output::Codes => codes_array(py, ids),
            Output::Arrow => arrow(py, &TypedColumn::of_objects(py, &self.values)?, ids),
            Output::Values(form) => of_objects(py, ids, form, |number| {
                self.values.get(number)?.as_ref().map(|value| value.clone_ref(py))
            }),
        }
    }

    /// The prefixes of the answers.
    pub fn prefixes<'py>(
        &self,
        py: Python<'py>,
        ids: &[Id],
        output: Output,
    ) -> PyResult<Bound<'py, PyAny>> {
        match output {
            Output::Codes => codes_array(py, ids),
            Output::Arrow => {
                let texts = prefix_dictionary(self.prefixes.iter().copied())?;
                arrow_column(py, encoded(ids, texts, |_| false))
            }
            Output::Values(form) => {
                let texts = self.prefixes.iter().map(|prefix| prefix_str(py, *prefix));
                let texts: Vec<_> = texts.collect();
                of_objects(py, ids, form, |number| {
                    texts.get(number - 1).map(|text| text.clone().into_any().unbind())
                })
            }
        }
    }
}
