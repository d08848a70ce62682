//! What `lookup_many` takes: NumPy arrays, Arrow columns, lists.

use std::ops::Range;

use longmatch::IpPrefix;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyMemoryView, PySlice, PyString, PyTuple};

use crate::arrow::{self, Chunks};
use crate::bulk::{Bad, Column, Compiled, Data, Id, Item, Reread, look_up};
use crate::key::{Key, key};
use crate::numpy;
use crate::pause::{OBJECTS, pause, slices_of};
use crate::text::utf8;

/// The form of a batch of addresses, which decides the form of its answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    List,
    NumPy,
    Arrow,
}

/// A batch of addresses.
pub enum Input<'py> {
    List(Items<'py>, Form),
    NumPy(numpy::Array<'py>, Form),
    Arrow(Chunks<'py>),
}

/// Python objects, as tuples of [`OBJECTS`] each: copying or dropping all at once would keep other threads waiting.
pub struct Items<'py>(Vec<Bound<'py, PyTuple>>);

impl<'py> Items<'py> {
    fn of_list(list: &Bound<'py, PyList>) -> PyResult<Self> {
        slices_of(list.py(), |start, end| Ok(list.get_slice(start, end).to_tuple())).map(Self)
    }

    fn of_tuple(tuple: &Bound<'py, PyTuple>) -> PyResult<Self> {
        slices_of(tuple.py(), |start, end| Ok(tuple.get_slice(start, end))).map(Self)
    }

    /// The items of an array of NumPy.
    fn of_array(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        slices_of(array.py(), |start, end| {
            let part = array.get_item(PySlice::new(array.py(), start as isize, end as isize, 1))?;
            Ok(part.call_method0(intern!(part.py(), "tolist"))?.cast::<PyList>()?.to_tuple())
        })
        .map(Self)
    }

    fn of_iterable(items: Bound<'py, PyIterator>) -> PyResult<Self> {
        let py = items.py();
        slices_of(py, |_, _| {
            let slice: Vec<_> = items.clone().take(OBJECTS).collect::<PyResult<_>>()?;
            PyTuple::new(py, slice)
        })
        .map(Self)
    }

    fn len(&self) -> usize {
        self.0.iter().map(|slice| slice.len()).sum()
    }

    fn get(&self, index: usize) -> PyResult<Bound<'py, PyAny>> {
        self.0[index / OBJECTS].get_item(index % OBJECTS)
    }
}

impl Drop for Items<'_> {
    fn drop(&mut self) {
        for slice in self.0.drain(..) {
            let py = slice.py();
            drop(slice);
            py.detach(|| ());
        }
    }
}

/// Addresses of a column in memory that are looked up at a time.
const BLOCK: usize = 1 << 20;

impl<'py> Input<'py> {
    /// Recognizes what an object is.
    ///
    /// # Errors
    /// `TypeError` for a single address and for an object that cannot be iterated.
    pub fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = object.cast::<PyList>() {
            return Ok(Self::List(Items::of_list(list)?, Form::List));
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return Ok(Self::List(Items::of_tuple(tuple)?, Form::List));
        }
        if numpy::is_array(object)? {
            let array = numpy::Array::new(object)?;
            if !array.has_objects() {
                return Ok(Self::NumPy(array, Form::NumPy));
            }
            return Ok(Self::List(Items::of_array(object)?, Form::NumPy));
        }
        if is_series(object)? {
            return Self::of_series(object);
        }
        if arrow::is_arrow(object)? {
            return Ok(Self::Arrow(arrow::import(object)?));
        }
        if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err(
                "lookup_many takes many addresses: pass a list or an array, or call lookup",
            ));
        }
        if object.hasattr("collect_schema")? {
            return Err(PyTypeError::new_err(
                "a lazy frame has no addresses yet: collect it, or use map_batches",
            ));
        }
        if object.is_instance_of::<PyMemoryView>() || object.hasattr("typecode")? {
            return Err(PyTypeError::new_err(
                "a memoryview or an array of the module array: pass numpy.asarray(...) of it, whose integers are IPv4 addresses",
            ));
        }
        let Ok(items) = object.try_iter() else {
            let ty = object.get_type();
            return Err(PyTypeError::new_err(format!(
                "addresses of type {}: expected a NumPy array, an Arrow column, a Series or a list",
                ty.name()?
            )));
        };
        Ok(Self::List(Items::of_iterable(items)?, Form::List))
    }

    /// The addresses of a Series of pandas; the answers are an Arrow column.
    fn of_series(series: &Bound<'py, PyAny>) -> PyResult<Self> {
        let module = series.py().import("longmatch._frames")?;
        let addresses = module.call_method1("addresses", (series,))?;
        Ok(match Self::new(&addresses)? {
            Self::NumPy(array, _) => Self::NumPy(array, Form::Arrow),
            Self::List(items, _) => Self::List(items, Form::Arrow),
            other => other,
        })
    }

    pub fn form(&self) -> Form {
        match self {
            Self::List(_, form) | Self::NumPy(_, form) => *form,
            Self::Arrow(_) => Form::Arrow,
        }
    }

    /// The columns of the batch, to be looked up one after another.
    pub fn columns(&self) -> PyResult<Columns<'_, 'py>> {
        Ok(match self {
            Self::List(items, _) => Columns::Items(items),
            Self::NumPy(array, _) => Columns::Memory(vec![array.column()?]),
            Self::Arrow(chunks) => Columns::Memory(chunks.columns()?),
        })
    }

    /// The error for an address that is none, in strict mode.
    pub fn refused(&self, index: usize) -> PyErr {
        let what = match self {
            Self::List(items, _) => match items.get(index).and_then(|item| item.repr()) {
                Ok(repr) => format!(": {}", repr.to_string_lossy()),
                Err(_) => String::new(),
            },
            _ => String::new(),
        };
        PyValueError::new_err(format!(
            "item {index} is not an address{what}; with strict=False it gets no match"
        ))
    }
}

/// The columns of a batch.
pub enum Columns<'a, 'py> {
    Items(&'a Items<'py>),
    Memory(Vec<Column<'a>>),
}

impl Columns<'_, '_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Memory(columns) => columns.iter().map(Column::len).sum(),
        }
    }

    /// Looks up all addresses while other threads can run Python; a signal is handled after each block.
    ///
    /// # Errors
    /// When an item of a list has a type that no address has, when an item is no address in strict mode, or after a signal.
    pub fn look_up(
        &self,
        py: Python<'_>,
        table: &dyn Compiled,
        options: &Options<'_>,
        out: &mut [Id],
        mut states: Option<&mut [Id]>,
    ) -> PyResult<Bad> {
        let mut bad = Bad::default();
        let mut first = 0;
        let mut block = |column: &Column<'_>, range: Range<usize>, at: usize| {
            let (start, end) = (at + range.start, at + range.end);
            let states = states.as_deref_mut().map(|states| &mut states[start..end]);
            let out = &mut out[start..end];
            let its = py.detach(|| {
                let bad = look_up(table, column, range.clone(), options.threads, out);
                match &options.reread {
                    Some(reread) => reread.run(table, column, range.clone(), out, states),
                    None => bad,
                }
            });
            bad.include(at, its);
            pause(py)
        };
        match self {
            Self::Memory(columns) => {
                for column in columns {
                    for start in (0..column.len()).step_by(BLOCK) {
                        let end = column.len().min(start + BLOCK);
                        block(column, start..end, first)?;
                    }
                    first += column.len();
                }
            }
            Self::Items(items) => {
                for slice in &items.0 {
                    let read = read_items(slice, first)?;
                    let column = Column::new(Data::Items(&read));
                    block(&column, 0..column.len(), first)?;
                    first += column.len();
                }
            }
        }
        Ok(bad)
    }
}

/// How a batch is looked up.
pub struct Options<'a> {
    pub threads: usize,
    /// How the cells without a match are read once more, if they are.
    pub reread: Option<Reread<'a>>,
}

/// Whether the object is a Series of pandas.
fn is_series(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let modules = object.py().import("sys")?.getattr("modules")?;
    let Some(pandas) = modules.cast::<PyDict>()?.get_item("pandas")? else { return Ok(false) };
    // A module that is being imported may not have it yet.
    match pandas.getattr_opt("Series")? {
        Some(series) => object.is_instance(&series),
        None => Ok(false),
    }
}

/// Reads the items of a tuple, of which the first has the number `first`; text is borrowed from the strings, which the tuple
/// keeps alive.
fn read_items<'a>(tuple: &'a Bound<'_, PyTuple>, first: usize) -> PyResult<Vec<Item<'a>>> {
    let mut items = Vec::with_capacity(tuple.len());
    for i in 0..tuple.len() {
        let item = tuple.get_borrowed_item(i)?;
        if let Ok(text) = item.cast::<PyString>() {
            items.push(match utf8(&text) {
                // SAFETY: the string is an item of the tuple, which is immutable and borrowed for `'a`; the text lives
                // as long as the string.
                Ok(text) => Item::Text(unsafe { longer(text) }),
                Err(_) => Item::Bad,
            });
        } else if item.is_none() {
            items.push(Item::Null);
        } else {
            items.push(read_object(&item, first + i)?);
        }
    }
    Ok(items)
}

/// The same bytes for another lifetime.
///
/// # Safety
/// The bytes live, unchanged, for all of `'a`.
unsafe fn longer<'a>(text: &[u8]) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(text.as_ptr(), text.len()) }
}

fn read_object(item: &Bound<'_, PyAny>, index: usize) -> PyResult<Item<'static>> {
    let py = item.py();
    match key(item) {
        Ok(Key { addr, len: None }) => Ok(Item::Address(addr)),
        Ok(Key { addr, len: Some(len) }) => {
            Ok(IpPrefix::masked(addr, len).map_or(Item::Bad, Item::Prefix))
        }
        Err(error) if error.is_instance_of::<PyValueError>(py) => Ok(Item::Bad),
        // Missing values of pandas.
        Err(_) if is_missing(item)? => Ok(Item::Null),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            Err(PyTypeError::new_err(format!("item {index}: {}", error.value(py))))
        }
        Err(error) => Err(error),
    }
}

/// Whether this is a float that is not a number, or the missing value of pandas.
fn is_missing(item: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(number) = item.cast::<pyo3::types::PyFloat>() {
        return Ok(number.value().is_nan());
    }
    Ok(item.get_type().name()?.to_string_lossy() == "NAType")
}
