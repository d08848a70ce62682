//! What was taken out of a table and is not out of every reader's reach yet.

use alloc::collections::VecDeque;

/// A queue of things by the epoch in which they were taken out.
#[derive(Debug)]
pub(crate) struct RetireList<T> {
    /// The things and their bytes, those that were taken out first first.
    things: VecDeque<(T, usize)>,
    /// Epochs, and how many things were taken out in each.
    epochs: VecDeque<(u64, usize)>,
    /// Things whose epoch has not ended.
    open: usize,
    bytes: usize,
}

impl<T> Default for RetireList<T> {
    fn default() -> Self {
        Self { things: VecDeque::new(), epochs: VecDeque::new(), open: 0, bytes: 0 }
    }
}

impl<T> RetireList<T> {
    /// Adds what has just been taken out of the table.
    pub fn push(&mut self, thing: T, bytes: usize) {
        self.things.push_back((thing, bytes));
        self.bytes += bytes;
        self.open += 1;
    }

    /// The epoch of all that was added since the last call has ended.
    pub fn seal(&mut self, epoch: u64) {
        if self.open > 0 {
            self.epochs.push_back((epoch, core::mem::take(&mut self.open)));
        }
    }

    /// Something that was taken out before an epoch, and is not in the queue any more.
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

    /// The bytes of all things in the queue.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// All things in the queue.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter().map(|(thing, _)| thing)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn things_come_out_by_epoch() {
        let mut list = RetireList::default();
        let come_out = |list: &mut RetireList<char>, oldest| -> Vec<char> {
            core::iter::from_fn(|| list.pop(oldest)).collect()
        };
        list.push('a', 1);
        list.push('b', 10);
        // Not before its epoch has ended.
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
