//! What `lookup_many` takes: NumPy arrays, Arrow columns, lists.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::arrow::{self, Chunks};
use crate::bulk::{Bad, Column, Compiled, Data, Id, Item, look_up};
use crate::key::address;
use crate::numpy;
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
    List(Bound<'py, PyTuple>, Form),
    NumPy(numpy::Array<'py>),
    Arrow(Chunks<'py>),
}

/// Items of a list that are read at a time.
const ITEMS: usize = 1 << 18;

impl<'py> Input<'py> {
    /// Recognizes what an object is.
    ///
    /// # Errors
    /// `TypeError` for a single address and for an object that cannot be iterated.
    pub fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = object.cast::<PyList>() {
            return Ok(Self::List(list.to_tuple(), Form::List));
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return Ok(Self::List(tuple.clone(), Form::List));
        }
        if numpy::is_array(object)? {
            let array = numpy::Array::new(object)?;
            if !array.has_objects() {
                return Ok(Self::NumPy(array));
            }
            let list = object.call_method0("tolist")?.cast_into::<PyList>()?;
            return Ok(Self::List(list.to_tuple(), Form::NumPy));
        }
        if arrow::is_arrow(object)? {
            return Ok(Self::Arrow(arrow::import(object)?));
        }
        if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err(
                "lookup_many takes many addresses: pass a list or an array, or call lookup",
            ));
        }
        let items: Vec<Bound<'py, PyAny>> = object.try_iter()?.collect::<PyResult<_>>()?;
        Ok(Self::List(PyTuple::new(object.py(), items)?, Form::List))
    }

    pub fn form(&self) -> Form {
        match self {
            Self::List(_, form) => *form,
            Self::NumPy(_) => Form::NumPy,
            Self::Arrow(_) => Form::Arrow,
        }
    }

    /// The columns of the batch, to be looked up one after another.
    pub fn columns(&self) -> PyResult<Columns<'_, 'py>> {
        Ok(match self {
            Self::List(items, _) => Columns::Items(items),
            Self::NumPy(array) => Columns::Memory(vec![array.column()?]),
            Self::Arrow(chunks) => Columns::Memory(chunks.columns()?),
        })
    }

    /// The error for an address that is none, in strict mode.
    pub fn refused(&self, index: usize) -> PyErr {
        let what = match self {
            Self::List(items, _) => match items.get_item(index).and_then(|item| item.repr()) {
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
    Items(&'a Bound<'py, PyTuple>),
    Memory(Vec<Column<'a>>),
}

impl Columns<'_, '_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Memory(columns) => columns.iter().map(Column::len).sum(),
        }
    }

    /// Looks up all addresses while other threads can run Python.
    ///
    /// # Errors
    /// When an item of a list is of a type that is not an address.
    pub fn look_up(
        &self,
        py: Python<'_>,
        table: &dyn Compiled,
        threads: usize,
        out: &mut [Id],
    ) -> PyResult<Bad> {
        let mut bad = Bad::default();
        match self {
            Self::Memory(columns) => py.detach(|| {
                let mut start = 0;
                for column in columns {
                    let out = &mut out[start..start + column.len()];
                    bad.include(start, look_up(table, column, threads, out));
                    start += column.len();
                }
            }),
            Self::Items(items) => {
                for (i, out) in out.chunks_mut(ITEMS).enumerate() {
                    let start = i * ITEMS;
                    let read = read_items(items, start, out.len())?;
                    let column = Column::new(Data::Items(&read.items));
                    let its = py.detach(|| look_up(table, &column, threads, out));
                    bad.include(start, its);
                }
            }
        }
        Ok(bad)
    }
}

/// Items of a tuple, with the objects that own their text.
struct Items<'a> {
    items: Vec<Item<'a>>,
}

/// Reads items of a tuple; text is borrowed from the strings, which the tuple keeps alive.
fn read_items<'a>(tuple: &'a Bound<'_, PyTuple>, start: usize, len: usize) -> PyResult<Items<'a>> {
    let mut items = Vec::with_capacity(len);
    for i in start..start + len {
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
            items.push(read_object(&item, i)?);
        }
    }
    Ok(Items { items })
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
    match address(item) {
        Ok(addr) => Ok(Item::Address(addr)),
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
