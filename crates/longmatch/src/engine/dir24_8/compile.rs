//! RIB to tables: each disjoint range of addresses is written where it belongs.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::NAME;
use super::layout::{Dir24_8, Entry, FIRST_BITS, FIRST_SLOTS, GROUP_BITS, GROUP_SLOTS, Level};
use crate::addr::{Bits, Family};
use crate::error::CompileError;
use crate::next_hop::NextHopId;
use crate::rib::{Range, Rib};

pub(super) fn compile<F: Family, E: Entry>(rib: &Rib<F>) -> Result<Dir24_8<F, E>, CompileError> {
    let groups = fits::<F, E>(rib)?;
    let mut tables = Dir24_8 {
        tbl24: alloc::vec![E::default(); FIRST_SLOTS].into(),
        tbl8: Vec::with_capacity(groups * GROUP_SLOTS),
        free: Vec::new(),
        family: PhantomData,
    };
    // What no route covers stays as it is: zero.
    for range in rib.ranges().filter(|range| range.route.is_some()) {
        tables.fill(Level::FIRST, &range);
    }
    Ok(tables)
}

/// Whether the entries hold the table; the number of groups it needs.
pub(super) fn fits<F: Family, E: Entry>(rib: &Rib<F>) -> Result<usize, CompileError> {
    let groups = groups_needed(rib);
    next_hop_fits::<E>(rib.max_next_hop())?;
    groups_fit::<E>(groups)?;
    Ok(groups)
}

pub(super) fn next_hop_fits<E: Entry>(id: u32) -> Result<(), CompileError> {
    let limit = E::MAX_NEXT_HOP;
    if id > limit { Err(CompileError::NextHopTooLarge { engine: NAME, id, limit }) } else { Ok(()) }
}

pub(super) fn groups_fit<E: Entry>(groups: usize) -> Result<(), CompileError> {
    if groups > E::MAX_GROUPS {
        let limit = E::MAX_GROUPS as u64;
        return Err(CompileError::TooMany { engine: NAME, what: "tbl8 groups", limit });
    }
    Ok(())
}

/// The blocks of addresses, at the depths where groups stand, that a route longer than the block
/// lies in (invariant 5). Routes come in order, so those of a block come together.
pub(super) fn groups_needed<F: Family>(rib: &Rib<F>) -> usize {
    /// Depths of an IPv6 address at which groups stand.
    const DEPTHS: usize = 13;
    let mut last = [None; DEPTHS];
    let mut groups = 0;
    for route in rib.iter() {
        let prefix = route.prefix;
        for (depth, last) in group_depths(prefix.len()).zip(&mut last) {
            let block = Some(prefix.bits() & F::Bits::mask(depth));
            groups += usize::from(*last != block);
            *last = block;
        }
    }
    groups
}

/// The depths of the groups on the way to a prefix of this length.
pub(super) fn group_depths(len: u8) -> impl Iterator<Item = u8> {
    (FIRST_BITS..len).step_by(GROUP_BITS.into())
}

impl<F: Family, E: Entry> Dir24_8<F, E> {
    /// Writes a range of addresses, which lies inside one block of the level's depth.
    ///
    /// Ranges end where prefixes do: where a slot is covered in part, a route longer than the slot
    /// lies in it, so the slot has a group or needs one.
    pub(super) fn fill(&mut self, level: Level, range: &Range<F>) {
        let Range { first, last, .. } = *range;
        let slot = |bits: F::Bits| bits.extract(level.depth, level.bits());
        let mask = F::Bits::mask(level.end());
        let cut_head = first & !mask != F::Bits::ZERO;
        let cut_tail = last | mask != F::Bits::MAX;
        let (mut from, mut to) = (slot(first), slot(last) + 1);
        if from + 1 == to && (cut_head || cut_tail) {
            return self.fill_below(level, range);
        }
        if cut_head {
            self.fill_below(level, &Range { last: first | !mask, ..*range });
            from += 1;
        }
        if cut_tail {
            self.fill_below(level, &Range { first: last & mask, ..*range });
            to -= 1;
        }
        let answer = E::answer(NextHopId::to_raw(range.next_hop()));
        let slots = &mut self.slots_mut(level)[from..to];
        debug_assert!(slots.iter().all(|entry| !entry.is_group()), "a group would be lost");
        slots.fill(answer);
    }

    /// Writes a range that is a part of one slot.
    fn fill_below(&mut self, level: Level, range: &Range<F>) {
        let slot = range.first.extract(level.depth, level.bits());
        let group = self.group_at(level, slot);
        self.fill(level.below(group), range);
    }

    /// The group of a slot. Where there is none yet, one is made whose entries all answer as the
    /// slot did.
    pub(super) fn group_at(&mut self, level: Level, slot: usize) -> u32 {
        let entry = self.slots(level)[slot];
        if entry.is_group() {
            return entry.value();
        }
        let group = self.free.pop().unwrap_or_else(|| {
            self.tbl8.resize(self.tbl8.len() + GROUP_SLOTS, entry);
            (self.tbl8.len() / GROUP_SLOTS - 1) as u32
        });
        self.slots_mut(level.below(group)).fill(entry);
        self.slots_mut(level)[slot] = E::group(group);
        group
    }
}
