//! The forms in which batches are answered.

use std::sync::{Arc, OnceLock};

use longmatch::{IpPrefix, NextHopId};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrow_column::ArrowColumn;
use crate::bulk::{Id, MATCH, NO_MATCH, NOT_AN_ADDRESS};
use crate::input::Form;
use crate::kinds::Kinds;
use crate::numpy;
use crate::pause::list_of;
use crate::store::{Texts, Typed};
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

/// Values that are Python objects of one type.
///
/// # Errors
/// When they are of several types, or of one that Arrow has not.
pub fn typed_objects(
    py: Python<'_>,
    objects: &[Option<Py<PyAny>>],
    kinds: Kinds,
) -> PyResult<Arc<Typed>> {
    Typed::of_objects(py, objects, kinds).map(Arc::new).map_err(|names| {
        PyTypeError::new_err(format!(
            "the table has values of these types, which make no Arrow array: {names}; use out='values' or out='codes'"
        ))
    })
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
        .map(|id| Ok(id.and_then(|id| object(id.get() as usize)).unwrap_or_else(|| py.None())));
    if form == Form::NumPy {
        return numpy::objects(py, objects, ids.len());
    }
    Ok(list_of(py, objects)?.into_any())
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
pub fn arrow<'py>(py: Python<'py>, values: &Arc<Typed>, ids: &[Id]) -> PyResult<Bound<'py, PyAny>> {
    Ok(Bound::new(py, ArrowColumn::new(ids.to_vec(), values.clone()))?.into_any())
}

/// The states of addresses in the form of the answers.
pub fn states<'py>(py: Python<'py>, states: &[Id], output: Output) -> PyResult<Bound<'py, PyAny>> {
    static NAMES: OnceLock<Arc<Typed>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names = [None; 4];
        let named = [(MATCH, "match"), (NO_MATCH, "no match"), (NOT_AN_ADDRESS, "not an address")];
        named.into_iter().for_each(|(state, name)| names[state.get() as usize] = Some(name));
        Arc::new(Typed::Strings(Texts::new(names.into_iter())))
    });
    typed_output(py, states, output, names)
}

/// Answers of one type in any form.
pub fn typed_output<'py>(
    py: Python<'py>,
    ids: &[Id],
    output: Output,
    values: &Arc<Typed>,
) -> PyResult<Bound<'py, PyAny>> {
    match output {
        Output::Codes => codes_array(py, ids),
        Output::Arrow => arrow(py, values, ids),
        Output::Values(form) => of_objects(py, ids, form, |code| Some(values.object(py, code))),
    }
}

/// The texts of prefixes, by their ids from 1.
pub fn prefix_texts(prefixes: impl Iterator<Item = IpPrefix>) -> Arc<Typed> {
    let texts = prefixes.map(|prefix| Some(prefix.to_string()));
    Arc::new(Typed::Strings(Texts::new(std::iter::once(None).chain(texts))))
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

    /// The values of the answers; `kinds` are those of the whole table.
    pub fn values<'py>(
        &self,
        py: Python<'py>,
        ids: &[Id],
        output: Output,
        kinds: Kinds,
    ) -> PyResult<Bound<'py, PyAny>> {
        match output {
            Output::Codes => codes_array(py, ids),
            Output::Arrow => arrow(py, &typed_objects(py, &self.values, kinds)?, ids),
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
            Output::Arrow => arrow(py, &prefix_texts(self.prefixes.iter().copied()), ids),
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
