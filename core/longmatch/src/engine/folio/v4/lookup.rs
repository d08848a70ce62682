//! One address: the root, perhaps a page of entries, then a code or a list.

use super::layout::{Entry, Single, View, lowest_bit};
use crate::mem::Memory;
use crate::net::NextHopId;
use crate::simd::lanes::Lanes;

/// Looks up one address.
#[inline(always)]
pub(super) fn lookup<L: Lanes, M: Memory>(
    l: L,
    table: View<'_, M>,
    addr: u32,
) -> Option<NextHopId> {
    match table.fixed.single {
        Single::Plain => plain(table, addr),
        Single::Branches => branches(l, table, addr),
        Single::Flat => flat(l, table, addr),
    }
}

/// Without pages of entries and lists.
#[inline(always)]
pub(super) fn plain<M: Memory>(table: View<'_, M>, addr: u32) -> Option<NextHopId> {
    code(table, root(table, addr), addr & table.below_root)
}

/// With branches on both.
#[inline(always)]
pub(super) fn branches<L: Lanes, M: Memory>(
    l: L,
    table: View<'_, M>,
    addr: u32,
) -> Option<NextHopId> {
    let (mut entry, mut below) = (root(table, addr), addr & table.below_root);
    if entry.is_page_of_entries() {
        (entry, below) = inner(table, entry, below);
    }
    if entry.is_list() { list(l, table, entry, below) } else { code(table, entry, below) }
}

/// Without a branch on pages of entries: where there is none, it reads the first word. For small
/// tables, where nearly all addresses have an answer in the root, or nearly none.
#[inline(always)]
pub(super) fn flat<L: Lanes, M: Memory>(l: L, table: View<'_, M>, addr: u32) -> Option<NextHopId> {
    use core::hint::select_unpredictable as select;
    let (entry, below) = (root(table, addr), addr & table.below_root);
    if entry.is_answer() {
        return hop(table, entry.place());
    }
    let deep = entry.is_page_of_entries();
    let cut = entry.cut() & 31;
    let at = select(deep, entry.place() + (below >> cut), 0);
    // SAFETY: an entry of the page (invariant 2), or the first word, which exists (invariant 2).
    let slot = Entry(unsafe { table.words.load(at as usize) });
    let entry = select(deep, slot, entry);
    let below = select(deep, below & ((1 << cut) - 1), below);
    if entry.is_list() { list(l, table, entry, below) } else { code(table, entry, below) }
}

/// Reads the root.
#[inline(always)]
pub(super) fn root<M: Memory>(table: View<'_, M>, addr: u32) -> Entry {
    // SAFETY: the root has an entry for every block (invariant 1).
    Entry(unsafe { table.root.load((addr >> table.root_shift) as usize) })
}

/// Reads a page of entries: the entry, and the bits below it.
#[inline(always)]
pub(super) fn inner<M: Memory>(table: View<'_, M>, entry: Entry, below: u32) -> (Entry, u32) {
    let cut = entry.cut();
    let at = entry.place() + (below >> cut);
    // SAFETY: the page has an entry for every block (invariant 2).
    (Entry(unsafe { table.words.load(at as usize) }), below & ((1 << cut) - 1))
}

/// The answer of a list.
#[inline(always)]
pub(super) fn list<L: Lanes, M: Memory>(
    l: L,
    table: View<'_, M>,
    entry: Entry,
    below: u32,
) -> Option<NextHopId> {
    let low = (1u64 << table.hop_bits) as u32;
    let key = ((u64::from(below) << table.hop_bits) as u32) | low.wrapping_sub(1);
    // SAFETY: `entry` is that of a list.
    let word = unsafe { ranked(l, table.words.as_ptr(), entry.place(), key) };
    NextHopId::new(word & low.wrapping_sub(1))
}

/// The first word of a list that is at most `key`.
///
/// # Safety
/// `place` is that of the entry of a list (invariant 3) in `words`.
#[inline(always)]
pub(super) unsafe fn ranked<L: Lanes>(l: L, words: *const u32, place: u32, key: u32) -> u32 {
    let half = lowest_bit(place);
    let start = place ^ half;
    // SAFETY: a list of `2 * half` words (invariant 3).
    unsafe { l.first_at_most(words, start, 2 * half, key) }
}

/// The answer of a page of codes, or an answer.
#[inline(always)]
pub(super) fn code<M: Memory>(table: View<'_, M>, entry: Entry, below: u32) -> Option<NextHopId> {
    let position = entry.position(below) as usize;
    // SAFETY: `position` is that of a code (invariant 4).
    hop(table, unsafe { code_at(table, position) })
}

/// The next hop of a code.
#[inline(always)]
fn hop<M: Memory>(table: View<'_, M>, code: u32) -> Option<NextHopId> {
    if table.code_bytes > 1 {
        return NextHopId::new(code);
    }
    // SAFETY: a code of one byte has a next hop (invariant 5).
    NextHopId::new(unsafe { table.hops.wrapping_add((code & 0xff) as usize).read() })
}

/// Reads a code.
///
/// In frozen memory that is a word, whatever the bytes of a code: the fewest instructions, so that
/// the CPU overlaps the most lookups.
///
/// # Safety
/// `position` is that of a code of a page that a reader can reach.
#[inline(always)]
pub(super) unsafe fn code_at<M: Memory>(table: View<'_, M>, position: usize) -> u32 {
    let at = table.codes.as_ptr().wrapping_add(position * table.code_bytes);
    if M::FROZEN && cfg!(target_endian = "little") {
        // SAFETY: `at` is a code (invariant 4), with 4 readable bytes.
        return unsafe { at.cast::<u32>().read_unaligned() } & table.code_mask;
    }
    use core::sync::atomic::Ordering::Relaxed;
    use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32};
    match table.code_bytes {
        // SAFETY: a code, which only atomic stores replace (invariant 9).
        1 => unsafe { AtomicU8::from_ptr(at.cast_mut()) }.load(Relaxed).into(),
        2 => {
            // SAFETY: as for one byte; places count codes, so it is aligned.
            u16::from_le(unsafe { AtomicU16::from_ptr(at.cast_mut().cast()) }.load(Relaxed)).into()
        }
        3 => {
            // SAFETY: a code, which is not written while a reader can reach it (invariant 9).
            let [low, middle, high] = unsafe { at.cast::<[u8; 3]>().read() };
            u32::from_le_bytes([low, middle, high, 0])
        }
        // SAFETY: as for two bytes.
        _ => u32::from_le(unsafe { AtomicU32::from_ptr(at.cast_mut().cast()) }.load(Relaxed)),
    }
}
