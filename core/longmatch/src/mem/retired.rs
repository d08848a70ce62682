//! Objects removed from a table that readers may still reach.

use alloc::collections::VecDeque;

/// A queue of objects, ordered by the epoch in which they were removed.
#[derive(Debug)]
pub(crate) struct RetireList<T> {
    /// The objects and their bytes, oldest first.
    things: VecDeque<(T, usize)>,
    /// Epochs, and the number of objects removed in each.
    epochs: VecDeque<(u64, usize)>,
    /// Objects whose epoch has not ended.
    open: usize,
    bytes: usize,
}

impl<T> Default for RetireList<T> {
    fn default() -> Self {
        Self { things: VecDeque::new(), epochs: VecDeque::new(), open: 0, bytes: 0 }
    }
}

impl<T> RetireList<T> {
    /// Adds an object that has just been removed from the table.
    pub fn push(&mut self, thing: T, bytes: usize) {
        self.things.push_back((thing, bytes));
        self.bytes += bytes;
        self.open += 1;
    }

    /// Ends the epoch of all objects added since the last call.
    pub fn seal(&mut self, epoch: u64) {
        if self.open > 0 {
            self.epochs.push_back((epoch, core::mem::take(&mut self.open)));
        }
    }

    /// Takes the oldest object out of the queue if its epoch is before `oldest`.
    pub fn pop(&mut self, oldest: u64) -> Option<T> {
        let (epoch, count) = self.epochs.front_mut()?;
        if *epoch >= oldest {
            return None;
        }
        *count -= 1;
        if *count == 0 {
            self.epochs.pop_front();
        }
        let (thing, bytes) = self.things.pop_front()?;
        self.bytes -= bytes;
        Some(thing)
    }

    /// The bytes of all objects in the queue.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// All objects in the queue.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter().map(|(thing, _)| thing)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn objects_come_out_by_epoch() {
        let mut list = RetireList::default();
        let come_out = |list: &mut RetireList<char>, oldest| -> Vec<char> {
            core::iter::from_fn(|| list.pop(oldest)).collect()
        };
        list.push('a', 1);
        list.push('b', 10);
        // Not before the epoch has ended.
        assert_eq!(come_out(&mut list, u64::MAX), []);
        list.seal(4);
        list.seal(5);
        list.push('c', 100);
        list.seal(6);
        assert_eq!((list.bytes(), list.iter().count()), (111, 3));
        assert_eq!(come_out(&mut list, 4), []);
        assert_eq!(come_out(&mut list, 6), ['a', 'b']);
        assert_eq!((list.bytes(), list.iter().count()), (100, 1));
        assert_eq!(come_out(&mut list, 7), ['c']);
        assert_eq!(list.bytes(), 0);
    }
}
