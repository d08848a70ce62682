//! Compiles a RIB to DXR: the address space as ranges, cut into chunks; equal chunks once.

use alloc::vec::Vec;
use core::hash::BuildHasher;
use core::marker::PhantomData;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::chunk::{Encoder, Fragment, chunk, is_chunk};
use super::direct::FrozenDirect;
use super::layout::{Dxr, Format, HOP_BITS, MAX_K, MIN_K};
use super::{Config, EXPECTED, NAME};
use crate::engine::kit::{CompileError, OptionError, Shape};
use crate::mem::Frozen;
use crate::net::{Bits, Family, NextHopId};
use crate::rib::Rib;

pub(super) fn compile<E: Format, T: FrozenDirect>(
    rib: &Rib<E::Family>,
    config: &Config,
) -> Result<Dxr<E, T>, CompileError> {
    let Config { d, x, hops_k, batch } = *config;
    let k = d.saturating_add(x);
    if !(MIN_K..=MAX_K).contains(&k) {
        let option = alloc::format!("d={d}");
        return Err(OptionError { engine: NAME, option, expected: EXPECTED }.into());
    }
    let hop_bits = if hops_k { k } else { HOP_BITS };
    let (id, limit) = (rib.max_next_hop(), max_next_hop::<E>(hop_bits));
    if id > limit {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit });
    }
    let mut compiler = Compiler::<E>::new(hop_bits);
    let mut entries = Vec::with_capacity(1 << k);
    for_each_chunk(rib, k, |count, fragments| {
        let entry = compiler.chunk(fragments)?;
        entries.resize(entries.len() + count, entry);
        Ok::<(), CompileError>(())
    })?;
    let ranges = Frozen::of(&compiler.ranges).map_err(CompileError::memory(NAME))?;
    let direct = T::build(entries, d, x)?;
    Ok(Dxr { direct, ranges, k, hop_bits, batch, types: PhantomData })
}

/// Upper bound on the bytes of a one-level direct table and of the range table.
///
/// For every chunk that routes divide a word for its size and one for its first range, and a word
/// for each range of the table.
pub(super) fn estimate<F: Family>(shape: &Shape, config: &Config) -> u64 {
    let k = config.d.saturating_add(config.x).min(MAX_K);
    let words = 2 * shape.blocks(k) + shape.ranges();
    ((size_of::<u32>() as u64) << k) + words * size_of::<F::Bits>() as u64
}

/// The greatest next hop that fits both a direct entry and a range.
pub(super) fn max_next_hop<E: Format>(hop_bits: u8) -> u32 {
    (1 << E::BASE_BITS.min(hop_bits.into())) - 1
}

/// Calls `visit` with the `2^k` chunks in order.
///
/// Each call passes a number of neighbouring chunks and the fragments of each. The number is 1
/// unless there is only one fragment.
pub(super) fn for_each_chunk<F: Family, X>(
    rib: &Rib<F>,
    k: u8,
    mut visit: impl FnMut(usize, &[Fragment<F::Bits>]) -> Result<(), X>,
) -> Result<(), X> {
    let inside = !F::Bits::mask(k);
    let mut fragments = Vec::new();
    for range in rib.ranges().coalesced() {
        let hop = NextHopId::to_raw(range.next_hop());
        fragments.push(Fragment { start: range.first & inside, hop });
        let (first, last) = (range.first.extract(0, k), range.last.extract(0, k));
        let ends_chunk = range.last & inside == inside;
        if first == last && !ends_chunk {
            continue;
        }
        visit(1, &fragments)?;
        fragments.clear();
        // Number of chunks after the first that the range covers completely.
        let whole = (last + usize::from(ends_chunk)).saturating_sub(first + 1);
        let rest = Fragment { start: F::Bits::ZERO, hop };
        if whole > 0 {
            visit(whole, &[rest])?;
        }
        if !ends_chunk {
            fragments.push(rest);
        }
    }
    Ok(())
}

struct Compiler<E: Format> {
    ranges: Vec<E::Word>,
    /// The direct entries of the physical chunks, to find equal chunks.
    physical: HashTable<u32>,
    hasher: DefaultHashBuilder,
    encoder: Encoder<E>,
}

impl<E: Format> Compiler<E> {
    fn new(hop_bits: u8) -> Self {
        let hasher = DefaultHashBuilder::default();
        let encoder = Encoder::new(hop_bits);
        Self { ranges: Vec::new(), physical: HashTable::new(), hasher, encoder }
    }

    /// Returns the direct entry of a chunk. Adds the chunk to the range table if it is new.
    fn chunk(&mut self, fragments: &[Fragment<E::Word>]) -> Result<u32, CompileError> {
        if let [only] = fragments {
            return Ok(E::entry(only.hop, false, 0));
        }
        self.encoder.set(fragments);
        let like = self.encoder.finish()?;
        let Self { ranges, physical, hasher, encoder } = self;
        let words = encoder.words();
        let chunk_at = |ranges: &[E::Word], entry: u32| hasher.hash_one(chunk::<E>(ranges, entry));
        let hash = hasher.hash_one(words);
        let same = |entry: &u32| is_chunk::<E>(ranges, *entry, like, words);
        if let Some(entry) = physical.find(hash, same) {
            return Ok(*entry);
        }
        let base = ranges.len() as u32;
        if base >> E::BASE_BITS != 0 {
            let what = "words in the range table";
            return Err(CompileError::TooMany { engine: NAME, what, limit: 1 << E::BASE_BITS });
        }
        if ranges.try_reserve(words.len()).is_err() {
            let bytes = ((ranges.len() + words.len()) * size_of::<E::Word>()) as u64;
            return Err(CompileError::Allocation { engine: NAME, bytes });
        }
        ranges.extend_from_slice(words);
        let entry = like | E::entry(base, false, 0);
        physical.insert_unique(hash, entry, |entry| chunk_at(ranges, *entry));
        Ok(entry)
    }
}
