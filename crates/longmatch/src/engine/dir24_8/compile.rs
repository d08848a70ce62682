//! RIB to tables: block by block, each slot's answer or group.

use core::marker::PhantomData;

use super::NAME;
use super::layout::{Dir24_8, Entry, FIRST_BITS, FIRST_SLOTS, GROUP_BITS, GROUP_SLOTS};
use crate::engine::kit::{CompileError, Shape};
use crate::mem::Array;
use crate::net::{Family, NextHopId};
use crate::rib::{Block, Rib, Slots};

pub(super) fn compile<F: Family, E: Entry>(rib: &Rib<F>) -> Result<Dir24_8<F, E>, CompileError> {
    let groups = fits::<F, E>(rib, &Shape::of(rib))?;
    let missing = |slots: usize| {
        let bytes = slots as u64 * size_of::<E>() as u64;
        CompileError::Allocation { engine: NAME, bytes }
    };
    let mut tbl24 = Array::zeroed(FIRST_SLOTS).ok_or_else(|| missing(FIRST_SLOTS))?;
    let slots = groups * GROUP_SLOTS;
    let tbl8 = Array::with_room(&[], slots).ok_or_else(|| missing(slots))?;
    let entries: &mut [E] = &mut tbl24;
    rib.root_block().for_each_slots(FIRST_BITS, |slots| {
        let entry = entry(&tbl8, &slots, &mut || next_group(&tbl8)).expect("room for all groups");
        // What no route covers is not written, so it takes no memory.
        if entry != E::default() {
            entries[slots.first..][..slots.count].fill(entry);
        }
    });
    Ok(Dir24_8 { tbl24, tbl8, live: false, family: PhantomData })
}

/// The group behind those that have been used.
pub(super) fn next_group<E: Entry>(tbl8: &Array<E>) -> Option<u32> {
    Some((tbl8.extend(GROUP_SLOTS)? / GROUP_SLOTS) as u32)
}

/// The entry of some slots. Where they need groups, these are built in what `take` gives; `None`
/// when it has no more. Recursion is as deep as the groups: 13 levels at most.
pub(super) fn entry<F: Family, E: Entry>(
    tbl8: &Array<E>,
    slots: &Slots<'_, F>,
    take: &mut impl FnMut() -> Option<u32>,
) -> Option<E> {
    match slots.below {
        None => Some(E::answer(NextHopId::to_raw(slots.next_hop))),
        Some(below) => group(tbl8, below, take),
    }
}

/// An entry that names the new group of a block.
fn group<F: Family, E: Entry>(
    tbl8: &Array<E>,
    block: Block<'_, F>,
    take: &mut impl FnMut() -> Option<u32>,
) -> Option<E> {
    let group = take()?;
    let mut entries = [E::default(); GROUP_SLOTS];
    let mut complete = true;
    block.for_each_slots(GROUP_BITS, |slots| match entry(tbl8, &slots, take) {
        Some(entry) => entries[slots.first..][..slots.count].fill(entry),
        None => complete = false,
    });
    // SAFETY: no entry that readers come to names a group that has just been taken (invariant 4).
    unsafe { tbl8.write_unseen(group as usize * GROUP_SLOTS, &entries) };
    complete.then(|| E::group(group))
}

/// Whether the entries hold the table; the number of groups it needs.
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

/// The groups of a table: a block of addresses at a depth where groups stand, that a route longer
/// than the block lies in, has one (invariant 5).
pub(super) fn groups_needed(shape: &Shape) -> u64 {
    shape.blocks_from(FIRST_BITS, GROUP_BITS)
}

/// The bytes of `tbl24` and `tbl8`.
pub(super) fn estimate(shape: &Shape, entry: usize) -> u64 {
    let entries = FIRST_SLOTS as u64 + GROUP_SLOTS as u64 * groups_needed(shape);
    entries * entry as u64
}
