//! One change in one block of the root.
//!
//! The leaves below the inner line that the changed prefix lies under are written anew, with the
//! segments of the prefix replaced. The line above them is in a run with its siblings, so that run is
//! copied with one line changed, and so on up to the root.

use alloc::vec::Vec;

use super::super::super::layout::Code;
use super::super::compile::{Block, Builder, Segment, Space};
use super::super::layout::{CHILDREN, Entry, KEYS, SEPARATORS, STAGES, Slices};
use super::Patcher;
use crate::engine::kit::{CannotPatch, Replaced};
use crate::mem::Run;
use crate::net::{Ipv6, Prefix};
use crate::rib::Rib;

/// The inner lines above some leaves: from the top, the run of each and its position there.
type Path = Vec<(Run, usize)>;

/// The leaves that a change concerns.
struct Group {
    /// The inner lines above the one whose children the leaves are, and that one. Empty for a leaf
    /// that the root leads to.
    path: Path,
    /// The run of the leaves.
    run: Run,
    /// The segments of all leaves.
    segments: Vec<Segment>,
    /// The last word of the leaves.
    last: u32,
}

impl Slices<'_> {
    /// Finds the leaves of the words from `low` to `high` in a tree of the first stage.
    ///
    /// `None` when the entry is an answer or the leaves have different inner lines above them.
    fn find(&self, entry: Entry, block: Block, low: u32, high: u32) -> Option<Group> {
        let (mut first, mut last) = block.words(0);
        let (mut path, mut depth) = (Path::new(), entry.depth().checked_sub(1)? + 1);
        let (mut at, mut count) = (entry.number() as usize, 1);
        let mut position = 0;
        while depth > 1 {
            path.push((self.run(depth, at, count), position));
            let line = &self.lines[at + position];
            let separators = &line.0[..line.used(SEPARATORS)];
            (at, count, depth) = (line.base() as usize, separators.len() + 1, depth - 1);
            if depth == 1 {
                let segments = self.segments(at, first, separators);
                return Some(Group { path, run: self.run(1, at, count), segments, last });
            }
            position = separators.partition_point(|separator| *separator < low);
            if separators.get(position).is_some_and(|separator| *separator < high) {
                return None;
            }
            first = position.checked_sub(1).map_or(first, |before| separators[before] + 1);
            last = separators.get(position).copied().unwrap_or(last);
        }
        let segments = self.segments(at, first, &[]);
        Some(Group { path, run: self.run(1, at, count), segments, last })
    }

    /// Returns the segments of adjacent leaves, one more than there are separators.
    fn segments(&self, at: usize, first: u32, separators: &[u32]) -> Vec<Segment> {
        let mut segments = Vec::new();
        let keys = KEYS[self.form.log2 as usize];
        for leaf in at..=at + separators.len() {
            let line = &self.lines[leaf];
            for i in 0..=line.used(keys) {
                let start = match i.checked_sub(1) {
                    Some(key) => line.0[key] + 1,
                    None => (leaf - at).checked_sub(1).map_or(first, |it| separators[it] + 1),
                };
                segments.push(Segment { start, entry: self.entry(leaf, i) });
            }
        }
        segments
    }
}

/// Replaces the segments of the words from `low` to `high`; returns the replaced ones.
fn splice(group: &mut Group, low: u32, high: u32, new: &[Segment]) -> Vec<Segment> {
    let segments = &mut group.segments;
    let from = segments.partition_point(|segment| segment.start < low);
    let to = segments.partition_point(|segment| segment.start <= high);
    let mut insert = new.to_vec();
    // The rest of the last segment, unless the next one begins there. Only an answer has more than
    // one word.
    let next = segments.get(to).map_or(group.last, |next| next.start - 1);
    if next > high {
        insert.push(Segment { start: high + 1, entry: segments[to - 1].entry });
    }
    let gone: Vec<Segment> = segments.splice(from..to, insert).collect();
    // Neighbours with the same answer are one segment.
    segments.dedup_by(|b, a| a.entry == b.entry && a.entry.depth() == 0);
    gone
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
        let in_block = Prefix::from_bits_masked(prefix.bits(), bits);
        let entry = Entry(self.entries[index as usize]);
        // What a word of the first stage cannot tell apart is replaced whole.
        let len = prefix.len().min(128 - STAGES[0] as u8);
        let changed = Block::of(prefix.bits(), len);
        let (low, high) = changed.words(0);
        let block = Block::of(prefix.bits(), bits);
        let Some(mut group) = self.slices().find(entry, block, low, high) else {
            return self.prepare_all(rib, &[in_block], replaced);
        };
        let raw = self.read(rib, Prefix::from_bits_masked(prefix.bits(), len))?;
        let new = self.new_segments(changed, raw, replaced).ok_or(CannotPatch)?;
        let gone = splice(&mut group, low, high, &new);
        let leaves = group.segments.len().div_ceil(self.codes.in_leaf());
        let new = if group.path.len() <= 1 {
            // The tree has no other leaves.
            let mut builder = Builder::new(&self.codes, &mut self.space).with_spare();
            let tree = builder.tree(&group.segments);
            replaced.nodes += builder.inner;
            replaced.leaves += builder.leaves;
            tree
        } else if (2..=CHILDREN).contains(&leaves) {
            self.copy_path(&group, entry.depth(), replaced)
        } else {
            // The group has become too large, or so small that its neighbours may be as well.
            self.forget();
            return self.prepare_all(rib, &[in_block], replaced);
        };
        self.prepared.push((index, new.ok_or(CannotPatch)?));
        let mut runs = core::mem::take(&mut self.replaced_runs);
        runs.push(group.run);
        runs.extend(group.path.iter().map(|(run, _)| *run));
        gone.iter().for_each(|segment| self.slices().runs(segment.entry, &mut runs));
        self.replaced_runs = runs;
        Ok(())
    }

    /// Builds the segments of a prefix of the first stage, whose starts have been read.
    fn new_segments(
        &mut self,
        changed: Block,
        raw: u32,
        replaced: &mut Replaced,
    ) -> Option<Vec<Segment>> {
        let mut raw = raw;
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

    /// Places the leaves of a group, and copies of the runs above it.
    fn copy_path(&mut self, group: &Group, depth: u32, replaced: &mut Replaced) -> Option<Entry> {
        let Group { path, segments, .. } = group;
        let mut builder = Builder::new(&self.codes, &mut self.space).with_spare();
        let leaves = segments.len().div_ceil(builder.fill()).min(CHILDREN);
        let (_, mut line) = builder.group(segments, leaves, 0..leaves)?;
        replaced.leaves += builder.leaves;
        let mut start = 0;
        for (above, (run, position)) in path.iter().rev().enumerate() {
            let mut copy = self.space.lines[run.start as usize..][..run.count as usize].to_vec();
            if above > 0 {
                line = copy[*position];
                line.set_base(start);
            }
            copy[*position] = line;
            start = self.space.place(&copy)?;
            replaced.nodes += u64::from(run.count);
        }
        Some(Entry::line(depth, start))
    }
}
