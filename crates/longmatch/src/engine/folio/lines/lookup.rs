//! One address: the root, then a line for each depth, rarely a second tree.

use super::super::layout::Code;
use super::layout::{DISTANCE, Entry, KEYS, Line, SEPARATORS, STAGES, Trees, View, escape};
use crate::mem::Single;
use crate::net::NextHopId;
use crate::simd::Work;
use crate::simd::lanes::Lanes;

/// Looks up one address, comparing lines with vectors.
#[inline(always)]
pub(super) fn lookup<L: Lanes, C: Code>(
    lanes: L,
    table: View<'_, C>,
    addr: u128,
) -> Option<NextHopId> {
    let (trees, mut entry) = (table.trees, root(table, addr));
    if entry.depth() > 0 {
        entry = stage(lanes, trees, entry, addr, STAGES[0]);
        if entry.depth() > 0 {
            return NextHopId::new(later_stages(lanes, trees, entry, addr));
        }
    }
    NextHopId::new(entry.raw())
}

/// Descends the tree of an entry; `below` is the number of bits below those that its lines compare.
#[inline(always)]
pub(super) fn stage<L: Lanes, C: Code>(
    lanes: L,
    trees: Trees<'_, C>,
    entry: Entry,
    addr: u128,
    below: u32,
) -> Entry {
    let word = (addr >> below) as u32;
    let mut number = entry.number();
    for _ in 1..entry.depth() {
        number = inner(lanes, trees, number, word);
    }
    leaf(lanes, trees, number, word)
}

/// Descends from an entry of the first stage that leads to a tree, to the raw next hop.
///
/// Not inlined: without it, the first stage is small enough to be inlined into loops of callers,
/// which keep the table in registers.
#[cold]
#[inline(never)]
fn later_stages<L: Lanes, C: Code>(lanes: L, trees: Trees<'_, C>, entry: Entry, addr: u128) -> u32 {
    lanes.run(Later { lanes, trees, entry, addr })
}

struct Later<'a, L, C> {
    lanes: L,
    trees: Trees<'a, C>,
    entry: Entry,
    addr: u128,
}

impl<L: Lanes, C: Code> Work for Later<'_, L, C> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let Self { lanes, trees, mut entry, addr } = self;
        for below in &STAGES[1..] {
            if entry.depth() == 0 {
                break;
            }
            entry = stage(lanes, trees, entry, addr, *below);
        }
        // The last stage has answers only (invariant 4).
        entry.raw()
    }
}

/// Reads the root's entry for an address.
#[inline(always)]
fn root<C: Code>(table: View<'_, C>, addr: u128) -> Entry {
    let root = &table.trees.fixed.root;
    let index = root.index((addr >> 96) as u32);
    debug_assert!(index <= root.last);
    // SAFETY: the index is at most the last one (invariant 1).
    Entry(unsafe { table.entries.load(index as usize) })
}

/// Descends an inner line: returns the number of the child that a word belongs to.
#[inline(always)]
pub(super) fn inner<L: Lanes, C: Code>(
    lanes: L,
    trees: Trees<'_, C>,
    number: u32,
    word: u32,
) -> u32 {
    let line = address(trees, number);
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
    trees: Trees<'_, C>,
    number: u32,
    word: u32,
) -> Entry {
    let line = address(trees, number);
    let codes = line.wrapping_add(KEYS[C::LOG2 as usize]);
    let code = match C::LOG2 {
        0 => {
            // SAFETY: the number is that of a leaf (invariant 2), whose keys are not written while
            // readers can reach it (invariant 7).
            let rank = unsafe { lanes.rank::<{ KEYS[0] }>(line, word) } as usize;
            // SAFETY: a leaf has one code more than keys.
            let code = u32::from(unsafe { u8::load(codes.cast::<u8>().wrapping_add(rank)) });
            if code == escape(0) {
                return escaped(line, rank);
            }
            if C::BOOK { trees.fixed.book.value(code as u8).into() } else { code }
        }
        1 => {
            // SAFETY: as for 8 bits (invariants 2 and 7).
            let rank = unsafe { lanes.rank::<{ KEYS[1] }>(line, word) } as usize;
            // SAFETY: a leaf has one code more than keys.
            let code = u32::from(unsafe { u16::load(codes.cast::<u16>().wrapping_add(rank)) });
            if code == escape(1) {
                return escaped(line, rank);
            }
            code
        }
        _ => {
            // SAFETY: as for 8 bits (invariants 2 and 7).
            let rank = unsafe { lanes.rank::<{ KEYS[2] }>(line, word) } as usize;
            // SAFETY: a leaf has one code more than keys.
            unsafe { u32::load(codes.wrapping_add(rank)) }
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
    Entry(unsafe { u32::load(escapes.cast::<u32>().wrapping_add(i)) })
}

/// The address of a line.
#[inline(always)]
fn address<C: Code>(trees: Trees<'_, C>, number: u32) -> *const u32 {
    trees.lines.as_ptr().wrapping_add(number as usize).cast()
}
