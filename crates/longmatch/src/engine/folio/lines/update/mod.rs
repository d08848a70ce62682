//! Ranked lines that change under readers.
//!
//! Separators and keys are never changed: other ones are a new run, and the inner lines above it are
//! replaced by new ones up to the root, whose entry one store replaces. A run that no entry leads to
//! waits until no reader can be in it. Where the keys of a leaf stay, single stores replace its codes
//! or the entries of its escapes.
//!
//! A commit of one change inside a block of the root replaces one leaf, or the leaves below one inner
//! line (`path.rs`). Any other commit builds the affected blocks again from the RIB, with the builder
//! that compiles a whole table.
//!
//! The array of lines has capacity to grow in place. When that is used up, the table cannot be
//! patched, and is compiled again.

mod leaf;
mod path;
#[cfg(test)]
pub(super) mod tests;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use super::super::layout::{Code, CodeForm};
use super::super::survey::{Start, read_within};
use super::check;
use super::compile::{Block, Builder, Codes, Space};
use super::layout::{Entry, LONGEST_RUN, Line, Lines, MAX_LINES, MAX_NEXT_HOP, Slices};
use crate::engine::kit::{CannotPatch, Corrupt, LiveEngine, Lookup, Patch, Replaced};
use crate::mem::{FreeRuns, LINE, Live, LiveMemory, MemoryUsage, Owner, RetireList, Run};
use crate::net::{Ipv6, Prefix};
use crate::rib::Rib;

/// The most blocks to change in place; beyond, a fresh compile takes no more work.
const MAX_BLOCKS: u64 = 1 << 16;
/// Spare lines of the array, on top of twice its size.
const SPARE_LINES: usize = 1 << 14;

/// The array of lines in live memory, and its free runs.
struct LiveLines {
    lines: Owner<Line>,
    free: FreeRuns,
    /// Runs placed since the last commit, which no entry leads to yet.
    placed: Vec<Run>,
}

impl Space for LiveLines {
    fn place(&mut self, lines: &[Line]) -> Option<u32> {
        let run = self.free.place(&mut self.lines, lines)?;
        self.placed.push(run);
        Some(run.start)
    }
}

/// A new content of a leaf whose keys stay.
#[derive(Clone, Copy, Debug)]
enum NewCode {
    /// Code `i` of a leaf.
    Code { leaf: usize, i: usize, code: u32 },
    /// Entry `i` of a line of escapes.
    Escape { line: usize, i: usize, entry: u32 },
}

/// The write side of a table.
struct Patcher<C: Code> {
    table: Arc<Lines<C, LiveMemory>>,
    entries: Owner<u32>,
    space: LiveLines,
    codes: Codes,
    /// The stored blocks of the root.
    stored_ranges: Vec<(usize, Range<u32>)>,
    retire_list: RetireList<Run>,
    starts: Vec<Start<u128>>,
    /// New entries of the root.
    prepared: Vec<(u32, Entry)>,
    /// New codes, and new entries of escapes.
    prepared_codes: Vec<NewCode>,
    /// The lines of a run under construction.
    copy: Vec<Line>,
    /// Runs that the new entries no longer lead to.
    replaced_runs: Vec<Run>,
}

/// Moves a table into an array with capacity to grow, and makes its write side.
pub(super) fn live<C: Code>(table: Lines<C>) -> LiveEngine<Ipv6> {
    match patcher(&table) {
        Some(patcher) => LiveEngine::patched(patcher.table.clone(), patcher),
        None => LiveEngine::recompiled(table),
    }
}

/// `None` when memory is short.
fn patcher<C: Code>(table: &Lines<C>) -> Option<Patcher<C>> {
    let capacity = (2 * table.lines.len() + SPARE_LINES).min(MAX_LINES);
    let (entries, entry_owner) = Live::with_capacity(&table.entries, 0)?;
    let (lines, line_owner) = Live::with_capacity(&table.lines, capacity)?;
    let fixed = table.fixed.clone();
    let codes = Codes::of(&fixed.book, CodeForm::of::<C>());
    let stored_ranges = fixed.root.stored_ranges();
    let free = FreeRuns::new(LONGEST_RUN);
    Some(Patcher {
        table: Arc::new(Lines { entries, lines, fixed, code: table.code }),
        entries: entry_owner,
        space: LiveLines { lines: line_owner, free, placed: Vec::new() },
        codes,
        stored_ranges,
        retire_list: RetireList::default(),
        starts: Vec::new(),
        prepared: Vec::new(),
        prepared_codes: Vec::new(),
        copy: Vec::new(),
        replaced_runs: Vec::new(),
    })
}

impl<C: Code> Patcher<C> {
    fn slices(&self) -> Slices<'_> {
        Slices {
            entries: &self.entries,
            lines: &self.space.lines,
            fixed: &self.table.fixed,
            form: self.codes.form,
        }
    }

    /// Reads the RIB within a prefix: the next hop at its beginning, and the changes.
    fn read(&mut self, rib: &Rib<Ipv6>, prefix: Prefix<Ipv6>) -> Result<u32, CannotPatch> {
        read_within(rib, prefix, MAX_NEXT_HOP, &mut self.starts).ok_or(CannotPatch)
    }

    /// Prepares the blocks of a prefix that is at most as long as a block's.
    fn prepare(
        &mut self,
        rib: &Rib<Ipv6>,
        prefix: Prefix<Ipv6>,
        replaced: &mut Replaced,
    ) -> Result<(), CannotPatch> {
        let bits = self.table.fixed.root.bits;
        let first = (prefix.bits() >> (128 - bits)) as u64;
        let all = 1u64 << (bits - prefix.len());
        let blocks = first..first + all;
        let stored = |(_, numbers): &(usize, Range<u32>)| {
            let end = blocks.end.min(numbers.end.into());
            end.saturating_sub(blocks.start.max(numbers.start.into()))
        };
        let have: u64 = self.stored_ranges.iter().map(stored).sum();
        if all > MAX_BLOCKS || have < all {
            return Err(CannotPatch);
        }
        let mut raw = self.read(rib, prefix)?;
        let table = self.table.clone();
        let root = &table.fixed.root;
        let number = |start: &Start<u128>| (start.at >> (128 - bits)) as u64;
        let index = |number: u64| root.index((number as u32) << (32 - bits));
        let mut builder = Builder::new(&self.codes, &mut self.space).with_spare();
        let mut at = blocks.start;
        for starts in self.starts.chunk_by(|a, b| number(a) == number(b)) {
            let number = number(&starts[0]);
            let answers = (at..number).map(|number| (index(number), Entry::answer(raw)));
            self.prepared.extend(answers);
            let block = Block::of(starts[0].at, bits);
            let entry = builder.block(0, block, &mut raw, starts).ok_or(CannotPatch)?;
            self.prepared.push((index(number), entry));
            at = number + 1;
        }
        self.prepared.extend((at..blocks.end).map(|number| (index(number), Entry::answer(raw))));
        replaced.nodes += builder.inner;
        replaced.leaves += builder.leaves;
        Ok(())
    }

    /// Prepares the blocks of several prefixes, each block once.
    fn prepare_all(
        &mut self,
        rib: &Rib<Ipv6>,
        changed: &[Prefix<Ipv6>],
        replaced: &mut Replaced,
    ) -> Result<(), CannotPatch> {
        let bits = self.table.fixed.root.bits;
        let block =
            |prefix: &Prefix<Ipv6>| Prefix::from_bits_masked(prefix.bits(), prefix.len().min(bits));
        // In the order of the prefixes: a prefix comes before those that it covers.
        let mut blocks: Vec<Prefix<Ipv6>> = changed.iter().map(block).collect();
        blocks.sort_unstable();
        let mut last: Option<Prefix<Ipv6>> = None;
        for prefix in blocks {
            if last.is_some_and(|last| last.covers(prefix)) {
                continue;
            }
            last = Some(prefix);
            self.prepare(rib, prefix, replaced)?;
        }
        // Whole trees are replaced.
        let mut runs = core::mem::take(&mut self.replaced_runs);
        let slices = self.slices();
        for (index, entry) in &self.prepared {
            let before = Entry(self.entries[*index as usize]);
            if before != *entry {
                slices.runs(before, &mut runs);
            }
        }
        self.replaced_runs = runs;
        Ok(())
    }

    /// Publishes the prepared codes and entries of the root, and retires the runs that they replace;
    /// returns the number of codes and entries.
    fn publish(&mut self) -> u64 {
        let mut entries = self.prepared_codes.len() as u64;
        for new in self.prepared_codes.drain(..) {
            let lines = &mut self.space.lines;
            match new {
                NewCode::Code { leaf, i, code } => {
                    let offset = Line::code_offset(C::LOG2, i);
                    match C::LOG2 {
                        0 => lines.publish_inside(leaf, offset, code as u8),
                        1 => lines.publish_inside(leaf, offset, code as u16),
                        _ => lines.publish_inside(leaf, offset, code),
                    }
                }
                NewCode::Escape { line, i, entry } => lines.publish_inside(line, 4 * i, entry),
            }
        }
        for (index, entry) in self.prepared.drain(..) {
            if self.entries[index as usize] != entry.0 {
                self.entries.publish(index as usize, entry.0);
                entries += 1;
            }
        }
        for run in self.replaced_runs.drain(..) {
            self.retire_list.push(run, LINE * run.count as usize);
        }
        self.space.placed.clear();
        entries
    }

    /// Discards what was prepared: no reader has reached the runs.
    fn forget(&mut self) {
        self.prepared.clear();
        self.prepared_codes.clear();
        self.replaced_runs.clear();
        for run in self.space.placed.drain(..) {
            self.space.free.free(run);
        }
    }
}

impl<C: Code> Patch<Ipv6> for Patcher<C> {
    fn patch(
        &mut self,
        rib: &Rib<Ipv6>,
        changed: &[Prefix<Ipv6>],
    ) -> Result<Replaced, CannotPatch> {
        let mut replaced = Replaced::default();
        let prepared = match changed {
            [prefix] if prefix.len() > self.table.fixed.root.bits => {
                self.change_path(rib, *prefix, &mut replaced)
            }
            _ => self.prepare_all(rib, changed, &mut replaced),
        };
        if prepared.is_err() {
            self.forget();
            return Err(CannotPatch);
        }
        replaced.entries = self.publish();
        Ok(replaced)
    }

    fn seal(&mut self, epoch: u64) {
        self.retire_list.seal(epoch);
    }

    fn reclaim(&mut self, oldest: u64) {
        while let Some(run) = self.retire_list.pop(oldest) {
            self.space.free.free(run);
        }
    }

    fn retired_bytes(&self) -> usize {
        self.retire_list.bytes()
    }

    fn used_and_unused(&self) -> (usize, usize) {
        (LINE * self.space.lines.len(), LINE * self.space.free.items())
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.table.memory_usage()
    }

    fn check(&self, rib: &Rib<Ipv6>) -> Result<(), Corrupt> {
        let unused = self.space.free.iter().chain(self.retire_list.iter().copied());
        check::check(self.slices(), unused, rib)
    }
}
