//! Objects that are stored once and shared by reference.
//!
//! These are chunks in the range table and blocks in the second level of a direct table.

use alloc::collections::BTreeMap;
use core::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

/// Objects by content, with reference counts. An object is identified by a number: a chunk by its
/// direct entry, a block by its index.
#[derive(Default)]
pub(super) struct Shared {
    hasher: DefaultHashBuilder,
    /// The objects, by the hash of their contents.
    by_content: HashTable<u32>,
    objects: HashMap<u32, Object>,
}

#[derive(Clone, Copy)]
struct Object {
    /// Hash of the contents.
    hash: u64,
    references: u32,
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
        objects.insert(object, Object { hash, references: 0 });
    }

    /// Removes an object.
    pub fn remove(&mut self, object: u32) {
        let Some(Object { hash, .. }) = self.objects.remove(&object) else { return };
        if let Ok(found) = self.by_content.find_entry(hash, |other| *other == object) {
            found.remove();
        }
    }

    /// Adds a reference; returns whether the object exists.
    pub fn refer(&mut self, object: u32) -> bool {
        let found = self.objects.get_mut(&object);
        found.map(|found| found.references += 1).is_some()
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
