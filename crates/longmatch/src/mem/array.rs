//! An array of items at the front of memory that stays where it is, with room to grow.
//!
//! A writer changes a table under its readers in two ways: it writes items where no reader comes
//! yet, and replaces a word of 32 bits, or half of one, with one store. So lookups have no slice of an array: they
//! go by its address, and load the words that may be replaced as such. Who compiles a table or
//! checks it has slices; the writer has none while it writes.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};
use core::slice;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use super::OutOfMemory;
use crate::mem::{Buffer, buffer};
use crate::simd::prefetch_bytes;

/// What arrays consist of.
///
/// # Safety
/// Any bits are a value, and none of them are gaps. It needs no more alignment than a cache line has.
pub unsafe trait Plain: Copy + Eq + core::fmt::Debug {}
// SAFETY: integers.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u128 {}

/// Items that one store replaces.
pub trait Single: Plain {
    /// An item that may be replaced meanwhile.
    ///
    /// # Safety
    /// It is the address of an item of an array.
    unsafe fn load(at: *const Self) -> Self;

    /// [`Array::publish_item`].
    fn publish(array: &Array<Self>, i: usize, item: Self);
}

impl Single for u16 {
    #[inline(always)]
    unsafe fn load(at: *const Self) -> Self {
        // SAFETY: half of a word of the array's buffer, as the caller promises.
        unsafe { buffer::load_half(at) }
    }

    fn publish(array: &Array<Self>, i: usize, item: Self) {
        array.words.publish_half(i, item);
    }
}

impl Single for u32 {
    #[inline(always)]
    unsafe fn load(at: *const Self) -> Self {
        // SAFETY: a word of the array's buffer, as the caller promises.
        unsafe { buffer::load(at) }
    }

    fn publish(array: &Array<Self>, i: usize, item: Self) {
        array.words.publish(i, item);
    }
}

/// Items, and room for more. Behind the room lies a word that is 0: a gather of 32 bits at the last
/// item, which may have fewer, does not leave the memory.
pub struct Array<T: Plain> {
    words: Buffer,
    /// Items that there is room for.
    room: usize,
    /// Items that have been used. An atomic as readers ask for it, to say how large the table is; in
    /// a box, as a compiler takes nothing to stay as it is in a table with an atomic inside, and
    /// looks up where the arrays are after each answer.
    len: Box<AtomicUsize>,
    item: core::marker::PhantomData<T>,
}

impl<T: Plain> Array<T> {
    /// These items, and room for `room` in all; `None` when there is not as much memory.
    pub fn with_room(items: &[T], room: usize) -> Option<Self> {
        let room = room.max(items.len());
        let words = room.checked_mul(size_of::<T>())?.div_ceil(size_of::<u32>());
        let words = Buffer::zeroed(words.checked_add(1)?)?;
        let item = core::marker::PhantomData;
        let mut array = Self { words, room, len: Box::new(AtomicUsize::new(items.len())), item };
        array.copy_from_slice(items);
        Some(array)
    }

    /// Items without a bit set; `None` when there is not as much memory. What is not written takes
    /// none of it.
    pub fn zeroed(len: usize) -> Option<Self> {
        let array = Self::with_room(&[], len)?;
        array.extend(len)?;
        Some(array)
    }

    /// Exactly these items.
    ///
    /// # Errors
    /// When there is not as much memory.
    pub(crate) fn of(items: &[T]) -> Result<Self, OutOfMemory> {
        let bytes = size_of_val(items) as u64;
        Self::with_room(items, items.len()).ok_or(OutOfMemory { bytes })
    }

    /// Items that there is room for.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Number of items that have been used.
    pub fn len(&self) -> usize {
        self.len.load(Relaxed)
    }

    /// Where the items begin.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.words.as_ptr().cast()
    }

    /// A copy of item `i`, of which no word is replaced meanwhile.
    ///
    /// # Safety
    /// There is such an item.
    #[inline(always)]
    pub unsafe fn read(&self, i: usize) -> T {
        debug_assert!(i < self.room);
        // SAFETY: inside of the buffer, as the caller promises.
        let item = unsafe { self.as_ptr().add(i) };
        // SAFETY: as above; any bits are an item.
        unsafe { item.read() }
    }

    /// Item `i`, which is not written as long as it is looked at.
    ///
    /// # Safety
    /// There is such an item, and no word of it is replaced.
    #[inline(always)]
    pub unsafe fn item(&self, i: usize) -> &T {
        debug_assert!(i < self.room);
        // SAFETY: inside of the buffer, as the caller promises.
        let item = unsafe { self.as_ptr().add(i) };
        // SAFETY: as above; any bits are an item.
        unsafe { &*item }
    }

    /// The word `offset` bytes into item `i`, which may be replaced meanwhile.
    ///
    /// # Safety
    /// There is such an item.
    #[inline(always)]
    pub unsafe fn load(&self, i: usize, offset: usize) -> u32 {
        debug_assert!(i < self.room);
        // SAFETY: a word of the buffer, as the caller promises.
        unsafe { self.words.load(Self::word(i, offset)) }
    }

    /// Replaces the word `offset` bytes into item `i` under readers. Only the one writer calls it,
    /// without a slice of the array.
    ///
    /// # Panics
    /// When there is no such word.
    pub fn publish(&self, i: usize, offset: usize, word: u32) {
        self.words.publish(Self::word(i, offset), word);
    }

    /// Writes items from `at` on. Only the one writer calls it.
    ///
    /// # Safety
    /// No reader comes there meanwhile, and there is no slice of the array.
    ///
    /// # Panics
    /// When there is no room for them.
    pub unsafe fn write_unseen(&self, at: usize, items: &[T]) {
        // SAFETY: items are bytes without gaps, and bytes need no alignment.
        let bytes =
            unsafe { slice::from_raw_parts(items.as_ptr().cast::<u8>(), size_of_val(items)) };
        // SAFETY: as the caller promises.
        unsafe { self.words.write_unseen(at * size_of::<T>(), bytes) };
    }

    /// Uses `count` more items, which readers do not come to yet; where they begin. `None` when
    /// there is no room.
    pub fn extend(&self, count: usize) -> Option<usize> {
        let start = self.len();
        let end = start + count;
        if end > self.room {
            return None;
        }
        self.len.store(end, Relaxed);
        Some(start)
    }

    /// Asks for the cache line of an item, which need not exist.
    #[inline(always)]
    pub fn prefetch(&self, i: usize) {
        prefetch_bytes(self.as_ptr().wrapping_add(i).cast());
    }

    #[inline(always)]
    fn word(i: usize, offset: usize) -> usize {
        (i * size_of::<T>() + offset) / size_of::<u32>()
    }
}

impl<T: Single> Array<T> {
    /// Item `i`, which may be replaced meanwhile.
    ///
    /// # Safety
    /// There is such an item.
    #[inline(always)]
    pub unsafe fn load_item(&self, i: usize) -> T {
        debug_assert!(i < self.room);
        // SAFETY: inside of the buffer, as the caller promises.
        let at = unsafe { self.as_ptr().add(i) };
        // SAFETY: an item of the array.
        unsafe { T::load(at) }
    }

    /// Replaces item `i` under readers. Only the one writer calls it, without a slice of the array.
    ///
    /// # Panics
    /// When there is no such item.
    pub fn publish_item(&self, i: usize, item: T) {
        assert!(i < self.room, "item {i} of {}", self.room);
        T::publish(self, i, item);
    }
}

impl<T: Plain> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: that many items lie in the buffer, and any bits are an item.
        unsafe { slice::from_raw_parts(self.as_ptr(), self.len()) }
    }
}

impl<T: Plain> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let len = self.len();
        // SAFETY: as in `deref`, and owned.
        unsafe { slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), len) }
    }
}

impl<T: Plain> From<&[T]> for Array<T> {
    /// Exactly these items.
    ///
    /// # Panics
    /// When there is no memory for them.
    fn from(items: &[T]) -> Self {
        Self::with_room(items, items.len()).expect("memory for what lies in memory already")
    }
}

impl<T: Plain> Clone for Array<T> {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl<T: Plain> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Plain> Eq for Array<T> {}

impl<T: Plain> core::fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
