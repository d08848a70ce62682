//! NumPy arrays in and out, by `__array_interface__`: NumPy is used if the caller has it, and never needed.

use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice};

use crate::bulk::{Bits, Column, Data, Id, Integers};
use crate::pause::{OBJECTS, pause};

/// The types that arrays of addresses can have, for errors.
const TYPES: &str = "expected uint32 or other integers (IPv4), 'S4', 'S16', 'V4' or 'V16' (bytes in network order), \
    uint8 of shape (n, 4) or (n, 16), uint64 of shape (n, 2) or records of two uint64 (IPv6, high half first), text or \
    objects";

/// The module numpy, if the interpreter has loaded it.
fn loaded<'py>(py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    modules.cast::<PyDict>()?.get_item(intern!(py, "numpy"))
}

/// Whether the object is an array of NumPy.
pub fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    match loaded(object.py())? {
        Some(numpy) => object.is_instance(&numpy.getattr(intern!(object.py(), "ndarray"))?),
        None => Ok(false),
    }
}

/// An array that is contiguous, aligned and of the class `ndarray` itself.
pub struct Array<'py> {
    /// Keeps the memory alive.
    array: Bound<'py, PyAny>,
    order: u8,
    kind: u8,
    item_size: usize,
    /// Number of items of the first dimension, and of the second if there is one.
    rows: usize,
    columns: Option<usize>,
    data: usize,
    /// A bit for each row, 0 for a masked one.
    valid: Option<Vec<u8>>,
}

impl<'py> Array<'py> {
    /// Reads an array; copies one that has gaps.
    ///
    /// # Errors
    /// For arrays without a dimension or with more than two, and masked ones of two dimensions or of objects.
    pub fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let numpy = py.import(intern!(py, "numpy"))?;
        if object.hasattr(intern!(py, "mask"))? {
            return Self::of_masked(object);
        }
        // The class `ndarray` itself: its interface is reliable.
        let base = numpy.call_method1(intern!(py, "asarray"), (object,))?;
        let base = py.import("longmatch._frames")?.call_method1("array", (base,))?;
        let dimensions: usize = base.getattr(intern!(py, "ndim"))?.extract()?;
        if !matches!(dimensions, 1 | 2) {
            return Err(PyValueError::new_err(format!(
                "an array of {dimensions} dimensions: expected one address an item, or a row of bytes an address"
            )));
        }
        let require = (&base, py.None(), ["C", "A"]);
        let array = numpy.call_method1(intern!(py, "require"), require)?;
        Self::of_contiguous(array)
    }

    /// Reads a masked array: what is masked is null.
    fn of_masked(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let numpy = py.import(intern!(py, "numpy"))?;
        let mut array = Self::new(&object.getattr(intern!(py, "data"))?)?;
        if array.columns.is_some() || array.has_objects() {
            return Err(PyTypeError::new_err(
                "a masked array of two dimensions or of objects: expected numbers or text of one dimension",
            ));
        }
        let mask = numpy.getattr("ma")?.call_method1("getmaskarray", (object,))?;
        let valid = numpy.call_method1("logical_not", (mask,))?;
        let bits = numpy.call_method1("packbits", (valid, py.None(), "little"))?;
        array.valid = Some(bits.call_method0("tobytes")?.extract()?);
        Ok(array)
    }

    fn of_contiguous(array: Bound<'py, PyAny>) -> PyResult<Self> {
        let py = array.py();
        let interface = array.getattr(intern!(py, "__array_interface__"))?;
        let get = |name: &str| interface.get_item(name);
        if !get("strides")?.is_none() {
            return Err(PyValueError::new_err("NumPy did not make the array contiguous"));
        }
        let mut typestr: String = get("typestr")?.extract()?;
        if array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "kind"))?.eq("T")? {
            // For StringDType the field is not a type code.
            typestr = String::from("|T0");
        }
        let shape: Vec<usize> = get("shape")?.extract()?;
        let (data, _): (usize, bool) = get("data")?.extract()?;
        let &[order, kind, ref size @ ..] = typestr.as_bytes() else {
            return Err(PyTypeError::new_err(format!("an array of type {typestr:?}: {TYPES}")));
        };
        let size: usize =
            std::str::from_utf8(size).ok().and_then(|size| size.parse().ok()).unwrap_or(0);
        // NumPy counts characters of UCS-4, and bytes of everything else.
        let item_size = if kind == b'U' { size * 4 } else { size };
        let (rows, columns) = match shape[..] {
            [rows] => (rows, None),
            [rows, columns] => (rows, Some(columns)),
            _ => return Err(PyValueError::new_err("the array has changed its shape")),
        };
        Ok(Self { array, order, kind, item_size, rows, columns, data, valid: None })
    }

    /// Whether the items are Python objects, or text of any length (`StringDType`), which are read as a list is.
    pub fn has_objects(&self) -> bool {
        matches!(self.kind, b'O' | b'T') && self.columns.is_none()
    }

    /// Whether the byte order is not that of this machine.
    fn is_swapped(&self) -> bool {
        let native = if cfg!(target_endian = "little") { b'<' } else { b'>' };
        !matches!(self.order, b'|' | b'=') && self.order != native
    }

    /// The items of all rows; `per_row` in each.
    fn items<T: Plain>(&self, per_row: usize) -> &[T] {
        let len = self.rows * per_row;
        let data = self.data as *const T;
        if len == 0 {
            return &[];
        }
        assert!(data.is_aligned() && !data.is_null(), "NumPy aligned the array");
        // SAFETY: a contiguous array of `rows` times `columns` items of this size begins at `data`; `array` keeps it
        // alive as long as `self`; it is aligned, and any bits are a value.
        unsafe { std::slice::from_raw_parts(data, len) }
    }

    /// The array as a column of addresses.
    ///
    /// # Errors
    /// When the type is none of addresses.
    pub fn column(&self) -> PyResult<Column<'_>> {
        let valid = self.valid.as_deref().and_then(|bytes| Bits::new(bytes, 0, self.rows));
        Ok(Column { data: self.data()?, valid })
    }

    fn data(&self) -> PyResult<Data<'_>> {
        Ok(match (self.kind, self.item_size, self.columns) {
            (b'u', 1, Some(4)) => Data::Network4(self.items(4)),
            (b'u', 1, Some(16)) => Data::Network16(self.items(16)),
            (b'u', 8, Some(2)) if !self.is_swapped() => Data::U64Pairs(self.items::<[u64; 2]>(1)),
            // The other byte order of a little-endian machine is that of the network.
            (b'u', 8, Some(2)) if cfg!(target_endian = "little") => Data::Network16(self.items(16)),
            (b'S' | b'V', 4, None) => Data::Network4(self.items(4)),
            (b'S' | b'V', 16, None) => Data::Network16(self.items(16)),
            (b'u', 4, None) if !self.is_swapped() => Data::U32(self.items(1)),
            (b'u', 4, None) if cfg!(target_endian = "little") => Data::Network4(self.items(4)),
            (b'U', size, None) if size > 0 => {
                let width = size / 4;
                Data::Ucs4 { chars: self.items(width), width, swapped: self.is_swapped() }
            }
            (b'U', _, None) => Data::Bad(self.rows),
            (kind @ (b'i' | b'u'), size, None) if !self.is_swapped() => {
                match self.integers(kind, size) {
                    Some(integers) => Data::Integers(integers),
                    None => return Err(self.refused()),
                }
            }
            _ => return Err(self.refused()),
        })
    }

    fn integers(&self, kind: u8, size: usize) -> Option<Integers<'_>> {
        Some(match (kind, size) {
            (b'i', 1) => Integers::I8(self.items(1)),
            (b'u', 1) => Integers::U8(self.items(1)),
            (b'i', 2) => Integers::I16(self.items(1)),
            (b'u', 2) => Integers::U16(self.items(1)),
            (b'i', 4) => Integers::I32(self.items(1)),
            (b'i', 8) => Integers::I64(self.items(1)),
            (b'u', 8) => Integers::U64(self.items(1)),
            _ => return None,
        })
    }

    fn refused(&self) -> PyErr {
        let dtype = self.array.getattr("dtype").and_then(|dtype| dtype.str());
        let dtype = dtype.map_or_else(|_| "unknown".into(), |dtype| dtype.to_string());
        let shape = match self.columns {
            Some(columns) => format!(" and shape ({}, {columns})", self.rows),
            None => String::new(),
        };
        PyTypeError::new_err(format!("an array of type {dtype}{shape} has no addresses: {TYPES}"))
    }
}

/// The module numpy, for an answer that is one of its arrays.
fn needed(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "numpy")).map_err(|error| {
        PyImportError::new_err(format!(
            "out='codes' returns an array of NumPy, which cannot be imported ({error}): install it, or use \
             out='values' or 'arrow'"
        ))
    })
}

/// A new array of `uint32` zeros; `fill` gets its memory as ids.
pub fn filled_with_ids<'py, R>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [Id]) -> PyResult<R>,
) -> PyResult<(Bound<'py, PyAny>, R)> {
    let numpy = needed(py)?;
    let array = numpy.call_method1(intern!(py, "zeros"), (len, intern!(py, "uint32")))?;
    let made = Array::of_contiguous(array.clone())?;
    if (made.kind, made.item_size, made.rows, made.columns) != (b'u', 4, len, None) {
        return Err(PyTypeError::new_err(
            "numpy.zeros did not return the array that was asked for",
        ));
    }
    let data = made.data as *mut Id;
    let result = if len == 0 {
        fill(&mut [])?
    } else {
        assert!(data.is_aligned() && !data.is_null(), "NumPy aligns its own arrays");
        // SAFETY: a new array of `len` items of 4 bytes that nobody else knows; any bits are an id; `array` keeps it
        // alive during the call.
        fill(unsafe { std::slice::from_raw_parts_mut(data, len) })?
    };
    Ok((array, result))
}

/// An array of objects, of these items.
pub fn objects<'py>(
    py: Python<'py>,
    items: impl Iterator<Item = PyResult<Py<PyAny>>>,
    len: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = needed(py)?;
    let object = intern!(py, "object");
    let array = numpy.call_method1(intern!(py, "empty"), (len, object))?;
    let mut items = items.fuse();
    let mut start = 0;
    while start < len {
        let chunk = items.by_ref().take(OBJECTS).collect::<PyResult<Vec<_>>>()?;
        let end = start + chunk.len();
        // By `fromiter`, since an assignment of a list would take sequences among the items apart.
        let list = PyList::new(py, chunk)?;
        let part = numpy.call_method1(intern!(py, "fromiter"), (list, object, end - start))?;
        array.set_item(PySlice::new(py, start as isize, end as isize, 1), part)?;
        start = end;
        pause(py)?;
    }
    Ok(array)
}

/// Types for which any bits are a value.
trait Plain {}

macro_rules! plain {
    ($($type:ty)*) => {$(impl Plain for $type {})*};
}

plain!(i8 u8 i16 u16 i32 u32 i64 u64 [u64; 2]);
