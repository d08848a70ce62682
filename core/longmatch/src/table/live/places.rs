//! The places at which readers find the values of ids. Places never move, while a writer fills and
//! empties them.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use crate::net::NextHopId;

/// Number of blocks: block `i` has the places of ids with highest bit `i`.
const BLOCKS: usize = 32;

/// The place of an id: a pointer to its value, or null.
type ValuePointer<T> = AtomicPtr<T>;

/// One place per id; a place owns a share of its value.
pub(super) struct Places<T> {
    /// The first place of each block, or null.
    ///
    /// A block is allocated for its first id and never freed before the end.
    blocks: [AtomicPtr<ValuePointer<T>>; BLOCKS],
    values: PhantomData<Arc<T>>,
}

/// The block of an id and its position in the block.
fn find(id: NextHopId) -> (usize, usize) {
    let block = id.get().ilog2();
    (block as usize, (id.get() - (1 << block)) as usize)
}

impl<T> Places<T> {
    pub fn new() -> Self {
        let blocks = core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()));
        Self { blocks, values: PhantomData }
    }

    fn place(&self, id: NextHopId) -> Option<&ValuePointer<T>> {
        let (block, at) = find(id);
        let first = self.blocks[block].load(Acquire);
        let place = first.wrapping_add(at);
        // SAFETY: a block has a place for each id with its highest bit, and lives as long as
        // `self`.
        (!first.is_null()).then(|| unsafe { &*place })
    }

    /// The current value of an id, if it has one.
    ///
    /// # Safety
    /// The caller is a reader online in the domain whose writer drops the values that
    /// [`Places::set`] returns; it goes offline or announces a quiescent state only when it
    /// no longer uses the value.
    #[inline]
    pub unsafe fn get(&self, id: NextHopId) -> Option<&T> {
        let value = self.place(id)?.load(Acquire);
        // SAFETY: the value was in its place after the reader went online or announced its last quiescent
        // state, so the writer holds it until the reader goes offline or announces another.
        unsafe { value.as_ref() }
    }

    /// Whether the place of an id has a value.
    pub fn is_taken(&self, id: NextHopId) -> bool {
        self.place(id).is_some_and(|place| !place.load(Acquire).is_null())
    }

    /// Replaces the value in the place of an id.
    ///
    /// Returns the old one, which readers may still use.
    ///
    /// Only the writer calls it.
    pub fn set(&self, id: NextHopId, value: Option<Arc<T>>) -> Option<Arc<T>> {
        let (block, at) = find(id);
        let mut first = self.blocks[block].load(Acquire);
        if first.is_null() {
            let empty = || ValuePointer::new(ptr::null_mut());
            let places: Box<[ValuePointer<T>]> = (0..1usize << block).map(|_| empty()).collect();
            first = Box::into_raw(places).cast();
            self.blocks[block].store(first, Release);
        }
        let value = value.map_or(ptr::null(), Arc::into_raw).cast_mut();
        let place = first.wrapping_add(at);
        // SAFETY: the block has a place at `at`.
        let before = unsafe { &*place }.swap(value, AcqRel);
        // SAFETY: the pointer in a place came from `Arc::into_raw`, and the swap took its share.
        (!before.is_null()).then(|| unsafe { Arc::from_raw(before) })
    }
}

impl<T> Drop for Places<T> {
    fn drop(&mut self) {
        for (block, first) in self.blocks.iter_mut().enumerate() {
            let first = *first.get_mut();
            if first.is_null() {
                continue;
            }
            let places = ptr::slice_from_raw_parts_mut(first, 1 << block);
            // SAFETY: `set` leaked a boxed slice of this length.
            let mut places = unsafe { Box::from_raw(places) };
            for place in &mut places {
                let value = *place.get_mut();
                if !value.is_null() {
                    // SAFETY: the pointer came from `Arc::into_raw`; this is the place's share.
                    drop(unsafe { Arc::from_raw(value) });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_a_place() {
        let places = Places::new();
        let ids = [1, 2, 3, 4, 7, 8, 1000].map(|id| NextHopId::new(id).unwrap());
        let values = ids.map(|id| Arc::new(id.get()));
        for (id, value) in ids.into_iter().zip(&values) {
            assert_eq!(places.set(id, Some(value.clone())), None);
        }
        for (id, value) in ids.into_iter().zip(&values) {
            // SAFETY: `values` keeps every value in the places alive.
            assert_eq!(unsafe { places.get(id) }, Some(&**value));
        }
        assert_eq!(places.set(ids[0], None), Some(values[0].clone()));
        assert_eq!(places.set(ids[1], Some(Arc::new(9))), Some(values[1].clone()));
        let others = [1, 5, 9, u32::MAX].map(|id| NextHopId::new(id).unwrap());
        // SAFETY: `values` keeps every value in the places alive.
        assert!(others.iter().all(|id| unsafe { places.get(*id) }.is_none()));
        assert!(values[..2].iter().all(|value| Arc::strong_count(value) == 1));
        assert!(values[2..].iter().all(|value| Arc::strong_count(value) == 2));
        drop(places);
        assert!(values.iter().all(|value| Arc::strong_count(value) == 1));
    }
}
