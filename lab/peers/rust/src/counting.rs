//! The system's allocator, counting the allocated bytes: not all crates report their memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static HELD: AtomicUsize = AtomicUsize::new(0);

/// Bytes that are allocated now.
pub fn held() -> usize {
    HELD.load(Relaxed)
}

/// Adds and subtracts in two steps, which cost next to nothing; this program has one thread.
fn note(allocated: usize, freed: usize) {
    HELD.store(HELD.load(Relaxed).wrapping_add(allocated).wrapping_sub(freed), Relaxed);
}

/// See [`held`].
pub struct Counting;

// SAFETY: every call goes to the system's allocator as it is, and counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller's promises are those that the system's allocator wants.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: as above; the memory is the system allocator's.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size, layout.size());
        // SAFETY: as in `dealloc`, and the new size is the caller's.
        unsafe { System.realloc(start, layout, size) }
    }
}
