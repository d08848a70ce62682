//! One change in one block of the root.
//!
//! A change that leaves the keys of its leaf as they are replaces codes in place. Otherwise the leaf
//! is written anew; all leaves below one inner line if they must be cut otherwise. Leaves and inner
//! lines are in runs with their siblings, so these runs are copied, up to the root.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::super::super::layout::Code;
use super::super::compile::{Block, Builder, Segment, Space};
use super::super::layout::{CHILDREN, Entry, KEYS, Line, SEPARATORS, STAGES, Slices};
use super::Patcher;
use crate::engine::kit::{CannotPatch, Replaced};
use crate::mem::Run;
use crate::net::{Ipv6, Prefix};
use crate::rib::Rib;

/// The inner lines above some leaves: from the top, the run of each and its position there.
type Path = Vec<(Run, usize)>;

/// The leaves below one inner line, or the leaf that the root leads to.
pub(super) struct Group {
    /// The place of the root's entry.
    index: u32,
    /// The depth of the tree.
    depth: u32,
    /// The inner lines above the leaves; the last one is their parent.
    path: Path,
    /// The run of the leaves.
    pub run: Run,
    /// The last words of all leaves but the last one.
    separators: Vec<u32>,
    /// The first word of the first leaf.
    first: u32,
    /// The last word of the last leaf.
    last: u32,
}

impl Group {
    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.separators.len() + 1
    }

    /// The leaf that a word belongs to.
    fn leaf_of(&self, word: u32) -> usize {
        self.separators.partition_point(|separator| *separator < word)
    }

    /// The first word of a leaf.
    fn first_of(&self, leaf: usize) -> u32 {
        leaf.checked_sub(1).map_or(self.first, |before| self.separators[before] + 1)
    }

    /// The last word of a leaf.
    fn last_of(&self, leaf: usize) -> u32 {
        self.separators.get(leaf).copied().unwrap_or(self.last)
    }
}

/// The new segments of the words from `low` to `high`.
struct Change {
    low: u32,
    high: u32,
    new: Vec<Segment>,
}

impl Change {
    /// Replaces the segments of these words among segments up to the word `last`; returns the
    /// replaced ones.
    fn splice(&self, segments: &mut Vec<Segment>, last: u32) -> Vec<Segment> {
        let Self { low, high, new } = self;
        let from = segments.partition_point(|segment| segment.start < *low);
        let to = segments.partition_point(|segment| segment.start <= *high);
        // The rest of the last segment, unless the next one begins there. Only an answer has more
        // than one word.
        let next = segments.get(to).map_or(last, |next| next.start - 1);
        let rest = (next > *high).then(|| Segment { start: high + 1, ..segments[to - 1] });
        let gone = segments.splice(from..to, new.iter().copied().chain(rest)).collect();
        // Neighbours with the same answer are one segment.
        segments.dedup_by(|b, a| a.entry == b.entry && a.entry.depth() == 0);
        gone
    }
}

impl Slices<'_> {
    /// Finds the leaves of the words from `low` to `high` in the tree of a root's entry.
    ///
    /// `None` when the entry is an answer or the leaves have different parents.
    fn find(&self, index: u32, block: Block, low: u32, high: u32) -> Option<Group> {
        let entry = Entry(self.entries[index as usize]);
        let (mut first, mut last) = block.words(0);
        let mut below = entry.depth().checked_sub(1)?;
        let (mut path, mut separators) = (Path::with_capacity(below as usize), Vec::new());
        let (mut at, mut count, mut position) = (entry.number() as usize, 1, 0);
        while below > 0 {
            path.push((self.run(below + 1, at, count), position));
            let line = &self.lines[at + position];
            let used = &line.0[..line.used(SEPARATORS)];
            (at, count, below) = (line.base() as usize, used.len() + 1, below - 1);
            if below == 0 {
                separators.extend_from_slice(used);
                break;
            }
            position = used.partition_point(|separator| *separator < low);
            if used.get(position).is_some_and(|separator| *separator < high) {
                return None;
            }
            first = position.checked_sub(1).map_or(first, |before| used[before] + 1);
            last = used.get(position).copied().unwrap_or(last);
        }
        let run = self.run(1, at, count);
        Some(Group { index, depth: entry.depth(), path, run, separators, first, last })
    }

    /// Returns the segments of adjacent leaves of a group.
    fn segments(&self, group: &Group, leaves: RangeInclusive<usize>) -> Vec<Segment> {
        let keys = KEYS[self.form.log2 as usize];
        // A change adds two segments at most.
        let mut segments = Vec::with_capacity((leaves.end() + 1 - leaves.start()) * (keys + 1) + 2);
        for leaf in leaves {
            let number = group.run.start as usize + leaf;
            let line = &self.lines[number];
            let starts = line.0[..line.used(keys)].iter().map(|key| key + 1);
            let starts = core::iter::once(group.first_of(leaf)).chain(starts);
            let entries = (0..).map(|i| self.entry(number, i));
            segments.extend(starts.zip(entries).map(|(start, entry)| Segment { start, entry }));
        }
        segments
    }
}

impl<C: Code> Patcher<C> {
    /// Prepares one change inside a block of the root.
    pub(super) fn change_path(
        &mut self,
        rib: &Rib<Ipv6>,
        prefix: Prefix<Ipv6>,
        replaced: &mut Replaced,
    ) -> Result<(), CannotPatch> {
        let root = &self.table.fixed.root;
        let (bits, index) = (root.bits, root.index((prefix.bits() >> 96) as u32));
        if index == root.last {
            return Err(CannotPatch);
        }
        // What a word of the first stage cannot tell apart is replaced whole.
        let len = prefix.len().min(128 - STAGES[0] as u8);
        let changed = Block::of(prefix.bits(), len);
        let (low, high) = changed.words(0);
        if let Some(group) = self.slices().find(index, Block::of(prefix.bits(), bits), low, high) {
            let raw = self.read(rib, Prefix::from_bits_masked(prefix.bits(), len))?;
            let new = self.new_segments(changed, raw, replaced).ok_or(CannotPatch)?;
            let change = Change { low, high, new };
            if self.change_leaf(&group, &change, replaced)?
                || self.change_leaves(&group, &change, replaced)?
            {
                return Ok(());
            }
            self.forget();
        }
        let in_block = Prefix::from_bits_masked(prefix.bits(), bits);
        self.prepare_all(rib, &[in_block], replaced)
    }

    /// Builds the segments of a prefix of the first stage, whose starts have been read.
    fn new_segments(
        &mut self,
        changed: Block,
        mut raw: u32,
        replaced: &mut Replaced,
    ) -> Option<Vec<Segment>> {
        let (low, high) = changed.words(0);
        let mut builder = Builder::new(&self.codes, &mut self.space).with_spare();
        let segments = if low == high {
            let entry = builder.block(1, changed, &mut raw, &self.starts)?;
            alloc::vec![Segment { start: low, entry }]
        } else {
            builder.segments(0, changed, &mut raw, &self.starts)?
        };
        replaced.nodes += builder.inner;
        replaced.leaves += builder.leaves;
        Some(segments)
    }

    /// Prepares a change inside of one leaf; returns whether it is one that leaves neither too many
    /// nor too few segments there.
    fn change_leaf(
        &mut self,
        group: &Group,
        change: &Change,
        replaced: &mut Replaced,
    ) -> Result<bool, CannotPatch> {
        let leaf = group.leaf_of(change.low);
        if leaf != group.leaf_of(change.high) {
            return Ok(false);
        }
        let mut segments = self.slices().segments(group, leaf..=leaf);
        let gone = change.splice(&mut segments, group.last_of(leaf));
        let in_leaf = self.codes.in_leaf();
        // Leaves cut anew have half as many segments as fill them, or more.
        let fewest = if group.leaves() == 1 { 2 } else { in_leaf.div_ceil(3) };
        if !(fewest..=in_leaf).contains(&segments.len()) {
            return Ok(false);
        }
        let new = Builder::new(&self.codes, &mut self.space).leaf(&segments);
        if !self.change_codes(group.run.start as usize + leaf, &new) {
            let start = self.copy_leaves(group, leaf, new).ok_or(CannotPatch)?;
            replaced.leaves += group.leaves() as u64;
            self.copy_path(group, start, None, replaced).ok_or(CannotPatch)?;
            self.replaced_runs.push(group.run);
        }
        self.replace_trees(&gone);
        Ok(true)
    }

    /// Prepares a change of the leaves of a group, cut anew; returns whether they still suffice,
    /// and are so many that their neighbours may have as many.
    fn change_leaves(
        &mut self,
        group: &Group,
        change: &Change,
        replaced: &mut Replaced,
    ) -> Result<bool, CannotPatch> {
        let mut segments = self.slices().segments(group, 0..=group.leaves() - 1);
        let gone = change.splice(&mut segments, group.last);
        let leaves = segments.len().div_ceil(self.codes.in_leaf());
        let mut builder = Builder::new(&self.codes, &mut self.space).with_spare();
        if group.path.len() <= 1 {
            // The tree has no other leaves.
            let entry = builder.tree(&segments).ok_or(CannotPatch)?;
            replaced.nodes += builder.inner;
            replaced.leaves += builder.leaves;
            self.prepared.push((group.index, entry));
            self.replaced_runs.extend(group.path.iter().map(|(run, _)| *run));
        } else if (2..=CHILDREN).contains(&leaves) {
            let leaves = segments.len().div_ceil(builder.fill()).min(CHILDREN);
            let (_, parent) = builder.group(&segments, leaves, 0..leaves).ok_or(CannotPatch)?;
            replaced.leaves += builder.leaves;
            let start = parent.base();
            self.copy_path(group, start, Some(parent), replaced).ok_or(CannotPatch)?;
        } else {
            return Ok(false);
        }
        self.replaced_runs.push(group.run);
        self.replace_trees(&gone);
        Ok(true)
    }

    /// Retires the trees of later stages that replaced segments led to.
    fn replace_trees(&mut self, gone: &[Segment]) {
        let mut runs = core::mem::take(&mut self.replaced_runs);
        gone.iter().for_each(|segment| self.slices().runs(segment.entry, &mut runs));
        self.replaced_runs = runs;
    }

    /// Places copies of the runs above some leaves, and prepares the root's entry. `start` is the
    /// first leaf, and `parent` the new line above the leaves if its separators change.
    fn copy_path(
        &mut self,
        group: &Group,
        mut start: u32,
        mut parent: Option<Line>,
        replaced: &mut Replaced,
    ) -> Option<()> {
        for (run, position) in group.path.iter().rev() {
            let lines = &self.space.lines[run.start as usize..][..run.count as usize];
            self.copy.clear();
            self.copy.extend_from_slice(lines);
            let mut new = parent.take().unwrap_or(lines[*position]);
            new.set_base(start);
            self.copy[*position] = new;
            start = self.space.place(&self.copy)?;
            self.replaced_runs.push(*run);
            replaced.nodes += u64::from(run.count);
        }
        self.prepared.push((group.index, Entry::line(group.depth, start)));
        Some(())
    }
}
