//! Arrays of two kinds over one allocation: [`Frozen`] arrays never change and are slices; [`Live`]
//! arrays are changed by one owner while readers load from them.
//!
//! Kernels take neither kind but [`Items`], the address of the first item, by value. So a kernel is
//! compiled once for both kinds, and the compiler keeps the address in a register across acquiring
//! loads.

use alloc::sync::Arc;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::slice;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicUsize};

use super::buffer::Lender;
use super::{Buffer, OutOfMemory, published};
use crate::simd::prefetch_bytes;

/// Types of array items.
///
/// # Safety
/// Every bit pattern is a value, the type has no padding, and its alignment is at most a cache
/// line.
pub unsafe trait Plain: Copy + Eq + fmt::Debug + Send + Sync + 'static {}
// SAFETY: an integer type.
unsafe impl Plain for u8 {}
// SAFETY: an integer type.
unsafe impl Plain for u16 {}
// SAFETY: an integer type.
unsafe impl Plain for u32 {}
// SAFETY: an integer type.
unsafe impl Plain for u64 {}
// SAFETY: an integer type.
unsafe impl Plain for u128 {}

/// Items that a single store replaces.
pub trait Single: Plain {
    /// Loads an item that may be replaced at the same time.
    ///
    /// # Safety
    /// `at` is the address of an item of an array.
    unsafe fn load(at: *const Self) -> Self;

    /// Replaces an item while readers may load it.
    ///
    /// # Safety
    /// `at` is the address of an item of a [`Live`] array, and the caller holds its [`Owner`].
    unsafe fn publish(at: *mut Self, item: Self);
}

impl Single for u8 {
    #[inline(always)]
    unsafe fn load(at: *const Self) -> Self {
        // SAFETY: an item of an array is initialised; every store that may race with this load is
        // atomic.
        unsafe { AtomicU8::from_ptr(at.cast_mut()) }.load(Acquire)
    }

    unsafe fn publish(at: *mut Self, item: Self) {
        // SAFETY: an item of an array is initialised.
        unsafe { AtomicU8::from_ptr(at) }.store(item, Release);
    }
}

impl Single for u16 {
    #[inline(always)]
    unsafe fn load(at: *const Self) -> Self {
        // SAFETY: an item of an array is aligned and initialised; every store that may race with
        // this load is atomic.
        unsafe { AtomicU16::from_ptr(at.cast_mut()) }.load(Acquire)
    }

    unsafe fn publish(at: *mut Self, item: Self) {
        // SAFETY: an item of an array is aligned and initialised.
        unsafe { AtomicU16::from_ptr(at) }.store(item, Release);
    }
}

impl Single for u32 {
    #[inline(always)]
    unsafe fn load(at: *const Self) -> Self {
        // SAFETY: an item of an array is aligned and initialised; every store that may race with
        // this load is atomic.
        published::load(unsafe { AtomicU32::from_ptr(at.cast_mut()) })
    }

    unsafe fn publish(at: *mut Self, item: Self) {
        // SAFETY: an item of an array is aligned and initialised.
        published::publish(unsafe { AtomicU32::from_ptr(at) }, item);
    }
}

/// The address of an array's items, for lookups. Borrows the array.
///
/// No word of frozen memory is ever replaced, so plain reads suffice there. After an acquiring load
/// the compiler must load the arrays' addresses again: a loop around Poptrie's lookups took a fifth
/// longer (Intel family 6 model 207, IPv4, random addresses).
#[derive(Debug)]
pub struct Items<'a, T: Plain, M = LiveMemory> {
    first: *const T,
    array: PhantomData<(&'a T, M)>,
}

impl<T: Plain, M> Clone for Items<'_, T, M> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Plain, M> Copy for Items<'_, T, M> {}

impl<'a, T: Plain, M: Memory> Items<'a, T, M> {
    /// Returns the same items with the loads of live memory: for kernels, which are compiled once
    /// for both kinds.
    #[inline(always)]
    pub fn shared(self) -> Items<'a, T> {
        Items { first: self.first, array: PhantomData }
    }

    /// The address of the first item, for gathers.
    #[inline(always)]
    pub fn as_ptr(self) -> *const T {
        self.first
    }

    /// Copies item `i`; none of its words is replaced at the same time.
    ///
    /// # Safety
    /// The array has an item `i`, and it is not written while a reader can reach it.
    #[inline(always)]
    pub unsafe fn read(self, i: usize) -> T {
        // SAFETY: `i` is an index of the array, so the address lies inside its allocation.
        let item = unsafe { self.first.add(i) };
        // SAFETY: the item is initialised and, by this method's contract, not written.
        unsafe { item.read() }
    }

    /// Loads the word `offset` bytes into item `i`; the writer may be replacing it.
    ///
    /// # Safety
    /// The array has an item `i`, and `offset` is the offset of an aligned word in it.
    #[inline(always)]
    pub unsafe fn load_word(self, i: usize, offset: usize) -> u32 {
        // SAFETY: `i` is an index of the array, so the address lies inside its allocation.
        let item = unsafe { self.first.add(i) };
        let word = item.wrapping_byte_add(offset).cast();
        // SAFETY: `offset` is that of an aligned word inside the item, by this method's contract.
        unsafe { M::load(word) }
    }

    /// Prefetches the cache line of an item, which need not exist.
    #[inline(always)]
    pub fn prefetch(self, i: usize) {
        prefetch_bytes(self.first.wrapping_add(i).cast());
    }
}

impl<T: Single, M: Memory> Items<'_, T, M> {
    /// Loads item `i`, which may be replaced at the same time.
    ///
    /// A reader that loads a published item also sees everything stored before it.
    ///
    /// # Safety
    /// The array has an item `i`.
    #[inline(always)]
    pub unsafe fn load(self, i: usize) -> T {
        // SAFETY: `i` is an index of the array, so the address lies inside its allocation.
        let item = unsafe { self.first.add(i) };
        // SAFETY: `item` is an item of the array.
        unsafe { M::load(item) }
    }
}

/// The kind of memory of a structure's arrays.
pub trait Memory: Copy + Send + Sync + 'static {
    /// An array of this kind.
    type Array<T: Plain>: Readable<T, Kind = Self>;

    /// Whether nothing ever changes, so that a read may cover bytes beside its item.
    const FROZEN: bool;

    /// Loads an item; in live memory it may be replaced at the same time.
    ///
    /// # Safety
    /// `at` is the address of an item, or of a word inside one, of an array of this kind.
    unsafe fn load<T: Single>(at: *const T) -> T;
}

/// The reader's methods of an array of either kind.
pub trait Readable<T: Plain>: Send + Sync + fmt::Debug {
    /// The kind of memory.
    type Kind: Memory;

    /// The address of the items.
    fn items(&self) -> Items<'_, T, Self::Kind>;

    /// Number of items.
    fn count(&self) -> usize;

    /// Number of items that the memory holds; it never grows.
    fn capacity(&self) -> usize;

    /// The allocation.
    fn buffer(&self) -> &Buffer;

    /// Whether the system granted a request for huge pages.
    fn is_huge(&self) -> bool {
        self.buffer().is_huge()
    }
}

/// Memory that never changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrozenMemory;

/// Memory that a writer changes while readers use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveMemory;

impl Memory for FrozenMemory {
    type Array<T: Plain> = Frozen<T>;

    const FROZEN: bool = true;

    #[inline(always)]
    unsafe fn load<T: Single>(at: *const T) -> T {
        // SAFETY: an item of an array is aligned and initialised, and frozen memory never changes.
        unsafe { at.read() }
    }
}

impl Memory for LiveMemory {
    type Array<T: Plain> = Live<T>;

    const FROZEN: bool = false;

    #[inline(always)]
    unsafe fn load<T: Single>(at: *const T) -> T {
        // SAFETY: `at` is the address of an item, by this method's contract.
        unsafe { T::load(at) }
    }
}

/// Words for `count` items and a zero word behind them.
///
/// `None` when memory is short.
///
/// The last item may be shorter than 32 bits; the extra word keeps its gather inside the
/// allocation.
fn allocate<T: Plain>(count: usize, huge: bool) -> Option<Buffer> {
    let words = count.checked_mul(size_of::<T>())?.div_ceil(size_of::<u32>()).checked_add(1)?;
    if huge { Buffer::huge(words) } else { Buffer::zeroed(words) }
}

/// An array that never changes.
pub struct Frozen<T: Plain> {
    buffer: Buffer,
    len: usize,
    item: PhantomData<T>,
}

impl<T: Plain> Frozen<T> {
    /// Copies the items.
    ///
    /// # Errors
    /// When memory is short.
    pub(crate) fn of(items: &[T]) -> Result<Self, OutOfMemory> {
        let mut array = Self::zeroed(items.len())?;
        array.copy_from_slice(items);
        Ok(array)
    }

    /// Zeroed items; pages that are not written take no memory.
    ///
    /// # Errors
    /// When memory is short.
    pub(crate) fn zeroed(len: usize) -> Result<Self, OutOfMemory> {
        Self::allocated(len, false)
    }

    /// Zeroed items in huge pages where the system has any.
    ///
    /// # Errors
    /// When memory is short.
    pub(crate) fn huge(len: usize) -> Result<Self, OutOfMemory> {
        Self::allocated(len, true)
    }

    /// `len` items of an owner's memory, from the byte `offset` on. Nothing is copied.
    ///
    /// `None` when the memory ends before the items and the word behind them, or the first item
    /// does not begin a cache line.
    pub(crate) fn lent(lender: &Arc<dyn Lender>, offset: usize, len: usize) -> Option<Self> {
        let buffer = Buffer::lent(lender, offset, len.checked_mul(size_of::<T>())?)?;
        Some(Self { buffer, len, item: PhantomData })
    }

    fn allocated(len: usize, huge: bool) -> Result<Self, OutOfMemory> {
        let bytes = len.saturating_mul(size_of::<T>()) as u64;
        let buffer = allocate::<T>(len, huge).ok_or(OutOfMemory { bytes })?;
        Ok(Self { buffer, len, item: PhantomData })
    }
}

impl<T: Plain> Readable<T> for Frozen<T> {
    type Kind = FrozenMemory;

    #[inline(always)]
    fn items(&self) -> Items<'_, T, FrozenMemory> {
        Items { first: self.buffer.as_ptr().cast(), array: PhantomData }
    }

    fn count(&self) -> usize {
        self.len
    }

    fn capacity(&self) -> usize {
        self.len
    }

    fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

impl<T: Plain> Deref for Frozen<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the buffer holds `len` items, every bit pattern is one, and the buffer is either owned, and written
        // only through `&mut self`, or lent, and never written.
        unsafe { slice::from_raw_parts(self.buffer.as_ptr().cast(), self.len) }
    }
}

impl<T: Plain> DerefMut for Frozen<T> {
    /// # Panics
    /// When the memory is lent.
    fn deref_mut(&mut self) -> &mut [T] {
        assert!(!self.buffer.is_lent(), "lent memory is read-only");
        // SAFETY: the buffer holds `len` items, every bit pattern is one, it owns its memory
        // (checked above), and `self` is exclusive.
        unsafe { slice::from_raw_parts_mut(self.buffer.as_mut_ptr().cast(), self.len) }
    }
}

impl<T: Plain> Clone for Frozen<T> {
    /// # Panics
    /// When memory is short.
    fn clone(&self) -> Self {
        Self::of(self).expect("memory for another array of the same size")
    }
}

#[cfg(test)]
impl<T: Plain> From<&[T]> for Frozen<T> {
    fn from(items: &[T]) -> Self {
        Self::of(items).unwrap()
    }
}

impl<T: Plain> PartialEq for Frozen<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Plain> Eq for Frozen<T> {}

impl<T: Plain> fmt::Debug for Frozen<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The allocation of a live array and the number of items used.
struct Shared {
    buffer: Buffer,
    capacity: usize,
    len: AtomicUsize,
}

/// The readers' handle on an array that an [`Owner`] changes. It has no slices.
pub struct Live<T: Plain> {
    /// Address of the items: saves readers the load through `shared`.
    first: *const T,
    shared: Arc<Shared>,
}

// SAFETY: readers load replaced items atomically; items that they read otherwise are not written.
unsafe impl<T: Plain> Send for Live<T> {}
// SAFETY: readers load replaced items atomically; items that they read otherwise are not written.
unsafe impl<T: Plain> Sync for Live<T> {}

impl<T: Plain> Live<T> {
    /// An array of these items with capacity for `capacity` in all, and its owner.
    ///
    /// `None` when memory is short.
    pub(crate) fn with_capacity(items: &[T], capacity: usize) -> Option<(Self, Owner<T>)> {
        Self::new(items, capacity, false)
    }

    /// Does the same in huge pages where the system has any.
    pub(crate) fn huge(items: &[T], capacity: usize) -> Option<(Self, Owner<T>)> {
        Self::new(items, capacity, true)
    }

    fn new(items: &[T], capacity: usize, huge: bool) -> Option<(Self, Owner<T>)> {
        let capacity = capacity.max(items.len());
        let buffer = allocate::<T>(capacity, huge)?;
        let shared = Arc::new(Shared { buffer, capacity, len: AtomicUsize::new(items.len()) });
        let mut owner = Owner { shared: shared.clone(), item: PhantomData };
        // SAFETY: the array has no readers yet.
        unsafe { owner.write(0, items) };
        Some((Self { first: shared.buffer.as_ptr().cast(), shared }, owner))
    }
}

impl<T: Plain> Readable<T> for Live<T> {
    type Kind = LiveMemory;

    #[inline(always)]
    fn items(&self) -> Items<'_, T> {
        Items { first: self.first, array: PhantomData }
    }

    /// Number of items used.
    fn count(&self) -> usize {
        self.shared.len.load(Relaxed)
    }

    fn capacity(&self) -> usize {
        self.shared.capacity
    }

    fn buffer(&self) -> &Buffer {
        &self.shared.buffer
    }
}

impl<T: Plain> fmt::Debug for Live<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Live({} items)", self.count())
    }
}

/// The writer's handle on a [`Live`] array; there is one, and only it writes.
///
/// It derefs to the items used; while it changes the array no slice exists.
pub struct Owner<T: Plain> {
    shared: Arc<Shared>,
    item: PhantomData<T>,
}

impl<T: Plain> Owner<T> {
    /// Number of items that the memory holds.
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }

    fn address(&self, i: usize) -> *mut T {
        self.shared.buffer.as_ptr().cast::<T>().wrapping_add(i).cast_mut()
    }

    /// Uses `count` more items, which readers cannot reach yet.
    ///
    /// Returns the first one's index.
    ///
    /// `None` when the capacity is exceeded.
    pub fn extend(&mut self, count: usize) -> Option<usize> {
        let start = self.len();
        let end = start + count;
        if end > self.capacity() {
            return None;
        }
        self.shared.len.store(end, Relaxed);
        Some(start)
    }

    /// Gives up the items from `count` on, which no reader may reach any more.
    pub fn truncate(&mut self, count: usize) {
        let count = count.min(self.len());
        self.shared.len.store(count, Relaxed);
    }

    /// Writes items from `at` on.
    ///
    /// # Safety
    /// No reader can reach these items during the call.
    ///
    /// # Panics
    /// When the items exceed the capacity.
    pub unsafe fn write(&mut self, at: usize, items: &[T]) {
        let end = at.checked_add(items.len());
        assert!(
            end.is_some_and(|end| end <= self.capacity()),
            "items at {at} of {}",
            self.capacity()
        );
        // SAFETY: inside the allocation (checked above); the caller guarantees that no reader
        // reaches the items; `items` cannot be a slice of this array, because `&mut self` is
        // exclusive.
        unsafe { self.address(at).copy_from_nonoverlapping(items.as_ptr(), items.len()) };
    }

    /// Replaces the integer `offset` bytes into item `i` while readers use it.
    ///
    /// A reader that loads the new one also sees everything stored before it.
    ///
    /// # Panics
    /// When the array has no item `i`, or the item no aligned integer of this size at `offset`.
    pub fn publish_inside<I: Single>(&mut self, i: usize, offset: usize, new: I) {
        let inside =
            offset.is_multiple_of(size_of::<I>()) && offset + size_of::<I>() <= size_of::<T>();
        assert!(i < self.capacity() && inside, "item {i} of {}, byte {offset}", self.capacity());
        let at = self.address(i).wrapping_byte_add(offset).cast();
        // SAFETY: an aligned integer inside an item (checked above); `self` is the owner.
        unsafe { I::publish(at, new) };
    }
}

impl<T: Single> Owner<T> {
    /// Replaces item `i` while readers use it.
    ///
    /// A reader that loads the new item also sees everything stored before it.
    ///
    /// # Panics
    /// When the array has no item `i`.
    pub fn publish(&mut self, i: usize, item: T) {
        assert!(i < self.capacity(), "item {i} of {}", self.capacity());
        // SAFETY: `i` is below the capacity (checked above); `self` is the owner.
        unsafe { T::publish(self.address(i), item) };
    }
}

impl Owner<u8> {
    /// Replaces the integer at byte `at` while readers use it.
    ///
    /// # Panics
    /// When the array has no such bytes, or the integer is not aligned.
    pub fn publish_number<I: Single>(&mut self, at: usize, new: I) {
        let inside = at.is_multiple_of(size_of::<I>()) && at + size_of::<I>() <= self.capacity();
        assert!(inside, "byte {at} of {}", self.capacity());
        // SAFETY: an aligned integer inside the array (checked above); `self` is the owner.
        unsafe { I::publish(self.address(at).cast(), new) };
    }
}

impl<T: Plain> Deref for Owner<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let len = self.shared.len.load(Relaxed);
        // SAFETY: the buffer holds `len` items and every bit pattern is one; only the owner writes,
        // and it is borrowed.
        unsafe { slice::from_raw_parts(self.shared.buffer.as_ptr().cast(), len) }
    }
}

impl<T: Plain> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The bytes of items, in the machine's order.
pub(crate) fn bytes_of<T: Plain>(items: &[T]) -> &[u8] {
    // SAFETY: the slice has as many initialised bytes: its type has no padding.
    unsafe { slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

#[cfg(test)]
mod tests;
