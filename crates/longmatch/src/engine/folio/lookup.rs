//! One address: the root, then a page of codes, rarely after one or more branch pages.

use super::layout::{Code, Entry, Level, View};
use crate::net::{Bits, Family, NextHopId};

#[inline(always)]
pub(super) fn lookup<F: Family, C: Code>(
    folio: View<'_, F, C>,
    addr: F::Bits,
) -> Option<NextHopId> {
    let mut entry = root(folio, addr);
    let mut levels = folio.levels.iter();
    while entry.is_page() {
        // Every page has a level (invariant 3); without one the address has ended.
        let level = levels.next()?;
        let slot = slot::<_, C>(*level, entry, addr);
        if !entry.is_branch() {
            return NextHopId::new(code(folio, entry, slot));
        }
        entry = branch(folio, entry, slot);
    }
    NextHopId::new(entry.raw())
}

/// Reads the root's entry for an address.
#[inline(always)]
fn root<F: Family, C: Code>(folio: View<'_, F, C>, addr: F::Bits) -> Entry {
    let root = &folio.root;
    let word = (addr.half(0) >> 32) as u32;
    let index = if F::WIDTH == 32 { word >> (32 - u32::from(root.bits)) } else { root.index(word) };
    debug_assert!(index <= root.last);
    // SAFETY: the index is at most the last one; an IPv4 root has an entry for every block
    // (invariant 1).
    Entry(unsafe { folio.entries.load(index as usize) })
}

/// Locates the slot in the page that an entry leads to, in units of a code.
#[inline(always)]
fn slot<B: Bits, C: Code>(level: Level, entry: Entry, addr: B) -> usize {
    let window = addr.half(level.half()) >> level.below();
    let window = (window & ((1 << level.width) - 1)) << C::SLOT_SHIFT;
    (window >> entry.drop()) as usize
}

/// Reads the next hop of a slot of a page of codes, 0 = no route.
#[inline(always)]
fn code<F: Family, C: Code>(folio: View<'_, F, C>, entry: Entry, slot: usize) -> u32 {
    let at = (entry.place() as usize + slot) << C::LOG2;
    let start = folio.pages.as_ptr().wrapping_add(at);
    match C::LOG2 {
        // SAFETY: `start` is a slot of a page (invariant 2), which is not written while readers can
        // reach it (invariant 8).
        0 => folio.book.value(unsafe { start.read() }).into(),
        // SAFETY: as for 8 bits (invariants 2 and 8); pages begin at multiples of 16 codes, so it
        // is aligned.
        1 => u16::from_le(unsafe { start.cast::<u16>().read() }).into(),
        // SAFETY: as for 8 bits (invariants 2 and 8); pages begin at multiples of 16 codes, so it
        // is aligned.
        _ => u32::from_le(unsafe { start.cast::<u32>().read() }),
    }
}

/// Reads the entry of a slot of a branch page.
#[inline(always)]
fn branch<F: Family, C: Code>(folio: View<'_, F, C>, entry: Entry, slot: usize) -> Entry {
    let at = (entry.place() as usize + slot) << C::LOG2;
    let start = folio.pages.as_ptr().wrapping_add(at).cast::<u32>();
    // SAFETY: `start` is a slot of a page (invariant 2), aligned to four bytes, and the page is not
    // written while readers can reach it (invariant 8).
    Entry(u32::from_le(unsafe { start.read() }))
}
