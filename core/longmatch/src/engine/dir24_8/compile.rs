//! Compiles a RIB to tables: block by block, each slot's answer or group.

use core::marker::PhantomData;

use super::NAME;
use super::layout::{Dir24_8, Entry, FIRST_BITS, FIRST_SLOTS, GROUP_BITS, GROUP_SLOTS};
use crate::engine::kit::{CompileError, Shape};
use crate::mem::Frozen;
use crate::net::{Family, NextHopId};
use crate::rib::{Block, Rib, Slots};

pub(super) fn compile<F: Family, E: Entry>(rib: &Rib<F>) -> Result<Dir24_8<F, E>, CompileError> {
    let groups = fits::<F, E>(rib, &Shape::of(rib))?;
    let mut tbl24 = Frozen::zeroed(FIRST_SLOTS).map_err(CompileError::memory(NAME))?;
    let mut tbl8 = Frozen::zeroed(groups * GROUP_SLOTS).map_err(CompileError::memory(NAME))?;
    let mut fresh = Fresh { tbl8: &mut tbl8, used: 0 };
    let entries: &mut [E] = &mut tbl24;
    rib.root_block().for_each_slots(FIRST_BITS, |slots| {
        let entry = entry(&mut fresh, &slots).expect("as many groups as were counted");
        // Slots without a route are not written, so they take no memory.
        if entry != E::default() {
            entries[slots.first..][..slots.count].fill(entry);
        }
    });
    Ok(Dir24_8 { tbl24, tbl8, family: PhantomData })
}

/// Allocation of groups.
pub(super) trait Groups<E> {
    /// Takes a group that no entry leads to; `None` when there is none.
    fn take(&mut self) -> Option<u32>;

    /// Writes a group that was taken and that no entry leads to yet.
    fn write(&mut self, group: u32, entries: &[E; GROUP_SLOTS]);
}

/// The groups of a table under construction.
struct Fresh<'a, E> {
    tbl8: &'a mut [E],
    used: usize,
}

impl<E: Entry> Groups<E> for Fresh<'_, E> {
    fn take(&mut self) -> Option<u32> {
        self.used += 1;
        Some(self.used as u32 - 1)
    }

    fn write(&mut self, group: u32, entries: &[E; GROUP_SLOTS]) {
        self.tbl8[group as usize * GROUP_SLOTS..][..GROUP_SLOTS].copy_from_slice(entries);
    }
}

/// Returns the entry of some slots, and builds the groups that they need. `None` when there are too
/// few groups. The recursion is as deep as the groups: at most 13 levels.
pub(super) fn entry<F: Family, E: Entry>(
    groups: &mut impl Groups<E>,
    slots: &Slots<'_, F>,
) -> Option<E> {
    match slots.below {
        None => Some(E::answer(NextHopId::to_raw(slots.next_hop))),
        Some(below) => group(groups, below),
    }
}

/// Builds the group of a block and returns the entry that names it.
fn group<F: Family, E: Entry>(groups: &mut impl Groups<E>, block: Block<'_, F>) -> Option<E> {
    let group = groups.take()?;
    let mut entries = [E::default(); GROUP_SLOTS];
    let mut complete = true;
    block.for_each_slots(GROUP_BITS, |slots| match entry(groups, &slots) {
        Some(entry) => entries[slots.first..][..slots.count].fill(entry),
        None => complete = false,
    });
    groups.write(group, &entries);
    complete.then(|| E::group(group))
}

/// Verifies that the entries hold the table; returns the number of groups it needs.
pub(super) fn fits<F: Family, E: Entry>(
    rib: &Rib<F>,
    shape: &Shape,
) -> Result<usize, CompileError> {
    let groups = groups_needed(shape);
    let (id, limit) = (rib.max_next_hop(), E::MAX_NEXT_HOP);
    if id > limit {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit });
    }
    if groups > E::MAX_GROUPS as u64 {
        let limit = E::MAX_GROUPS as u64;
        return Err(CompileError::TooMany { engine: NAME, what: "tbl8 groups", limit });
    }
    Ok(groups as usize)
}

/// Number of groups of a table. Each block at a depth where groups stand has one if it contains a
/// longer route (invariant 5).
pub(super) fn groups_needed(shape: &Shape) -> u64 {
    shape.blocks_from(FIRST_BITS, GROUP_BITS)
}

/// Estimated bytes of `tbl24` and `tbl8`.
pub(super) fn estimate(shape: &Shape, entry: usize) -> u64 {
    let entries = FIRST_SLOTS as u64 + GROUP_SLOTS as u64 * groups_needed(shape);
    entries * entry as u64
}
