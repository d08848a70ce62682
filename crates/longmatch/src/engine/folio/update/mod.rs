//! A Folio that changes under readers.
//!
//! Pages are never changed: a new content is a new page, or an existing equal one, and its parents
//! are replaced by new pages up to the root, whose entry one store replaces. A page that no entry
//! leads to waits until no reader can be in it.
//!
//! A commit of one change inside a block of the root replaces the pages on one path (`path.rs`).
//! Any other commit builds the affected blocks again from the RIB, with the builder that compiles a
//! whole table.
//!
//! The array of pages has capacity to grow in place. When that is used up, or the table no longer
//! fits its plan, it cannot be patched, and is compiled again.

mod path;

pub(super) use path::halves;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::Ordering::Relaxed;

use self::path::Step;
use super::check;
use super::compile::{Builder, Codes};
use super::layout::{
    Code, CodeForm, Entry, Extent, Fixed, Folio, MAX_NEXT_HOP, PLACE_UNIT, Slices,
};
use super::store::{Full, Kind, Lines, Page, Store};
use super::survey::{Start, read_within};
use crate::engine::kit::{CannotPatch, Corrupt, LiveEngine, Lookup, Patch, Replaced};
use crate::mem::{Live, LiveMemory, MemoryUsage, Owner, Readable, RetireList};
use crate::net::{Bits, Family, Prefix};
use crate::rib::Rib;

/// The most blocks to change in place; beyond, a fresh compile takes no more work.
const MAX_BLOCKS: u64 = 1 << 16;
/// Spare bytes of the array of pages, on top of twice its size.
const SPARE_BYTES: usize = 1 << 20;

/// The array of pages in live memory.
pub(super) struct LivePages(pub Owner<u8>);

impl Lines for LivePages {
    fn page(&self, page: &Page) -> &[u8] {
        &self.0[page.start as usize..][..page.bytes()]
    }

    fn write(&mut self, start: u32, page: &[u8]) {
        // SAFETY: no entry leads to these bytes: the place is new, or no reader can reach the page
        // that was there (invariant 8).
        unsafe { self.0.write(start as usize, page) };
    }

    fn grow(&mut self, bytes: usize, limit: usize) -> Result<u32, Full> {
        if self.0.len() + bytes > limit {
            return Err(Full::Places);
        }
        let start = self.0.extend(bytes).ok_or(Full::Memory)?;
        u32::try_from(start).map_err(|_| Full::Places)
    }
}

/// A Folio of any codes in live memory.
trait LiveFolio<F: Family>: Lookup<F> {
    /// The extent of the store.
    fn extent(&self) -> &Extent;
}

impl<F: Family, C: Code> LiveFolio<F> for Folio<F, C, LiveMemory> {
    fn extent(&self) -> &Extent {
        &self.extent
    }
}

/// The write side, compiled once for all codes.
struct Patcher<F: Family> {
    store: Store<LivePages>,
    folio: Arc<dyn LiveFolio<F>>,
    /// The Folio's own never changes either.
    fixed: Arc<Fixed>,
    entries: Owner<u32>,
    codes: Codes,
    /// The stored blocks of the root.
    stored_ranges: Vec<(usize, Range<u32>)>,
    retire_list: RetireList<Page>,
    starts: Vec<Start<F::Bits>>,
    /// New entries, and the position of the page that each leads to.
    prepared: Vec<Prepared>,
    /// The branch pages above the replacement of a single change.
    path: Vec<Step>,
    /// A page under construction.
    scratch: Vec<u8>,
    /// Numbers of pages that a single change built.
    built: Replaced,
}

struct Prepared {
    index: u32,
    entry: Entry,
    page: Option<u32>,
}

/// Moves a Folio into an array with capacity to grow, and makes its write side.
pub(super) fn live<F: Family, C: Code>(mut folio: Folio<F, C>) -> LiveEngine<F> {
    let capacity = folio.pages.len().saturating_mul(2).saturating_add(SPARE_BYTES);
    let make = if folio.pages.is_huge() { Live::huge } else { Live::with_capacity };
    let arrays = Live::with_capacity(&folio.entries, 0).zip(make(&folio.pages, capacity));
    let Some(((entries, entry_owner), (pages, page_owner))) = arrays else {
        return LiveEngine::recompiled(folio);
    };
    let store = core::mem::take(&mut folio.store).moved(LivePages(page_owner));
    let Folio { fixed, extent, family, .. } = folio;
    let (codes, stored_ranges) =
        (Codes::of(&fixed, CodeForm::of::<C>()), fixed.root.stored_ranges());
    let own = Arc::new(fixed.clone());
    let folio = Arc::new(Folio { entries, pages, fixed, store: Store::default(), extent, family });
    let patcher = Patcher {
        store,
        folio: folio.clone(),
        fixed: own,
        entries: entry_owner,
        codes,
        stored_ranges,
        retire_list: RetireList::default(),
        starts: Vec::new(),
        prepared: Vec::new(),
        path: Vec::new(),
        scratch: Vec::new(),
        built: Replaced::default(),
    };
    patcher.state_extent();
    LiveEngine::patched(folio, patcher)
}

impl<F: Family> Patcher<F> {
    /// Publishes the extent of the store.
    fn state_extent(&self) {
        let Extent { pages, bytes } = self.folio.extent();
        pages.store(self.store.page_count(), Relaxed);
        bytes.store(self.store.lines().0.len(), Relaxed);
    }

    /// Prepares the blocks of a prefix that is at most as long as a block's.
    fn prepare(&mut self, rib: &Rib<F>, prefix: Prefix<F>) -> Result<Replaced, CannotPatch> {
        let bits = self.fixed.root.bits;
        let first = prefix.bits().extract(0, bits) as u64;
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
        let lowest = self.read(rib, prefix)?;
        self.build(blocks, lowest)
    }

    /// Reads the RIB within a prefix: the next hop at its beginning, and the changes.
    fn read(&mut self, rib: &Rib<F>, prefix: Prefix<F>) -> Result<u32, CannotPatch> {
        let limit = self.codes.form.max.min(MAX_NEXT_HOP);
        read_within(rib, prefix, limit, &mut self.starts).ok_or(CannotPatch)
    }

    /// Builds some blocks, whose addresses begin with next hop `lowest`.
    fn build(&mut self, blocks: Range<u64>, lowest: u32) -> Result<Replaced, CannotPatch> {
        let fixed = self.fixed.clone();
        let Self { store, codes, starts, prepared, .. } = self;
        let root = &fixed.root;
        let bits = root.bits;
        let number = |start: &Start<F::Bits>| start.at.extract(0, bits) as u64;
        let index = |number: u64| root.index((number as u32) << (32 - bits));
        let mut builder = Builder::<F::Bits, _>::new(&fixed.levels, codes, store);
        let mut raw = lowest;
        let mut at = blocks.start;
        let mut failed = false;
        for block in starts.chunk_by(|a, b| number(a) == number(b)) {
            let number = number(&block[0]);
            let answers = (at..number).map(|number| answer(index(number), raw));
            prepared.extend(answers);
            let Ok(entry) = builder.block(0, bits, &mut raw, block) else {
                failed = true;
                break;
            };
            prepared.push(Prepared { index: index(number), entry, page: builder.children.pop() });
            at = number + 1;
        }
        failed |= fixed.closed && builder.levels_used > fixed.usual_levels;
        let replaced = Replaced { nodes: builder.branches, leaves: builder.leaves, entries: 0 };
        // After a failure in the middle: pages that no entry leads to yet.
        let orphans = builder.children;
        self.release_unseen(orphans);
        if failed {
            return Err(CannotPatch);
        }
        let answers = (at..blocks.end).map(|number| answer(index(number), raw));
        self.prepared.extend(answers);
        Ok(replaced)
    }

    /// Discards the prepared changes.
    fn forget(&mut self) {
        let pages = self.prepared.drain(..).filter_map(|prepared| prepared.page).collect();
        self.release_unseen(pages);
    }

    /// Removes a reference to each of some pages that no reader has reached.
    fn release_unseen(&mut self, pages: Vec<u32>) {
        let mut gone = Vec::new();
        for page in pages {
            self.release(page, &mut gone);
        }
        gone.iter().for_each(|page| self.store.free(page));
    }

    /// Publishes the prepared entries of the root; returns their number.
    fn publish(&mut self) -> u64 {
        let mut entries = 0;
        let mut prepared = core::mem::take(&mut self.prepared);
        let mut gone = Vec::new();
        for Prepared { index, entry, page } in prepared.drain(..) {
            let before = Entry(self.entries[index as usize]);
            if before == entry {
                // The new entry leads to the same page: count one reference, not two.
                page.into_iter().for_each(|page| self.store.release(page));
                continue;
            }
            self.entries.publish(index as usize, entry.0);
            entries += 1;
            if let Some(page) = self.page(0, before) {
                self.release(page, &mut gone);
            }
        }
        self.prepared = prepared;
        self.retire(gone);
        entries
    }

    /// Puts pages that readers may be in into the retire list.
    fn retire(&mut self, gone: Vec<Page>) {
        gone.into_iter().for_each(|page| self.retire_list.push(page, page.bytes()));
    }

    /// Returns the position of the page of a level that an entry leads to.
    fn page(&self, level: usize, entry: Entry) -> Option<u32> {
        if !entry.is_page() {
            return None;
        }
        let CodeForm { log2, slot_shift, .. } = self.codes.form;
        let width = u32::from(self.fixed.levels[level].width);
        let (kind, bytes) = match entry.is_branch() {
            true => (Kind::Branch(level as u8), size_of::<u32>() << width),
            false => (Kind::Codes, 1 << log2 << (width + slot_shift - entry.drop())),
        };
        let bytes = bytes.max(PLACE_UNIT << log2);
        let at = self.store.find(kind, entry.place() << log2, bytes.ilog2() as u8);
        debug_assert!(at.is_some(), "{entry:?} leads to no page");
        at
    }

    /// Removes a reference to a page; recursively to those below if it was the last. `gone`
    /// collects the removed pages.
    fn release(&mut self, page: u32, gone: &mut Vec<Page>) {
        if let Some(page) = self.store.release_or_remove(page) {
            self.release_below(&page, gone);
            gone.push(page);
        }
    }

    /// Removes a reference from each page that a page leads to.
    fn release_below(&mut self, page: &Page, gone: &mut Vec<Page>) {
        if let Kind::Branch(level) = page.kind {
            let level = usize::from(level) + 1;
            let entries = slots(self.store.content(page));
            let children: Vec<u32> = entries.filter_map(|entry| self.page(level, entry)).collect();
            for child in children {
                self.release(child, gone);
            }
        }
    }
}

/// Returns the slots of a branch page.
fn slots(page: &[u8]) -> impl Iterator<Item = Entry> {
    page.as_chunks::<4>().0.iter().map(|slot| Entry(u32::from_le_bytes(*slot)))
}

/// Returns a slot of a branch page.
fn slot(page: &[u8], slot: usize) -> Entry {
    Entry(u32::from_le_bytes(page.as_chunks::<4>().0[slot]))
}

fn answer(index: u32, raw: u32) -> Prepared {
    Prepared { index, entry: Entry::answer(raw), page: None }
}

impl<F: Family> Patch<F> for Patcher<F> {
    fn patch(&mut self, rib: &Rib<F>, changed: &[Prefix<F>]) -> Result<Replaced, CannotPatch> {
        let bits = self.fixed.root.bits;
        if let [prefix] = changed
            && prefix.len() > bits
        {
            let replaced = self.change_path(rib, *prefix)?;
            self.state_extent();
            return Ok(replaced);
        }
        // Blocks are built whole, and each once.
        let mut blocks: Vec<u64> = changed
            .iter()
            .map(|prefix| {
                let number = prefix.bits().extract(0, bits) as u64;
                number << u8::BITS | u64::from(prefix.len().min(bits))
            })
            .collect();
        // In the order of the prefixes: a prefix comes before those that it covers.
        blocks.sort_unstable();
        let mut replaced = Replaced::default();
        let mut last: Option<Prefix<F>> = None;
        for block in blocks {
            let first = F::Bits::from_u128(u128::from(block >> u8::BITS) << (F::WIDTH - bits));
            let prefix = Prefix::from_bits_masked(first, block as u8);
            if last.is_some_and(|last| last.covers(prefix)) {
                continue;
            }
            last = Some(prefix);
            match self.prepare(rib, prefix) {
                Ok(more) => {
                    replaced.nodes += more.nodes;
                    replaced.leaves += more.leaves;
                }
                Err(CannotPatch) => {
                    self.forget();
                    return Err(CannotPatch);
                }
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
            self.store.free(&page);
        }
    }

    fn retired_bytes(&self) -> usize {
        self.retire_list.bytes()
    }

    fn used_and_unused(&self) -> (usize, usize) {
        (self.store.lines().0.len(), self.store.unused_bytes())
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.folio.memory_usage()
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        let mut account = self.store.account();
        account.unused.extend(self.retire_list.iter().map(|page| (page.start, page.bytes())));
        let (entries, pages) = (&self.entries[..], &self.store.lines().0[..]);
        let (fixed, form) = (&*self.fixed, self.codes.form);
        check::check(Slices { entries, pages, fixed }, form, &account, rib)
    }
}
