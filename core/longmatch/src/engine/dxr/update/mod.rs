//! A DXR that changes under readers, as the authors do it (SoftCOM 2017).
//!
//! Only the chunks that a change affects are built again. Each chunk that the prefix covers is
//! built from the RIB, unless a longer route covers it. In the chunk that the prefix lies in, the
//! rest is copied, a fraction of the work for a chunk of thousands of ranges; if several prefixes
//! change at once it is built from the RIB too. An already stored chunk is shared. Any other is
//! written into a run of words of the range table that no reader can reach. One store then replaces
//! the direct entry, or with two levels the element of the first level, which then names another
//! block (`blocks.rs`). All stores come last, when everything has its place, so a change that does
//! not fit has no effect. A chunk without references goes into the retire list. Then some chunks
//! move into gaps (`compact.rs`).

mod blocks;
mod compact;
mod shared;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::take;

use self::blocks::Blocks;
use self::shared::Shared;
use super::check::{self, Unused};
use super::chunk::{Encoder, Fragment, chunk_words, fragments_of, is_chunk};
use super::compile::max_next_hop;
use super::direct::{DirectOwner, FrozenDirect, Levels};
use super::layout::{Dxr, Format, Slices};
use super::lookup::Search;
use crate::engine::kit::{CannotPatch, Compiled, Corrupt, LiveEngine, Patch, Replaced};
use crate::mem::{Gaps, Live, MemoryUsage, Owner, RetireList, Run};
use crate::net::{Bits, Family, NextHopId, Prefix};
use crate::rib::{Rib, Slots};

/// log2 of the most chunks to change in place; more cost as much as a compile.
const MAX_CHUNKS: u8 = 16;
/// Spare bytes of the range table, on top of twice its size.
const SPARE_BYTES: usize = 1 << 20;
/// Words of the longest `xl` chunk built here. A compiled table may have longer ones.
const LONGEST_XL: usize = 1 << 15;

/// Moves a DXR into arrays with capacity to grow, and makes its write side.
pub(super) fn live<E: Format, T: FrozenDirect, S: Search>(
    dxr: Dxr<E, T, S>,
) -> LiveEngine<E::Family> {
    let capacity = dxr.ranges.len() * 2 + SPARE_BYTES / size_of::<E::Word>();
    let limit = (1 << E::BASE_BITS) + longest_chunk::<E>();
    match Patcher::new(&dxr, capacity.min(limit)) {
        Some(patcher) => LiveEngine::patched(patcher.readers.clone(), patcher),
        None => LiveEngine::recompiled(dxr),
    }
}

/// Words of the longest chunk built here.
const fn longest_chunk<E: Format>() -> usize {
    if E::XL { LONGEST_XL } else { E::MAX_SIZE }
}

/// An object that is no longer used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Items {
    /// The words of a chunk.
    Words(Run),
    /// A block of the second level.
    Block(u32),
}

/// The write side. It serves every form of the direct table and every search.
pub(super) struct Patcher<E: Format> {
    /// The table as readers have it.
    pub(super) readers: Arc<dyn Compiled<E::Family>>,
    pub(super) k: u8,
    hop_bits: u8,
    pub(super) direct: DirectOwner,
    pub(super) ranges: Owner<E::Word>,
    /// The physical chunks, by their direct entries. References are those of entries of the direct
    /// table, or with two levels of entries in used blocks.
    chunks: Shared,
    free: Gaps,
    /// Work that moves may still do, in words (`compact.rs`).
    pub(super) credit: usize,
    /// The second level, if there is one.
    blocks: Option<Blocks>,
    /// New direct entries by chunk, to publish once everything is built.
    pending: BTreeMap<usize, u32>,
    /// Chunks placed in this patch.
    added: Vec<u32>,
    written: Replaced,
    retire_list: RetireList<Items>,
    encoder: Encoder<E>,
    /// Fragments of the current chunk.
    fragments: Vec<Fragment<E::Word>>,
}

impl<E: Format> Patcher<E> {
    /// Builds a table whose range table can grow to `capacity` words. `None` when memory runs out.
    pub(super) fn new<T: FrozenDirect, S: Search>(
        dxr: &Dxr<E, T, S>,
        capacity: usize,
    ) -> Option<Self> {
        let (direct, direct_owner) = dxr.direct.live()?;
        let (ranges, range_owner) = Live::with_capacity(&dxr.ranges, capacity)?;
        let Dxr { k, hop_bits, batch, types, .. } = *dxr;
        let blocks = match &direct_owner {
            DirectOwner::Single(_) => None,
            DirectOwner::Split(split) => Some(Blocks::new(split)),
        };
        let mut patcher = Self {
            readers: Arc::new(Dxr::<E, _, S> { direct, ranges, k, hop_bits, batch, types }),
            k,
            hop_bits,
            direct: direct_owner,
            ranges: range_owner,
            chunks: Shared::default(),
            free: Gaps::default(),
            credit: 0,
            blocks,
            pending: BTreeMap::new(),
            added: Vec::new(),
            written: Replaced::default(),
            retire_list: RetireList::default(),
            encoder: Encoder::new(hop_bits),
            fragments: Vec::new(),
        };
        let Self { direct, ranges, chunks, encoder, .. } = &mut patcher;
        for_each_entry::<E>(direct.levels(), |place, entry| {
            if !chunks.refer(entry, place) {
                encoder.load(ranges, entry);
                chunks.insert(entry, chunks.sum(encoder.ranges()));
                chunks.refer(entry, place);
            }
        });
        Some(patcher)
    }

    /// Builds everything that the changed prefixes affect.
    fn build(
        &mut self,
        rib: &Rib<E::Family>,
        changed: &[Prefix<E::Family>],
    ) -> Result<(), CannotPatch> {
        if let [prefix] = changed
            && prefix.len() > self.k
        {
            self.splice(rib, *prefix)?;
        } else {
            self.chunks_of(rib, changed)?;
        }
        self.stage()
    }

    /// Prepares the blocks of the pending entries.
    fn stage(&mut self) -> Result<(), CannotPatch> {
        match (&mut self.blocks, &mut self.direct) {
            (Some(blocks), DirectOwner::Split(split)) => blocks.stage(split, &self.pending),
            _ => Ok(()),
        }
    }

    /// Builds all chunks that some prefixes affect.
    fn chunks_of(
        &mut self,
        rib: &Rib<E::Family>,
        changed: &[Prefix<E::Family>],
    ) -> Result<(), CannotPatch> {
        for prefix in changed {
            let mut built = Ok(());
            rib.root_block().for_each_slots_of(*prefix, self.k, |slots| {
                if built.is_ok() {
                    built = self.slots(rib, &slots);
                }
            });
            built?;
        }
        Ok(())
    }

    /// Builds some chunks, which are slots of the root block.
    fn slots(
        &mut self,
        rib: &Rib<E::Family>,
        slots: &Slots<'_, E::Family>,
    ) -> Result<(), CannotPatch> {
        for index in slots.first..slots.first + slots.count {
            if self.pending.contains_key(&index) {
                continue;
            }
            let after = match slots.below {
                None => E::entry(NextHopId::to_raw(slots.next_hop), false, 0),
                Some(_) => self.chunk(rib, index)?,
            };
            if after != self.direct.levels().entry(index) {
                self.pending.insert(index, after);
            }
        }
        Ok(())
    }

    /// Builds a whole chunk from the RIB and returns its direct entry.
    fn chunk(&mut self, rib: &Rib<E::Family>, index: usize) -> Result<u32, CannotPatch> {
        let k = self.k;
        let bits = E::Word::from_u128((index as u128) << (E::Family::WIDTH - k));
        fragments_of(rib, Prefix::from_bits_masked(bits, k), k, &mut self.fragments);
        self.encoder.set(&self.fragments);
        let hash = self.chunks.sum(self.encoder.ranges());
        self.stored(hash)
    }

    /// Builds the chunk around a prefix of more than `K` bits; the rest is copied. The prefix must
    /// be the only changed one.
    fn splice(
        &mut self,
        rib: &Rib<E::Family>,
        prefix: Prefix<E::Family>,
    ) -> Result<(), CannotPatch> {
        let Self { k, direct, ranges, chunks, encoder, fragments, .. } = self;
        let index = prefix.bits().extract(0, *k);
        let before = direct.levels().entry(index);
        fragments_of(rib, prefix, *k, fragments);
        encoder.load(ranges, before);
        let hash = chunks.hash_of(before).unwrap_or_else(|| chunks.sum(encoder.ranges()));
        let end = !E::Word::mask(*k);
        let places = [prefix.first() & end, prefix.last() & end, end];
        let mut after = None;
        encoder.splice(places, fragments, |gone, come| {
            if gone != come {
                after = Some(hash.wrapping_sub(chunks.sum(gone)).wrapping_add(chunks.sum(come)));
            }
        });
        if let Some(hash) = after {
            let entry = self.stored(hash)?;
            self.pending.insert(index, entry);
        }
        Ok(())
    }

    /// Returns the direct entry of the current chunk; stores the chunk if it is new.
    fn stored(&mut self, hash: u64) -> Result<u32, CannotPatch> {
        if let Some(hop) = self.encoder.only_hop() {
            return Ok(E::entry(hop, false, 0));
        }
        let like = self.encoder.finish().or(Err(CannotPatch))?;
        let (ranges, words) = (&self.ranges, self.encoder.words());
        let same = |entry| is_chunk::<E>(ranges, entry, like, words);
        if let Some(entry) = self.chunks.find(hash, same) {
            return Ok(entry);
        }
        let entry = like | E::entry(self.place()?, false, 0);
        self.chunks.insert(entry, hash);
        self.added.push(entry);
        self.written.leaves += self.encoder.ranges().len() as u64;
        Ok(entry)
    }

    /// Writes the current chunk and returns its base.
    fn place(&mut self) -> Result<u32, CannotPatch> {
        let (ranges, words) = (&mut self.ranges, self.encoder.words());
        if words.len() > longest_chunk::<E>() {
            return Err(CannotPatch);
        }
        let start = self.free.take(ranges, words.len()).ok_or(CannotPatch)?;
        if start >> E::BASE_BITS != 0 {
            self.free.free(ranges, Run { start, count: words.len() as u32 });
            return Err(CannotPatch);
        }
        // SAFETY: the run was free, so no entry that readers may have read leads into it (invariant
        // 7).
        unsafe { ranges.write(start as usize, words) };
        Ok(start)
    }

    /// Publishes the new entries.
    fn publish(&mut self) {
        self.added.clear();
        let Self { chunks, ranges, retire_list, .. } = self;
        let mut references = References::<E> { chunks, ranges, retire_list };
        match (&mut self.direct, &mut self.blocks) {
            (DirectOwner::Split(split), Some(blocks)) => {
                let published = blocks.publish(split);
                self.pending.clear();
                self.written.entries += published.elements;
                self.written.nodes += published.added.len() as u64;
                for block in published.added {
                    references.refer(block << split.x, split.levels().block(block));
                }
                for block in published.retired {
                    references.release(split.levels().block(block));
                    references.retire_list.push(Items::Block(block), size_of::<u32>() << split.x);
                }
            }
            (DirectOwner::Single(entries), _) => {
                let pending = take(&mut self.pending);
                self.written.entries += pending.len() as u64;
                let mut before = Vec::with_capacity(pending.len());
                for (index, entry) in pending {
                    before.push(entries[index]);
                    references.refer(index as u32, &[entry]);
                    entries.publish(index, entry);
                }
                references.release(&before);
            }
            (DirectOwner::Split(_), None) => unreachable!("two levels have blocks"),
        }
    }

    /// Discards the prepared changes.
    fn forget(&mut self) {
        self.pending.clear();
        if let Some(blocks) = &mut self.blocks {
            blocks.forget();
        }
        for entry in take(&mut self.added) {
            self.chunks.remove(entry);
            let run = run_of::<E>(&self.ranges, entry);
            self.free.free(&mut self.ranges, run);
        }
    }

    /// Words and blocks available for reuse.
    pub(super) fn unused(&self) -> [usize; 2] {
        let blocks = self.blocks.as_ref().map_or(0, |blocks| blocks.unused().len());
        [self.free.items(), blocks]
    }
}

/// References of direct entries to chunks; retires a chunk with its last reference.
struct References<'a, E: Format> {
    chunks: &'a mut Shared,
    ranges: &'a [E::Word],
    retire_list: &'a mut RetireList<Items>,
}

impl<E: Format> References<'_, E> {
    /// Adds the references of direct entries from a place on.
    fn refer(&mut self, first: u32, entries: &[u32]) {
        let chunks = (first..).zip(entries).filter(|(_, entry)| E::size_field(**entry) != 0);
        for (place, entry) in chunks {
            let known = self.chunks.refer(*entry, place);
            debug_assert!(known, "{entry:x} leads to no chunk");
        }
    }

    /// Removes the references of some direct entries.
    fn release(&mut self, entries: &[u32]) {
        for entry in entries.iter().filter(|entry| E::size_field(**entry) != 0) {
            if self.chunks.release(*entry) {
                let run = run_of::<E>(self.ranges, *entry);
                let bytes = run.count as usize * size_of::<E::Word>();
                self.retire_list.push(Items::Words(run), bytes);
            }
        }
    }
}

/// Returns the words of a chunk.
fn run_of<E: Format>(ranges: &[E::Word], entry: u32) -> Run {
    let count = chunk_words::<E>(ranges, entry) as u32;
    Run { start: E::base(entry), count }
}

/// Calls `visit` with the place of every direct entry that leads to a chunk, and the entry. With
/// two levels, with those in used blocks.
fn for_each_entry<E: Format>(direct: Levels<'_>, mut visit: impl FnMut(u32, u32)) {
    let mut all = |first: u32, entries: &[u32]| {
        let chunks = (first..).zip(entries).filter(|(_, entry)| E::size_field(**entry) != 0);
        chunks.for_each(|(place, entry)| visit(place, *entry));
    };
    match direct {
        Levels::Single(entries) => all(0, entries),
        Levels::Split { x, .. } => {
            Blocks::used(direct).for_each(|block| all(block << x, direct.block(block)));
        }
    }
}

impl<E: Format> Patch<E::Family> for Patcher<E> {
    fn patch(
        &mut self,
        rib: &Rib<E::Family>,
        changed: &[Prefix<E::Family>],
    ) -> Result<Replaced, CannotPatch> {
        let limit = max_next_hop::<E>(self.hop_bits);
        let too_much = |prefix: &Prefix<E::Family>| {
            self.k.saturating_sub(prefix.len()) > MAX_CHUNKS
                || NextHopId::to_raw(rib.get(*prefix)) > limit
        };
        if changed.iter().any(too_much) {
            return Err(CannotPatch);
        }
        self.written = Replaced::default();
        if self.build(rib, changed).is_err() {
            self.forget();
            return Err(CannotPatch);
        }
        self.publish();
        self.compact();
        Ok(self.written)
    }

    fn seal(&mut self, epoch: u64) {
        self.retire_list.seal(epoch);
    }

    fn reclaim(&mut self, oldest: u64) {
        while let Some(items) = self.retire_list.pop(oldest) {
            match (items, &mut self.blocks) {
                (Items::Words(run), _) => self.free.free(&mut self.ranges, run),
                (Items::Block(block), Some(blocks)) => blocks.free(block),
                (Items::Block(_), None) => unreachable!("one level has no blocks"),
            }
        }
    }

    fn retired_bytes(&self) -> usize {
        self.retire_list.bytes()
    }

    fn used_and_unused(&self) -> (usize, usize) {
        let (blocks, x) = match self.direct.levels() {
            Levels::Single(_) => (0, 0),
            Levels::Split { entries, x, .. } => (entries.len() >> x, x),
        };
        let bytes =
            |words, blocks| words * size_of::<E::Word>() + ((blocks * size_of::<u32>()) << x);
        // Moves, not a fresh compile, reclaim free words.
        let [_, free_blocks] = self.unused();
        (bytes(self.ranges.len(), blocks), bytes(0, free_blocks))
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.readers.memory_usage()
    }

    fn check(&self, rib: &Rib<E::Family>) -> Result<(), Corrupt> {
        let mut unused = Unused { words: self.free.iter().collect(), blocks: Vec::new() };
        unused.blocks.extend(self.blocks.iter().flat_map(Blocks::unused));
        for items in self.retire_list.iter() {
            match items {
                Items::Words(run) => unused.words.push(*run),
                Items::Block(block) => unused.blocks.push(*block),
            }
        }
        let (direct, ranges) = (self.direct.levels(), &self.ranges[..]);
        let Self { k, hop_bits, .. } = *self;
        check::check(&Slices::<E> { direct, ranges, k, hop_bits }, unused, rib)?;
        let mut references = BTreeMap::new();
        for_each_entry::<E>(direct, |_, entry| *references.entry(entry).or_default() += 1);
        let hash = |entry| {
            let mut encoder = Encoder::<E>::new(hop_bits);
            encoder.load(ranges, entry);
            self.chunks.sum(encoder.ranges())
        };
        let blocks_agree = self.blocks.as_ref().is_none_or(|blocks| blocks.agree(direct));
        if !self.chunks.agrees(&references, hash) || !blocks_agree {
            return check::corrupt("the reference counts are wrong".into());
        }
        Ok(())
    }
}
