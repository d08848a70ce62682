//! Columns of addresses from Arrow arrays and streams.
//!
//! The C structures say how many items an array has but not how long its buffers are: that part of a producer's word
//! cannot be verified. Everything else is: counts, offsets, alignment and every position inside of a buffer.

use std::ffi::{CStr, c_void};
use std::ptr;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi as py_ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::export::{Layout, type_name};
use super::ffi::{ARRAY_NAME, ArrowArray, ArrowArrayStream, ArrowSchema, SCHEMA_NAME, STREAM_NAME};
use crate::bulk::{Binary, Bits, Column, Data, Integers, Offsets, Views};

/// The types that columns of addresses can have, for errors.
const TYPES: &str = "expected text (string, large_string, string_view), uint32 or other integers, \
    fixed_size_binary of 4 or 16 bytes, binary, or a dictionary or runs of these";

/// Whether the object has the Arrow PyCapsule interface.
pub fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    Ok(object.hasattr(intern!(py, "__arrow_c_array__"))?
        || object.hasattr(intern!(py, "__arrow_c_stream__"))?)
}

/// The type that a consumer asks for, by a capsule of a schema.
///
/// # Errors
/// When it is none that answers can have.
pub fn requested_layout(requested: Bound<'_, PyAny>) -> PyResult<Layout> {
    let capsule = Capsule::<ArrowSchema>::new(requested, SCHEMA_NAME)?;
    // SAFETY: the capsule is alive and holds a schema.
    let schema = unsafe { capsule.value.as_ref() };
    if schema.release.is_none() {
        return Err(malformed("the schema is released already"));
    }
    // SAFETY: not released, as was just found.
    unsafe { Layout::requested(schema) }.map_err(|name| {
        PyTypeError::new_err(format!(
            "answers were asked for as {name}: ask for no type, and cast the array"
        ))
    })
}

/// Arrow arrays of one type.
pub struct Chunks<'py> {
    schema: Schema<'py>,
    arrays: Vec<Array<'py>>,
}

enum Schema<'py> {
    Lent(Capsule<'py, ArrowSchema>),
    Owned(Box<ArrowSchema>),
}

enum Array<'py> {
    Lent(Capsule<'py, ArrowArray>),
    Owned(Box<ArrowArray>),
}

/// A capsule with a structure that it keeps until it is dropped.
struct Capsule<'py, T> {
    _capsule: Bound<'py, PyAny>,
    value: ptr::NonNull<T>,
}

impl<'py, T> Capsule<'py, T> {
    fn new(capsule: Bound<'py, PyAny>, name: &'static CStr) -> PyResult<Self> {
        // SAFETY: any object may be passed; one that is not a capsule of this name gives null and an exception.
        let value = unsafe { py_ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) };
        match ptr::NonNull::new(value.cast()) {
            Some(value) => Ok(Self { _capsule: capsule, value }),
            None => Err(PyErr::fetch(capsule.py())),
        }
    }
}

/// Reads the arrays of an object with the Arrow PyCapsule interface.
///
/// # Errors
/// When the object's methods raise, or do not return what the interface says.
pub fn import<'py>(object: &Bound<'py, PyAny>) -> PyResult<Chunks<'py>> {
    let py = object.py();
    if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? {
        let pair = method.call0()?.cast_into::<PyTuple>()?;
        if pair.len() != 2 {
            return Err(malformed("__arrow_c_array__ did not return two capsules"));
        }
        let schema = Capsule::<ArrowSchema>::new(pair.get_item(0)?, SCHEMA_NAME)?;
        let array = Capsule::<ArrowArray>::new(pair.get_item(1)?, ARRAY_NAME)?;
        return Ok(Chunks { schema: Schema::Lent(schema), arrays: vec![Array::Lent(array)] });
    }
    let capsule = object.call_method0(intern!(py, "__arrow_c_stream__"))?;
    let stream = Capsule::<ArrowArrayStream>::new(capsule, STREAM_NAME)?;
    read_stream(stream)
}

fn read_stream(mut stream: Capsule<'_, ArrowArrayStream>) -> PyResult<Chunks<'_>> {
    // SAFETY: the capsule holds a stream, which nobody else uses while this thread has the capsule.
    let stream = unsafe { stream.value.as_mut() };
    let (Some(get_schema), Some(get_next), Some(_)) =
        (stream.get_schema, stream.get_next, stream.release)
    else {
        return Err(malformed("the stream is released already"));
    };
    let mut schema = Box::new(ArrowSchema::empty());
    // SAFETY: the stream is not released, and the structure is a place to write to.
    let code = unsafe { get_schema(stream, &raw mut *schema) };
    if code != 0 {
        return Err(stream_error(stream, code));
    }
    let mut arrays = Vec::new();
    loop {
        let mut array = Box::new(ArrowArray::empty());
        // SAFETY: the stream is not released, and the structure is a place to write to.
        let code = unsafe { get_next(stream, &raw mut *array) };
        if code != 0 {
            return Err(stream_error(stream, code));
        }
        if array.release.is_none() {
            break;
        }
        arrays.push(Array::Owned(array));
    }
    Ok(Chunks { schema: Schema::Owned(schema), arrays })
}

fn stream_error(stream: &mut ArrowArrayStream, code: i32) -> PyErr {
    let text = stream.get_last_error.map_or(ptr::null(), |get_last_error| {
        // SAFETY: the stream is not released, and its last call failed.
        unsafe { get_last_error(stream) }
    });
    let text = if text.is_null() {
        String::new()
    } else {
        // SAFETY: not null, so a C string that lives until the next call.
        format!(": {}", unsafe { CStr::from_ptr(text) }.to_string_lossy())
    };
    PyValueError::new_err(format!("the Arrow stream ended with error {code}{text}"))
}

fn malformed(what: &str) -> PyErr {
    PyValueError::new_err(format!("malformed Arrow data: {what}"))
}

impl Chunks<'_> {
    /// The columns of all arrays.
    ///
    /// # Errors
    /// When the type is none of addresses, or the structures contradict themselves.
    pub fn columns(&self) -> PyResult<Vec<Column<'_>>> {
        let schema = match &self.schema {
            // SAFETY: the capsule is alive and holds a schema.
            Schema::Lent(capsule) => unsafe { capsule.value.as_ref() },
            Schema::Owned(schema) => schema,
        };
        if schema.release.is_none() {
            return Err(malformed("the schema is released already"));
        }
        self.arrays
            .iter()
            .map(|array| {
                let array = match array {
                    // SAFETY: the capsule is alive and holds an array.
                    Array::Lent(capsule) => unsafe { capsule.value.as_ref() },
                    Array::Owned(array) => array,
                };
                if array.release.is_none() {
                    return Err(malformed("the array is released already"));
                }
                View::new(schema, array, None)?.column()
            })
            .collect()
    }
}

/// An array with its type, and the part of it that is meant.
struct View<'a> {
    schema: &'a ArrowSchema,
    array: &'a ArrowArray,
    /// First item, from the start of the buffers.
    offset: usize,
    len: usize,
}

impl<'a> View<'a> {
    /// The array's own part, or the part that its parent's offset and length choose.
    fn new(
        schema: &'a ArrowSchema,
        array: &'a ArrowArray,
        part: Option<(usize, usize)>,
    ) -> PyResult<Self> {
        let number = |number: i64, what: &str| {
            usize::try_from(number).map_err(|_| malformed(&format!("{what} is {number}")))
        };
        let (own_offset, own_len) =
            (number(array.offset, "an offset")?, number(array.length, "a length")?);
        let (start, len) = part.unwrap_or((0, own_len));
        if start.checked_add(len).is_none_or(|end| end > own_len) {
            return Err(malformed("a child is shorter than its parent"));
        }
        let offset = own_offset.checked_add(start);
        let offset = offset.filter(|offset| {
            // So that no multiplication below can overflow.
            offset.checked_add(len).is_some_and(|end| end < isize::MAX as usize / 64)
        });
        let offset = offset.ok_or_else(|| malformed("the offset or the length is too great"))?;
        Ok(Self { schema, array, offset, len })
    }

    fn format(&self) -> PyResult<&'a str> {
        if self.schema.format.is_null() {
            return Err(malformed("a type is missing"));
        }
        // SAFETY: not null, so a C string that lives as long as the schema.
        let format = unsafe { CStr::from_ptr(self.schema.format) };
        format.to_str().map_err(|_| malformed("a type is not text"))
    }

    fn column(&self) -> PyResult<Column<'a>> {
        if !self.schema.dictionary.is_null() {
            return self.dictionary();
        }
        let format = self.format()?;
        match format {
            "+s" => return self.only_child(),
            "+r" => return self.runs(),
            _ => {}
        }
        let data = self.data(format)?;
        let valid = if format == "n" { None } else { self.valid()? };
        Ok(Column { data, valid })
    }

    fn data(&self, format: &str) -> PyResult<Data<'a>> {
        Ok(match format {
            "n" => Data::Nulls(self.len),
            "c" => Data::Integers(Integers::I8(self.items(1)?)),
            "C" => Data::Integers(Integers::U8(self.items(1)?)),
            "s" => Data::Integers(Integers::I16(self.items(1)?)),
            "S" => Data::Integers(Integers::U16(self.items(1)?)),
            "i" => Data::Integers(Integers::I32(self.items(1)?)),
            "I" => Data::U32(self.items(1)?),
            "l" => Data::Integers(Integers::I64(self.items(1)?)),
            "L" => Data::Integers(Integers::U64(self.items(1)?)),
            "w:4" => Data::Network4(self.items::<[u8; 4]>(1)?.as_flattened()),
            "w:16" => Data::Network16(self.items::<[u8; 16]>(1)?.as_flattened()),
            "u" => Data::Text(self.binary_i32()?),
            "U" => Data::Text(self.binary_i64()?),
            "vu" => Data::TextViews(self.views()?),
            "z" => Data::Binary(self.binary_i32()?),
            "Z" => Data::Binary(self.binary_i64()?),
            "vz" => Data::BinaryViews(self.views()?),
            other => {
                return Err(PyTypeError::new_err(format!(
                    "a column of Arrow type {} has no addresses: {TYPES}",
                    type_name(other)
                )));
            }
        })
    }

    /// The array of a struct's only field: a table of one column.
    fn only_child(&self) -> PyResult<Column<'a>> {
        if self.schema.n_children != 1 || self.array.n_children != 1 {
            let n = self.schema.n_children;
            return Err(PyTypeError::new_err(format!(
                "a table of {n} columns: select the column of addresses"
            )));
        }
        if self.array.null_count > 0 {
            return Err(PyTypeError::new_err("a column of structs with nulls: select its field"));
        }
        let schema = child(self.schema.children, 0)?;
        let array = child(self.array.children, 0)?;
        View::new(schema, array, Some((self.offset, self.len)))?.column()
    }

    /// A column of runs: the end of each run, and the address that all of its items have.
    fn runs(&self) -> PyResult<Column<'a>> {
        if self.schema.n_children != 2 || self.array.n_children != 2 {
            return Err(malformed("a column of runs has not two children"));
        }
        let part =
            |i| View::new(child(self.schema.children, i)?, child(self.array.children, i)?, None);
        let (ends, values) = (part(0)?, part(1)?);
        let numbers = ends.data(ends.format()?)?;
        let Data::Integers(numbers) = numbers else {
            return Err(malformed("the ends of runs are not integers"));
        };
        let values = values.column()?;
        if numbers.len() > values.len() {
            return Err(malformed("a run has no value"));
        }
        let (mut cut, mut last) = (Vec::with_capacity(numbers.len()), 0);
        for i in 0..numbers.len() {
            let end = numbers.get(i).map(|end| end as usize).filter(|end| *end > last);
            last = end.ok_or_else(|| malformed("the ends of runs do not ascend"))?;
            cut.push(last.saturating_sub(self.offset).min(self.len));
        }
        if last < self.offset + self.len {
            return Err(malformed("the runs are shorter than their column"));
        }
        Ok(Column::new(Data::runs(values, cut)))
    }

    /// A column of indices into a dictionary of addresses.
    fn dictionary(&self) -> PyResult<Column<'a>> {
        // SAFETY: not null, as the caller has found, so the schema of the dictionary.
        let schema = unsafe { self.schema.dictionary.as_ref() };
        // SAFETY: null or the dictionary, which lives as long as the array.
        let array = unsafe { self.array.dictionary.as_ref() };
        let (Some(schema), Some(array)) = (schema, array) else {
            return Err(malformed("a dictionary is missing"));
        };
        let values = View::new(schema, array, None)?.column()?;
        let indices = match self.data(self.format()?)? {
            Data::Integers(integers) => integers,
            Data::U32(values) => Integers::U32(values),
            _ => return Err(malformed("the indices of a dictionary are not integers")),
        };
        Ok(Column { data: Data::dictionary(values, indices), valid: self.valid()? })
    }

    /// The bitmap of the items that are not null.
    fn valid(&self) -> PyResult<Option<Bits<'a>>> {
        if self.array.null_count == 0 {
            return Ok(None);
        }
        let bytes = (self.offset + self.len).div_ceil(8);
        let buffer = self.buffer(0)?;
        if buffer.is_null() {
            return Ok(None);
        }
        // SAFETY: the producer promises a bit for each item up to the end of the array.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.cast(), bytes) };
        Ok(Bits::new(bytes, self.offset, self.len))
    }

    /// A pointer among the array's buffers.
    fn buffer(&self, i: usize) -> PyResult<*const c_void> {
        let count = usize::try_from(self.array.n_buffers).unwrap_or(0);
        if i >= count || self.array.buffers.is_null() {
            return Err(malformed("a buffer is missing"));
        }
        // SAFETY: the list is not null and has `count` pointers.
        let buffers = unsafe { std::slice::from_raw_parts(self.array.buffers, count) };
        Ok(buffers[i])
    }

    /// The array's items of a fixed size in one of its buffers.
    fn items<T: Plain>(&self, buffer: usize) -> PyResult<&'a [T]> {
        self.slice(buffer, self.offset, self.len)
    }

    /// Items of one of the buffers.
    fn slice<T: Plain>(&self, buffer: usize, start: usize, len: usize) -> PyResult<&'a [T]> {
        let pointer = self.buffer(buffer)?.cast::<T>();
        if len == 0 {
            return Ok(&[]);
        }
        if pointer.is_null() {
            return Err(malformed("a buffer is null but has items"));
        }
        if !pointer.is_aligned() {
            return Err(malformed("a buffer is not aligned to its items"));
        }
        // SAFETY: the producer promises items up to the array's end, so `start` is inside of the buffer or at its end.
        let first = unsafe { pointer.add(start) };
        // SAFETY: as promised by the producer, `len` items follow; any bits are an item; the array is borrowed for `'a`.
        Ok(unsafe { std::slice::from_raw_parts(first, len) })
    }

    fn binary_i32(&self) -> PyResult<Binary<'a>> {
        if self.len == 0 {
            return Ok(Binary { offsets: Offsets::I32(&[]), data: &[] });
        }
        let offsets = self.slice::<i32>(1, self.offset, self.len + 1)?;
        let end = offsets.iter().copied().max().unwrap_or(0);
        self.binary(Offsets::I32(offsets), i64::from(end), i64::from(offsets[self.len]))
    }

    fn binary_i64(&self) -> PyResult<Binary<'a>> {
        if self.len == 0 {
            return Ok(Binary { offsets: Offsets::I64(&[]), data: &[] });
        }
        let offsets = self.slice::<i64>(1, self.offset, self.len + 1)?;
        let end = offsets.iter().copied().max().unwrap_or(0);
        self.binary(Offsets::I64(offsets), end, offsets[self.len])
    }

    /// Items up to the last offset, which has to be the greatest.
    fn binary(&self, offsets: Offsets<'a>, greatest: i64, last: i64) -> PyResult<Binary<'a>> {
        if greatest != last {
            return Err(malformed("the offsets of a column of text do not ascend"));
        }
        let end = usize::try_from(last).map_err(|_| malformed("a negative offset"))?;
        Ok(Binary { offsets, data: self.slice(2, 0, end)? })
    }

    fn views(&self) -> PyResult<Views<'a>> {
        let views = self.items::<[u8; 16]>(1)?;
        // Validity, views, data buffers, and the lengths of these.
        let count = usize::try_from(self.array.n_buffers).unwrap_or(0);
        let data = count.checked_sub(3).ok_or_else(|| malformed("a buffer is missing"))?;
        let lens = self.slice::<i64>(count - 1, 0, data)?;
        let buffer = |(i, len): (usize, &i64)| {
            let len = usize::try_from(*len).map_err(|_| malformed("a negative length"))?;
            self.slice::<u8>(2 + i, 0, len)
        };
        let buffers = lens.iter().enumerate().map(buffer).collect::<PyResult<_>>()?;
        Ok(Views { views, buffers })
    }
}

/// An item of a list of children, which has more than `i` as its owner counts.
fn child<'a, T>(children: *mut *mut T, i: usize) -> PyResult<&'a T> {
    if children.is_null() {
        return Err(malformed("a child is missing"));
    }
    // SAFETY: not null, so a list of the children that its owner counts, which are more than `i`.
    let place = unsafe { children.add(i) };
    // SAFETY: a place of the list.
    let child = unsafe { *place };
    // SAFETY: null or the child, which lives as long as its parent.
    unsafe { child.as_ref() }.ok_or_else(|| malformed("a child is missing"))
}

/// Types for which any bits are a value.
trait Plain {}

macro_rules! plain {
    ($($type:ty)*) => {$(impl Plain for $type {})*};
}

plain!(i8 u8 i16 u16 i32 u32 i64 u64 [u8; 4] [u8; 16]);
