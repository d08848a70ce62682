//! RIB to tables: block by block, each slot's answer or group.

use core::marker::PhantomData;

use super::NAME;
use super::layout::{Dir24_8, Entry, FIRST_BITS, FIRST_SLOTS, GROUP_BITS, GROUP_SLOTS};
use crate::addr::{Bits, Family};
use crate::array::Array;
use crate::error::CompileError;
use crate::next_hop::NextHopId;
use crate::rib::{Block, Rib, Slots};

/// # Panics
/// When there is no memory for the tables.
pub(super) fn compile<F: Family, E: Entry>(rib: &Rib<F>) -> Result<Dir24_8<F, E>, CompileError> {
    let groups = fits::<F, E>(rib)?;
    let mut tbl24 = Array::zeroed(FIRST_SLOTS).expect("memory for tbl24");
    let tbl8 = Array::with_room(&[], groups * GROUP_SLOTS).expect("memory for tbl8");
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
pub(super) fn fits<F: Family, E: Entry>(rib: &Rib<F>) -> Result<usize, CompileError> {
    let groups = groups_needed(rib);
    let (id, limit) = (rib.max_next_hop(), E::MAX_NEXT_HOP);
    if id > limit {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit });
    }
    if groups > E::MAX_GROUPS {
        let limit = E::MAX_GROUPS as u64;
        return Err(CompileError::TooMany { engine: NAME, what: "tbl8 groups", limit });
    }
    Ok(groups)
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
        let depths = (FIRST_BITS..prefix.len()).step_by(GROUP_BITS.into());
        for (depth, last) in depths.zip(&mut last) {
            let block = Some(prefix.bits() & F::Bits::mask(depth));
            groups += usize::from(*last != block);
            *last = block;
        }
    }
    groups
}
