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
    I8(Vec<i8>),
    I16(Vec<i16>),
    U16(Vec<u16>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F64(Vec<f64>),
    /// Of text, 16 bytes each.
    Views(Vec<u128>),
}

impl Buffer {
    fn as_ptr(&self) -> *const c_void {
        match self {
            Self::Bytes(items) => items.as_ptr().cast(),
            Self::I8(items) => items.as_ptr().cast(),
            Self::I16(items) => items.as_ptr().cast(),
            Self::U16(items) => items.as_ptr().cast(),
            Self::U32(items) => items.as_ptr().cast(),
            Self::Views(items) => items.as_ptr().cast(),
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

/// The type of an Arrow array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// In Arrow's notation.
    pub format: &'static CStr,
    /// The type of the strings, of an array of indices into those that it uses.
    pub dictionary: Option<&'static CStr>,
}

/// The types that answers can have.
const FORMATS: [&CStr; 13] =
    [c"u", c"U", c"vu", c"c", c"C", c"s", c"S", c"i", c"I", c"l", c"L", c"g", c"b"];

impl Layout {
    pub fn plain(format: &'static CStr) -> Self {
        Self { format, dictionary: None }
    }

    /// The name for people.
    pub fn name(&self) -> String {
        let name = |format: &CStr| type_name(&format.to_string_lossy());
        match self.dictionary {
            Some(values) => {
                format!("dictionary<values={}, indices={}>", name(values), name(self.format))
            }
            None => name(self.format),
        }
    }

    /// The layout that a schema asks for, if answers can have it.
    ///
    /// # Errors
    /// The name of the type, if they cannot.
    ///
    /// # Safety
    /// The schema is not released.
    pub unsafe fn requested(schema: &ArrowSchema) -> Result<Self, String> {
        // SAFETY: the caller's promise.
        let format = unsafe { notation(schema) };
        // SAFETY: null or the schema of the dictionary, which lives as long as its parent.
        let values = unsafe { schema.dictionary.as_ref() };
        // SAFETY: the schema is not released, so its part is not released either.
        let values = values.map(|values| unsafe { notation(values) });
        Self::named(format, values).ok_or_else(|| type_name(&format.to_string_lossy()))
    }

    /// The layout of this notation, if answers can have it.
    fn named(format: &CStr, dictionary: Option<&CStr>) -> Option<Self> {
        let known = |name: &CStr| FORMATS.into_iter().find(|format| *format == name);
        Some(match dictionary {
            None => Self::plain(known(format)?),
            Some(values) => Self { format: known(format)?, dictionary: Some(known(values)?) },
        })
    }
}

/// The notation of a schema's type; empty if it has none.
///
/// # Safety
/// The schema is not released.
unsafe fn notation(schema: &ArrowSchema) -> &CStr {
    if schema.format.is_null() {
        return c"";
    }
    // SAFETY: a C string that lives as long as the schema.
    unsafe { CStr::from_ptr(schema.format) }
}

/// The name of a type for people, from Arrow's notation.
pub fn type_name(format: &str) -> String {
    let name = match format {
        "n" => "null",
        "b" => "bool",
        "c" => "int8",
        "C" => "uint8",
        "s" => "int16",
        "S" => "uint16",
        "i" => "int32",
        "I" => "uint32",
        "l" => "int64",
        "L" => "uint64",
        "e" => "float16",
        "f" => "float32",
        "g" => "float64",
        "u" => "string",
        "U" => "large_string",
        "vu" => "string_view",
        "z" => "binary",
        "Z" => "large_binary",
        "vz" => "binary_view",
        "+s" => "struct",
        "+r" => "run_end_encoded",
        "+m" => "map",
        _ if format.starts_with("+l") || format.starts_with("+L") || format.starts_with("+vl") => {
            "list"
        }
        _ if format.starts_with("w:") => return format!("fixed_size_binary({})", &format[2..]),
        _ if format.starts_with("d:") => "decimal",
        _ if format.starts_with("td") => "date",
        _ if format.starts_with("tt") => "time",
        _ if format.starts_with("ts") => "timestamp",
        _ if format.starts_with("tD") => "duration",
        _ => return format!("of the notation '{format}'"),
    };
    name.to_owned()
}

impl ColumnData {
    fn layout(&self) -> Layout {
        let dictionary = self.dictionary.as_ref().map(|values| values.format);
        Layout { format: self.format, dictionary }
    }
}

/// The capsule of a type.
pub fn schema_capsule(py: Python<'_>, layout: Layout) -> PyResult<Bound<'_, PyAny>> {
    capsule(py, schema(layout), SCHEMA_NAME)
}

/// The capsules of an array: of its type, and of its data.
pub fn array_capsules(
    py: Python<'_>,
    data: ColumnData,
) -> PyResult<(Bound<'_, PyAny>, Bound<'_, PyAny>)> {
    let type_ = schema_capsule(py, data.layout())?;
    Ok((type_, capsule(py, array(&Arc::new(data)), ARRAY_NAME)?))
}

/// The capsule of a stream of one array.
pub fn stream_capsule(py: Python<'_>, data: ColumnData) -> PyResult<Bound<'_, PyAny>> {
    capsule(py, stream(&Arc::new(data)), STREAM_NAME)
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
fn schema(layout: Layout) -> ArrowSchema {
    unsafe extern "C" fn release(schema: *mut ArrowSchema) {
        // SAFETY: the caller passes the structure that it releases.
        let Some(schema) = (unsafe { schema.as_mut() }) else { return };
        if !schema.dictionary.is_null() {
            // SAFETY: made by `Box::into_raw` below, for this structure, which is released once.
            drop(unsafe { Box::from_raw(schema.dictionary) });
        }
        schema.release = None;
    }
    let dictionary = layout.dictionary.map(Layout::plain);
    let dictionary = dictionary.map(|values| Box::into_raw(Box::new(schema(values))));
    ArrowSchema {
        format: layout.format.as_ptr(),
        name: c"".as_ptr(),
        metadata: ptr::null(),
        flags: NULLABLE,
        n_children: 0,
        children: ptr::null_mut(),
        dictionary: dictionary.unwrap_or(ptr::null_mut()),
        release: Some(release),
        private_data: ptr::null_mut(),
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
        unsafe { out.write(schema(owner.data.layout())) };
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
