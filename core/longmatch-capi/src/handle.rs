//! Tables behind handles.

use longmatch::file::FileTable;
use longmatch::{Fib, Ipv4, Ipv6, Rib};

use crate::live::LiveTable;
use crate::memory::{Read, misuse};
use crate::status::{LM_E_HANDLE, Misuse};

/// A table for lookups: of a compiled file, of arrays, or of a reader of a live table.
pub struct lm_table {
    tagged: Tagged<Kind>,
}

/// What answers.
pub(crate) enum Kind {
    File {
        table: FileTable,
        /// Whether a path leads to it, so that it can be opened again.
        has_path: bool,
    },
    Arrays(Arrays),
    Live(LiveTable),
}

/// Routes that lead to the caller's ids.
pub(crate) struct Arrays {
    pub ipv4: Fib<Ipv4>,
    pub ipv6: Fib<Ipv6>,
    /// In a box: a handle has what lookups read.
    pub routes: Box<(Rib<Ipv4>, Rib<Ipv6>)>,
    pub keep_mapped: bool,
}

/// What a handle leads to, after a number that differs for each type and disappears when the handle is freed.
#[repr(C)]
pub(crate) struct Tagged<T> {
    magic: u64,
    pub value: T,
}

/// A type behind a handle.
pub(crate) trait Handle: Sized {
    const MAGIC: u64;
    const NULL: &'static Misuse;
    type Value;

    fn new(value: Self::Value) -> Self;

    fn tagged(&mut self) -> &mut Tagged<Self::Value>;

    /// The value behind a handle.
    ///
    /// # Safety
    /// The pointer is NULL, or memory that a handle has or had.
    #[inline]
    unsafe fn borrow<'a>(handle: *const Self) -> Read<&'a Self> {
        if handle.is_null() {
            return Err(Self::NULL);
        }
        if !handle.is_aligned() {
            return Err(WRONG);
        }
        // SAFETY: not NULL, and the caller promises that it is the memory of a handle.
        let found = unsafe { handle.cast::<u64>().read() };
        if found != Self::MAGIC {
            return Err(WRONG);
        }
        // SAFETY: a handle of this type that is not freed.
        Ok(unsafe { &*handle })
    }

    /// Gives a handle away.
    fn into_handle(self) -> *mut Self {
        Box::into_raw(Box::new(self))
    }

    /// Frees a handle; NULL is none.
    ///
    /// # Safety
    /// That of [`Handle::borrow`], and nobody uses the handle any more.
    unsafe fn free(handle: *mut Self) -> Read<()> {
        if handle.is_null() {
            return Ok(());
        }
        // SAFETY: the caller promises it.
        unsafe { Self::borrow(handle) }?;
        // SAFETY: a handle of this type, which `into_handle` made.
        let mut value = unsafe { Box::from_raw(handle) };
        // Volatile, so that the store before the end of the memory is not left out.
        let magic: *mut u64 = &raw mut value.tagged().magic;
        // SAFETY: a field of a value that exists.
        unsafe { magic.write_volatile(0) };
        drop(value);
        Ok(())
    }
}

const WRONG: &Misuse = misuse!(
    LM_E_HANDLE,
    "the pointer is not a handle of this type, or it was freed: pass what the library returned"
);

/// Implements [`Handle`] for a struct of a field `tagged`.
macro_rules! handle {
    ($type:ty, $value:ty, $magic:literal, $null:literal) => {
        impl $crate::handle::Handle for $type {
            const MAGIC: u64 = u64::from_ne_bytes(*$magic);
            const NULL: &'static $crate::status::Misuse =
                $crate::memory::misuse!($crate::status::LM_E_NULL, $null);
            type Value = $value;

            fn new(value: $value) -> Self {
                Self { tagged: $crate::handle::Tagged::new(Self::MAGIC, value) }
            }

            fn tagged(&mut self) -> &mut $crate::handle::Tagged<$value> {
                &mut self.tagged
            }
        }

        // `borrow` reads the number at the beginning.
        const _: () = assert!(std::mem::offset_of!($type, tagged) == 0);
    };
}
pub(crate) use handle;

impl<T> Tagged<T> {
    pub fn new(magic: u64, value: T) -> Self {
        Self { magic, value }
    }
}

handle!(lm_table, Kind, b"lm_table", "the table is NULL");

impl lm_table {
    #[inline(always)]
    pub(crate) fn kind(&self) -> &Kind {
        &self.tagged.value
    }
}
