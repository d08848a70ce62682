//! An array of zeroed words that starts at a cache line and can lie in huge pages.

use alloc::alloc::{alloc_zeroed, dealloc};
use core::alloc::Layout;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// Bytes in a cache line.
pub(crate) const LINE: usize = 64;
/// Bytes in a huge page of most systems.
const HUGE_PAGE: usize = 2 << 20;
/// Bytes in the smallest page of most systems.
const PAGE: usize = 4096;

/// Words of 32 bits, aligned to a cache line; never empty.
///
/// The memory comes zeroed from the allocator. For a large array that is memory which the system
/// provides page by page when it is first written, so an array that stays zero nearly everywhere
/// takes little.
pub(crate) struct Buffer {
    words: NonNull<u32>,
    len: usize,
    /// As it was allocated.
    layout: Layout,
    huge: bool,
}

// SAFETY: a buffer owns its words like a box.
unsafe impl Send for Buffer {}
// SAFETY: as above; without `&mut` they are only read.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// `len` zeros, or one where none is asked for; `None` when there is not as much memory.
    pub fn zeroed(len: usize) -> Option<Self> {
        Self::new(len, false)
    }

    /// The same in huge pages where the system has them to give.
    pub fn huge(len: usize) -> Option<Self> {
        Self::new(len, true)
    }

    fn new(len: usize, huge: bool) -> Option<Self> {
        let len = len.max(1);
        let layout = layout(len, huge)?;
        // SAFETY: the layout's size is not 0.
        let words = NonNull::new(unsafe { alloc_zeroed(layout) }.cast())?;
        let huge = huge && advise_huge(words, layout.size());
        Some(Self { words, len, layout, huge })
    }

    /// Whether the system was asked to put it into huge pages, and agreed.
    pub fn is_huge(&self) -> bool {
        self.huge
    }

    /// The words as the bytes that they lie in memory as.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: words are initialised bytes without gaps, and bytes need no alignment.
        unsafe { core::slice::from_raw_parts(self.as_ptr().cast(), size_of_val::<[u32]>(self)) }
    }

    /// The bytes of those of the smallest pages that hold a word other than 0.
    pub fn touched_bytes(&self) -> usize {
        let used = |page: &&[u32]| page.iter().any(|word| *word != 0);
        self.chunks(PAGE / 4).filter(used).map(size_of_val).sum()
    }
}

/// Huge ones begin where a huge page does, and fill the last.
fn layout(len: usize, huge: bool) -> Option<Layout> {
    let bytes = len.checked_mul(size_of::<u32>())?;
    let (bytes, align) = match huge {
        true => (bytes.checked_next_multiple_of(HUGE_PAGE)?, HUGE_PAGE),
        false => (bytes, LINE),
    };
    Layout::from_size_align(bytes, align).ok()
}

/// Asks the system for huge pages; whether there is such a system and it agrees.
#[cfg(all(target_os = "linux", feature = "std", not(miri)))]
fn advise_huge(start: NonNull<u32>, bytes: usize) -> bool {
    use core::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }
    /// `MADV_HUGEPAGE` of Linux.
    const HUGE: c_int = 14;
    // SAFETY: the range was allocated whole; the advice leaves its contents as they are.
    unsafe { madvise(start.as_ptr().cast(), bytes, HUGE) == 0 }
}

#[cfg(not(all(target_os = "linux", feature = "std", not(miri))))]
fn advise_huge(_: NonNull<u32>, _: usize) -> bool {
    false
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.words.as_ptr().cast(), self.layout) };
    }
}

impl Deref for Buffer {
    type Target = [u32];

    #[inline(always)]
    fn deref(&self) -> &[u32] {
        // SAFETY: `len` words that are initialised, as they came zeroed, and owned.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u32] {
        // SAFETY: as in `deref`.
        unsafe { core::slice::from_raw_parts_mut(self.words.as_ptr(), self.len) }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).field("huge", &self.huge).finish()
    }
}
