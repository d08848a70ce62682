//! What is stored once, however many refer to it: chunks in the range table, blocks in the second
//! level of a direct table.

use alloc::collections::BTreeMap;
use core::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

/// Things by their contents, with the number of references to each. A thing is called by a number:
/// a chunk by its direct entry, a block by its index.
#[derive(Default)]
pub(super) struct Shared {
    hasher: DefaultHashBuilder,
    /// The things, by the hashes of their contents.
    by_content: HashTable<u32>,
    things: HashMap<u32, Thing>,
}

#[derive(Clone, Copy)]
struct Thing {
    /// Of the contents.
    hash: u64,
    references: u32,
}

impl Shared {
    /// The hash of contents.
    pub fn hash<T: Hash>(&self, contents: &[T]) -> u64 {
        self.hasher.hash_one(contents)
    }

    /// The same of things in any order, so that some can be added and taken away.
    pub fn sum<T: Hash>(&self, contents: &[T]) -> u64 {
        contents.iter().fold(0, |sum, item| sum.wrapping_add(self.hasher.hash_one(item)))
    }

    /// The hash by which a thing is known.
    pub fn hash_of(&self, thing: u32) -> Option<u64> {
        self.things.get(&thing).map(|known| known.hash)
    }

    /// The thing of this hash that `is` the one.
    pub fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        self.by_content.find(hash, |thing| is(*thing)).copied()
    }

    /// Adds a thing to which nothing refers yet.
    pub fn insert(&mut self, thing: u32, hash: u64) {
        let Self { by_content, things, .. } = self;
        by_content.insert_unique(hash, thing, |other| things[other].hash);
        things.insert(thing, Thing { hash, references: 0 });
    }

    /// Takes a thing out.
    pub fn remove(&mut self, thing: u32) {
        let Some(Thing { hash, .. }) = self.things.remove(&thing) else { return };
        if let Ok(found) = self.by_content.find_entry(hash, |other| *other == thing) {
            found.remove();
        }
    }

    /// A reference more; whether there is such a thing.
    pub fn refer(&mut self, thing: u32) -> bool {
        let found = self.things.get_mut(&thing);
        found.map(|found| found.references += 1).is_some()
    }

    /// A reference less. With the last the thing goes: whether it was that.
    pub fn release(&mut self, thing: u32) -> bool {
        let found = self.things.get_mut(&thing).expect("what is referred to is there");
        found.references -= 1;
        let last = found.references == 0;
        if last {
            self.remove(thing);
        }
        last
    }

    /// Whether things and references are these, and each is found by its contents, whose hash
    /// `hash` says.
    pub fn agrees(&self, references: &BTreeMap<u32, u32>, hash: impl Fn(u32) -> u64) -> bool {
        self.things.len() == references.len()
            && self.by_content.len() == references.len()
            && references.iter().all(|(thing, count)| {
                let known = self.things.get(thing).map(|known| (known.hash, known.references));
                let hash = hash(*thing);
                known == Some((hash, *count)) && self.find(hash, |other| other == *thing).is_some()
            })
    }
}
