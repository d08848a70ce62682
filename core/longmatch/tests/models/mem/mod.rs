//! The items that the included modules import from `crate::mem`. The checker observes the items of an array
//! that readers load; these have to be named before the readers start.

#[path = "../../../src/mem/published.rs"]
pub mod published;
#[path = "../../../src/mem/retired.rs"]
mod retired;
#[path = "../../../src/mem/usage.rs"]
mod usage;

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use retired::RetireList;
pub(crate) use usage::MemoryUsage;

pub(crate) use crate::sync;
use crate::sync::{AtomicU32, Cell};

pub(crate) const LINE: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OutOfMemory {
    pub bytes: u64,
}

pub trait Plain: Copy + Eq + Default + fmt::Debug + Into<u32> + Send + Sync + 'static {}
impl Plain for u8 {}
impl Plain for u16 {}
impl Plain for u32 {}

/// An item that readers load.
struct Observed {
    /// Its value, for loads and for [`Owner::publish`].
    word: AtomicU32,
    /// Detects a load during [`Owner::write`].
    written: Cell<()>,
}

struct Array<T> {
    /// Items as the writer reads them. Their place does not change: the whole capacity is allocated, but it is not
    /// filled, which took most of the time of a schedule.
    items: UnsafeCell<Vec<T>>,
    capacity: usize,
    len: AtomicUsize,
    observed: UnsafeCell<HashMap<usize, Observed>>,
    /// Counts writes and plain reads, so that the checker switches threads there. To count reads the
    /// latest value, so that the checker need not try older ones, which a plain load may return.
    bytes: AtomicU32,
}

// SAFETY: the checker runs one thread at a time, and switches threads only where one uses an atomic:
// never while a reference into a cell exists.
unsafe impl<T: Send> Send for Array<T> {}
// SAFETY: the same.
unsafe impl<T: Send> Sync for Array<T> {}

impl<T: Plain> Array<T> {
    fn new(items: &[T], capacity: usize) -> Arc<Self> {
        let capacity = capacity.max(items.len());
        let mut all = Vec::with_capacity(capacity);
        all.extend_from_slice(items);
        Arc::new(Self {
            items: UnsafeCell::new(all),
            capacity,
            len: AtomicUsize::new(items.len()),
            observed: UnsafeCell::default(),
            bytes: AtomicU32::new(0),
        })
    }

    fn slice(&self) -> &[T] {
        // SAFETY: only the owner writes, and it is borrowed.
        let items = unsafe { &*self.items.get() };
        &items[..self.len.load(Relaxed)]
    }

    fn set(&self, i: usize, item: T) {
        // SAFETY: no reference exists (see `Array`).
        unsafe { (&mut *self.items.get())[i] = item };
    }

    fn observed(&self, i: usize) -> Option<&Observed> {
        // SAFETY: items are added before readers start.
        let observed = unsafe { &*self.observed.get() };
        if observed.is_empty() { None } else { observed.get(&i) }
    }
}

pub trait Memory: Copy + fmt::Debug + Send + Sync + 'static {
    type Array<T: Plain>: Readable<T, Kind = Self>;
    const FROZEN: bool;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrozenMemory;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveMemory;

impl Memory for FrozenMemory {
    type Array<T: Plain> = Frozen<T>;
    const FROZEN: bool = true;
}

impl Memory for LiveMemory {
    type Array<T: Plain> = Live<T>;
    const FROZEN: bool = false;
}

pub trait Readable<T: Plain>: Send + Sync + fmt::Debug {
    type Kind: Memory;

    fn items(&self) -> Items<'_, T, Self::Kind>;

    fn count(&self) -> usize {
        self.items().array.slice().len()
    }

    fn is_huge(&self) -> bool {
        false
    }
}

#[derive(Debug)]
pub struct Items<'a, T: Plain, M = LiveMemory> {
    array: &'a Array<T>,
    kind: PhantomData<M>,
}

impl<T: Plain, M> Clone for Items<'_, T, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Plain, M> Copy for Items<'_, T, M> {}

impl<'a, T: Plain, M: Memory> Items<'a, T, M> {
    pub fn shared(self) -> Items<'a, T> {
        Items { array: self.array, kind: PhantomData }
    }

    pub fn as_ptr(self) -> *const T {
        self.array.bytes.fetch_add(1, Relaxed);
        // SAFETY: no reference exists (see `Array`).
        unsafe { (*self.array.items.get()).as_ptr() }
    }
}

impl<M: Memory> Items<'_, u32, M> {
    /// # Safety
    /// None; as in the library.
    pub unsafe fn load(self, i: usize) -> u32 {
        let Some(item) = self.array.observed(i) else { panic!("item {i} is not observed") };
        item.written.get();
        published::load(&item.word)
    }
}

#[derive(Debug)]
pub struct Frozen<T: Plain>(Arc<Array<T>>);

impl<T: Plain> Frozen<T> {
    pub fn of(items: &[T]) -> Result<Self, OutOfMemory> {
        Ok(Self(Array::new(items, 0)))
    }

    pub fn zeroed(len: usize) -> Result<Self, OutOfMemory> {
        Self::of(&vec![T::default(); len])
    }

    pub fn huge(len: usize) -> Result<Self, OutOfMemory> {
        Self::zeroed(len)
    }
}

impl<T: Plain> Deref for Frozen<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.slice()
    }
}

impl<T: Plain> DerefMut for Frozen<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: a frozen array has one handle, which is borrowed exclusively.
        unsafe { &mut *self.0.items.get() }
    }
}

/// The readers' handle.
#[derive(Debug)]
pub struct Live<T: Plain>(Arc<Array<T>>);

/// The writer's handle.
#[derive(Debug)]
pub struct Owner<T: Plain>(Arc<Array<T>>);

impl<T: Plain> Live<T> {
    pub fn with_capacity(items: &[T], capacity: usize) -> Option<(Self, Owner<T>)> {
        let array = Array::new(items, capacity);
        Some((Self(array.clone()), Owner(array)))
    }

    pub fn huge(items: &[T], capacity: usize) -> Option<(Self, Owner<T>)> {
        Self::with_capacity(items, capacity)
    }
}

impl Live<u32> {
    /// Names items that readers may load, before they start.
    pub fn observe(&self, items: impl IntoIterator<Item = usize>) {
        // SAFETY: no reader exists.
        let observed = unsafe { &mut *self.0.observed.get() };
        // SAFETY: no reader exists.
        let values = unsafe { &*self.0.items.get() };
        for i in items {
            observed.entry(i).or_insert_with(|| Observed {
                word: AtomicU32::new(values.get(i).copied().unwrap_or_default()),
                written: Cell::new(()),
            });
        }
    }
}

impl<T: Plain> Readable<T> for Frozen<T> {
    type Kind = FrozenMemory;

    fn items(&self) -> Items<'_, T, FrozenMemory> {
        Items { array: &self.0, kind: PhantomData }
    }
}

impl<T: Plain> Readable<T> for Live<T> {
    type Kind = LiveMemory;

    fn items(&self) -> Items<'_, T> {
        Items { array: &self.0, kind: PhantomData }
    }
}

impl<T: Plain> Owner<T> {
    pub fn extend(&mut self, count: usize) -> Option<usize> {
        let start = self.len();
        if start + count > self.0.capacity {
            return None;
        }
        // SAFETY: no reference exists (see `Array`).
        unsafe { (&mut *self.0.items.get()).resize(start + count, T::default()) };
        self.0.len.store(start + count, Relaxed);
        Some(start)
    }

    /// # Safety
    /// As in the library; the checker tests it.
    pub unsafe fn write(&mut self, at: usize, items: &[T]) {
        _ = self.0.bytes.fetch_add(1, Relaxed);
        for (i, item) in (at..).zip(items) {
            self.0.set(i, *item);
            if let Some(observed) = self.0.observed(i) {
                observed.written.set(());
                observed.word.store((*item).into(), Relaxed);
            }
        }
    }
}

impl<T: Plain> Owner<T> {
    pub fn publish(&mut self, i: usize, item: T) {
        match self.0.observed(i) {
            Some(observed) => published::publish(&observed.word, item.into()),
            None => _ = self.0.bytes.fetch_add(1, Relaxed),
        }
        self.0.set(i, item);
    }
}

impl Owner<u8> {
    pub fn publish_number<I: Plain>(&mut self, at: usize, new: I) {
        _ = self.0.bytes.fetch_add(1, Relaxed);
        for (i, byte) in (at..).zip(bytes_of(&[new])) {
            self.0.set(i, *byte);
        }
    }
}

pub(crate) fn bytes_of<T: Plain>(items: &[T]) -> &[u8] {
    // SAFETY: `u8`, `u16` and `u32` have no padding.
    unsafe { core::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

impl<T: Plain> Deref for Owner<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.slice()
    }
}

impl<T: Plain> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} items", self.slice().len())
    }
}
