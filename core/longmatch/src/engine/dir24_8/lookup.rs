//! One address: index `tbl24`; if the entry names a group, index it with the next 8 bits.

use super::layout::{Entry, FIRST_BITS, GROUP_BITS, GROUP_SLOTS, View};
use crate::net::{Bits, Family, NextHopId};

impl<F: Family, E: Entry> View<'_, F, E> {
    #[inline(always)]
    pub fn lookup(self, key: F::Bits) -> Option<NextHopId> {
        let entry = self.first(key);
        if entry.is_group() {
            return NextHopId::new(self.below(entry, key).value());
        }
        NextHopId::new(entry.value())
    }

    /// Reads the entry of `tbl24` for an address.
    #[inline(always)]
    fn first(self, key: F::Bits) -> E {
        // SAFETY: `extract` yields 24 bits, and the table has 2^24 entries (invariant 1).
        unsafe { self.tbl24.load(key.extract(0, FIRST_BITS)) }
    }

    /// Follows groups from a first entry to the entry that answers.
    #[inline(always)]
    fn below(self, mut entry: E, key: F::Bits) -> E {
        let mut offset = FIRST_BITS;
        loop {
            // The next byte is always at the top of `window`, so a level costs one shift.
            let mut window = key.window(offset);
            for _ in 0..u64::BITS as u8 / GROUP_BITS {
                entry = self.grouped(entry, (window >> (64 - GROUP_BITS)) as usize);
                if F::WIDTH == FIRST_BITS + GROUP_BITS || !entry.is_group() {
                    return entry;
                }
                window <<= GROUP_BITS;
            }
            offset += 64;
        }
    }

    /// Reads entry `slot` of the group that an entry names.
    #[inline(always)]
    fn grouped(self, entry: E, slot: usize) -> E {
        debug_assert!(slot < GROUP_SLOTS);
        let index = entry.value() as usize * GROUP_SLOTS + slot;
        // SAFETY: the entry names a group inside `tbl8` (invariant 2), and a slot has 8 bits.
        unsafe { self.tbl8.load(index) }
    }
}
