//! An array of zeroed words that starts at a cache line and can lie in huge pages.

use alloc::alloc::{alloc_zeroed, dealloc};
use core::alloc::Layout;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::sync::atomic::Ordering::Release;
use core::sync::atomic::{AtomicU16, AtomicU32};

use crate::live::word;

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
/// takes little. That holds only for what is not aligned specially: the standard library's
/// allocator writes the zeros of anything else itself. So the words begin at a line inside a
/// slightly larger allocation.
pub(crate) struct Buffer {
    words: NonNull<u32>,
    len: usize,
    /// The allocation.
    start: NonNull<u8>,
    layout: Layout,
    huge: bool,
}

// SAFETY: a buffer owns its words like a box.
unsafe impl Send for Buffer {}
// SAFETY: as above; without `&mut` they are only read, or published as atomics.
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
        let bytes = len.checked_mul(size_of::<u32>())?;
        // Huge ones begin where a huge page does, and fill the last.
        let (bytes, align) = match huge {
            true => (bytes.checked_next_multiple_of(HUGE_PAGE)?, HUGE_PAGE),
            false => (bytes, LINE),
        };
        let spare = align - align_of::<u32>();
        let layout = Layout::from_size_align(bytes.checked_add(spare)?, align_of::<u32>()).ok()?;
        // SAFETY: the layout's size is not 0.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let offset = start.addr().get().next_multiple_of(align) - start.addr().get();
        // SAFETY: a multiple of the alignment that the allocation has, so `spare` at most.
        let words = unsafe { start.add(offset) }.cast();
        let huge = huge && advise_huge(words, bytes);
        Some(Self { words, len, start, layout, huge })
    }

    /// Whether the system was asked to put it into huge pages, and agreed.
    pub fn is_huge(&self) -> bool {
        self.huge
    }

    /// Number of words.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Where the words begin. Of words that are published meanwhile there must be no slice, so
    /// readers go by this, and by [`Buffer::load`].
    #[inline(always)]
    pub fn as_ptr(&self) -> *const u32 {
        self.words.as_ptr()
    }

    /// Word `i`, which may be published meanwhile. What was written before it was published can be
    /// read where it leads: see [`word::load`].
    ///
    /// # Safety
    /// There is such a word.
    #[inline(always)]
    pub unsafe fn load(&self, i: usize) -> u32 {
        debug_assert!(i < self.len);
        // SAFETY: inside of the allocation, as the caller promises.
        let word = unsafe { self.words.add(i) };
        // SAFETY: a word of a buffer.
        unsafe { load(word.as_ptr()) }
    }

    /// Replaces word `i` under readers. What was written before can be read by who reads it. Only
    /// the one writer of a table calls it.
    ///
    /// # Panics
    /// When there is no such word.
    pub fn publish(&self, i: usize, word: u32) {
        assert!(i < self.len, "word {i} of {}", self.len);
        // SAFETY: inside of the allocation.
        let at = unsafe { self.words.add(i) };
        // SAFETY: aligned and initialised; readers of published words go by `load`.
        word::publish(unsafe { AtomicU32::from_ptr(at.as_ptr()) }, word);
    }

    /// Replaces half word `i` under readers, as [`Buffer::publish`].
    ///
    /// # Panics
    /// When there is no such half word.
    pub fn publish_half(&self, i: usize, half: u16) {
        assert!(i < 2 * self.len, "half word {i} of {}", 2 * self.len);
        // SAFETY: inside of the allocation.
        let at = unsafe { self.words.cast::<u16>().add(i) };
        // SAFETY: aligned and initialised; readers of published half words go by `load_half`.
        unsafe { AtomicU16::from_ptr(at.as_ptr()) }.store(half, Release);
    }

    /// Writes bytes where no reader reads yet: after `publish`ing what leads to them they can be
    /// read.
    ///
    /// # Safety
    /// No one reads them meanwhile, and there is no slice of the words.
    ///
    /// # Panics
    /// When they do not lie inside.
    pub unsafe fn write_unseen(&self, at: usize, bytes: &[u8]) {
        let end = at.checked_add(bytes.len());
        assert!(end.is_some_and(|end| end <= 4 * self.len), "bytes at {at} of {}", 4 * self.len);
        // SAFETY: inside of the allocation.
        let to = unsafe { self.words.cast::<u8>().add(at) };
        // SAFETY: as above; the caller promises that they are the writer's alone.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
    }

    /// The words as the bytes that they lie in memory as.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: words are initialised bytes without gaps, and bytes need no alignment.
        unsafe { core::slice::from_raw_parts(self.as_ptr().cast(), 4 * self.len) }
    }

    /// The bytes of those of the smallest pages that hold a word other than 0.
    pub fn touched_bytes(&self) -> usize {
        let mut touched = 0;
        for start in (0..self.len).step_by(PAGE / 4) {
            let mut page = start..self.len.min(start + PAGE / 4);
            let bytes = 4 * page.len();
            // SAFETY: words of the buffer.
            if page.any(|i| unsafe { self.load(i) } != 0) {
                touched += bytes;
            }
        }
        touched
    }
}

/// [`Buffer::load`] by the word's address, for loops that keep the array's.
///
/// # Safety
/// It is the address of a word of a buffer.
#[inline(always)]
pub(crate) unsafe fn load(word: *const u32) -> u32 {
    // SAFETY: aligned, initialised, and while it is read as an atomic it is written as one.
    word::load(unsafe { AtomicU32::from_ptr(word.cast_mut()) })
}

/// [`load`] for half of a word.
///
/// # Safety
/// It is the address of half of a word of a buffer.
#[inline(always)]
pub(crate) unsafe fn load_half(half: *const u16) -> u16 {
    // SAFETY: aligned, initialised, and while it is read as an atomic it is written as one.
    unsafe { AtomicU16::from_ptr(half.cast_mut()) }.load(word::LOAD)
}

/// A word by itself that is published: where a structure begins that a writer makes anew.
#[derive(Debug)]
pub(crate) struct Word(AtomicU32);

impl Word {
    pub fn new(word: u32) -> Self {
        Self(AtomicU32::new(word))
    }

    /// As [`load`].
    #[inline(always)]
    pub fn load(&self) -> u32 {
        word::load(&self.0)
    }

    /// As [`Buffer::publish`].
    pub fn publish(&self, word: u32) {
        word::publish(&self.0, word);
    }
}

impl Clone for Word {
    fn clone(&self) -> Self {
        Self::new(self.load())
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        self.load() == other.load()
    }
}

impl Eq for Word {}

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
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_published() {
        let buffer = Buffer::zeroed(40).unwrap();
        // SAFETY: nobody else has the buffer.
        unsafe { buffer.write_unseen(5, &[1; 7]) };
        buffer.publish(39, 8);
        // SAFETY: words of the buffer.
        let words = [0, 1, 2, 3, 39].map(|i| unsafe { buffer.load(i) });
        // Bytes are where they are in either byte order.
        assert_eq!(words, [0, u32::from_ne_bytes([0, 1, 1, 1]), 0x0101_0101, 0, 8]);
        buffer.publish_half(77, 0x0203);
        let halves = [76, 77].map(|i| {
            let half = buffer.as_ptr().cast::<u16>().wrapping_add(i);
            // SAFETY: half of a word of the buffer.
            unsafe { load_half(half) }
        });
        assert_eq!(halves, [0, 0x0203]);
        assert_eq!(buffer.touched_bytes(), 160);
    }

    #[test]
    #[should_panic(expected = "word 40 of 40")]
    fn words_outside_are_not_published() {
        Buffer::zeroed(40).unwrap().publish(40, 1);
    }

    #[test]
    #[should_panic(expected = "half word 80 of 80")]
    fn halves_outside_are_not_published() {
        Buffer::zeroed(40).unwrap().publish_half(80, 1);
    }

    #[test]
    fn buffers_are_zero_and_aligned() {
        for len in [0, 1, 15, 16, 17, 1000, 100_000] {
            for (buffer, align) in [(Buffer::zeroed(len), LINE), (Buffer::huge(len), HUGE_PAGE)] {
                let mut buffer = buffer.unwrap();
                assert_eq!((buffer.len(), buffer.as_ptr().addr() % align), (len.max(1), 0));
                assert!(buffer.iter().all(|word| *word == 0));
                buffer.fill(7);
                assert_eq!(buffer.bytes().len(), 4 * len.max(1));
            }
        }
        assert!(Buffer::zeroed(usize::MAX).is_none() && Buffer::huge(usize::MAX / 4).is_none());
    }

    /// What is not written takes no memory: not even while it is allocated.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn zeros_take_no_memory() {
        let mut buffer = Buffer::zeroed(1 << 26).unwrap();
        buffer[1 << 25] = 1;
        // SAFETY: asks for a number, changes nothing.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let first = buffer.as_mut_ptr().wrapping_byte_add(page - buffer.as_ptr().addr() % page);
        let mut resident = alloc::vec![0u8; (1 << 28) / page - 1];
        let bytes = resident.len() * page;
        // SAFETY: the buffer's whole pages, and a byte for each.
        assert_eq!(unsafe { libc::mincore(first.cast(), bytes, resident.as_mut_ptr()) }, 0);
        let resident: usize = resident.iter().map(|page| usize::from(page & 1)).sum();
        // All of them would be 2^28 bytes; what was written takes a huge page at most.
        assert!((1..=HUGE_PAGE / page).contains(&resident), "{resident} pages of {page} bytes");
    }
}
