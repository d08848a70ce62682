//! A table of pages that changes under readers.
//!
//! Pages, escapes and blocks are never changed: new content is a new page, or an existing equal
//! one, and one store replaces the root's entry. A page that no entry leads to waits, with its
//! escapes, until no reader can be in it.
//!
//! A change inside a block of the root copies the block's page with the slots of its prefix
//! changed. Where that is not enough, and for all other changes, blocks are built from the RIB with
//! the builder that compiles a table.
//!
//! The arrays have capacity to grow in place. When one is used up, or a next hop is too large for
//! the table, the table cannot be patched, and is compiled again.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::Ordering::Relaxed;

use super::super::store::{Full, Kind, Page, Store};
use super::super::survey::{Start, read_within};
use super::super::update::{LivePages, halves};
use super::check::{self, REMOVED, Spare};
use super::codes::Codes;
use super::compile::{Builder, Escapes, New, fill_codes, slots_for};
use super::layout::{Entry, Escape, Extent, Fixed, MAX_CODES, MAX_NEXT_HOP, Pages, Slices, WIDTH};
use crate::engine::kit::{CannotPatch, Corrupt, LiveEngine, Lookup, Patch, Replaced};
use crate::mem::{FreeRuns, Live, LiveMemory, MemoryUsage, Owner, Readable, RetireList, Run};
use crate::net::{Bits, Ipv4, Prefix};
use crate::rib::Rib;

/// The most blocks to change in place; beyond, a fresh compile takes no more work.
const MAX_BLOCKS: u64 = 1 << 16;
/// Spare bytes of the array of pages, on top of twice its size.
const SPARE_BYTES: usize = 1 << 20;
/// Spare escapes and deep answers, on top of four times those in use.
const SPARE_ESCAPES: usize = 1 << 12;
const SPARE_ANSWERS: usize = 1 << 16;
/// The most answers in a block.
const LONGEST_BLOCK: usize = 1 << 8;

/// The write side of the escapes and of their blocks.
struct LiveEscapes {
    fixed: Arc<Fixed>,
    slots: Owner<u32>,
    /// Slots that are not empty: escapes, and removed ones.
    used: usize,
    /// Escapes.
    count: usize,
    deep: Owner<u32>,
    free: FreeRuns,
}

impl LiveEscapes {
    fn key(&self, slot: usize) -> u32 {
        self.slots[2 * slot]
    }

    /// Removes the escape of a code that no reader can reach. `below` is the number of address bits
    /// below the code.
    fn remove(&mut self, position: u32, below: u32) {
        let mut slot = self.fixed.escape_slot(position);
        while self.key(slot) != position + 1 {
            debug_assert!(self.key(slot) != 0, "no escape of position {position}");
            slot = self.fixed.next_slot(slot);
        }
        let escape = Escape(self.slots[2 * slot + 1]);
        self.slots.publish(2 * slot, REMOVED);
        self.count -= 1;
        // Removed slots before an empty one are empty: no reader needs to pass them.
        let last = self.slots.len() / 2 - 1;
        while self.key(slot) == REMOVED && self.key(self.fixed.next_slot(slot)) == 0 {
            self.slots.publish(2 * slot, 0);
            self.used -= 1;
            slot = slot.checked_sub(1).unwrap_or(last);
        }
        if let Some(answers) = escape.answers(below).filter(|_| escape.is_block()) {
            self.discard(escape.place(), answers);
        }
    }
}

impl Escapes for LiveEscapes {
    fn block(&mut self, answers: &[u32]) -> Result<u32, Full> {
        self.free.place(&mut self.deep, answers).map(|run| run.start).ok_or(Full::Memory)
    }

    fn discard(&mut self, place: u32, answers: usize) {
        self.free.free(Run { start: place, count: answers as u32 });
    }

    fn insert(&mut self, place: u32, escapes: &[(u32, Escape)]) -> Result<(), Full> {
        if 4 * (self.used + escapes.len()) > self.slots.len() {
            return Err(Full::Memory);
        }
        for (slot, escape) in escapes {
            let position = place + slot;
            let mut slot = self.fixed.escape_slot(position);
            while ![0, REMOVED].contains(&self.key(slot)) {
                slot = self.fixed.next_slot(slot);
            }
            self.used += usize::from(self.key(slot) == 0);
            // A reader that finds the key sees the escape stored before it.
            self.slots.publish(2 * slot + 1, escape.0);
            self.slots.publish(2 * slot, position + 1);
        }
        self.count += escapes.len();
        Ok(())
    }
}

struct Patcher {
    store: Store<LivePages>,
    escapes: LiveEscapes,
    table: Arc<Pages<LiveMemory>>,
    /// The table's own never changes either.
    fixed: Arc<Fixed>,
    root: Owner<u32>,
    codes: Codes,
    retire_list: RetireList<Page>,
    starts: Vec<Start<u32>>,
    /// New entries and their indices.
    prepared: Vec<(usize, New)>,
    /// A page under construction.
    scratch: Vec<u8>,
}

/// Moves a table into arrays with capacity to grow, and makes its write side.
pub(super) fn live(mut pages: Pages) -> LiveEngine<Ipv4> {
    let count = pages.extent.escapes.load(Relaxed);
    let mut fixed = pages.fixed.clone();
    fixed.escape_bits = slots_for(4 * count + SPARE_ESCAPES);
    let mut slots = alloc::vec![0; 2 << fixed.escape_bits];
    for [key, escape] in pages.escapes.as_chunks::<2>().0.iter().filter(|[key, _]| *key != 0) {
        let slot = super::compile::free_slot(&fixed, &slots, key - 1);
        slots[2 * slot..][..2].copy_from_slice(&[*key, *escape]);
    }
    let capacity = pages.codes.len().saturating_mul(2).saturating_add(SPARE_BYTES);
    let make = if pages.codes.is_huge() { Live::huge } else { Live::with_capacity };
    let arrays = (|| {
        let root = Live::with_capacity(&pages.root, 0)?;
        let codes = make(&pages.codes, capacity)?;
        let escapes = Live::with_capacity(&slots, 0)?;
        let deep = 4 * pages.deep.len() + SPARE_ANSWERS;
        Some((root, codes, escapes, Live::with_capacity(&pages.deep, deep)?))
    })();
    let Some(((root, root_owner), (codes, code_owner), (escapes, slots), (deep, deep_owner))) =
        arrays
    else {
        return LiveEngine::recompiled(pages);
    };
    let store = core::mem::take(&mut pages.store).moved(LivePages(code_owner));
    let Pages { form, batch, extent, .. } = pages;
    let own = Arc::new(fixed.clone());
    let inverse = Codes::of(&fixed);
    let store_of_readers = Store::default();
    let table = Arc::new(Pages {
        root,
        codes,
        escapes,
        deep,
        fixed,
        form,
        batch,
        store: store_of_readers,
        extent,
    });
    let free = FreeRuns::new(LONGEST_BLOCK);
    let fixed = own.clone();
    let escapes = LiveEscapes { fixed, slots, used: count, count, deep: deep_owner, free };
    let patcher = Patcher {
        store,
        escapes,
        table: table.clone(),
        fixed: own,
        root: root_owner,
        codes: inverse,
        retire_list: RetireList::default(),
        starts: Vec::new(),
        prepared: Vec::new(),
        scratch: Vec::new(),
    };
    patcher.state_extent();
    LiveEngine::patched(table, patcher)
}

impl Patcher {
    /// Publishes the extent of the arrays.
    fn state_extent(&self) {
        let Extent { pages, bytes, escapes } = &self.table.extent;
        pages.store(self.store.page_count(), Relaxed);
        bytes.store(self.store.lines().0.len(), Relaxed);
        escapes.store(self.escapes.count, Relaxed);
    }

    /// Reads the RIB within a prefix: the next hop at its beginning, and the changes.
    fn read(&mut self, rib: &Rib<Ipv4>, prefix: Prefix<Ipv4>) -> Result<u32, CannotPatch> {
        read_within(rib, prefix, MAX_NEXT_HOP, &mut self.starts).ok_or(CannotPatch)
    }

    /// Prepares the blocks of a prefix that is at most as long as a block's.
    fn prepare(
        &mut self,
        rib: &Rib<Ipv4>,
        prefix: Prefix<Ipv4>,
        leaves: &mut u64,
    ) -> Result<(), CannotPatch> {
        let bits = self.fixed.root_bits();
        let first = prefix.bits().extract(0, bits);
        let all = 1usize << (bits - prefix.len());
        if all as u64 > MAX_BLOCKS {
            return Err(CannotPatch);
        }
        let mut raw = self.read(rib, prefix)?;
        let starts = core::mem::take(&mut self.starts);
        let number = |start: &Start<u32>| start.at.extract(0, bits);
        let mut at = first;
        let mut built = Ok(());
        for block in starts.chunk_by(|a, b| number(a) == number(b)) {
            let number = number(&block[0]);
            built = self.prepare_blocks(at..number, raw, &[], leaves).and_then(|()| {
                let before = raw;
                raw = block[block.len() - 1].raw;
                self.prepare_blocks(number..number + 1, before, block, leaves)
            });
            if built.is_err() {
                break;
            }
            at = number + 1;
        }
        self.starts = starts;
        built?;
        self.prepare_blocks(at..first + all, raw, &[], leaves)
    }

    /// Prepares blocks with the same page: their next hop is `raw` at first, and changes at
    /// `starts`.
    fn prepare_blocks(
        &mut self,
        blocks: Range<usize>,
        raw: u32,
        starts: &[Start<u32>],
        leaves: &mut u64,
    ) -> Result<(), CannotPatch> {
        if blocks.is_empty() {
            return Ok(());
        }
        let Self { store, escapes, codes, .. } = self;
        let mut builder = Builder::new(self.fixed.root_bits(), codes, store, escapes);
        let new = builder.block(&mut { raw }, starts).map_err(|_| CannotPatch)?;
        *leaves += builder.leaves;
        self.store.retain(new.page, blocks.len() as u32 - 1);
        self.prepared.extend(blocks.map(|block| (block, new)));
        Ok(())
    }

    /// Discards the prepared changes.
    fn forget(&mut self) {
        let prepared = core::mem::take(&mut self.prepared);
        for (_, new) in &prepared {
            if let Some(page) = self.store.release_or_remove(new.page) {
                self.free(&page);
            }
        }
        self.prepared = prepared;
        self.prepared.clear();
    }

    /// Publishes the prepared entries of the root; returns their number.
    fn publish(&mut self) -> u64 {
        let mut entries = 0;
        let mut prepared = core::mem::take(&mut self.prepared);
        for (index, new) in prepared.drain(..) {
            entries += u64::from(self.replace(index, new));
        }
        self.prepared = prepared;
        entries
    }

    /// Stores an entry of the root and retires the page of the old one; returns whether they differ.
    fn replace(&mut self, index: usize, new: New) -> bool {
        let before = Entry(self.root[index]);
        if before == new.entry {
            // The new entry leads to the same page: count one reference, not two.
            self.store.release(new.page);
            return false;
        }
        let old = self.page(before);
        self.root.publish(index, new.entry.0);
        if let Some(page) = old.and_then(|old| self.store.release_or_remove(old)) {
            self.retire_list.push(page, page.bytes());
        }
        true
    }

    /// Returns the position in the store of the page that an entry leads to.
    fn page(&self, entry: Entry) -> Option<u32> {
        let log2 = self.codes.log2;
        let log2_bytes = entry.log2_codes(self.fixed.root_bits())? + log2;
        let start = entry.place() << log2;
        let find = |kind| self.store.find(kind, start, log2_bytes);
        let at = find(Kind::Escaping).or_else(|| find(Kind::Codes));
        debug_assert!(at.is_some(), "{entry:?} leads to no page");
        at
    }

    /// Applies the change of a prefix longer than a block's.
    fn change(&mut self, rib: &Rib<Ipv4>, prefix: Prefix<Ipv4>) -> Result<Replaced, CannotPatch> {
        let index = prefix.bits().extract(0, self.fixed.root_bits());
        let mut leaves = 0;
        let new = match self.copy(rib, prefix, Entry(self.root[index]), &mut leaves)? {
            Some(new) => new,
            None => {
                let block = Prefix::from_bits_masked(prefix.bits(), self.fixed.root_bits());
                let raw = self.read(rib, block)?;
                let starts = core::mem::take(&mut self.starts);
                let built = self.prepare_blocks(index..index + 1, raw, &starts, &mut leaves);
                self.starts = starts;
                built?;
                let prepared = self.prepared.pop();
                prepared.ok_or(CannotPatch)?.1
            }
        };
        let entries = u64::from(self.replace(index, new));
        Ok(Replaced { entries, nodes: 0, leaves })
    }

    /// Copies the page of an entry with the slots of a prefix changed, of as few codes as possible.
    /// `None` if codes of this depth cannot represent the change.
    fn copy(
        &mut self,
        rib: &Rib<Ipv4>,
        prefix: Prefix<Ipv4>,
        entry: Entry,
        leaves: &mut u64,
    ) -> Result<Option<New>, CannotPatch> {
        let (bits, log2) = (self.fixed.root_bits(), self.codes.log2);
        let depth = match entry.log2_codes(bits) {
            None | Some(0) => return Ok(None),
            Some(codes) => bits + codes,
        };
        let start = entry.place() << log2;
        if prefix.len() > depth
            || self.store.find(Kind::Escaping, start, depth - bits + log2).is_some()
        {
            return Ok(None);
        }
        let lowest = self.read(rib, prefix)?;
        let mut page = core::mem::take(&mut self.scratch);
        page.clear();
        page.extend(&self.store.lines().0[start as usize..][..1 << (depth - bits + log2)]);
        let copied = self.write_slots(&mut page, depth, prefix, lowest);
        let new = copied.then(|| self.insert(&mut page, leaves)).transpose();
        self.scratch = page;
        new
    }

    /// Writes the slots of a prefix. Returns whether all its next hops have codes, and all its
    /// starts lie on slots.
    fn write_slots(&self, page: &mut [u8], depth: u8, prefix: Prefix<Ipv4>, lowest: u32) -> bool {
        let (bits, log2) = (self.fixed.root_bits(), self.codes.log2);
        let number = |at: u32| at.extract(bits, depth - bits);
        let mut write = |slots: Range<usize>, raw: u32| {
            let code = self.codes.code(raw);
            if let Some(code) = code {
                fill_codes(&mut page[slots.start << log2..slots.end << log2], log2, code);
            }
            code.is_some()
        };
        let (mut raw, mut from) = (lowest, number(prefix.first()));
        for start in &self.starts {
            let to = number(start.at);
            if start.depth() > depth || !write(from..to, raw) {
                return false;
            }
            (raw, from) = (start.raw, to);
        }
        write(from..number(prefix.last()) + 1, raw)
    }

    /// Inserts a page without escapes, of as few codes as possible.
    fn insert(&mut self, page: &mut Vec<u8>, leaves: &mut u64) -> Result<New, CannotPatch> {
        let (bits, log2) = (self.fixed.root_bits(), self.codes.log2);
        let unit = 1usize << log2;
        while page.len() > unit && halves(page, unit) {}
        let stored = self.store.insert_within(Kind::Codes, page, MAX_CODES << log2);
        let stored = stored.map_err(|_| CannotPatch)?;
        *leaves += u64::from(!stored.known);
        let width = (page.len() >> log2).ilog2() as u8;
        let entry = Entry::new(stored.start >> log2, (width > 0).then_some(bits + width));
        Ok(New { entry, page: stored.at })
    }

    /// Makes a page, its escapes and their blocks reusable. No reader can reach it.
    fn free(&mut self, page: &Page) {
        let log2 = self.codes.log2;
        if page.kind == Kind::Escaping {
            let codes = page.log2_bytes - log2;
            let below = u32::from(WIDTH - self.fixed.root_bits() - codes);
            let bytes = self.store.content(page);
            let unit = 1usize << log2;
            let escaping = bytes.chunks_exact(unit).zip(page.start >> log2..);
            let escaping = escaping.filter(|(code, _)| code.iter().all(|byte| *byte == u8::MAX));
            let positions: Vec<u32> = escaping.map(|(_, position)| position).collect();
            positions.into_iter().for_each(|position| self.escapes.remove(position, below));
        }
        self.store.free(page);
    }
}

impl Patch<Ipv4> for Patcher {
    fn patch(
        &mut self,
        rib: &Rib<Ipv4>,
        changed: &[Prefix<Ipv4>],
    ) -> Result<Replaced, CannotPatch> {
        let bits = self.fixed.root_bits();
        if let [prefix] = changed
            && prefix.len() > bits
        {
            let replaced = self.change(rib, *prefix)?;
            self.state_extent();
            return Ok(replaced);
        }
        // Blocks are built whole, and each once.
        let masked = |prefix: &Prefix<Ipv4>| {
            Prefix::<Ipv4>::from_bits_masked(prefix.bits(), prefix.len().min(bits))
        };
        let mut blocks: Vec<Prefix<Ipv4>> = changed.iter().map(masked).collect();
        // In their order a prefix comes before those that it covers.
        blocks.sort_unstable();
        let mut replaced = Replaced::default();
        let mut last: Option<Prefix<Ipv4>> = None;
        for prefix in blocks {
            if last.is_some_and(|last| last.covers(prefix)) {
                continue;
            }
            last = Some(prefix);
            if let Err(CannotPatch) = self.prepare(rib, prefix, &mut replaced.leaves) {
                self.forget();
                return Err(CannotPatch);
            }
        }
        replaced.entries = self.publish();
        self.state_extent();
        Ok(replaced)
    }

    fn seal(&mut self, epoch: u64) {
        self.retire_list.seal(epoch);
    }

    fn reclaim(&mut self, oldest: u64) {
        while let Some(page) = self.retire_list.pop(oldest) {
            self.free(&page);
        }
    }

    fn retired_bytes(&self) -> usize {
        self.retire_list.bytes()
    }

    fn used_and_unused(&self) -> (usize, usize) {
        (self.store.lines().0.len(), self.store.unused_bytes())
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.table.memory_usage()
    }

    fn check(&self, rib: &Rib<Ipv4>) -> Result<(), Corrupt> {
        let table = Slices {
            root: &self.root,
            codes: &self.store.lines().0,
            escapes: &self.escapes.slots,
            deep: &self.escapes.deep,
            fixed: &self.fixed,
        };
        let retired = self.retire_list.iter().copied().collect();
        let spare = Spare { retired, free: self.escapes.free.iter().collect() };
        check::check(table, &self.store.account(), spare, rib)
    }
}
