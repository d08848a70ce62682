//! Columns of answers as Arrow arrays.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::ffi as py_ffi;
use pyo3::prelude::*;

use super::ffi::{
    ARRAY_NAME, ArrowArray, ArrowArrayStream, ArrowSchema, NULLABLE, SCHEMA_NAME, STREAM_NAME,
};

/// Memory of an array.
#[derive(Debug)]
pub enum Buffer {
    Bytes(Vec<u8>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F64(Vec<f64>),
}

impl Buffer {
    fn as_ptr(&self) -> *const c_void {
        match self {
            Self::Bytes(items) => items.as_ptr().cast(),
            Self::I32(items) => items.as_ptr().cast(),
            Self::I64(items) => items.as_ptr().cast(),
            Self::U64(items) => items.as_ptr().cast(),
            Self::F64(items) => items.as_ptr().cast(),
        }
    }
}

/// An array that Arrow readers can share: the data behind the C structures.
#[derive(Debug)]
pub struct ColumnData {
    /// The type, in Arrow's notation.
    pub format: &'static CStr,
    pub len: usize,
    pub nulls: usize,
    /// The bitmap of valid items, if any is null, then the type's own buffers.
    pub buffers: Vec<Option<Arc<Buffer>>>,
    pub dictionary: Option<Arc<ColumnData>>,
}

/// The bitmap of the items for which `valid` holds, and the number of the others.
pub fn bitmap(len: usize, valid: impl Fn(usize) -> bool) -> (Option<Arc<Buffer>>, usize) {
    let mut bits = vec![0u8; len.div_ceil(8)];
    let mut set = 0;
    for (byte, bits) in bits.iter_mut().enumerate() {
        for bit in 0..8.min(len - byte * 8) {
            let valid = valid(byte * 8 + bit);
            *bits |= u8::from(valid) << bit;
            set += usize::from(valid);
        }
    }
    (Some(Arc::new(Buffer::Bytes(bits))), len - set)
}

/// The name of a type for people.
fn type_name(data: &ColumnData) -> String {
    let name = match data.format.to_bytes() {
        b"i" => "int32",
        b"l" => "int64",
        b"L" => "uint64",
        b"g" => "double",
        b"b" => "bool",
        b"u" => "string",
        b"U" => "large_string",
        b"n" => "null",
        _ => "unknown",
    };
    match &data.dictionary {
        Some(values) => format!("dictionary<values={}, indices={name}>", type_name(values)),
        None => name.to_owned(),
    }
}

/// An Arrow array of answers, for every library with the Arrow PyCapsule interface.
///
/// ``pyarrow.array(column)``, ``polars.Series(column)`` and others take it without a copy.
#[pyclass(frozen, module = "longmatch")]
pub struct ArrowColumn {
    pub data: Arc<ColumnData>,
}

#[pymethods]
impl ArrowColumn {
    fn __len__(&self) -> usize {
        self.data.len
    }

    /// Number of nulls.
    #[getter]
    fn null_count(&self) -> usize {
        self.data.nulls
    }

    /// Name of the Arrow type.
    #[getter]
    fn r#type(&self) -> String {
        type_name(&self.data)
    }

    fn __repr__(&self) -> String {
        let ColumnData { len, nulls, .. } = *self.data;
        format!("<longmatch.ArrowColumn {}: {len} items, {nulls} null>", type_name(&self.data))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        capsule(py, schema(&self.data), SCHEMA_NAME)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        // The interface lets a producer ignore the request.
        drop(requested_schema);
        let schema = capsule(py, schema(&self.data), SCHEMA_NAME)?;
        Ok((schema, capsule(py, array(&self.data), ARRAY_NAME)?))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        drop(requested_schema);
        capsule(py, stream(&self.data), STREAM_NAME)
    }
}

/// Moves a structure into a capsule, which releases it if nobody takes it.
fn capsule<'py, T>(py: Python<'py>, value: T, name: &'static CStr) -> PyResult<Bound<'py, PyAny>> {
    /// Drops the capsule's structure, which releases the arrays that no consumer has moved out.
    unsafe extern "C" fn destroy<T>(capsule: *mut py_ffi::PyObject) {
        // SAFETY: Python calls this with the capsule that it destroys.
        let name = unsafe { py_ffi::PyCapsule_GetName(capsule) };
        // SAFETY: the capsule is alive, and has this name.
        let value = unsafe { py_ffi::PyCapsule_GetPointer(capsule, name) };
        if !value.is_null() {
            // SAFETY: made by `Box::into_raw` below for this capsule, which is destroyed once.
            drop(unsafe { Box::from_raw(value.cast::<T>()) });
        }
    }
    let value = Box::into_raw(Box::new(value));
    // SAFETY: the pointer is not null, the name is static, and `destroy` takes this type of pointer.
    let made = unsafe { py_ffi::PyCapsule_New(value.cast(), name.as_ptr(), Some(destroy::<T>)) };
    // SAFETY: a new reference, or null with an exception set.
    let made = unsafe { Bound::from_owned_ptr_or_err(py, made) };
    if made.is_err() {
        // SAFETY: no capsule has taken it.
        drop(unsafe { Box::from_raw(value) });
    }
    made
}

/// The C structure of an array's type.
fn schema(data: &Arc<ColumnData>) -> ArrowSchema {
    unsafe extern "C" fn release(schema: *mut ArrowSchema) {
        // SAFETY: the caller passes the structure that it releases.
        let Some(schema) = (unsafe { schema.as_mut() }) else { return };
        if !schema.dictionary.is_null() {
            // SAFETY: made by `Box::into_raw` below, for this structure, which is released once.
            drop(unsafe { Box::from_raw(schema.dictionary) });
        }
        // SAFETY: made by `Arc::into_raw` below, for this structure, which is released once.
        drop(unsafe { Arc::from_raw(schema.private_data.cast::<ColumnData>()) });
        schema.release = None;
    }
    let dictionary = data.dictionary.as_ref().map(|values| Box::into_raw(Box::new(schema(values))));
    ArrowSchema {
        format: data.format.as_ptr(),
        name: c"".as_ptr(),
        metadata: ptr::null(),
        flags: NULLABLE,
        n_children: 0,
        children: ptr::null_mut(),
        dictionary: dictionary.unwrap_or(ptr::null_mut()),
        release: Some(release),
        private_data: Arc::into_raw(data.clone()).cast_mut().cast(),
    }
}

/// The data that the C structure of an array refers to.
struct ArrayOwner {
    _data: Arc<ColumnData>,
    buffers: Vec<*const c_void>,
}

/// The C structure of an array.
fn array(data: &Arc<ColumnData>) -> ArrowArray {
    unsafe extern "C" fn release(array: *mut ArrowArray) {
        // SAFETY: the caller passes the structure that it releases.
        let Some(array) = (unsafe { array.as_mut() }) else { return };
        if !array.dictionary.is_null() {
            // SAFETY: made by `Box::into_raw` below, for this structure, which is released once.
            drop(unsafe { Box::from_raw(array.dictionary) });
        }
        // SAFETY: made by `Box::into_raw` below, for this structure, which is released once.
        drop(unsafe { Box::from_raw(array.private_data.cast::<ArrayOwner>()) });
        array.release = None;
    }
    let pointer = |buffer: &Option<Arc<Buffer>>| {
        buffer.as_ref().map_or(ptr::null(), |buffer| buffer.as_ptr())
    };
    let buffers: Vec<_> = data.buffers.iter().map(pointer).collect();
    let dictionary = data.dictionary.as_ref().map(|values| Box::into_raw(Box::new(array(values))));
    let mut owner = Box::new(ArrayOwner { _data: data.clone(), buffers });
    ArrowArray {
        length: data.len as i64,
        null_count: data.nulls as i64,
        offset: 0,
        n_buffers: owner.buffers.len() as i64,
        n_children: 0,
        buffers: owner.buffers.as_mut_ptr(),
        children: ptr::null_mut(),
        dictionary: dictionary.unwrap_or(ptr::null_mut()),
        release: Some(release),
        private_data: Box::into_raw(owner).cast(),
    }
}

/// A stream of one array.
struct StreamOwner {
    data: Arc<ColumnData>,
    ended: bool,
}

/// The C structure of a stream of one array.
fn stream(data: &Arc<ColumnData>) -> ArrowArrayStream {
    unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
        // SAFETY: the caller passes a stream of ours that is not released, used by one thread at a time.
        let owner = unsafe { owner(stream) };
        // SAFETY: the caller passes a place for the structure; its old content is not to be released.
        unsafe { out.write(schema(&owner.data)) };
        0
    }
    unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
        // SAFETY: the caller passes a stream of ours that is not released, used by one thread at a time.
        let owner = unsafe { owner(stream) };
        let next = if owner.ended { ArrowArray::empty() } else { array(&owner.data) };
        owner.ended = true;
        // SAFETY: the caller passes a place for the structure; its old content is not to be released.
        unsafe { out.write(next) };
        0
    }
    unsafe extern "C" fn get_last_error(_stream: *mut ArrowArrayStream) -> *const c_char {
        ptr::null()
    }
    unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
        // SAFETY: the caller passes the structure that it releases.
        let Some(stream) = (unsafe { stream.as_mut() }) else { return };
        // SAFETY: made by `Box::into_raw` below, for this structure, which is released once.
        drop(unsafe { Box::from_raw(stream.private_data.cast::<StreamOwner>()) });
        stream.release = None;
    }
    /// # Safety
    /// A stream of [`stream`] that is not released and that nobody else uses during `'s`.
    unsafe fn owner<'s>(stream: *mut ArrowArrayStream) -> &'s mut StreamOwner {
        // SAFETY: the caller's promise.
        let stream = unsafe { &*stream };
        // SAFETY: `private_data` is a `StreamOwner` until the release.
        unsafe { &mut *stream.private_data.cast() }
    }
    let owner = StreamOwner { data: data.clone(), ended: false };
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(Box::new(owner)).cast(),
    }
}
