//! The second level of a live direct table: blocks of entries, equal ones once.
//!
//! A block is never changed in place, as many elements of the first level may lead to it. A changed
//! block is built aside, unless an equal one exists, and one store to the element of the first
//! level leads there.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::super::direct::{Levels, SplitOwner};
use super::shared::Shared;
use crate::engine::kit::CannotPatch;

/// The write side of the second level.
pub(super) struct Blocks {
    shared: Shared,
    /// Blocks that no reader can reach.
    free: Vec<u32>,
    /// Blocks built in this patch.
    added: Vec<u32>,
    /// Elements of the first level, and the new block of each.
    staged: Vec<(usize, u32)>,
    /// The current block.
    block: Vec<u32>,
}

/// The effect of publishing.
pub(super) struct Published {
    /// Number of replaced elements of the first level.
    pub elements: u64,
    /// Blocks that were built, and blocks that no element names any more.
    pub added: Vec<u32>,
    pub retired: Vec<u32>,
}

/// Counts the references of the first level to each block.
fn references(split: Levels<'_>) -> BTreeMap<u32, u32> {
    let mut references = BTreeMap::new();
    if let Levels::Split { first, .. } = split {
        for block in &first[..first.len() - 1] {
            *references.entry((*block).into()).or_default() += 1;
        }
    }
    references
}

impl Blocks {
    /// Takes over a compiled table.
    pub fn new(split: &SplitOwner) -> Self {
        let split = split.levels();
        let mut shared = Shared::default();
        if let Levels::Split { first, .. } = split {
            for (block, element) in first[..first.len() - 1].iter().zip(0..) {
                let block = (*block).into();
                if !shared.refer(block, element) {
                    shared.insert(block, shared.hash(split.block(block)));
                    shared.refer(block, element);
                }
            }
        }
        let (free, added, block) = (Vec::new(), Vec::new(), Vec::new());
        Self { shared, free, added, staged: Vec::new(), block }
    }

    /// Every block in use.
    pub fn used(split: Levels<'_>) -> impl Iterator<Item = u32> + use<> {
        references(split).into_keys()
    }

    /// Finds or builds the blocks of some changed entries, given by their chunks.
    ///
    /// # Errors
    /// When there is no free block and no capacity.
    pub fn stage(
        &mut self,
        split: &mut SplitOwner,
        changes: &BTreeMap<usize, u32>,
    ) -> Result<(), CannotPatch> {
        let x = split.x;
        let mut changes = changes.iter().peekable();
        while let Some((chunk, _)) = changes.peek() {
            let element = *chunk >> x;
            self.block.clear();
            self.block.extend_from_slice(split.levels().block(split.first[element].into()));
            while let Some((chunk, entry)) = changes.next_if(|(chunk, _)| **chunk >> x == element) {
                self.block[chunk & ((1 << x) - 1)] = *entry;
            }
            let hash = self.shared.hash(&self.block);
            let levels = split.levels();
            let block = match self.shared.find(hash, |other| levels.block(other) == self.block) {
                Some(block) => block,
                None => self.build(split, hash)?,
            };
            self.staged.push((element, block));
        }
        Ok(())
    }

    /// Stores the current block.
    fn build(&mut self, split: &mut SplitOwner, hash: u64) -> Result<u32, CannotPatch> {
        let block = match self.free.pop() {
            Some(block) => block,
            // The capacity ends where elements of the first level cannot name a block.
            None => (split.entries.extend(1 << split.x).ok_or(CannotPatch)? >> split.x) as u32,
        };
        // SAFETY: the block was free, so no element of the first level that readers may have read
        // names it.
        unsafe { split.entries.write((block as usize) << split.x, &self.block) };
        self.shared.insert(block, hash);
        self.added.push(block);
        Ok(block)
    }

    /// Publishes the staged blocks to readers.
    pub fn publish(&mut self, split: &mut SplitOwner) -> Published {
        let mut before = Vec::with_capacity(self.staged.len());
        for (element, block) in &self.staged {
            before.push(u32::from(split.first[*element]));
            self.shared.refer(*block, *element as u32);
        }
        for (element, block) in &self.staged {
            split.first.publish(*element, *block as u16);
        }
        before.retain(|block| self.shared.release(*block));
        let elements = self.staged.drain(..).count() as u64;
        Published { elements, added: core::mem::take(&mut self.added), retired: before }
    }

    /// Discards the staged blocks.
    pub fn forget(&mut self) {
        self.staged.clear();
        for block in self.added.drain(..) {
            self.shared.remove(block);
            self.free.push(block);
        }
    }

    /// Makes a block reusable that no reader can reach any more.
    pub fn free(&mut self, block: u32) {
        self.free.push(block);
    }

    /// The only chunk whose direct entry is at a place of the second level, if the accounts show it.
    pub fn index_of(&self, split: &SplitOwner, place: u32) -> Option<usize> {
        let (block, i) = (place >> split.x, place & ((1 << split.x) - 1));
        let element = self.shared.only_place(block)? as usize;
        (u32::from(split.first[element]) == block).then_some(element << split.x | i as usize)
    }

    /// Blocks available for reuse.
    pub fn unused(&self) -> &[u32] {
        &self.free
    }

    /// Whether the accounts agree with the table.
    pub fn agree(&self, split: Levels<'_>) -> bool {
        self.shared.agrees(&references(split), |block| self.shared.hash(split.block(block)))
    }
}
