//! Codes of calls, the message of the last failure of each thread, and the entry of calls that may fail in Rust.

use std::borrow::Cow;
use std::cell::{Cell, UnsafeCell};
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// The result of a call: `LM_OK`, another answer (1 to 9), or an error (10 or more). Numbers never change their
/// meaning; later versions add some.
pub type lm_status = i32;

/// The call did what was asked.
pub const LM_OK: lm_status = 0;
/// No prefix covers the address, or no such prefix is in the table.
pub const LM_NO_MATCH: lm_status = 1;
/// The file is the one that is open already.
pub const LM_UNCHANGED: lm_status = 2;
/// A pointer is NULL.
pub const LM_E_NULL: lm_status = 10;
/// A pointer is not a handle of the type, or the handle was freed.
pub const LM_E_HANDLE: lm_status = 11;
/// A count or a stride is too large, or a stride is smaller than an address.
pub const LM_E_LENGTH: lm_status = 12;
/// The size of a struct is not one that this library knows.
pub const LM_E_SIZE: lm_status = 13;
/// A family is neither `LM_IPV4` nor `LM_IPV6`.
pub const LM_E_FAMILY: lm_status = 14;
/// Memory is not aligned for its type.
pub const LM_E_ALIGN: lm_status = 15;
/// A flag is unknown, or flags exclude each other.
pub const LM_E_FLAGS: lm_status = 16;
/// An id is 0, greater than `LM_MAX_ID`, or not of the table.
pub const LM_E_ID: lm_status = 17;
/// A handle of one thread is used by another one.
pub const LM_E_THREAD: lm_status = 18;
/// A reader is offline, and the call needs one that is online, or the other way round.
pub const LM_E_OFFLINE: lm_status = 19;
/// The table has no such data: columns of a table of arrays, prefixes of a live table without `LM_PREFIXES`.
pub const LM_E_UNSUPPORTED: lm_status = 20;
/// The table has no column of the name or the number, or no row of the number.
pub const LM_E_INDEX: lm_status = 21;
/// A callback returned an error.
pub const LM_E_CALLBACK: lm_status = 22;
/// The memory of the answers overlaps that of the addresses.
pub const LM_E_OVERLAP: lm_status = 23;
/// A defect of this library, which the message describes. Please report it.
pub const LM_E_INTERNAL: lm_status = 99;
/// A prefix is longer than an address.
pub const LM_E_PREFIX_LENGTH: lm_status = 101;
/// A bit of a prefix is set after its length.
pub const LM_E_HOST_BITS: lm_status = 102;
/// A table holds as many routes as its limit allows.
pub const LM_E_ROUTES_FULL: lm_status = 201;
/// A table holds as many values as its limit allows.
pub const LM_E_VALUES_FULL: lm_status = 202;
/// An id does not fit the compiled table.
pub const LM_E_ID_TOO_LARGE: lm_status = 303;
/// A table needs more objects than its structure can number.
pub const LM_E_TOO_MANY: lm_status = 304;
/// The system did not provide memory.
pub const LM_E_MEMORY: lm_status = 310;
/// Readers keep too much retired memory from reuse: one does not announce quiescent states.
pub const LM_E_RETIRED: lm_status = 401;
/// A commit was refused with different errors in both families.
pub const LM_E_REFUSED: lm_status = 403;
/// The system refused an operation on a file.
pub const LM_E_IO: lm_status = 501;
/// The content is not a compiled table.
pub const LM_E_NOT_LONGMATCH: lm_status = 502;
/// The content has another version of the format.
pub const LM_E_VERSION: lm_status = 503;
/// The content ends too early.
pub const LM_E_TRUNCATED: lm_status = 504;
/// A checksum does not fit the content.
pub const LM_E_CHECKSUM: lm_status = 505;
/// The content contradicts the format.
pub const LM_E_STRUCTURE: lm_status = 506;
/// The table was compiled with an engine that this library does not have.
pub const LM_E_ENGINE: lm_status = 507;
/// A big-endian machine does not read compiled tables.
pub const LM_E_BIG_ENDIAN: lm_status = 509;

/// Returns a short description of a status, for every number. The text is constant.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub extern "C" fn lm_strerror(status: lm_status) -> *const c_char {
    describe(status).as_ptr()
}

/// Returns the message of the last call of this thread that failed, or an empty text. It says what is wrong, where,
/// and what to do. It is valid until the next call of this thread fails.
///
/// Threads: any, at the same time; each has its own message.
#[unsafe(no_mangle)]
pub extern "C" fn lm_last_error() -> *const c_char {
    LAST.with(|last| last.get().cast_const().cast())
}

fn describe(status: lm_status) -> &'static CStr {
    match status {
        LM_OK => c"success",
        LM_NO_MATCH => c"no prefix matches",
        LM_UNCHANGED => c"the file is unchanged",
        LM_E_NULL => c"a pointer is NULL",
        LM_E_HANDLE => c"not a handle of this type",
        LM_E_LENGTH => c"a count or a stride is out of range",
        LM_E_SIZE => c"unknown size of a struct",
        LM_E_FAMILY => c"unknown address family",
        LM_E_ALIGN => c"misaligned memory",
        LM_E_FLAGS => c"unknown or contradicting flags",
        LM_E_ID => c"an id is out of range",
        LM_E_THREAD => c"a handle of another thread",
        LM_E_OFFLINE => c"wrong state of a reader",
        LM_E_UNSUPPORTED => c"the table has no such data",
        LM_E_INDEX => c"no such column or row",
        LM_E_CALLBACK => c"a callback failed",
        LM_E_OVERLAP => c"answers overlap addresses",
        LM_E_INTERNAL => c"a defect of the library",
        LM_E_PREFIX_LENGTH => c"a prefix is longer than an address",
        LM_E_HOST_BITS => c"a bit of a prefix is set after its length",
        LM_E_ROUTES_FULL => c"too many routes",
        LM_E_VALUES_FULL => c"too many values",
        LM_E_ID_TOO_LARGE => c"an id does not fit the compiled table",
        LM_E_TOO_MANY => c"too many objects for the compiled table",
        LM_E_MEMORY => c"out of memory",
        LM_E_RETIRED => c"readers keep too much memory from reuse",
        LM_E_REFUSED => c"a commit was refused in both families",
        LM_E_IO => c"the system refused an operation on a file",
        LM_E_NOT_LONGMATCH => c"not a compiled table",
        LM_E_VERSION => c"another version of the format",
        LM_E_TRUNCATED => c"the table ends too early",
        LM_E_CHECKSUM => c"a checksum does not fit",
        LM_E_STRUCTURE => c"the table contradicts the format",
        LM_E_ENGINE => c"an engine that the library does not have",
        LM_E_BIG_ENDIAN => c"a big-endian machine does not read compiled tables",
        _ => c"unknown status",
    }
}

/// Bytes of a message with its NUL.
const MESSAGE: usize = 512;

thread_local! {
    /// Without a destructor, so that the first use of a thread allocates nothing.
    static LAST: UnsafeCell<[u8; MESSAGE]> = const { UnsafeCell::new([0; MESSAGE]) };
    /// Whether this thread is inside of [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

fn remember(text: &str) {
    let text = &text[..text.floor_char_boundary(MESSAGE - 1)];
    LAST.with(|last| {
        // SAFETY: only this thread has the pointer, and no other reference to the memory exists.
        let last = unsafe { &mut *last.get() };
        last[..text.len()].copy_from_slice(text.as_bytes());
        last[text.len()] = 0;
    });
}

/// A wrong call, which allocates nothing.
#[derive(Debug)]
pub(crate) struct Misuse {
    pub status: lm_status,
    pub text: &'static str,
}

impl Misuse {
    /// Remembers the message; returns the status.
    #[cold]
    pub fn status(&self) -> lm_status {
        remember(self.text);
        self.status
    }
}

/// A failure of a call other than a lookup.
#[derive(Debug)]
pub(crate) struct Failure {
    pub status: lm_status,
    pub text: Cow<'static, str>,
}

impl From<&Misuse> for Failure {
    fn from(misuse: &Misuse) -> Self {
        Self { status: misuse.status, text: misuse.text.into() }
    }
}

impl Failure {
    pub fn new(status: lm_status, text: impl Into<Cow<'static, str>>) -> Self {
        Self { status, text: text.into() }
    }

    /// An error of the library with its code.
    pub fn of(code: longmatch::ErrorCode, error: impl std::fmt::Display) -> Self {
        Self::new(code.number().cast_signed(), error.to_string())
    }
}

/// Ends a call: remembers the message of a failure.
pub(crate) fn status(result: Result<lm_status, Failure>) -> lm_status {
    result.unwrap_or_else(|failure| {
        remember(&failure.text.replace('\0', "?"));
        failure.status
    })
}

/// Runs a call other than a lookup. A panic, which is a defect, becomes `LM_E_INTERNAL`, without output.
pub(crate) fn guarded(call: impl FnOnce() -> Result<lm_status, Failure>) -> lm_status {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| match GUARDED.get() {
            true => remember(&format!("a defect of the library: {panic}").replace('\0', "?")),
            false => before(panic),
        }));
    });
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(outer);
    result.map_or(LM_E_INTERNAL, status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> String {
        // SAFETY: the message ends with a NUL.
        let text = unsafe { CStr::from_ptr(lm_last_error()) };
        text.to_str().expect("UTF-8").into()
    }

    #[test]
    fn panics_become_a_status_with_a_message() {
        assert_eq!(guarded(|| panic!("shape {}", 3)), LM_E_INTERNAL);
        assert!(last().contains("shape 3"), "{}", last());
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let text = "ß\0".repeat(MESSAGE);
        let failed = status(Err(Failure::new(LM_E_IO, text)));
        assert_eq!(failed, LM_E_IO);
        assert!(last().len() >= MESSAGE - 3 && last().starts_with("ß?ß?"));
    }

    #[test]
    fn codes_of_the_library_that_calls_return_are_described() {
        use longmatch::ErrorCode as Code;
        for code in [
            Code::PrefixLength,
            Code::HostBits,
            Code::RoutesFull,
            Code::NextHopsFull,
            Code::NextHopTooLarge,
            Code::TooMany,
            Code::OutOfMemory,
            Code::RetiredMemory,
            Code::FamiliesRefused,
            Code::Io,
            Code::NotLongmatch,
            Code::FileVersion,
            Code::Truncated,
            Code::Checksum,
            Code::FileStructure,
            Code::NoImage,
            Code::BigEndian,
        ] {
            assert_ne!(describe(code.number().cast_signed()), describe(-1), "{code}");
        }
    }
}
