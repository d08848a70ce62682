//! Live tables.
//!
//! Each address has its answer in one entry, so one store changes it. A change affects the slots
//! whose addresses its prefix covers and no longer route does. Their new entries are built from the
//! RIB: an entry of a group that remains is replaced in place; a newly needed group is built aside,
//! with all groups below it, and the store of the entry that names it publishes it; the answer
//! replaces a group that is no longer needed. All stores come last, when every group has its place,
//! so a change that does not fit has no effect.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::check;
use super::compile::{self, Groups};
use super::layout::{Dir24_8, Entry, EntryPosition, FIRST_BITS, GROUP_SLOTS, Level};
use crate::engine::kit::{CannotPatch, Corrupt, LiveEngine, Lookup, Patch, Replaced};
use crate::mem::{Live, LiveMemory, MemoryUsage, Owner, RetireList};
use crate::net::{Family, NextHopId, Prefix};
use crate::rib::{Block, Rib, Slots};

/// log2 of the most entries of `tbl24` to change in place. Beyond, a fresh compile takes no more
/// work.
const MAX_ENTRIES: u8 = 16;
/// Spare bytes of groups, on top of twice the groups in use.
const SPARE_BYTES: usize = 1 << 20;

/// Moves the tables into live memory with spare groups, and makes their write side.
pub(super) fn live<F: Family, E: Entry>(tables: Dir24_8<F, E>) -> LiveEngine<F> {
    let spare = SPARE_BYTES / (GROUP_SLOTS * size_of::<E>());
    let groups = tables.groups().saturating_mul(2).saturating_add(spare).min(E::MAX_GROUPS);
    match Patcher::new(&tables, groups) {
        Some(patcher) => LiveEngine::patched(patcher.tables.clone(), patcher),
        None => LiveEngine::recompiled(tables),
    }
}

/// The write side.
pub(super) struct Patcher<F: Family, E: Entry> {
    pub(super) tables: Arc<Dir24_8<F, E, LiveMemory>>,
    tbl24: Owner<E>,
    groups: FreeGroups<E>,
    /// New entries, in the order in which they are stored.
    stores: Vec<(EntryPosition, E)>,
    /// Those new entries that name a group, or replace one that did.
    renamed: BTreeMap<EntryPosition, E>,
    /// Groups that are no longer needed after this patch.
    retired: Vec<u32>,
    retire_list: RetireList<u32>,
}

/// Groups that no reader can reach.
struct FreeGroups<E: Entry> {
    tbl8: Owner<E>,
    free: Vec<u32>,
    /// Groups taken in this patch.
    taken: Vec<u32>,
}

impl<E: Entry> Groups<E> for FreeGroups<E> {
    fn take(&mut self) -> Option<u32> {
        let unused = |tbl8: &mut Owner<E>| Some((tbl8.extend(GROUP_SLOTS)? / GROUP_SLOTS) as u32);
        let group = self.free.pop().or_else(|| unused(&mut self.tbl8))?;
        self.taken.push(group);
        Some(group)
    }

    fn write(&mut self, group: u32, entries: &[E; GROUP_SLOTS]) {
        // SAFETY: the group was free, so no entry that readers can reach names it (invariant 6).
        unsafe { self.tbl8.write(group as usize * GROUP_SLOTS, entries) };
    }
}

impl<F: Family, E: Entry> Patcher<F, E> {
    /// Builds tables that can grow to `groups` groups. `None` when memory runs out.
    pub(super) fn new(tables: &Dir24_8<F, E>, groups: usize) -> Option<Self> {
        let (tbl24, tbl24_owner) = Live::with_capacity(&tables.tbl24, 0)?;
        let capacity = groups.saturating_mul(GROUP_SLOTS);
        let (tbl8, tbl8_owner) = Live::with_capacity(&tables.tbl8, capacity)?;
        Some(Self {
            tables: Arc::new(Dir24_8 { tbl24, tbl8, family: PhantomData }),
            tbl24: tbl24_owner,
            groups: FreeGroups { tbl8: tbl8_owner, free: Vec::new(), taken: Vec::new() },
            stores: Vec::new(),
            renamed: BTreeMap::new(),
            retired: Vec::new(),
            retire_list: RetireList::default(),
        })
    }

    /// Returns the new value of an entry. An entry that answers before and after may be stale; a
    /// second store to it writes the same value.
    fn entry(&self, place: EntryPosition) -> E {
        if !self.renamed.is_empty()
            && let Some(entry) = self.renamed.get(&place)
        {
            return *entry;
        }
        match place {
            EntryPosition::First(i) => self.tbl24[i],
            EntryPosition::Below(i) => self.groups.tbl8[i],
        }
    }

    /// Brings the entries of a table up to date; `block` is the RIB's view of them.
    fn level(
        &mut self,
        prefix: Prefix<F>,
        block: Block<'_, F>,
        level: Level,
    ) -> Result<(), CannotPatch> {
        let mut result = Ok(());
        block.for_each_slots_of(prefix, level.bits(), |slots| {
            if result.is_ok() {
                result = self.slots(prefix, &slots, level);
            }
        });
        result
    }

    fn slots(
        &mut self,
        prefix: Prefix<F>,
        slots: &Slots<'_, F>,
        level: Level,
    ) -> Result<(), CannotPatch> {
        for slot in slots.first..slots.first + slots.count {
            let place = level.place(slot);
            let before = self.entry(place);
            match (slots.below, before.is_group()) {
                (Some(below), true) => self.level(prefix, below, level.below(before.value()))?,
                (None, false) => {
                    let after = E::answer(NextHopId::to_raw(slots.next_hop));
                    if after != before {
                        self.stores.push((place, after));
                    }
                }
                _ => {
                    let after = self.new_entry(slots)?;
                    self.retire(before);
                    self.renamed.insert(place, after);
                    self.stores.push((place, after));
                }
            }
        }
        Ok(())
    }

    /// Builds the entry of a slot whose kind of entry changes.
    fn new_entry(&mut self, slots: &Slots<'_, F>) -> Result<E, CannotPatch> {
        compile::entry(&mut self.groups, slots).ok_or(CannotPatch)
    }

    /// Retires the group that an entry names, if it names one, and the groups below it.
    fn retire(&mut self, entry: E) {
        if !entry.is_group() {
            return;
        }
        self.retired.push(entry.value());
        let first = entry.value() as usize * GROUP_SLOTS;
        for i in first..first + GROUP_SLOTS {
            self.retire(self.entry(EntryPosition::Below(i)));
        }
    }

    fn publish(&mut self) -> Replaced {
        let groups = self.groups.taken.len() as u64;
        let mut replaced = Replaced { nodes: groups, ..Replaced::default() };
        for (place, entry) in self.stores.drain(..) {
            match place {
                EntryPosition::First(i) => {
                    self.tbl24.publish(i, entry);
                    replaced.entries += 1;
                }
                EntryPosition::Below(i) => {
                    self.groups.tbl8.publish(i, entry);
                    replaced.leaves += 1;
                }
            }
        }
        self.renamed.clear();
        self.groups.taken.clear();
        for group in self.retired.drain(..) {
            self.retire_list.push(group, GROUP_SLOTS * size_of::<E>());
        }
        replaced
    }

    /// Discards the prepared changes.
    fn forget(&mut self) {
        self.stores.clear();
        self.renamed.clear();
        self.retired.clear();
        let FreeGroups { free, taken, .. } = &mut self.groups;
        free.append(taken);
    }

    /// Returns all entries of `tbl24` and of the groups that have ever been used.
    #[cfg(test)]
    pub(super) fn entries(&self) -> [&[E]; 2] {
        [&self.tbl24, &self.groups.tbl8]
    }

    /// Number of groups that entries name.
    #[cfg(test)]
    pub(super) fn groups_in_use(&self) -> usize {
        self.tables.groups() - self.groups.free.len() - self.retire_list.iter().count()
    }
}

impl<F: Family, E: Entry> Patch<F> for Patcher<F, E> {
    fn patch(&mut self, rib: &Rib<F>, changed: &[Prefix<F>]) -> Result<Replaced, CannotPatch> {
        let too_much = |prefix: &Prefix<F>| {
            FIRST_BITS.saturating_sub(prefix.len()) > MAX_ENTRIES
                || NextHopId::to_raw(rib.get(*prefix)) > E::MAX_NEXT_HOP
        };
        if changed.iter().any(too_much) {
            return Err(CannotPatch);
        }
        for prefix in changed {
            if self.level(*prefix, rib.root_block(), Level::FIRST).is_err() {
                self.forget();
                return Err(CannotPatch);
            }
        }
        Ok(self.publish())
    }

    fn seal(&mut self, epoch: u64) {
        self.retire_list.seal(epoch);
    }

    fn reclaim(&mut self, oldest: u64) {
        while let Some(group) = self.retire_list.pop(oldest) {
            self.groups.free.push(group);
        }
    }

    fn retired_bytes(&self) -> usize {
        self.retire_list.bytes()
    }

    fn used_and_unused(&self) -> (usize, usize) {
        (self.memory_usage().bytes(), self.groups.free.len() * GROUP_SLOTS * size_of::<E>())
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.tables.memory_usage()
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        let FreeGroups { tbl8, free, .. } = &self.groups;
        let unused = free.iter().chain(self.retire_list.iter()).copied().collect();
        check::check([&self.tbl24, tbl8], unused, rib)
    }
}
