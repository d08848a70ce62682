//! Values behind next-hop ids: an id that no route has any more gets another value when no reader
//! can hold the id.

use std::sync::Arc as StdArc;

use crate::sync::{Arc, AtomicU32, Cell};

use super::mem::{RetireList, published};
use super::reclaim::{Domain, HasDomain};
use super::{ANSWERS, FREE, Model, Size, Versions};

const IDS: usize = 4;

/// Two routes, and the values of their ids.
struct Values {
    ids: [AtomicU32; ANSWERS],
    values: [Cell<u32>; IDS],
    domain: Domain,
}

impl HasDomain for Values {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

impl Model for Values {
    fn lookup_versions(&self, answer: usize) -> (u32, u32) {
        let id = published::load(&self.ids[answer]);
        let version = self.values[id as usize].get();
        assert_ne!(version, FREE, "the value of no id");
        // The second route keeps its value through every second version.
        (version, version + answer as u32)
    }
}

/// The write side: the ids of the routes, and the others.
struct Writer {
    values: Arc<Values>,
    versions: StdArc<Versions>,
    ids: [usize; ANSWERS],
    free: Vec<usize>,
    retired: RetireList<usize>,
    again: u32,
}

impl Writer {
    fn new() -> Self {
        let values = Values {
            ids: std::array::from_fn(|_| AtomicU32::new(0)),
            values: std::array::from_fn(|id| Cell::new(if id == 0 { 0 } else { FREE })),
            domain: Domain::new(),
        };
        Self {
            values: Arc::new(values),
            versions: StdArc::default(),
            ids: [0; ANSWERS],
            free: (1..IDS).collect(),
            retired: RetireList::default(),
            again: 0,
        }
    }

    /// Gives a new value to the first route, or to both.
    fn commit(&mut self) {
        let oldest = self.values.domain.oldest();
        while let Some(id) = self.retired.pop(oldest) {
            self.values.values[id].set(FREE);
            self.free.push(id);
            self.again += 1;
        }
        let Some(id) = self.free.pop() else { return };
        let version = self.versions.begin();
        self.values.values[id].set(version);
        for route in 0..1 + usize::from(version.is_multiple_of(2)) {
            published::publish(&self.values.ids[route], id as u32);
            let before = std::mem::replace(&mut self.ids[route], id);
            if !self.ids.contains(&before) {
                self.retired.push(before, 1);
            }
        }
        self.retired.seal(self.values.domain.advance());
        self.versions.end();
    }
}

/// Runs the model; returns the number of ids reused.
pub fn reused(size: Size) -> u32 {
    let mut writer = Writer::new();
    super::run(size, writer.values.clone(), &writer.versions.clone(), || {
        (0..size.commits).for_each(|_| writer.commit());
    });
    writer.again
}
