//! One change: the way to the entry that covers a prefix, and its new content.

use super::super::super::survey::{Start, read_within};
use super::super::compile::{Builder, add_run};
use super::super::layout::{Block, Entry, Kind, MAX_NEXT_HOP, home};
use super::super::leaf::{
    self, FORK_ENTRIES, FORK_KEYS, HOSTS, LINE_WORDS, bytes, read, read_host, run_code,
};
use super::super::plan::{Choice, Costs, Plan};
use super::super::walk::{Damage, Reached, VisitingWalk, Visitor};
use super::{Change, Patcher, Slot};
use crate::engine::folio::pieces::Piece;
use crate::engine::kit::image::ArrayName;
use crate::engine::kit::{CannotPatch, Replaced};
use crate::net::{Ipv6, NextHopId, Prefix};
use crate::rib::Rib;

use alloc::vec::Vec;

/// The most blocks of the root, and the most entries of a page, that one prefix replaces one by one.
const MOST_BLOCKS: u32 = 1 << 12;
const MOST_ENTRIES: u32 = 1 << 6;

/// The cost up to which a leaf is chosen without a plan.
const SMALL_LEAF: f32 = 512.0;

/// The most lines of a run that a new host finds full before the run is built again.
const MOST_FULL: usize = 3;

/// The answers of a block as starts.
struct Answers(Vec<Start<u128>>);

impl Visitor for Answers {
    fn piece(&mut self, _: ArrayName, _: Piece, _: Block) -> Result<bool, Damage> {
        Ok(true)
    }

    fn answer(&mut self, at: u128, raw: u32) -> Result<(), Damage> {
        self.0.push(Start { at, raw });
        Ok(())
    }
}

/// An entry in its slot, and the number of usual steps from it on.
#[derive(Clone, Copy, Debug)]
struct At {
    slot: Slot,
    reached: Reached,
    left: u8,
}

impl Patcher {
    /// Applies the change of a prefix.
    pub(super) fn change(
        &mut self,
        rib: &Rib<Ipv6>,
        prefix: Prefix<Ipv6>,
        replaced: &mut Replaced,
    ) -> Result<(), CannotPatch> {
        let fixed = self.fixed;
        let bits = fixed.bits();
        let upper = (prefix.bits() >> 64) as u64;
        let first = upper.checked_sub(fixed.base).ok_or(CannotPatch)? >> fixed.shift;
        let count = 1u64 << bits.saturating_sub(prefix.len());
        if first + count > fixed.last.into() || count > MOST_BLOCKS.into() {
            return Err(CannotPatch);
        }
        for index in first as u32..(first + count) as u32 {
            let block = fixed.block(index);
            let slot = Slot::Root(index as usize);
            let within = if prefix.len() < bits { of_block(block) } else { prefix };
            self.descend(rib, within, (slot, block, false), fixed.steps, replaced)?;
        }
        Ok(())
    }

    /// Changes a prefix inside the block of a slot.
    fn descend(
        &mut self,
        rib: &Rib<Ipv6>,
        prefix: Prefix<Ipv6>,
        (mut slot, mut block, mut is_lower): (Slot, Block, bool),
        mut left: u8,
        replaced: &mut Replaced,
    ) -> Result<(), CannotPatch> {
        let mut path = Vec::new();
        loop {
            let reached = Reached { entry: self.entry(slot), block, is_lower };
            let at = At { slot, reached, left };
            path.push(at);
            match reached.entry.kind() {
                Kind::Page => {
                    let (start, log2) = reached.items().ok_or(CannotPatch)?;
                    let bits = block.bits + log2;
                    left = left.saturating_sub(1);
                    let first = (prefix.bits() >> (128 - bits)) as usize & ((1 << log2) - 1);
                    if prefix.len() < bits {
                        let count = 1u32 << (bits - prefix.len());
                        if count > MOST_ENTRIES || prefix.len() == block.bits {
                            self.rebuild(rib, prefix, at, replaced)?;
                            path.pop();
                            break;
                        }
                        for i in first..first + count as usize {
                            let child = (Slot::Page(start + i), reached.item(i, log2), is_lower);
                            self.descend(rib, of_block(child.1), child, left, replaced)?;
                        }
                        break;
                    }
                    (slot, block) = (Slot::Page(start + first), reached.item(first, log2));
                }
                Kind::Lower => {
                    (slot, is_lower, left) = (Slot::Page(reached.entry.place() as usize), true, 0);
                }
                Kind::Fork if !is_lower && prefix.len() >= 64 => {
                    let word = self.in_fork(reached.entry, (prefix.bits() >> 64) as u32);
                    let below = Entry(u32::from_le(self.store.lines.array()[word]));
                    if !matches!(below.kind(), Kind::Run | Kind::Lower) {
                        self.rebuild(rib, prefix, at, replaced)?;
                        path.pop();
                        break;
                    }
                    (slot, block, left) = (Slot::Fork(word), Block::of(prefix.bits(), 64), 0);
                }
                kind => {
                    path.pop();
                    let is_done = match kind {
                        Kind::Run if prefix.len() == 128 => self.host(rib, prefix, at)?,
                        Kind::Codes if prefix.len() > block.bits => {
                            self.some_codes(rib, prefix, at)?
                        }
                        _ => false,
                    };
                    if !is_done {
                        self.rebuild(rib, prefix, at, replaced)?;
                    }
                    break;
                }
            }
        }
        self.collapse(path);
        Ok(())
    }

    /// Replaces entries by an answer if all that they lead to is this answer, from the last one on.
    fn collapse(&mut self, mut path: Vec<At>) {
        while let Some(At { slot, reached, .. }) = path.pop() {
            let Some(raw) = self.only_answer(reached) else { return };
            self.replace(slot, reached, Entry::answer(raw));
        }
    }

    /// The only answer of a page, of a lower word or of a fork.
    fn only_answer(&self, reached: Reached) -> Option<u32> {
        let lines = self.store.lines.array();
        let (entries, count, le): (&[u32], _, _) = match reached.entry.kind() {
            Kind::Page => {
                let (start, log2) = reached.items()?;
                (&self.store.pages.array()[start..], 1 << log2, false)
            }
            Kind::Lower => (&self.store.pages.array()[reached.entry.place() as usize..], 1, false),
            _ => {
                let fork = &lines[LINE_WORDS * reached.entry.place() as usize..];
                let used = fork[..FORK_KEYS].iter().filter(|key| **key != u32::MAX).count();
                (&fork[FORK_ENTRIES..], used + 1, true)
            }
        };
        let first = entries[0];
        let raw = if le { u32::from_le(first) } else { first };
        let is_only = entries[..count].iter().all(|entry| *entry == first);
        (is_only && Entry(raw).kind() == Kind::Answer).then_some(raw)
    }

    /// The word of the lines that has a fork's entry for a word.
    fn in_fork(&self, entry: Entry, word: u32) -> usize {
        let at = LINE_WORDS * entry.place() as usize;
        let keys = &self.store.lines.array()[at..][..FORK_KEYS];
        let rank = keys.iter().filter(|key| u32::from_le(**key) < word).count();
        at + FORK_ENTRIES + rank
    }

    /// Builds the block of a slot with the new content of a prefix in it.
    fn rebuild(
        &mut self,
        rib: &Rib<Ipv6>,
        prefix: Prefix<Ipv6>,
        at: At,
        replaced: &mut Replaced,
    ) -> Result<(), CannotPatch> {
        let At { reached, .. } = at;
        let kind = reached.entry.kind();
        let whole = prefix.len() <= reached.block.bits || kind == Kind::Page;
        let read = if whole { of_block(reached.block) } else { prefix };
        let mut starts = core::mem::take(&mut self.starts);
        let lowest = read_within(rib, read, MAX_NEXT_HOP, &mut starts);
        let built = lowest.ok_or(CannotPatch).and_then(|mut lowest| {
            if !whole {
                lowest = self.splice(reached, prefix, lowest, &mut starts)?;
            }
            self.build(lowest, &starts, at, replaced)
        });
        self.starts = starts;
        self.replace(at.slot, reached, built?);
        Ok(())
    }

    /// Adds the present answers of a block around those of a prefix; returns the next hop at the
    /// block's beginning.
    fn splice(
        &self,
        reached: Reached,
        prefix: Prefix<Ipv6>,
        raw: u32,
        starts: &mut Vec<Start<u128>>,
    ) -> Result<u32, CannotPatch> {
        let mut walk = VisitingWalk { table: self.slices(), visitor: Answers(Vec::new()) };
        walk.entry(reached).map_err(|_| CannotPatch)?;
        let Answers(old) = walk.visitor;
        let (first, last) = (prefix.first(), prefix.last());
        let mut all: Vec<Start<u128>> = old.iter().copied().filter(|it| it.at < first).collect();
        all.push(Start { at: first, raw });
        all.append(starts);
        if last < reached.block.last() {
            let before = old.iter().rev().find(|start| start.at <= last + 1);
            all.push(Start { at: last + 1, raw: before.map_or(0, |start| start.raw) });
            all.extend(old.iter().filter(|start| start.at > last + 1));
        }
        all.dedup_by(|next, before| next.raw == before.raw);
        let lowest = all.first().map_or(0, |start| start.raw);
        starts.extend(all.into_iter().skip(1));
        Ok(lowest)
    }

    /// Builds the content of a block. A leaf is kept a leaf while one suffices.
    fn build(
        &mut self,
        lowest: u32,
        starts: &[Start<u128>],
        at: At,
        replaced: &mut Replaced,
    ) -> Result<Entry, CannotPatch> {
        if starts.is_empty() {
            return Ok(Entry::answer(lowest));
        }
        let At { reached: Reached { block, is_lower, .. }, left, .. } = at;
        let lengths: Vec<u8> =
            (block.bits..=128).filter(|it| *it == block.bits || it.is_multiple_of(4)).collect();
        let plan = |lengths: &[u8]| Plan::new(&self.codes, lowest, starts, lengths, Costs::ANY);
        let leaf = plan(&lengths[..1]);
        let suffices = leaf.choice(0, 0, 0) == Choice::Run || leaf.total(0) <= SMALL_LEAF;
        let plan = if suffices { leaf } else { plan(&lengths) };
        let mut builder = Builder::new(&plan, &mut self.store);
        builder.tops(left, is_lower).map_err(|_| CannotPatch)?;
        replaced.nodes += builder.pages;
        replaced.leaves += builder.leaves;
        builder.tops.first().copied().ok_or(CannotPatch)
    }

    /// Changes some codes of a page of them, in a copy; returns whether they can represent the
    /// change.
    fn some_codes(
        &mut self,
        rib: &Rib<Ipv6>,
        prefix: Prefix<Ipv6>,
        at: At,
    ) -> Result<bool, CannotPatch> {
        let (start, log2_codes) = at.reached.items().ok_or(CannotPatch)?;
        let (depth, log2) = (at.reached.block.bits + log2_codes, self.fixed.log2);
        if prefix.len() > depth {
            return Ok(false);
        }
        let raw = read_within(rib, prefix, MAX_NEXT_HOP, &mut self.starts).ok_or(CannotPatch)?;
        let index = |at: u128| (at >> (128 - depth)) as u64 & ((1 << log2_codes) - 1);
        let units = &self.store.codes.array()[start << log2..][..1 << log2_codes << log2];
        let mut codes: Vec<u8> = units.to_vec();
        let ends = self.starts.iter().map(|it| index(it.at)).chain([index(prefix.last()) + 1]);
        let firsts = [Start { at: prefix.first(), raw }];
        for (start, end) in firsts.iter().chain(&self.starts).zip(ends) {
            match self.codes.code(start.raw) {
                Some(code) if start.depth() <= depth || start.at == prefix.first() => {
                    leaf::fill(&mut codes, log2, index(start.at)..end, code);
                }
                _ => return Ok(false),
            }
        }
        let first = codes[..1 << log2].to_vec();
        if codes.chunks_exact(1 << log2).all(|code| code == first) {
            return Ok(false);
        }
        let stored = self.store.codes.insert(super::SHARED, &codes).map_err(|_| CannotPatch)?;
        let entry = at.reached.entry;
        let above = (at.reached.block.word(at.reached.is_lower) >> entry.drop()) as u32;
        let kind = super::super::layout::CODES;
        let new = Entry::new(kind, entry.drop(), stored.piece.start.wrapping_sub(above));
        self.replace(at.slot, at.reached, new);
        Ok(true)
    }

    /// Changes a host of a run: its code in place, or the host in a copy of the run. Returns whether
    /// the run can hold the change.
    fn host(&mut self, rib: &Rib<Ipv6>, prefix: Prefix<Ipv6>, at: At) -> Result<bool, CannotPatch> {
        let raw = NextHopId::to_raw(rib.only_next_hop(prefix).ok_or(CannotPatch)?);
        let Some(code) = self.codes.code(raw) else { return Ok(false) };
        let (entry, log2) = (at.reached.entry, self.fixed.log2);
        let (place, log2_lines) = (entry.place() as usize, entry.log2_lines());
        let (word, slots) = (prefix.bits() as u64, HOSTS[usize::from(log2)]);
        let mut line = home(log2_lines, word) as usize;
        let mut full = Vec::new();
        for _ in 0..1 << log2_lines {
            let at_word = LINE_WORDS * (place + line);
            let content: [u8; 64] = bytes(&self.store.lines.array()[at_word..][..LINE_WORDS]);
            let code_of = |slot| read(&content, run_code(log2, slot), log2);
            let others = code_of(slots);
            if let Some(slot) = (0..slots).find(|slot| read_host(&content, *slot) == word) {
                let byte = run_code(log2, slot);
                let (word, byte) = (at_word + byte / 4, byte % 4);
                let old = code_of(slot);
                if old != code {
                    self.publish_code(word, byte, code);
                    self.changes.push(Change::Code(word, byte, old));
                    if (0..slots).all(|it| it == slot || code_of(it) == code) {
                        self.end_run(at, raw);
                    }
                }
                return Ok(true);
            }
            if others == leaf::all_ones(log2) {
                line = (line + 1) % (1 << log2_lines);
                continue;
            }
            if code == others {
                return Ok(true);
            }
            let is_vacant = |slot: &usize| {
                let host = read_host(&content, *slot);
                code_of(*slot) == others || (0..*slot).any(|it| read_host(&content, it) == host)
            };
            let Some(slot) = (0..slots).find(is_vacant) else {
                if full.len() == MOST_FULL {
                    return Ok(false);
                }
                full.push(line);
                line = (line + 1) % (1 << log2_lines);
                continue;
            };
            let run = &self.store.lines.array()[LINE_WORDS * place..][..LINE_WORDS << log2_lines];
            let mut copy = run.to_vec();
            for line in full {
                leaf::set_full(&mut copy[LINE_WORDS * line..][..LINE_WORDS], log2);
            }
            leaf::set_host(&mut copy[LINE_WORDS * line..][..LINE_WORDS], log2, slot, (word, code));
            let new = add_run(&mut self.store, &copy).map_err(|_| CannotPatch)?;
            self.replace(at.slot, at.reached, new);
            return Ok(true);
        }
        Ok(false)
    }
}

impl Patcher {
    /// Replaces a run by the next hop of all other words if it has no hosts any more.
    fn end_run(&mut self, at: At, raw: u32) {
        let entry = at.reached.entry;
        let walk = VisitingWalk { table: self.slices(), visitor: Answers(Vec::new()) };
        let hosts = walk.hosts(entry.place() as usize, entry.log2_lines());
        if hosts.is_some_and(|(hosts, _)| hosts.is_empty()) {
            self.replace(at.slot, at.reached, Entry::answer(raw));
        }
    }
}

/// The prefix of a block.
fn of_block(block: Block) -> Prefix<Ipv6> {
    Prefix::from_bits_masked(block.first, block.bits)
}
