//! One address: the root, then a code, rarely an escape.

use super::layout::{Entry, Escape, View, escape_slot, next_slot};
use crate::mem::{Items, Memory};
use crate::net::NextHopId;

/// Addresses of four bytes where the caller has them.
#[derive(Clone, Copy)]
pub(super) struct InPlace {
    pub from: *const u8,
    /// Whether their bytes are in the other order.
    pub swap: bool,
}

impl InPlace {
    /// Reads address `i`.
    ///
    /// # Safety
    /// There are more than `i` addresses.
    #[inline(always)]
    pub unsafe fn get(self, i: usize) -> u32 {
        // SAFETY: address `i` is readable.
        let key = unsafe { self.from.cast::<u32>().wrapping_add(i).read_unaligned() };
        if self.swap { key.swap_bytes() } else { key }
    }
}

/// Looks up one address.
#[inline(always)]
pub(super) fn lookup<M: Memory>(table: View<'_, M>, addr: u32) -> Option<NextHopId> {
    let entry = entry(table, addr);
    let position = entry.position(addr, table.below_root);
    // SAFETY: `position` is that of a code of the entry's page.
    let code = unsafe { code_of(table, position) } & table.escape_code;
    if code == table.escape_code {
        let View { escapes, deep, escape_bits, .. } = table;
        let below = addr & entry.below_code(table.below_root);
        // SAFETY: the code at `position` is all ones.
        return NextHopId::new(unsafe { escaped(escapes, deep, escape_bits, position, below) });
    }
    if table.hops.is_null() {
        return NextHopId::new(code);
    }
    // SAFETY: a code that does not escape has a next hop (invariant 5).
    NextHopId::new(unsafe { table.hops.wrapping_add(code as usize).read() })
}

/// Reads the root.
#[inline(always)]
pub(super) fn entry<M: Memory>(table: View<'_, M>, addr: u32) -> Entry {
    // SAFETY: the root has an entry for every block (invariant 1).
    Entry(unsafe { table.root.load((addr >> table.root_shift) as usize) })
}

/// Reads a code, with any bits above it.
///
/// In frozen memory that is a word, whatever the bytes of a code: the fewest instructions, so that
/// the CPU overlaps the most lookups.
///
/// # Safety
/// `position` is that of a code of a page that a reader can reach.
#[inline(always)]
unsafe fn code_of<M: Memory>(table: View<'_, M>, position: u32) -> u32 {
    if M::FROZEN && cfg!(target_endian = "little") {
        let start = table.codes.as_ptr().wrapping_add((position as usize) << table.log2);
        // SAFETY: `start` is a code of a page (invariant 2), and there are 4 bytes after the last.
        return unsafe { start.cast::<u32>().read_unaligned() };
    }
    match table.log2 {
        // SAFETY: this function's contract.
        0 => unsafe { code::<_, 0>(table, position) },
        // SAFETY: this function's contract.
        1 => unsafe { code::<_, 1>(table, position) },
        // SAFETY: this function's contract.
        _ => unsafe { code::<_, 2>(table, position) },
    }
}

/// The next hop of an address whose code escapes; `below` are its bits below the code.
///
/// Takes the parts of a table that it reads, in registers: a view would lie on the stack, and each
/// lookup would write it there. Compiled with its callers, where the compiler sees that it writes
/// nothing.
///
/// # Safety
/// The code at `position` is that of the address, and all ones.
#[cold]
#[inline]
unsafe fn escaped<M: Memory>(
    escapes: Items<'_, u32, M>,
    deep: Items<'_, u32, M>,
    escape_bits: u8,
    position: u32,
    below: u32,
) -> u32 {
    // SAFETY: the code at `position` is all ones.
    let escape = unsafe { escape(escapes, escape_bits, position) };
    if !escape.is_block() {
        return escape.0;
    }
    let at = escape.place() + (below >> escape.drop());
    // SAFETY: `at` is an answer of the block (invariant 4).
    unsafe { deep.load(at as usize) }
}

/// Reads a code of `1 << LOG2` bytes.
///
/// # Safety
/// `position` is that of a code of a page that a reader can reach.
#[inline(always)]
pub(super) unsafe fn code<M: Memory, const LOG2: u8>(table: View<'_, M>, position: u32) -> u32 {
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
pub(super) unsafe fn escape<M: Memory>(
    escapes: Items<'_, u32, M>,
    bits: u8,
    position: u32,
) -> Escape {
    let mut slot = escape_slot(bits, position);
    loop {
        // SAFETY: slots are below `2^escape_bits`; the array has two words for each.
        let key = unsafe { escapes.load(2 * slot) };
        if key == position + 1 {
            // SAFETY: the second word of a slot. It was stored before its key.
            return Escape(unsafe { escapes.load(2 * slot + 1) });
        }
        // An empty slot cannot come first (invariant 3).
        if key == 0 {
            return Escape(0);
        }
        slot = next_slot(bits, slot);
    }
}
