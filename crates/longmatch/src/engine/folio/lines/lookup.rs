//! One address: the root, then a line for each depth, rarely a second tree.

use super::super::layout::Code;
use super::layout::{DISTANCE, Entry, KEYS, Line, SEPARATORS, STAGES, View, escape};
use crate::simd::lanes::Lanes;

/// Returns the raw next hop of an address, 0 = no route.
#[inline(always)]
pub(super) fn lookup<L: Lanes, C: Code>(lanes: L, lines: View<'_, C>, addr: u128) -> u32 {
    stages(lanes, lines, root(lines, addr), addr, 0)
}

/// Descends from an entry of a stage to the raw next hop.
#[inline(always)]
pub(super) fn stages<L: Lanes, C: Code>(
    lanes: L,
    lines: View<'_, C>,
    mut entry: Entry,
    addr: u128,
    first: usize,
) -> u32 {
    for below in &STAGES[first..] {
        if entry.depth() == 0 {
            break;
        }
        let word = (addr >> below) as u32;
        let mut number = entry.number();
        for _ in 1..entry.depth() {
            number = inner(lanes, lines, number, word);
        }
        entry = leaf(lanes, lines, number, word);
    }
    // The last stage has answers only (invariant 4).
    entry.raw()
}

/// Reads the root's entry for an address.
#[inline(always)]
fn root<C: Code>(lines: View<'_, C>, addr: u128) -> Entry {
    let index = lines.root.index((addr >> 96) as u32);
    debug_assert!(index <= lines.root.last);
    // SAFETY: the index is at most the last one (invariant 1).
    Entry(unsafe { lines.entries.load(index as usize) })
}

/// Descends an inner line: returns the number of the child that a word belongs to.
#[inline(always)]
pub(super) fn inner<L: Lanes, C: Code>(
    lanes: L,
    lines: View<'_, C>,
    number: u32,
    word: u32,
) -> u32 {
    let line = address(lines, number);
    // SAFETY: the number is that of an inner line (invariant 2), which is not written while readers
    // can reach it (invariant 7).
    let rank = unsafe { lanes.rank::<SEPARATORS>(line, word) };
    // SAFETY: the base is the last word of the line.
    let base = unsafe { line.wrapping_add(SEPARATORS).read() };
    base.wrapping_add(rank)
}

/// Reads a leaf: returns an answer, or the entry of a tree of the next stage.
#[inline(always)]
pub(super) fn leaf<L: Lanes, C: Code>(
    lanes: L,
    lines: View<'_, C>,
    number: u32,
    word: u32,
) -> Entry {
    let line = address(lines, number);
    let codes = line.wrapping_add(KEYS[C::LOG2 as usize]);
    let code = match C::LOG2 {
        0 => {
            // SAFETY: the number is that of a leaf (invariant 2), which is not written while
            // readers can reach it (invariant 7).
            let rank = unsafe { lanes.rank::<{ KEYS[0] }>(line, word) } as usize;
            // SAFETY: a leaf has one code more than keys.
            let code = u32::from(unsafe { codes.cast::<u8>().wrapping_add(rank).read() });
            if code == escape(0) {
                return escaped(line, rank);
            }
            if C::BOOK { lines.book.value(code as u8).into() } else { code }
        }
        1 => {
            // SAFETY: as for 8 bits (invariants 2 and 7).
            let rank = unsafe { lanes.rank::<{ KEYS[1] }>(line, word) } as usize;
            // SAFETY: a leaf has one code more than keys.
            let code = u32::from(unsafe { codes.cast::<u16>().wrapping_add(rank).read() });
            if code == escape(1) {
                return escaped(line, rank);
            }
            code
        }
        _ => {
            // SAFETY: as for 8 bits (invariants 2 and 7).
            let rank = unsafe { lanes.rank::<{ KEYS[2] }>(line, word) } as usize;
            // SAFETY: a leaf has one code more than keys.
            unsafe { codes.wrapping_add(rank).read() }
        }
    };
    Entry(code)
}

/// Reads the entry of code `i`, an escape, of the leaf at `line`.
#[inline(always)]
fn escaped(line: *const u32, i: usize) -> Entry {
    // SAFETY: the byte lies in the leaf.
    let distance = unsafe { line.cast::<u8>().wrapping_add(DISTANCE).read() };
    let escapes = line.cast::<Line>().wrapping_add(distance.into());
    // SAFETY: as many lines after a leaf with an escape lie its escapes (invariant 3), which have
    // an entry for each code.
    Entry(unsafe { escapes.cast::<u32>().wrapping_add(i).read() })
}

/// The address of a line.
#[inline(always)]
fn address<C: Code>(lines: View<'_, C>, number: u32) -> *const u32 {
    lines.lines.as_ptr().wrapping_add(number as usize).cast()
}
