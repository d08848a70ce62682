//! Next hops: small ids inside the engines, values of any type outside.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::num::NonZeroU32;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The id of a next hop, as engines store it and lookups return it.
///
/// Never zero, so that `Option<NextHopId>` is one `u32` in memory with 0 for "no route": a batch of
/// answers is a plain array of `u32`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct NextHopId(NonZeroU32);

const _: () = assert!(size_of::<Option<NextHopId>>() == 4);

impl NextHopId {
    /// The id with this number; `None` for 0.
    #[inline(always)]
    pub const fn new(id: u32) -> Option<Self> {
        match NonZeroU32::new(id) {
            Some(id) => Some(Self(id)),
            None => None,
        }
    }

    /// The number, at least 1.
    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// The number of an id, or 0 for `None`: the form in which engines store answers.
    #[inline(always)]
    pub const fn to_raw(id: Option<Self>) -> u32 {
        match id {
            Some(id) => id.get(),
            None => 0,
        }
    }

    fn index(self) -> usize {
        self.get() as usize - 1
    }
}

impl fmt::Debug for NextHopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.get())
    }
}

impl fmt::Display for NextHopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// Cuts `out` to the length of `addrs`.
///
/// # Panics
/// When it is shorter.
pub(crate) fn answers_for<'o, A, B>(addrs: &[A], out: &'o mut [B]) -> &'o mut [B] {
    capacity_for(addrs.len(), out)
}

/// Cuts `out` to as many answers as are needed.
///
/// # Panics
/// When it is shorter.
pub(crate) fn capacity_for<B>(need: usize, out: &mut [B]) -> &mut [B] {
    let have = out.len();
    assert!(have >= need, "the output holds {have} answers, but there are {need} addresses");
    &mut out[..need]
}

/// Values and their ids, with reference counts.
///
/// Equal values share an id; ids are numbered densely from 1. A value without references is
/// *retired*: it keeps its id, so that a reader that still holds the id finds the value, until
/// [`NextHops::reclaim`] frees the retired ids for reuse.
///
/// Acquiring and releasing take O(1) expected time; memory is O(values).
#[derive(Clone)]
pub struct NextHops<T> {
    entries: Vec<Option<Entry<T>>>,
    /// Ids without a value.
    free: Vec<NextHopId>,
    /// Ids whose count has dropped to zero; `reclaim` skips those acquired again since.
    retired: Vec<NextHopId>,
    by_value: HashTable<NextHopId>,
    hasher: DefaultHashBuilder,
    limit: usize,
}

#[derive(Clone)]
struct Entry<T> {
    value: T,
    references: usize,
    /// The value's hash, where equal values share the id; `None` for a distinct value.
    hash: Option<u64>,
}

impl<T> Default for NextHops<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> NextHops<T> {
    /// An empty set of values, with as many ids as a `u32` can number.
    pub fn new() -> Self {
        Self::with_limit(u32::MAX as usize)
    }

    /// An empty set of values that never holds more than `limit` of them.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            retired: Vec::new(),
            by_value: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            limit: limit.min(u32::MAX as usize),
        }
    }

    /// The value of an id, retired or not.
    pub fn get(&self, id: NextHopId) -> Option<&T> {
        Some(&self.entries.get(id.index())?.as_ref()?.value)
    }

    /// Number of values held, retired ones included.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether no value is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every id with its value, in order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (NextHopId, &T)> {
        let ids = (1..=u32::MAX).filter_map(NextHopId::new);
        ids.zip(&self.entries).filter_map(|(id, entry)| Some((id, &entry.as_ref()?.value)))
    }

    /// Gives the value an id of its own, not shared with equal values.
    ///
    /// For types that cannot be hashed or compared.
    ///
    /// # Errors
    /// When every id is in use; nothing changes then.
    pub fn acquire_distinct(&mut self, value: T) -> Result<NextHopId, NextHopsFull> {
        self.store(Entry { value, references: 1, hash: None })
    }

    fn store(&mut self, entry: Entry<T>) -> Result<NextHopId, NextHopsFull> {
        if let Some(id) = self.free.pop() {
            self.entries[id.index()] = Some(entry);
            return Ok(id);
        }
        if self.entries.len() >= self.limit {
            return Err(NextHopsFull { limit: self.limit });
        }
        self.entries.push(Some(entry));
        let id = NextHopId::new(self.entries.len() as u32);
        Ok(id.expect("the list has just grown, so its length is not zero"))
    }

    /// Drops one reference to an id; without references the value is retired.
    ///
    /// # Panics
    /// When the id has no reference: releases then outnumber acquisitions.
    pub fn release(&mut self, id: NextHopId) {
        let entry = self.entries.get_mut(id.index()).and_then(Option::as_mut);
        let entry = entry.filter(|entry| entry.references > 0);
        let entry = entry.expect("a next hop was released more often than acquired");
        entry.references -= 1;
        if entry.references == 0 {
            self.retired.push(id);
        }
    }

    /// Frees the retired ids for reuse and drops their values. O(retired).
    ///
    /// Call it when no reader can still hold a retired id.
    pub fn reclaim(&mut self) {
        while let Some(id) = self.retired.pop() {
            // An id that was acquired and released again is in the list twice.
            drop(self.free(id));
        }
    }

    /// Drains the ids whose count has dropped to zero since the last call.
    ///
    /// They are retired unless they were acquired again. The caller frees them.
    pub(crate) fn drain_retired(&mut self) -> impl Iterator<Item = NextHopId> {
        self.retired.drain(..)
    }

    /// Frees an id without references for reuse, and returns its value.
    pub(crate) fn free(&mut self, id: NextHopId) -> Option<T> {
        let slot = &mut self.entries[id.index()];
        let entry = slot.take_if(|entry| entry.references == 0)?;
        if let Some(hash) = entry.hash
            && let Ok(found) = self.by_value.find_entry(hash, |other| *other == id)
        {
            found.remove();
        }
        self.free.push(id);
        Some(entry.value)
    }

    /// Every id with references, its value, and whether equal values share the id.
    pub(crate) fn into_values(self) -> impl Iterator<Item = (NextHopId, T, bool)> {
        let ids = (1..=u32::MAX).filter_map(NextHopId::new);
        let held = |entry: &Entry<T>| entry.references > 0;
        ids.zip(self.entries).filter_map(move |(id, entry)| {
            let entry = entry.filter(held)?;
            Some((id, entry.value, entry.hash.is_some()))
        })
    }

    /// Replaces the values of all ids.
    ///
    /// A new value must hash and compare like the old one.
    pub(crate) fn map<U>(self, mut other: impl FnMut(NextHopId, T) -> U) -> NextHops<U> {
        let Self { entries, free, retired, by_value, hasher, limit } = self;
        let ids = (1..=u32::MAX).filter_map(NextHopId::new);
        let entries = ids.zip(entries).map(|(id, entry)| {
            let Entry { value, references, hash } = entry?;
            Some(Entry { value: other(id, value), references, hash })
        });
        NextHops { entries: entries.collect(), free, retired, by_value, hasher, limit }
    }

    /// Adds a reference to an id that has a value.
    ///
    /// # Panics
    /// When the id has no value.
    pub fn retain(&mut self, id: NextHopId) {
        let entry = self.entries.get_mut(id.index()).and_then(Option::as_mut);
        entry.expect("the retained id has no value").references += 1;
    }
}

impl<T: Hash + Eq> NextHops<T> {
    /// Adds a reference to the value's id, giving a new value an id first.
    ///
    /// A new value takes a free id, or the lowest number never used.
    ///
    /// # Errors
    /// When the value is new and every id is in use; nothing changes then.
    pub fn acquire(&mut self, value: T) -> Result<NextHopId, NextHopsFull> {
        match self.find(&value) {
            Some(id) => {
                self.retain(id);
                Ok(id)
            }
            None => self.store_shared(value),
        }
    }

    /// Does the same from a borrowed value, which is copied only if it is new.
    ///
    /// # Errors
    /// When the value is new and every id is in use; nothing changes then.
    pub fn acquire_borrowed<Q>(&mut self, value: &Q) -> Result<NextHopId, NextHopsFull>
    where
        T: Borrow<Q> + for<'q> From<&'q Q>,
        Q: Hash + Eq + ?Sized,
    {
        match self.find(value) {
            Some(id) => {
                self.retain(id);
                Ok(id)
            }
            None => self.store_shared(T::from(value)),
        }
    }

    /// The id that equal values share, if the value has one.
    pub fn find<Q>(&self, value: &Q) -> Option<NextHopId>
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hasher.hash_one(value);
        self.by_value.find(hash, |id| self.get(*id).map(Borrow::borrow) == Some(value)).copied()
    }

    fn store_shared(&mut self, value: T) -> Result<NextHopId, NextHopsFull> {
        let hash = self.hasher.hash_one(&value);
        let id = self.store(Entry { value, references: 1, hash: Some(hash) })?;
        let Self { entries, by_value, .. } = self;
        let stored = |id: &NextHopId| entries[id.index()].as_ref().and_then(|entry| entry.hash);
        by_value.insert_unique(hash, id, |id| stored(id).expect("indexed values have a hash"));
        Ok(id)
    }
}

impl<T: fmt::Debug> fmt::Debug for NextHops<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Every next-hop id allowed by the limit is in use; nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NextHopsFull {
    /// The limit, in distinct next hops.
    pub limit: usize,
}

impl fmt::Display for NextHopsFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no next-hop id is free: the limit is {} next hops", self.limit)
    }
}

impl core::error::Error for NextHopsFull {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn equal_values_share_an_id() {
        let mut hops = NextHops::new();
        let a = hops.acquire(String::from("a")).unwrap();
        let b = hops.acquire(String::from("b")).unwrap();
        assert_eq!((a.get(), b.get()), (1, 2));
        assert_eq!(hops.acquire_borrowed("a").unwrap(), a);
        assert_eq!(hops.find("b"), Some(b));
        assert_eq!(hops.find("c"), None);
        assert_eq!(hops.len(), 2);
    }

    #[test]
    fn retired_ids_keep_their_value_until_reclaimed() {
        let mut hops = NextHops::new();
        let a = hops.acquire(10).unwrap();
        hops.release(a);
        assert_eq!(hops.get(a), Some(&10));
        assert_eq!(hops.acquire(11).unwrap().get(), 2, "a retired id is not reused");
        hops.reclaim();
        assert_eq!(hops.get(a), None);
        assert_eq!(hops.acquire(12).unwrap(), a, "a reclaimed id is reused");
        assert_eq!(hops.find(&10), None);
    }

    #[test]
    fn a_retired_value_can_be_revived() {
        let mut hops = NextHops::new();
        let a = hops.acquire(10).unwrap();
        for _ in 0..3 {
            hops.release(a);
            assert_eq!(hops.acquire(10).unwrap(), a);
        }
        hops.reclaim();
        assert_eq!(hops.get(a), Some(&10));
        hops.release(a);
        hops.reclaim();
        assert!(hops.is_empty());
    }

    /// D5 and the row "ids exhausted": `n` of `n` ids are usable, then an error changes nothing.
    #[test]
    fn every_id_up_to_the_limit_is_usable() {
        let mut hops = NextHops::with_limit(3);
        for value in 0..3 {
            hops.acquire(value).unwrap();
        }
        assert_eq!(hops.acquire(3), Err(NextHopsFull { limit: 3 }));
        assert_eq!(hops.len(), 3);
        assert_eq!(hops.acquire(1).unwrap().get(), 2, "known values are still found");
    }

    #[test]
    fn distinct_values_need_no_hash() {
        let mut hops = NextHops::new();
        let a = hops.acquire_distinct(1.5).unwrap();
        let b = hops.acquire_distinct(1.5).unwrap();
        assert_ne!(a, b);
        assert_eq!(hops.get(b), Some(&1.5));
    }

    #[test]
    #[should_panic(expected = "released more often")]
    fn releasing_twice_panics() {
        let mut hops = NextHops::new();
        let a = hops.acquire(1).unwrap();
        hops.release(a);
        hops.release(a);
    }
}
