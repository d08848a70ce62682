//! The C library `liblongmatch-feed`. Programs in C include `longmatch-feed.h`, which cbindgen makes of this file.
#![allow(non_camel_case_types, reason = "the names of C")]
#![allow(clippy::missing_safety_doc, reason = "the head of the header has the rules of all calls")]

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Once;

use longmatch::Answers;
use longmatch::file::{FileError, FileSpec};
use longmatch::table::PrefixData;
use longmatch_feed::{DataLoader, FeedError, Format, KeptColumn, Options, Report};

/// The table is made. The message has the warnings about the input, or is empty.
pub const LM_FEED_OK: i32 = 0;
/// A pointer is NULL.
pub const LM_FEED_E_NULL: i32 = 10;
/// A size is too large.
pub const LM_FEED_E_LENGTH: i32 = 12;
/// The size of the options is not one that this library knows.
pub const LM_FEED_E_SIZE: i32 = 13;
/// A flag, a format or a column of the options is unknown.
pub const LM_FEED_E_OPTIONS: i32 = 16;
/// A defect of this library, which the message describes. Please report it.
pub const LM_FEED_E_INTERNAL: i32 = 99;
/// The system did not provide memory.
pub const LM_FEED_E_MEMORY: i32 = 310;
/// The input cannot be read; the message has the line or the byte. Other numbers are those of `lm_status`.
pub const LM_FEED_E_INPUT: i32 = 601;

/// Flag: ids are those of rows in place of routes: the table is smaller, and finds prefixes by a search.
pub const LM_FEED_VALUES: u32 = 1;
/// Flag: leave out damaged lines and records instead of refusing the input.
pub const LM_FEED_LENIENT: u32 = 2;
/// Flag: set bits after the length of a prefix are cleared instead of refused.
pub const LM_FEED_MASK: u32 = 4;

/// How an input is read. NULL in place of the options, or zeros, mean that all is recognised.
#[repr(C)]
pub struct lm_feed_options {
    /// The name of the format, as `longmatch compile --format` takes it. NULL: recognised.
    pub format: *const c_char,
    /// The columns to keep, separated by commas. NULL: all.
    pub columns: *const c_char,
    /// `LM_FEED_VALUES`, `LM_FEED_LENIENT`, `LM_FEED_MASK`.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// A status and its message.
struct Failure(i32, String);

impl From<FeedError> for Failure {
    fn from(error: FeedError) -> Self {
        Self(LM_FEED_E_INPUT, error.to_string())
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self(error.code().number().cast_signed(), error.to_string())
    }
}

/// Reads a file of any format and compression, and writes a compiled table, which replaces the file `target` in one step.
///
/// `options` may be NULL; `size` is `sizeof(lm_feed_options)`. `message`, if it is not NULL, gets a text of at most
/// `message_size` bytes with its NUL: the error, or warnings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_feed_compile_file(
    source: *const c_char,
    options: *const lm_feed_options,
    size: usize,
    target: *const c_char,
    message: *mut c_char,
    message_size: usize,
) -> i32 {
    let call = || {
        // SAFETY: the caller's memory, by the header.
        let source = unsafe { path(source) }?;
        // SAFETY: the caller's memory, by the header.
        let target = unsafe { path(target) }?;
        // SAFETY: the caller's memory, by the header.
        let (options, spec) = unsafe { read_options(options, size) }?;
        let (data, report) = load(options, |loader| loader.path(source))?;
        spec.write(&data, target)?;
        Ok(report.warnings().join("\n"))
    };
    // SAFETY: the caller's memory, by the header.
    unsafe { end(call, message, message_size) }
}

/// Reads `count` bytes of any format and compression, and makes a compiled table in memory, which begins at a multiple of
/// 64: `*table` and `*table_size`, for `lm_open_memory` and then `lm_feed_free`. On an error they are NULL and 0.
///
/// `options` and `message` are those of `lm_feed_compile_file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_feed_compile_memory(
    bytes: *const c_void,
    count: usize,
    options: *const lm_feed_options,
    size: usize,
    table: *mut *mut c_void,
    table_size: *mut usize,
    message: *mut c_char,
    message_size: usize,
) -> i32 {
    let call = || {
        // SAFETY: the caller's memory, by the header.
        let table = unsafe { place(table) }?;
        // SAFETY: the caller's memory, by the header.
        let table_size = unsafe { place(table_size) }?;
        (*table, *table_size) = (null_mut(), 0);
        if bytes.is_null() {
            return Err(null("the input"));
        }
        if count > usize::MAX / 16 {
            return Err(Failure(LM_FEED_E_LENGTH, "the input is larger than SIZE_MAX / 16".into()));
        }
        // SAFETY: not NULL; the caller's memory, by the header.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) };
        // SAFETY: the caller's memory, by the header.
        let (options, spec) = unsafe { read_options(options, size) }?;
        let (data, report) = load(options, |loader| loader.bytes(bytes, None))?;
        let made = spec.to_bytes(&data)?;
        // SAFETY: a compiled table is not empty.
        let memory = unsafe { alloc(layout(made.len())?) };
        if memory.is_null() {
            return Err(Failure(LM_FEED_E_MEMORY, format!("no memory for {} bytes", made.len())));
        }
        // SAFETY: as many bytes were just allocated.
        unsafe { memory.copy_from_nonoverlapping(made.as_ptr(), made.len()) };
        (*table, *table_size) = (memory.cast(), made.len());
        Ok(report.warnings().join("\n"))
    };
    // SAFETY: the caller's memory, by the header.
    unsafe { end(call, message, message_size) }
}

/// Frees a table of `lm_feed_compile_memory` with its size. NULL is none. A table that was opened with `LM_BORROW` is freed
/// with `lm_free` before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_feed_free(table: *mut c_void, table_size: usize) {
    if let (false, Ok(layout)) = (table.is_null(), layout(table_size)) {
        // SAFETY: memory and size of `lm_feed_compile_memory`, by the header.
        unsafe { dealloc(table.cast(), layout) };
    }
}

fn layout(size: usize) -> Result<Layout, Failure> {
    Layout::from_size_align(size, 64).map_err(|error| Failure(LM_FEED_E_MEMORY, error.to_string()))
}

fn null(what: &str) -> Failure {
    Failure(LM_FEED_E_NULL, format!("{what} is NULL or misaligned"))
}

/// A place for a result.
///
/// # Safety
/// NULL, or a place of the caller.
unsafe fn place<'a, T>(place: *mut T) -> Result<&'a mut T, Failure> {
    let place = if place.is_aligned() { place } else { null_mut() };
    // SAFETY: NULL or aligned, and the caller promises the rest.
    unsafe { place.as_mut() }.ok_or_else(|| null("a place for the result"))
}

/// # Safety
/// NULL, or a text of the caller.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not NULL, and the caller promises the rest.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map(Some).map_err(|_| Failure(LM_FEED_E_OPTIONS, format!("{what} is not valid UTF-8")))
}

/// # Safety
/// NULL, or a text of the caller.
unsafe fn path<'a>(path: *const c_char) -> Result<&'a Path, Failure> {
    // SAFETY: the caller promises it.
    let path = unsafe { text(path, "a path") }?;
    path.map(Path::new).ok_or_else(|| null("a path"))
}

/// # Safety
/// NULL, or options of the caller.
unsafe fn read_options(
    given: *const lm_feed_options,
    size: usize,
) -> Result<(Options, FileSpec), Failure> {
    let wrong = |what: String| Failure(LM_FEED_E_OPTIONS, what);
    let (mut options, spec) = (Options::default(), FileSpec::default());
    if given.is_null() {
        return Ok((options, spec));
    }
    if size != size_of::<lm_feed_options>() || !given.is_aligned() {
        let text = "the options are misaligned, or their size is none of a known version: pass sizeof(lm_feed_options)";
        return Err(Failure(LM_FEED_E_SIZE, text.into()));
    }
    // SAFETY: not NULL and aligned, and the caller promises the rest.
    let given = unsafe { &*given };
    // SAFETY: the caller promises it.
    if let Some(format) = unsafe { text(given.format, "the format") }? {
        options.format = format.parse::<Format>().map_err(|error| wrong(error.to_string()))?;
    }
    // SAFETY: the caller promises it.
    if let Some(columns) = unsafe { text(given.columns, "the columns") }? {
        let columns: Result<Vec<KeptColumn>, _> = columns.split(',').map(str::parse).collect();
        options.columns = Some(columns.map_err(|error| wrong(error.to_string()))?);
    }
    let unknown = given.flags & !(LM_FEED_VALUES | LM_FEED_LENIENT | LM_FEED_MASK);
    if unknown != 0 {
        return Err(wrong(format!("there is no flag {unknown:#x}")));
    }
    options.lenient = given.flags & LM_FEED_LENIENT != 0;
    options.mask_host_bits = given.flags & LM_FEED_MASK != 0;
    let answers = if given.flags & LM_FEED_VALUES != 0 { Answers::Values } else { Answers::Routes };
    Ok((options, spec.answers(answers)))
}

fn load(
    options: Options,
    read: impl FnOnce(&mut DataLoader) -> Result<Report, FeedError>,
) -> Result<(PrefixData, Report), Failure> {
    let mut loader = DataLoader::new(options);
    let report = read(&mut loader)?;
    Ok((loader.finish()?, report))
}

/// Runs a call, and writes its message. A panic, which is a defect, becomes a status, without output: no other Rust code uses
/// this library's hook.
///
/// # Safety
/// The message is NULL, or as many bytes of the caller.
unsafe fn end(
    call: impl FnOnce() -> Result<String, Failure>,
    message: *mut c_char,
    size: usize,
) -> i32 {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| set_hook(Box::new(|_| {})));
    let (status, text) = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(warnings)) => (LM_FEED_OK, warnings),
        Ok(Err(Failure(status, text))) => (status, text),
        Err(panic) => {
            let texts = (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>());
            let text = texts.0.map(String::as_str).or(texts.1.copied()).unwrap_or_default();
            (LM_FEED_E_INTERNAL, format!("a defect of the library: {text}"))
        }
    };
    if !message.is_null() && size > 0 {
        let text = text.replace('\0', "?");
        let text = &text[..text.floor_char_boundary(size - 1)];
        let to = message.cast::<u8>();
        // SAFETY: at most `size - 1` bytes, and the caller promises `size`.
        unsafe { to.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        // SAFETY: inside of the same bytes.
        let end = unsafe { to.add(text.len()) };
        // SAFETY: the last of at most `size` bytes.
        unsafe { end.write(0) };
    }
    status
}
