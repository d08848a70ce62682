//! Verifies the invariants of `layout.rs`, and every answer against the RIB.
//!
//! One walk in order of addresses does both: it marks the rows, so that none is shared or lost, and
//! compares each change of next hop with the RIB's disjoint ranges.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::NAME;
use super::layout::{DIRECT, DIRECT_ENTRIES, DIRECT_OCTETS, Entry, FIRST_ROW, ROW, Spider};
use crate::engine::kit::Corrupt;
use crate::engine::kit::Expected;
use crate::net::{Bits, Family};
use crate::rib::Rib;

pub(super) fn check<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    rib: &Rib<F>,
) -> Result<(), Corrupt> {
    let fib = &*spider.fib;
    let rows = fib.len() / ROW;
    if !fib.len().is_multiple_of(ROW) || rows < FIRST_ROW || rows - 1 > E::MAX_ROW {
        return corrupt(format!("{} entries are not a table", fib.len()));
    }
    if fib[..ROW].iter().any(|entry| *entry != E::EOL) {
        return corrupt("EoL is not all zero".into());
    }
    let expected = Expected::new(NAME, rib);
    let mut walk = Walk { fib, expected, met: vec![false; rows] };
    walk.met[..FIRST_ROW].fill(true);
    let direct = &fib[DIRECT..][..DIRECT_ENTRIES];
    walk.entries(rows, direct, F::Bits::ZERO, 8 * DIRECT_OCTETS, 0)?;
    walk.expected.finish()?;
    match walk.met.iter().position(|met| !met) {
        None => Ok(()),
        Some(row) => corrupt(format!("row {row} is the next row of no entry")),
    }
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

struct Walk<'a, F: Family, E> {
    fib: &'a [E],
    expected: Expected<'a, F>,
    /// Rows visited so far, by number.
    met: Vec<bool>,
}

impl<F: Family, E: Entry> Walk<'_, F, E> {
    /// Walks the entries of a row, and the rows below.
    ///
    /// Their addresses begin at `first` and share all bits before those that select an entry, which
    /// end at bit `depth`; `found` is the result before. Rows below must have numbers less than
    /// `number`, the row's own. The recursion is as deep as the address has octets.
    fn entries(
        &mut self,
        number: usize,
        entries: &[E],
        first: F::Bits,
        depth: u8,
        found: u32,
    ) -> Result<(), Corrupt> {
        for (i, entry) in entries.iter().enumerate() {
            let bits = first | F::Bits::from_u128((i as u128) << (F::WIDTH - depth));
            let raw = match entry.next_hop_index() {
                0 => found,
                raw => raw,
            };
            match entry.next_row_index() {
                0 => self.expected.expect(bits, raw)?,
                below => {
                    self.sound_row(below, number, depth)?;
                    let row = &self.fib[below * ROW..][..ROW];
                    self.entries(below, row, bits, depth + 8, raw)?;
                }
            }
        }
        Ok(())
    }

    /// Verifies all that lookups rely on in a next-row index, and marks its row.
    fn sound_row(&mut self, row: usize, number: usize, depth: u8) -> Result<(), Corrupt> {
        if row < FIRST_ROW || row >= number {
            return corrupt(format!("next-row index {row} in row {number}"));
        }
        if depth >= F::WIDTH {
            return corrupt(format!("row {number} for the last octet has a next row {row}"));
        }
        if core::mem::replace(&mut self.met[row], true) {
            return corrupt(format!("row {row} is the next row of two entries"));
        }
        Ok(())
    }
}
