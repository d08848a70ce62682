//! Verifies that every index in the arrays of an image stays inside of them: invariants 1 to 5 of
//! `layout.rs`, as far as the memory safety of lookups depends on them.
//!
//! One pass over the root and one over the escapes; the codes are not read. So an escape may belong
//! to a code that is none, or be missing: then the answer is wrong, but the read stays inside.

use alloc::vec;
use alloc::vec::Vec;

use super::layout::{DROP, Entry, Escape, LEAST_DEEP, MAX_CODES, Slices, WIDTH};
use crate::engine::kit::image::{DamagedImage, SLACK};
use crate::mem::LINE;

/// The greatest drop of an entry whose codes escape to blocks: their pages are at depth 24 or more.
const FINE: u32 = (WIDTH - LEAST_DEEP) as u32;
/// The most answers in a block.
const LONGEST_BLOCK: usize = 1 << FINE;

// A block that begins inside of the deep answers ends inside of the slack behind them.
const _: () = assert!(LONGEST_BLOCK * size_of::<u32>() <= SLACK);

fn damaged<T>(array: [u8; 3], what: &'static str) -> Result<T, DamagedImage> {
    Err(DamagedImage { array, what })
}

/// Verifies the arrays of a table with sound parameters.
pub(super) fn verify(table: Slices<'_>) -> Result<(), DamagedImage> {
    let Slices { root, codes, escapes, fixed, .. } = table;
    let (bits, log2) = (fixed.root_bits(), fixed.log2);
    if root.len() != 1 << bits {
        return damaged(*b"roo", "has another length than its bits say");
    }
    if codes.len() > MAX_CODES << log2 {
        return damaged(*b"cod", "is longer than entries can address");
    }
    if escapes.len() != 2 << fixed.escape_bits {
        return damaged(*b"esc", "has another length than its bits say");
    }
    let blocks = blocks(table)?;
    // The number of the last code of a page, by the drop of its entry.
    let last_slot: [u32; 1 << 5] = core::array::from_fn(|drop| fixed.below_root >> drop);
    let last = |entry: Entry| entry.place() + last_slot[entry.drop() as usize];
    let most = root.iter().map(|entry| last(Entry(*entry))).max().unwrap_or(0);
    if (most as usize) >= codes.len() >> log2 {
        return damaged(*b"roo", "leads past the last code");
    }
    if blocks.positions.is_empty() {
        return Ok(());
    }
    let coarse = |entry: Entry| match entry.drop() {
        DROP => bits < LEAST_DEEP,
        drop => drop > FINE,
    };
    let leads_to_block = |entry: Entry| blocks.any(entry.place(), last(entry));
    let mut entries = root.iter().map(|entry| Entry(*entry));
    match entries.any(|entry| coarse(entry) && leads_to_block(entry)) {
        true => damaged(*b"roo", "leads to a block of answers from above depth 24"),
        false => Ok(()),
    }
}

/// The positions of the codes that escape to blocks.
struct Blocks {
    /// In order.
    positions: Vec<u32>,
    /// A bit for each cache line of codes: whether any is in it.
    lines: Vec<u64>,
    log2: u8,
}

/// Verifies the escapes: a search for any ends, and blocks begin inside of the deep answers.
fn blocks(table: Slices<'_>) -> Result<Blocks, DamagedImage> {
    let Slices { codes, escapes, deep, fixed, .. } = table;
    let log2 = fixed.log2;
    let slots = escapes.as_chunks::<2>().0;
    if !slots.iter().any(|[key, _]| *key == 0) {
        return damaged(*b"esc", "has no empty slot, at which searches end");
    }
    let is_block = |[key, escape]: &&[u32; 2]| *key != 0 && Escape(*escape).is_block();
    let mut positions = Vec::new();
    for [key, escape] in slots.iter().filter(is_block) {
        if Escape(*escape).place() as usize >= deep.len() {
            return damaged(*b"esc", "leads past the deep answers");
        }
        // No lookup reaches other positions.
        if ((key - 1) as usize) < codes.len() >> log2 {
            positions.push(key - 1);
        }
    }
    positions.sort_unstable();
    let mut lines = vec![0; if positions.is_empty() { 0 } else { codes.len().div_ceil(LINE * 64) }];
    for position in &positions {
        let line = ((*position as usize) << log2) / LINE;
        lines[line / 64] |= 1 << (line % 64);
    }
    Ok(Blocks { positions, lines, log2 })
}

impl Blocks {
    /// Whether a code from `first` to `last` escapes to a block.
    #[inline]
    fn any(&self, first: u32, last: u32) -> bool {
        let line = |position: u32| ((position as usize) << self.log2) / LINE;
        let bit = |line: usize| self.lines[line / 64] >> (line % 64) & 1 != 0;
        (line(first)..=line(last)).any(bit) && {
            let after = self.positions.partition_point(|position| *position < first);
            self.positions.get(after).is_some_and(|position| *position <= last)
        }
    }
}
