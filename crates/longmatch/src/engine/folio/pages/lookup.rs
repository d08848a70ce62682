//! One address: the root, then a code, rarely an escape.

use super::layout::{Entry, Escape, View};
use crate::net::NextHopId;

#[inline(always)]
pub(super) fn lookup(table: View<'_>, addr: u32) -> Option<NextHopId> {
    let block = addr >> (32 - u32::from(table.root_bits));
    // SAFETY: the root has an entry for every block (invariant 1).
    let entry = unsafe { table.root.load(block as usize) };
    let entry = Entry(entry);
    let position = entry.position(addr, table.below_root());
    let code = match table.log2 {
        // SAFETY: `position` is that of a code of the entry's page.
        0 => unsafe { code::<0>(table, position) },
        // SAFETY: `position` is that of a code of the entry's page.
        1 => unsafe { code::<1>(table, position) },
        // SAFETY: `position` is that of a code of the entry's page.
        _ => unsafe { code::<2>(table, position) },
    };
    if code != table.escape_code() {
        return NextHopId::new(table.decode(code));
    }
    // SAFETY: the code at `position` is all ones.
    let escape = unsafe { escape(table, position) };
    let below = addr & entry.below_code(table.below_root());
    // SAFETY: `escape` and `below` are those of the address's code.
    NextHopId::new(unsafe { answer(table, escape, below) })
}

/// Reads a code of `1 << LOG2` bytes.
///
/// # Safety
/// `position` is that of a code of a page that a reader can reach.
#[inline(always)]
pub(super) unsafe fn code<const LOG2: u8>(table: View<'_>, position: u32) -> u32 {
    let start = table.codes.as_ptr().wrapping_add((position as usize) << LOG2);
    match LOG2 {
        // SAFETY: `start` is a code of a page (invariant 2), which is not written while readers can
        // reach it (invariant 10).
        0 => unsafe { start.read() }.into(),
        // SAFETY: as for 8 bits (invariants 2 and 10); positions count codes, so it is aligned.
        1 => u16::from_le(unsafe { start.cast::<u16>().read() }).into(),
        // SAFETY: as for 8 bits (invariants 2 and 10); positions count codes, so it is aligned.
        _ => u32::from_le(unsafe { start.cast::<u32>().read() }),
    }
}

/// Finds the escape of a position. Expected O(1).
///
/// # Safety
/// The code at `position` is all ones, and a reader can reach its page.
#[inline]
unsafe fn escape(table: View<'_>, position: u32) -> Escape {
    let mut slot = table.escape_slot(position);
    loop {
        // SAFETY: slots are below `2^escape_bits`; the array has two words for each.
        let key = unsafe { table.escapes.load(2 * slot) };
        if key == position + 1 {
            // SAFETY: the second word of a slot. It was stored before its key.
            return Escape(unsafe { table.escapes.load(2 * slot + 1) });
        }
        // An empty slot cannot come first (invariant 3).
        if key == 0 {
            return Escape(0);
        }
        slot = table.next_slot(slot);
    }
}

/// Reads the answer of an escape for the bits of an address below its code.
///
/// # Safety
/// `escape` and `below` are those of the same code.
#[inline(always)]
unsafe fn answer(table: View<'_>, escape: Escape, below: u32) -> u32 {
    if !escape.is_block() {
        return escape.0;
    }
    let at = escape.place() + (below >> escape.drop());
    // SAFETY: `at` is an answer of the block (invariant 4).
    unsafe { table.deep.load(at as usize) }
}
