//! Changed prefixes to patched tables: first groups that nobody needs any more are freed, then the
//! entries of each changed prefix are written anew.

use alloc::vec::Vec;

use super::compile::{group_depths, groups_fit, next_hop_fits};
use super::layout::{Dir24_8, Entry, Level};
use crate::addr::{Bits, Family};
use crate::error::UpdateError;
use crate::next_hop::NextHopId;
use crate::prefix::Prefix;
use crate::rib::{Range, Ranges, Rib};
use crate::route::Route;

pub(super) fn apply<F: Family, E: Entry>(
    tables: &mut Dir24_8<F, E>,
    rib: &Rib<F>,
    changed: &[Prefix<F>],
) -> Result<(), UpdateError> {
    for next_hop in changed.iter().filter_map(|prefix| rib.get(*prefix)) {
        next_hop_fits::<E>(next_hop.get())?;
    }
    let (dead, born) = group_changes(tables, rib, changed);
    groups_fit::<E>(tables.groups_in_use() - dead.len() + born)?;
    // Nothing can fail from here on. Groups are freed before others are made, so that all of them
    // can be in use before and after.
    for block in dead {
        tables.free_group(rib, block);
    }
    for prefix in changed {
        tables.refresh(rib, *prefix);
    }
    if tables.groups_in_use() == 0 {
        (tables.tbl8, tables.free) = (Vec::new(), Vec::new());
    }
    Ok(())
}

/// The blocks whose group is not needed any more, the deepest first, and how many groups are
/// needed more. Only blocks on the way to a changed prefix can be either (invariant 5).
fn group_changes<F: Family, E: Entry>(
    tables: &Dir24_8<F, E>,
    rib: &Rib<F>,
    changed: &[Prefix<F>],
) -> (Vec<Prefix<F>>, usize) {
    let block = |prefix: Prefix<F>, depth| Prefix::from_bits_masked(prefix.bits(), depth);
    let on_the_way = |p: &Prefix<F>| {
        let p = *p;
        group_depths(p.len()).map(move |depth| block(p, depth))
    };
    let mut blocks: Vec<_> = changed.iter().flat_map(on_the_way).collect();
    blocks.sort_unstable_by_key(|block| (u8::MAX - block.len(), *block));
    blocks.dedup();
    let mut born = 0;
    blocks.retain(|block| {
        let has = tables
            .entry_of(*block)
            .is_some_and(|(level, slot)| tables.slots(level)[slot].is_group());
        let needs = has_longer(rib, *block);
        born += usize::from(needs && !has);
        has && !needs
    });
    (blocks, born)
}

/// Whether a route lies in the block that is longer than the block.
fn has_longer<F: Family>(rib: &Rib<F>, block: Prefix<F>) -> bool {
    rib.subtree(block).any(|route| route.prefix != block)
}

/// The next hop of addresses in the block that no route longer than the block covers.
fn answer_of<F: Family>(rib: &Rib<F>, block: Prefix<F>) -> Option<NextHopId> {
    rib.covering(block).last().map(|route| route.next_hop)
}

impl<F: Family, E: Entry> Dir24_8<F, E> {
    /// The entry for a block at whose depth a group may stand: its table and slot, if that table
    /// exists.
    fn entry_of(&self, block: Prefix<F>) -> Option<(Level, usize)> {
        let mut level = Level::FIRST;
        loop {
            let slot = block.bits().extract(level.depth, level.bits());
            if level.end() == block.len() {
                return Some((level, slot));
            }
            let entry = self.slots(level)[slot];
            if !entry.is_group() {
                return None;
            }
            level = level.below(entry.value());
        }
    }

    /// Puts the block's answer in the place of its group, which leads to no other group any more.
    fn free_group(&mut self, rib: &Rib<F>, block: Prefix<F>) {
        let Some((level, slot)) = self.entry_of(block) else { return };
        let answer = E::answer(NextHopId::to_raw(answer_of(rib, block)));
        let entry = core::mem::replace(&mut self.slots_mut(level)[slot], answer);
        debug_assert!(entry.is_group());
        self.free.push(entry.value());
    }

    /// Writes everything inside a prefix anew.
    fn refresh(&mut self, rib: &Rib<F>, prefix: Prefix<F>) {
        let mut level = Level::FIRST;
        let mut region = prefix;
        while level.end() < prefix.len() {
            let block = Prefix::from_bits_masked(prefix.bits(), level.end());
            if !has_longer(rib, block) {
                region = block;
                break;
            }
            let slot = prefix.bits().extract(level.depth, level.bits());
            level = level.below(self.group_at(level, slot));
        }
        // The region as if it were a table of its own: what covers it from outside covers all of
        // it.
        let cover = answer_of(rib, region).map(|next_hop| Route { prefix: region, next_hop });
        let inside = rib.subtree(region).filter(|route| route.prefix != region);
        for range in Ranges::new(cover.into_iter().chain(inside)) {
            let first = range.first.max(region.first());
            let last = range.last.min(region.last());
            if first <= last {
                self.fill(level, &Range { first, last, ..range });
            }
        }
    }
}
