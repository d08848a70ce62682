//! Compiles a RIB to Spider: the multiway trie of section III-C, row by row, lower rows first.
//!
//! The RIB takes the place of the paper's trie for management. Route aggregation happens on the
//! way: a node whose addresses all have one next hop gets no row.

use alloc::boxed::Box;
use core::marker::PhantomData;

use super::layout::{DIRECT, DIRECT_OCTETS, Entry, FIRST_ROW, ROW, Spider};
use super::{Config, EXPECTED, Kernel, NAME};
use crate::engine::kit::{CompileError, OptionError, Shape};
use crate::mem::FallibleVec;
use crate::net::{Family, NextHopId};
use crate::rib::{Block, Rib, Slots};

pub(super) fn compile<F: Family, E: Entry>(
    rib: &Rib<F>,
    config: &Config,
) -> Result<Spider<F, E>, CompileError> {
    let kernel = config.kernel;
    if let Some(Kernel::Lanes(ways)) = kernel
        && !Kernel::WAYS.contains(&ways)
    {
        let option = Kernel::Lanes(ways).name();
        return Err(OptionError { engine: NAME, option, expected: EXPECTED }.into());
    }
    let id = rib.max_next_hop();
    if id > E::MAX_NEXT_HOP {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit: E::MAX_NEXT_HOP });
    }
    let mut rows = Rows { fib: FallibleVec::new(), max: E::MAX_ROW, full: false };
    rows.fib.fill(E::EOL, FIRST_ROW * ROW);
    rib.root_block().for_each_slots(8 * DIRECT_OCTETS, |slots| {
        let (entry, _) = rows.entry(&slots, 0);
        rows.fib[DIRECT + slots.first..][..slots.count].fill(entry);
    });
    if rows.full {
        let limit = (E::MAX_ROW + 1 - FIRST_ROW) as u64;
        return Err(CompileError::TooMany { engine: NAME, what: E::ROWS, limit });
    }
    let fib: Box<[E]> = rows.fib.finish().map_err(CompileError::memory(NAME))?.into();
    let kernel = kernel.unwrap_or(Kernel::best(size_of_val(&*fib)));
    Ok(Spider { fib, kernel, family: PhantomData })
}

/// Upper bound on the bytes of a table: a row for every block that routes divide.
pub(super) fn estimate(shape: &Shape, entry: usize) -> u64 {
    let rows = FIRST_ROW as u64 + shape.blocks_from(8 * DIRECT_OCTETS, 8);
    rows * (ROW * entry) as u64
}

struct Rows<E> {
    fib: FallibleVec<E>,
    /// The greatest row number.
    max: usize,
    /// Whether a row was dropped for lack of a number.
    full: bool,
}

impl<E: Entry> Rows<E> {
    /// Builds the entry of some slots; the previous rows have found `found`, raw. Returns also the
    /// common next hop of a slot's addresses, if they have one.
    fn entry<F: Family>(&mut self, slots: &Slots<'_, F>, found: u32) -> (E, Option<u32>) {
        let mut raw = NextHopId::to_raw(slots.next_hop);
        let mut next_row_index = 0;
        if let Some(below) = slots.below {
            match self.row(below, raw) {
                Row::Uniform(all) => raw = all,
                Row::Stored(number) => next_row_index = number,
            }
        }
        // A next hop that is already found need not be stored again.
        let next_hop_index = if raw == found { 0 } else { raw };
        (E::new(next_hop_index, next_row_index), (next_row_index == 0).then_some(raw))
    }

    /// Builds the row of a block that a route longer than its depth lies in.
    ///
    /// `found` is the longest match of its addresses so far. The recursion is as deep as the
    /// address has octets.
    fn row<F: Family>(&mut self, block: Block<'_, F>, found: u32) -> Row {
        let mut row = [E::EOL; ROW];
        let mut first = None;
        let mut uniform = true;
        block.for_each_slots(8, |slots| {
            let (entry, raw) = self.entry(&slots, found);
            row[slots.first..][..slots.count].fill(entry);
            uniform &= raw.is_some() && *first.get_or_insert(raw) == raw;
        });
        match first.flatten() {
            Some(raw) if uniform => Row::Uniform(raw),
            _ => Row::Stored(self.store(&row)),
        }
    }

    /// Stores a row and returns its number.
    fn store(&mut self, row: &[E; ROW]) -> usize {
        let number = self.fib.len() / ROW;
        if number > self.max {
            self.full = true;
            // Any valid number: the table is refused in the end.
            return self.max;
        }
        self.fib.extend(row);
        number
    }
}

/// Result of building a block.
enum Row {
    /// All its addresses have this raw next hop: route aggregation drops the row.
    Uniform(u32),
    /// A row with this number.
    Stored(usize),
}
