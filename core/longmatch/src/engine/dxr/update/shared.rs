//! Objects that are stored once and shared by reference.
//!
//! These are chunks in the range table and blocks in the second level of a direct table.

use alloc::collections::BTreeMap;
use core::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Objects by content, with reference counts. An object is identified by a number: a chunk by its
/// direct entry, a block by its index.
#[derive(Default)]
pub(super) struct Shared {
    hasher: DefaultHashBuilder,
    /// The objects, by the hash of their contents.
    by_content: HashTable<u32>,
    /// The objects by number, so chunks in the order of the range table.
    objects: BTreeMap<u32, Object>,
}

#[derive(Clone, Copy)]
struct Object {
    /// Hash of the contents.
    hash: u64,
    references: u32,
    /// Where the latest reference was added.
    place: u32,
}

impl Shared {
    /// Hashes contents.
    pub fn hash<T: Hash>(&self, contents: &[T]) -> u64 {
        self.hasher.hash_one(contents)
    }

    /// Hashes items in any order, so that some can be added and removed.
    pub fn sum<T: Hash>(&self, contents: &[T]) -> u64 {
        contents.iter().fold(0, |sum, item| sum.wrapping_add(self.hasher.hash_one(item)))
    }

    /// The hash under which an object is stored.
    pub fn hash_of(&self, object: u32) -> Option<u64> {
        self.objects.get(&object).map(|known| known.hash)
    }

    /// Finds the object of this hash that `is` accepts.
    pub fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        self.by_content.find(hash, |object| is(*object)).copied()
    }

    /// Adds an object without references.
    pub fn insert(&mut self, object: u32, hash: u64) {
        let Self { by_content, objects, .. } = self;
        by_content.insert_unique(hash, object, |other| objects[other].hash);
        objects.insert(object, Object { hash, references: 0, place: 0 });
    }

    /// Removes an object.
    pub fn remove(&mut self, object: u32) {
        let Some(Object { hash, .. }) = self.objects.remove(&object) else { return };
        if let Ok(found) = self.by_content.find_entry(hash, |other| *other == object) {
            found.remove();
        }
    }

    /// The objects from a number on, in order.
    pub fn from(&self, first: u32) -> impl DoubleEndedIterator<Item = u32> {
        self.objects.range(first..).map(|(object, _)| *object)
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// The place of the only reference to an object; `None` if there are several. The reference may
    /// have been at another place, if there were several before.
    pub fn only_place(&self, object: u32) -> Option<u32> {
        self.objects.get(&object).filter(|known| known.references == 1).map(|known| known.place)
    }

    /// Adds a reference at a place; returns whether the object exists.
    pub fn refer(&mut self, object: u32, place: u32) -> bool {
        let Some(found) = self.objects.get_mut(&object) else { return false };
        found.references += 1;
        found.place = place;
        true
    }

    /// Removes a reference; returns whether it was the last. The object goes with it.
    pub fn release(&mut self, object: u32) -> bool {
        let found = self.objects.get_mut(&object).expect("referenced objects exist");
        found.references -= 1;
        let last = found.references == 0;
        if last {
            self.remove(object);
        }
        last
    }

    /// Whether these are all objects and references, found by their contents' hash.
    pub fn agrees(&self, references: &BTreeMap<u32, u32>, hash: impl Fn(u32) -> u64) -> bool {
        self.objects.len() == references.len()
            && self.by_content.len() == references.len()
            && references.iter().all(|(object, count)| {
                let known = self.objects.get(object).map(|known| (known.hash, known.references));
                let hash = hash(*object);
                known == Some((hash, *count)) && self.find(hash, |other| other == *object).is_some()
            })
    }
}
