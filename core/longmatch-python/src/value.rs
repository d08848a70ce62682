//! Python objects as the values of tables.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::mem::ManuallyDrop;

use longmatch::InsertError;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString, PyTuple};

thread_local! {
    /// References whose owners are gone, kept until no lock is held: dropping the last reference of an object runs its
    /// finalizer, which may use the table again.
    static DROPPED: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// A Python object as a value.
///
/// Two values are equal if they are the same object, or of the same immutable built-in type (str, int, float, bytes or
/// a tuple of these) and equal. So neither comparing nor hashing runs Python code of the user, and `1`, `1.0` and
/// `True` stay apart.
#[derive(Debug)]
pub struct PyValue(ManuallyDrop<Py<PyAny>>);

/// A scalar of NumPy as the object of Python; others as they are.
///
/// # Errors
/// What NumPy raises.
pub fn plain<'py>(object: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let is_builtin = object.is_none()
        || object.is_instance_of::<PyBool>()
        || object.is_instance_of::<PyDict>()
        || !matches!(content(&object), Content::Object);
    if is_builtin {
        return Ok(object);
    }
    let py = object.py();
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    let Some(numpy) = modules.cast::<PyDict>()?.get_item(intern!(py, "numpy"))? else {
        return Ok(object);
    };
    // A module that is being imported may not have it yet.
    let Some(scalar) = numpy.getattr_opt(intern!(py, "generic"))? else { return Ok(object) };
    if object.is_instance(&scalar)? {
        return object.call_method0(intern!(py, "item"));
    }
    Ok(object)
}

impl PyValue {
    /// A value; a scalar of NumPy becomes the object of Python.
    pub fn new(object: Bound<'_, PyAny>) -> Self {
        // What NumPy cannot convert stays as it is.
        Self(ManuallyDrop::new(plain(object.clone()).unwrap_or(object).unbind()))
    }

    pub fn object(&self) -> &Py<PyAny> {
        &self.0
    }

    pub fn get(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.clone_ref(py)
    }
}

impl Drop for PyValue {
    fn drop(&mut self) {
        // SAFETY: the field is not used again, as this is the drop of its owner.
        let object = unsafe { ManuallyDrop::take(&mut self.0) };
        // Without the thread's list (at its end) the reference is dropped here.
        let mut object = Some(object);
        let _ = DROPPED.try_with(|dropped| dropped.borrow_mut().extend(object.take()));
    }
}

/// Drops the references that this thread has put off. To be called while no lock is held.
pub fn drop_references() {
    // One by one, since a finalizer may come back here.
    while let Ok(Some(object)) = DROPPED.try_with(|dropped| dropped.borrow_mut().pop()) {
        drop(object);
    }
}

/// Calls [`drop_references`] when it is dropped: the first local variable of a function, so that locks go before it.
pub struct DropReferences;

impl Drop for DropReferences {
    fn drop(&mut self) {
        drop_references();
    }
}

impl Clone for PyValue {
    fn clone(&self) -> Self {
        Python::attach(|py| Self(ManuallyDrop::new(self.0.clone_ref(py))))
    }
}

/// How deep tuples are compared by their content.
const DEPTH: u32 = 8;

impl PartialEq for PyValue {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&*other.0) || Python::attach(|py| same(self.0.bind(py), other.0.bind(py), DEPTH))
    }
}

impl Eq for PyValue {}

impl Hash for PyValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Python::attach(|py| hash(self.0.bind(py), state, DEPTH));
    }
}

/// The immutable built-in types that are compared by content.
enum Content<'a, 'py> {
    Str(&'a Bound<'py, PyString>),
    Int(&'a Bound<'py, PyInt>),
    Float(f64),
    Bytes(&'a [u8]),
    Tuple(&'a Bound<'py, PyTuple>),
    /// Only equal to itself.
    Object,
}

fn content<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Content<'a, 'py> {
    if let Ok(text) = object.cast_exact::<PyString>() {
        Content::Str(text)
    } else if let Ok(number) = object.cast_exact::<PyInt>() {
        Content::Int(number)
    } else if let Ok(number) = object.cast_exact::<PyFloat>() {
        Content::Float(number.value())
    } else if let Ok(bytes) = object.cast_exact::<PyBytes>() {
        Content::Bytes(bytes.as_bytes())
    } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        Content::Tuple(tuple)
    } else {
        Content::Object
    }
}

fn same(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>, depth: u32) -> bool {
    if one.is(other) {
        return true;
    }
    match (content(one), content(other)) {
        (Content::Str(one), Content::Str(other)) => equal(one, other),
        (Content::Int(one), Content::Int(other)) => equal(one, other),
        (Content::Float(one), Content::Float(other)) => one.to_bits() == other.to_bits(),
        (Content::Bytes(one), Content::Bytes(other)) => one == other,
        (Content::Tuple(one), Content::Tuple(other)) => {
            depth > 0
                && one.len() == other.len()
                && one.iter().zip(other.iter()).all(|(one, other)| same(&one, &other, depth - 1))
        }
        _ => false,
    }
}

/// Equality by the type's own comparison, which cannot fail for strings and integers.
fn equal(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    one.eq(other).unwrap_or(false)
}

fn hash<H: Hasher>(object: &Bound<'_, PyAny>, state: &mut H, depth: u32) {
    match content(object) {
        Content::Str(text) => text.hash().unwrap_or(0).hash(state),
        Content::Int(number) => number.hash().unwrap_or(0).hash(state),
        Content::Float(number) => number.to_bits().hash(state),
        Content::Bytes(bytes) => bytes.hash(state),
        Content::Tuple(tuple) => {
            tuple.len().hash(state);
            if depth > 0 {
                tuple.iter().for_each(|object| hash(&object, state, depth - 1));
            }
        }
        Content::Object => (object.as_ptr() as usize).hash(state),
    }
}

/// Whether the object is an int and not a bool.
pub fn is_int(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>()
}

/// The Rust table behind a `Table`.
pub type Inner = longmatch::Table<PyValue>;

/// The exception for a route that a table refuses.
pub fn insert_error(error: InsertError) -> PyErr {
    match error {
        InsertError::Routes(_) | InsertError::NextHops(_) => {
            PyMemoryError::new_err(error.to_string())
        }
        other => PyValueError::new_err(other.to_string()),
    }
}
