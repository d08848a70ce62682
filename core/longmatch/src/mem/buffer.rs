//! An array of zeroed words that starts at a cache line and can lie in huge pages.

use alloc::alloc::{alloc_zeroed, dealloc};
use alloc::sync::Arc;
use core::alloc::Layout;
use core::fmt;
use core::ptr::NonNull;

/// Bytes in a cache line.
pub(crate) const LINE: usize = 64;
/// Bytes in a huge page of most systems.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes of arrays that the allocator aligns.
const SMALL: usize = 4 << 10;

/// Memory that its owner lends to arrays: a mapped file, for example.
///
/// # Safety
/// As long as the owner lives, `bytes` returns the same bytes at the same place, and nothing writes
/// them, not even another process. For a mapped file the caller who maps it promises this.
pub(crate) unsafe trait Lender: Send + Sync {
    /// The memory.
    fn bytes(&self) -> &[u8];
}

/// The owner of a buffer's memory.
enum Owner {
    /// The buffer: an allocation with its start and layout.
    Own(NonNull<u8>, Layout),
    /// Another owner, which is kept alive. Nobody writes the memory.
    Lent(#[allow(dead_code, reason = "held, not read")] Arc<dyn Lender>),
}

/// Memory of 32-bit words, aligned to a cache line; never empty.
///
/// Its two users, [`Frozen`](super::Frozen) and [`Live`](super::Live), define its contents and
/// the rules of access.
///
/// The memory comes zeroed from the allocator. The system provides the pages of a large array when
/// they are first written, so an array that is zero nearly everywhere takes little memory. The
/// standard library's allocator relies on this only for default alignments; for others it writes
/// the zeros itself. So the words begin at a line inside a slightly larger allocation, except for
/// small arrays: of these the extra bytes would be the larger part.
pub struct Buffer {
    words: NonNull<u32>,
    len: usize,
    owner: Owner,
    huge: bool,
}

// SAFETY: the buffer or an owner that may be sent owns its memory, which is bound to no thread.
unsafe impl Send for Buffer {}
// SAFETY: only unsafe functions read or write the words.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// `len` zeros, or one if `len` is 0; `None` when memory is short.
    pub fn zeroed(len: usize) -> Option<Self> {
        Self::new(len, false)
    }

    /// Does the same in huge pages where the system has any.
    pub fn huge(len: usize) -> Option<Self> {
        Self::new(len, true)
    }

    fn new(len: usize, huge: bool) -> Option<Self> {
        let len = len.max(1);
        let bytes = len.checked_mul(size_of::<u32>())?;
        // Huge buffers begin at a huge page and fill the last one.
        let (bytes, align) = match huge {
            true => (bytes.checked_next_multiple_of(HUGE_PAGE)?, HUGE_PAGE),
            false => (bytes, LINE),
        };
        let by_allocator = if bytes <= SMALL { align } else { align_of::<u32>() };
        let spare = align - by_allocator;
        let layout = Layout::from_size_align(bytes.checked_add(spare)?, by_allocator).ok()?;
        // SAFETY: the layout's size is not 0.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let offset = start.addr().get().next_multiple_of(align) - start.addr().get();
        // SAFETY: `offset` is a multiple of `by_allocator` below `align`, so at most `spare`.
        let words = unsafe { start.add(offset) }.cast();
        let huge = huge && advise_huge(words, bytes);
        Some(Self { words, len, owner: Owner::Own(start, layout), huge })
    }

    /// `bytes` bytes of an owner's memory, from `offset` on, and the word behind them.
    ///
    /// `None` when the memory ends before, or the first byte does not begin a cache line.
    pub(crate) fn lent(lender: &Arc<dyn Lender>, offset: usize, bytes: usize) -> Option<Self> {
        let end = offset.checked_add(bytes)?.checked_add(size_of::<u32>())?;
        let lent = lender.bytes().get(offset..end)?;
        let words = NonNull::new(lent.as_ptr().cast_mut())?;
        if !words.addr().get().is_multiple_of(LINE) {
            return None;
        }
        let len = lent.len() / size_of::<u32>();
        Some(Self { words: words.cast(), len, owner: Owner::Lent(lender.clone()), huge: false })
    }

    /// Whether the memory is another owner's, which nobody may write.
    pub(crate) fn is_lent(&self) -> bool {
        matches!(self.owner, Owner::Lent(_))
    }

    /// Whether the system granted a request for huge pages.
    pub fn is_huge(&self) -> bool {
        self.huge
    }

    /// The address of the words.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const u32 {
        self.words.as_ptr()
    }

    /// The address of the words, for writing.
    #[inline(always)]
    pub fn as_mut_ptr(&self) -> *mut u32 {
        self.words.as_ptr()
    }
}

/// Asks the system for huge pages; returns whether it has them and agrees.
#[cfg(all(target_os = "linux", feature = "std", not(miri)))]
fn advise_huge(start: NonNull<u32>, bytes: usize) -> bool {
    use core::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }
    /// `MADV_HUGEPAGE` of Linux.
    const HUGE: c_int = 14;
    // SAFETY: the range lies in one allocation; the advice does not change its contents.
    unsafe { madvise(start.as_ptr().cast(), bytes, HUGE) == 0 }
}

#[cfg(not(all(target_os = "linux", feature = "std", not(miri))))]
fn advise_huge(_: NonNull<u32>, _: usize) -> bool {
    false
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Owner::Own(start, layout) = self.owner {
            // SAFETY: `start` was allocated with `layout`.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = f.debug_struct("Buffer");
        buffer.field("len", &self.len).field("huge", &self.huge);
        buffer.field("lent", &self.is_lent()).finish()
    }
}

#[cfg(test)]
mod tests {
    use core::slice;

    use super::*;

    #[test]
    fn buffers_are_zero_and_aligned() {
        for len in [0, 1, 15, 16, 17, 1000, 100_000] {
            for (buffer, align) in [(Buffer::zeroed(len), LINE), (Buffer::huge(len), HUGE_PAGE)] {
                let buffer = buffer.unwrap();
                assert_eq!((buffer.len, buffer.as_ptr().addr() % align), (len.max(1), 0));
                // SAFETY: the buffer's words, which this thread alone has.
                let words = unsafe { slice::from_raw_parts_mut(buffer.as_mut_ptr(), buffer.len) };
                assert!(words.iter().all(|word| *word == 0));
                words.fill(7);
            }
        }
        assert!(Buffer::zeroed(usize::MAX).is_none() && Buffer::huge(usize::MAX / 4).is_none());
    }

    /// Words that are not written take no memory, not even on allocation.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn unwritten_words_take_no_memory() {
        let buffer = Buffer::zeroed(1 << 26).unwrap();
        let inside = buffer.as_mut_ptr().wrapping_add(1 << 25);
        // SAFETY: a word of the buffer.
        unsafe { inside.write(1) };
        // SAFETY: the call reads a constant of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let first = buffer.as_mut_ptr().wrapping_byte_add(page - buffer.as_ptr().addr() % page);
        let mut resident = alloc::vec![0u8; (1 << 28) / page - 1];
        let bytes = resident.len() * page;
        // SAFETY: the range is whole pages of the buffer; `resident` has one byte per page.
        assert_eq!(unsafe { libc::mincore(first.cast(), bytes, resident.as_mut_ptr()) }, 0);
        let resident: usize = resident.iter().map(|page| usize::from(page & 1)).sum();
        // The whole buffer has 2^28 bytes; the one write takes a huge page at most.
        assert!((1..=HUGE_PAGE / page).contains(&resident), "{resident} pages of {page} bytes");
    }
}
