//! One address: index `tbl24`; where the entry names a group, index that with the next 8 bits.

use super::layout::{Dir24_8, Entry, FIRST_BITS, GROUP_BITS, GROUP_SLOTS};
use crate::addr::{Bits, Family};
use crate::next_hop::NextHopId;

#[inline(always)]
pub(super) fn lookup<F: Family, E: Entry>(
    tables: &Dir24_8<F, E>,
    key: F::Bits,
) -> Option<NextHopId> {
    let entry = first(tables, key);
    if entry.is_group() {
        return NextHopId::new(below(tables, entry, key).value());
    }
    NextHopId::new(entry.value())
}

/// The entry of `tbl24` for an address.
#[inline(always)]
pub(super) fn first<F: Family, E: Entry>(tables: &Dir24_8<F, E>, key: F::Bits) -> E {
    let index = key.extract(0, FIRST_BITS);
    // SAFETY: `extract` yields 24 bits, and the table has 2^24 entries (invariant 1).
    unsafe { tables.tbl24.load_item(index) }
}

/// The entry that answers, from a first one that names a group.
#[inline(always)]
pub(super) fn below<F: Family, E: Entry>(tables: &Dir24_8<F, E>, mut entry: E, key: F::Bits) -> E {
    let mut offset = FIRST_BITS;
    loop {
        // The next byte is always at the top of `window`: one shift a level.
        let mut window = key.window(offset);
        for _ in 0..u64::BITS as u8 / GROUP_BITS {
            entry = grouped(tables, entry, (window >> (64 - GROUP_BITS)) as usize);
            if F::WIDTH == FIRST_BITS + GROUP_BITS || !entry.is_group() {
                return entry;
            }
            window <<= GROUP_BITS;
        }
        offset += 64;
    }
}

/// Entry `slot` of the group that an entry names.
#[inline(always)]
fn grouped<F, E: Entry>(tables: &Dir24_8<F, E>, entry: E, slot: usize) -> E {
    let index = entry.value() as usize * GROUP_SLOTS + slot;
    debug_assert!(slot < GROUP_SLOTS);
    // SAFETY: the entry names a group inside `tbl8` (invariant 2), and a slot has 8 bits.
    unsafe { tables.tbl8.load_item(index) }
}
