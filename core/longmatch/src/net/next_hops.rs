//! The values of next hops: small ids inside the engines, values of any type outside.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::next_hop::NextHopId;

/// Values and their ids, with reference counts.
///
/// Equal values share an id; ids are numbered densely from 1. A value without references is
/// *retired*: it keeps its id, so that a reader that still holds the id finds the value, until
/// [`NextHops::reclaim`] frees the retired ids for reuse.
///
/// Acquiring and releasing take O(1) expected time; memory is O(values).
///
/// ```
/// use longmatch::NextHops;
/// let mut hops = NextHops::new();
/// let [a, b] = [hops.acquire("a")?, hops.acquire("b")?];
/// assert_eq!(hops.acquire("a")?, a);
/// assert_eq!((hops.get(b), hops.len()), (Some(&"b"), 2));
///
/// hops.release(b);
/// assert_eq!(hops.get(b), Some(&"b")); // retired
/// hops.reclaim();
/// assert_eq!(hops.get(b), None);
/// # Ok::<(), longmatch::NextHopsFull>(())
/// ```
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
    /// The value's hash if it is shared.
    hash: u64,
    references: u32,
    /// Whether equal values share the id, which is then in `by_value`; else the value is distinct.
    shared: bool,
}

impl<T> Default for NextHops<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> NextHops<T> {
    /// An empty set of values, with as many ids as a `u32` can number.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(u32::MAX as usize)
    }

    /// An empty set of values that never holds more than `limit` of them.
    #[must_use]
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
    #[must_use]
    pub fn get(&self, id: NextHopId) -> Option<&T> {
        Some(&self.entries.get(id.index())?.as_ref()?.value)
    }

    /// Number of values held, retired ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether no value is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every id with its value, in order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (NextHopId, &T)> {
        let ids = (1..=u32::MAX).filter_map(NextHopId::new);
        ids.zip(&self.entries).filter_map(|(id, entry)| Some((id, &entry.as_ref()?.value)))
    }

    /// Gives the value its own id, not shared with equal values.
    ///
    /// For types that cannot be hashed or compared.
    ///
    /// # Errors
    /// When every id is in use; nothing changes then.
    pub fn acquire_distinct(&mut self, value: T) -> Result<NextHopId, NextHopsFull> {
        self.store(Entry { value, hash: 0, references: 1, shared: false })
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
        if entry.shared {
            self.remove_from_index(id, entry.hash);
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
            Some((id, entry.value, entry.shared))
        })
    }

    /// Replaces the values of all ids.
    ///
    /// A new value must hash and compare like the old one.
    pub(crate) fn map<U>(self, mut other: impl FnMut(NextHopId, T) -> U) -> NextHops<U> {
        let Self { entries, free, retired, by_value, hasher, limit } = self;
        let ids = (1..=u32::MAX).filter_map(NextHopId::new);
        let entries = ids.zip(entries).map(|(id, entry)| {
            let Entry { value, hash, references, shared } = entry?;
            Some(Entry { value: other(id, value), hash, references, shared })
        });
        NextHops { entries: entries.collect(), free, retired, by_value, hasher, limit }
    }

    /// Adds a reference to an id that has a value.
    ///
    /// # Panics
    /// When the id has no value, or as many references as a `u32` can count.
    pub fn retain(&mut self, id: NextHopId) {
        let entry = self.entries.get_mut(id.index()).and_then(Option::as_mut);
        let entry = entry.expect("the retained id has no value");
        entry.references = entry.references.checked_add(1).expect("too many references to an id");
    }

    /// Drops one reference to an id and returns its value: a copy if references are left.
    pub(crate) fn take(&mut self, id: NextHopId) -> Option<T>
    where
        T: Clone,
    {
        let entry = self.entries.get_mut(id.index())?.as_mut()?;
        if entry.references > 1 {
            let value = entry.value.clone();
            entry.references -= 1;
            return Some(value);
        }
        entry.references = 0;
        self.free(id)
    }

    /// Frees all ids and drops all values.
    pub(crate) fn clear(&mut self) {
        *self = Self::with_limit(self.limit);
    }

    /// Reserves memory for this many more values.
    pub(crate) fn reserve(&mut self, additional: usize) {
        let Self { entries, by_value, .. } = self;
        entries.reserve(additional);
        by_value.reserve(additional, |id| stored_hash(entries, *id));
    }

    /// Gives the holder of one reference to an id a separate value; returns its id.
    ///
    /// It is the same id if there are no other references.
    ///
    /// # Errors
    /// When a copy is needed and every id is in use; nothing changes then.
    pub(crate) fn make_distinct(&mut self, id: NextHopId) -> Result<NextHopId, NextHopsFull>
    where
        T: Clone,
    {
        let entry = self.entries.get_mut(id.index()).and_then(Option::as_mut);
        let entry = entry.expect("the id has a value");
        if entry.references > 1 {
            let copy = entry.value.clone();
            let own = self.acquire_distinct(copy)?;
            self.release(id);
            return Ok(own);
        }
        if core::mem::take(&mut entry.shared) {
            let hash = entry.hash;
            self.remove_from_index(id, hash);
        }
        Ok(id)
    }

    /// Whether equal values share the id.
    pub(crate) fn is_shared(&self, id: NextHopId) -> bool {
        self.entries.get(id.index()).and_then(Option::as_ref).is_some_and(|entry| entry.shared)
    }

    /// The value of an id that equal values do not share; `None` for any other id.
    pub(crate) fn distinct_mut(&mut self, id: NextHopId) -> Option<&mut T> {
        let entry = self.entries.get_mut(id.index())?.as_mut()?;
        (!entry.shared).then_some(&mut entry.value)
    }

    #[cfg(test)]
    pub(crate) fn references(&self, id: NextHopId) -> u32 {
        self.entries[id.index()].as_ref().map_or(0, |entry| entry.references)
    }

    fn remove_from_index(&mut self, id: NextHopId, hash: u64) {
        if let Ok(found) = self.by_value.find_entry(hash, |other| *other == id) {
            found.remove();
        }
    }
}

/// The hash of a shared value.
fn stored_hash<T>(entries: &[Option<Entry<T>>], id: NextHopId) -> u64 {
    entries[id.index()].as_ref().expect("an indexed id has a value").hash
}

impl<T: Hash + Eq> NextHops<T> {
    /// Adds a reference to the value's id, giving a new value an id first.
    ///
    /// A new value takes a free id, or the lowest number never used.
    ///
    /// ```
    /// use longmatch::NextHops;
    /// let mut hops = NextHops::new();
    /// assert_eq!(hops.acquire("a")?, hops.acquire("a")?);
    /// # Ok::<(), longmatch::NextHopsFull>(())
    /// ```
    ///
    /// # Errors
    /// When the value is new and every id is in use; nothing changes then.
    pub fn acquire(&mut self, value: T) -> Result<NextHopId, NextHopsFull> {
        let hash = self.hasher.hash_one(&value);
        match self.find_hashed(&value, hash) {
            Some(id) => {
                self.retain(id);
                Ok(id)
            }
            None => self.store_shared(value, hash),
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
        self.acquire_or(value, |value| T::from(value))
    }

    /// Does the same from a reference, which is cloned only if the value is new.
    ///
    /// # Errors
    /// When the value is new and every id is in use; nothing changes then.
    pub(crate) fn acquire_cloned(&mut self, value: &T) -> Result<NextHopId, NextHopsFull>
    where
        T: Clone,
    {
        self.acquire_or(value, T::clone)
    }

    fn acquire_or<Q>(
        &mut self,
        value: &Q,
        own: impl FnOnce(&Q) -> T,
    ) -> Result<NextHopId, NextHopsFull>
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hasher.hash_one(value);
        match self.find_hashed(value, hash) {
            Some(id) => {
                self.retain(id);
                Ok(id)
            }
            None => self.store_shared(own(value), hash),
        }
    }

    /// The id that equal values share, if the value has one.
    #[must_use]
    pub fn find<Q>(&self, value: &Q) -> Option<NextHopId>
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.find_hashed(value, self.hasher.hash_one(value))
    }

    /// Lets equal values share a distinct id; returns the id that they share.
    ///
    /// The reference to the distinct id becomes one to the returned id.
    pub(crate) fn make_shared(&mut self, id: NextHopId) -> NextHopId {
        let value = self.get(id).expect("the id has a value");
        let hash = self.hasher.hash_one(value);
        if let Some(equal) = self.find_hashed(value, hash) {
            self.retain(equal);
            self.release(id);
            return equal;
        }
        self.share(id, hash);
        id
    }

    fn find_hashed<Q>(&self, value: &Q, hash: u64) -> Option<NextHopId>
    where
        T: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        self.by_value.find(hash, |id| self.get(*id).map(Borrow::borrow) == Some(value)).copied()
    }

    fn store_shared(&mut self, value: T, hash: u64) -> Result<NextHopId, NextHopsFull> {
        let id = self.store(Entry { value, hash, references: 1, shared: false })?;
        self.share(id, hash);
        Ok(id)
    }

    /// Adds a distinct id to the index.
    fn share(&mut self, id: NextHopId, hash: u64) {
        let Self { entries, by_value, .. } = self;
        if let Some(entry) = &mut entries[id.index()] {
            (entry.hash, entry.shared) = (hash, true);
        }
        by_value.insert_unique(hash, id, |id| stored_hash(entries, *id));
    }
}

impl<T: fmt::Debug> fmt::Debug for NextHops<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Every next-hop id allowed by the limit is in use; nothing was changed.
///
/// ```
/// use longmatch::NextHops;
/// let refused = NextHops::with_limit(0).acquire("a").unwrap_err();
/// assert_eq!(refused.limit, 0);
/// ```
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
