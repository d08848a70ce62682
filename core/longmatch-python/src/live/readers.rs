//! Lookups in the state of the last commit.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longmatch::{Ipv4, Ipv6, Keys, NextHopId, TableReader, TableView};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyTuple;

use crate::bulk::{Compiled, Id, Reread};
use crate::input::{Input, Options};
use crate::key::address;
use crate::kinds::Kinds;
use crate::output::{Answered, Output, states, thread_count};
use crate::pause::pause;
use crate::value::PyValue;

/// The kinds of all values that were ever committed. They determine the type of Arrow answers.
#[derive(Clone, Default)]
pub struct Committed(Arc<AtomicU16>);

impl Committed {
    pub fn new(kinds: Kinds) -> Self {
        Self(Arc::new(AtomicU16::new(kinds.bits())))
    }

    pub fn include(&self, kinds: Kinds) {
        self.0.fetch_or(kinds.bits(), Ordering::SeqCst);
    }

    fn kinds(&self) -> Kinds {
        Kinds::from_bits(self.0.load(Ordering::SeqCst))
    }
}

/// Pool of readers; each call borrows one.
pub struct Readers {
    /// Never empty: the last is only cloned.
    readers: Mutex<Vec<TableReader<PyValue>>>,
    committed: Committed,
    strict: bool,
}

impl Readers {
    pub fn new(reader: TableReader<PyValue>, committed: Committed, strict: bool) -> Self {
        Self { readers: Mutex::new(vec![reader]), committed, strict }
    }

    pub fn committed(&self) -> &Committed {
        &self.committed
    }

    fn list(&self, py: Python<'_>) -> MutexGuard<'_, Vec<TableReader<PyValue>>> {
        self.readers.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, py: Python<'_>) -> PyResult<TableReader<PyValue>> {
        let mut readers = self.list(py);
        let reader = if readers.len() > 1 { readers.pop() } else { readers.first().cloned() };
        reader.ok_or_else(|| PyRuntimeError::new_err("the table has no reader"))
    }

    /// Calls `read` with the table as of the last commit.
    fn read<R>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&TableView<'_, PyValue>) -> PyResult<R>,
    ) -> PyResult<R> {
        let mut reader = self.take(py)?;
        let result = read(&reader.pin());
        self.list(py).push(reader);
        result
    }

    pub fn lookup(
        &self,
        object: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let py = object.py();
        let addr = address(object)?;
        let found = self.read(py, |view| Ok(view.lookup(addr).map(|value| value.get(py))))?;
        Ok(found.or(default).unwrap_or_else(|| py.None()))
    }

    pub fn lookup_prefix(
        &self,
        object: &Bound<'_, PyAny>,
    ) -> PyResult<Option<(String, Py<PyAny>)>> {
        let py = object.py();
        let addr = address(object)?;
        self.read(py, |view| {
            Ok(view.get_lpm(addr).map(|(prefix, value)| (prefix.to_string(), value.get(py))))
        })
    }

    pub fn lookup_many<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        asked: &Asked<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = addresses.py();
        let input = Input::new(addresses)?;
        let output = Output::new(asked.out, input.form())?;
        if output == Output::Codes {
            return Err(PyValueError::new_err(
                "out='codes': the codes of a live table change with it; use 'values' or 'arrow'",
            ));
        }
        let reread = Reread { lenient: asked.lenient, covering: None, strict: self.strict };
        let options = Options {
            threads: thread_count(asked.threads)?,
            reread: (asked.lenient || asked.return_status).then_some(reread),
        };
        let columns = input.columns()?;
        let mut ids = vec![None; columns.len()];
        let mut states = vec![None; if asked.return_status { columns.len() } else { 0 }];
        let states_out = asked.return_status.then_some(&mut *states);
        // Ids keep their meaning only as long as the reader is pinned.
        let (answered, kinds) = self.read(py, |view| {
            let bad = columns.look_up(py, &View(view), &options, &mut ids, states_out)?;
            if let (true, Some(index)) = (asked.strict, bad.first) {
                return Err(input.refused(index));
            }
            // After the lookups, so that the kinds are of all values that they saw.
            Ok((resolve(py, view, &mut ids)?, self.committed.kinds()))
        })?;
        let mut results = vec![answered.values(py, &ids, output, kinds)?];
        if asked.return_prefix {
            results.push(answered.prefixes(py, &ids, output)?);
        }
        if asked.return_status {
            results.push(self::states(py, &states, output)?);
        }
        match <[_; 1]>::try_from(results) {
            Ok([answers]) => Ok(answers),
            Err(results) => Ok(PyTuple::new(py, results)?.into_any()),
        }
    }
}

/// The options of `lookup_many`.
pub struct Asked<'a> {
    pub return_prefix: bool,
    pub return_status: bool,
    pub threads: Option<i64>,
    pub strict: bool,
    pub lenient: bool,
    pub out: &'a str,
}

/// Replaces ids, which identify routes while the view lives, by the numbers of values or prefixes.
fn resolve(py: Python<'_>, view: &TableView<'_, PyValue>, ids: &mut [Id]) -> PyResult<Answered> {
    let mut numbers = HashMap::<NextHopId, Id>::new();
    let mut answered = Answered::default();
    for (i, id) in ids.iter_mut().enumerate() {
        if i % RESOLVED == 0 {
            pause(py)?;
        }
        let Some(route) = *id else { continue };
        *id = *numbers.entry(route).or_insert_with(|| {
            let (prefix, value) = view.route(route)?;
            answered.push(prefix, value.get(py))
        });
    }
    Ok(answered)
}

/// Ids that are resolved between two pauses.
const RESOLVED: usize = 1 << 18;

struct View<'a, 'r>(&'a TableView<'r, PyValue>);

impl Compiled for View<'_, '_> {
    fn id(&self, addr: std::net::IpAddr) -> Id {
        self.0.lookup_id(addr)
    }

    fn ids_ipv4(&self, keys: Keys<'_, Ipv4>, out: &mut [Id]) {
        self.0.lookup_ids(keys, out);
    }

    fn ids_ipv6(&self, keys: Keys<'_, Ipv6>, out: &mut [Id]) {
        self.0.lookup_ids(keys, out);
    }
}
