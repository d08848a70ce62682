//! The neighbours that targets refer to, each once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::event::NeighbourKey;
use crate::target::{Mac, Neighbour};

/// The neighbours that targets refer to. Those to which none refers any more are dropped.
#[derive(Default)]
pub(super) struct Neighbours {
    /// In a cell, so that a target can be computed from a state that does not change.
    used: RefCell<Used>,
}

#[derive(Default)]
struct Used {
    by_key: HashMap<NeighbourKey, Weak<Neighbour>>,
    /// Neighbours above which unused ones are dropped.
    limit: usize,
}

impl Neighbours {
    /// The neighbour with this key; `mac` is its address now.
    pub fn get(&self, key: NeighbourKey, mac: Option<Mac>) -> Arc<Neighbour> {
        let Used { by_key, limit } = &mut *self.used.borrow_mut();
        if let Some(neighbour) = by_key.get(&key).and_then(Weak::upgrade) {
            return neighbour;
        }
        if by_key.len() >= *limit {
            by_key.retain(|_, neighbour| neighbour.strong_count() > 0);
            // Dropping costs as much as there are neighbours: not again before they doubled.
            *limit = (2 * by_key.len()).max(1024);
        }
        let neighbour = Arc::new(Neighbour::new(mac));
        by_key.insert(key, Arc::downgrade(&neighbour));
        neighbour
    }

    /// The key of a neighbour. O(neighbours).
    pub fn key(&self, neighbour: &Arc<Neighbour>) -> Option<NeighbourKey> {
        let used = self.used.borrow();
        let is_it = |weak: &Weak<Neighbour>| std::ptr::eq(weak.as_ptr(), Arc::as_ptr(neighbour));
        used.by_key.iter().find(|(_, weak)| is_it(weak)).map(|(key, _)| *key)
    }

    /// Makes the next packet for a neighbour go to the kernel.
    pub fn ask(&self, key: NeighbourKey) {
        if let Some(neighbour) = self.used.borrow().by_key.get(&key).and_then(Weak::upgrade) {
            neighbour.ask();
        }
    }

    /// Sets the address of a neighbour. All targets that refer to it have it at once.
    pub fn set(&self, key: NeighbourKey, mac: Option<Mac>) {
        if let Some(neighbour) = self.used.borrow().by_key.get(&key).and_then(Weak::upgrade) {
            neighbour.set(mac);
        }
    }
}
