//! The second level of a direct table that changes: blocks of entries, equal ones once.
//!
//! A block is never changed where it lies, as many elements of the first level may lead to it. One
//! that is to be different is built aside, unless there is one like it, and an element of the first
//! level is replaced to lead there.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::super::direct::{Levels, SplitOwner};
use super::shared::Shared;
use crate::engine::kit::CannotPatch;

/// The write side of the second level.
pub(super) struct Blocks {
    shared: Shared,
    /// Blocks into which no reader can come.
    free: Vec<u32>,
    /// Blocks that were built in this patch.
    added: Vec<u32>,
    /// Elements of the first level, and the blocks that they are to lead to.
    staged: Vec<(usize, u32)>,
    /// The block at hand.
    block: Vec<u32>,
}

/// What publishing has done.
pub(super) struct Published {
    /// Elements of the first level that were replaced.
    pub elements: u64,
    /// Blocks that were built, and blocks that nothing leads to any more.
    pub added: Vec<u32>,
    pub retired: Vec<u32>,
}

/// The references of the first level to each block.
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
    /// Of a table that was compiled.
    pub fn new(split: &SplitOwner) -> Self {
        let split = split.levels();
        let mut shared = Shared::default();
        for (block, count) in references(split) {
            shared.insert(block, shared.hash(split.block(block)));
            for _ in 0..count {
                shared.refer(block);
            }
        }
        let (free, added, block) = (Vec::new(), Vec::new(), Vec::new());
        Self { shared, free, added, staged: Vec::new(), block }
    }

    /// Every block that is used.
    pub fn used(split: Levels<'_>) -> impl Iterator<Item = u32> + use<> {
        references(split).into_keys()
    }

    /// Finds or builds the blocks in which some entries, given by their chunks, are others.
    ///
    /// # Errors
    /// When there is no place for one.
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

    /// Stores the block at hand.
    fn build(&mut self, split: &mut SplitOwner, hash: u64) -> Result<u32, CannotPatch> {
        let block = match self.free.pop() {
            Some(block) => block,
            // The capacity ends where an element of the first level cannot name a block.
            None => (split.entries.extend(1 << split.x).ok_or(CannotPatch)? >> split.x) as u32,
        };
        // SAFETY: no element of the first level that readers may have read leads into a block that
        // was free.
        unsafe { split.entries.write((block as usize) << split.x, &self.block) };
        self.shared.insert(block, hash);
        self.added.push(block);
        Ok(block)
    }

    /// Has readers see what was staged.
    pub fn publish(&mut self, split: &mut SplitOwner) -> Published {
        let mut before = Vec::with_capacity(self.staged.len());
        for (element, block) in &self.staged {
            before.push(u32::from(split.first[*element]));
            self.shared.refer(*block);
        }
        for (element, block) in &self.staged {
            split.first.publish(*element, *block as u16);
        }
        before.retain(|block| self.shared.release(*block));
        let elements = self.staged.drain(..).count() as u64;
        Published { elements, added: core::mem::take(&mut self.added), retired: before }
    }

    /// Forgets what was staged.
    pub fn forget(&mut self) {
        self.staged.clear();
        for block in self.added.drain(..) {
            self.shared.remove(block);
            self.free.push(block);
        }
    }

    /// Has a block to be used again, into which no reader can come any more.
    pub fn free(&mut self, block: u32) {
        self.free.push(block);
    }

    /// Blocks that can be used again.
    pub fn unused(&self) -> &[u32] {
        &self.free
    }

    /// Whether the accounts are those of the table.
    pub fn agree(&self, split: Levels<'_>) -> bool {
        self.shared.agrees(&references(split), |block| self.shared.hash(split.block(block)))
    }
}
