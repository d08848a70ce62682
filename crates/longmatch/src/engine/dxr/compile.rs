//! RIB to DXR: the address space as ranges, cut into chunks; equal chunks once.

use alloc::vec::Vec;
use core::hash::BuildHasher;
use core::marker::PhantomData;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::direct::Direct;
use super::layout::{Dxr, Format, HOP_BITS, MAX_K, MIN_K, PADDING, Word};
use super::{Config, EXPECTED, NAME};
use crate::addr::{Bits, Family};
use crate::error::{CompileError, OptionError};
use crate::next_hop::NextHopId;
use crate::rib::Rib;

pub(super) fn compile<E: Format, T: Direct>(
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
    let (id, limit) = (rib.max_next_hop(), (1 << E::BASE_BITS.min(hop_bits.into())) - 1);
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
    compiler.ranges.resize(compiler.ranges.len() + PADDING, E::Word::ZERO);
    let ranges = compiler.ranges.into();
    let direct = T::build(entries, d, x)?;
    Ok(Dxr { direct, ranges, k, hop_bits, batch, format: PhantomData })
}

/// A range inside a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fragment<B> {
    /// The first address, without the bits that the chunk's addresses share.
    pub start: B,
    /// The raw next hop, 0 = no route.
    pub hop: u32,
}

/// Calls `visit` with the `2^k` chunks in order: a number of neighbouring chunks, and the fragments
/// of each of them. The number is 1 unless there is one fragment only.
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
        // The chunks after the first that the range covers wholly.
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
    /// The direct entries of the physical chunks, to find equal ones.
    physical: HashTable<u32>,
    hasher: DefaultHashBuilder,
    hop_bits: u8,
    /// The words of the chunk at hand.
    words: Vec<E::Word>,
}

impl<E: Format> Compiler<E> {
    fn new(hop_bits: u8) -> Self {
        let hasher = DefaultHashBuilder::default();
        let (ranges, words) = (Vec::new(), Vec::new());
        Self { ranges, physical: HashTable::new(), hasher, hop_bits, words }
    }

    /// The direct entry of a chunk, which is added to the range table unless it is there already.
    fn chunk(&mut self, fragments: &[Fragment<E::Word>]) -> Result<u32, CompileError> {
        if let [only] = fragments {
            return Ok(E::entry(only.hop, false, 0));
        }
        let short = E::SHORT && fragments.iter().all(fits_short);
        let field = self.encode(fragments, short)?;
        let Self { ranges, physical, hasher, words, .. } = self;
        let len = words.len();
        let like = E::entry(0, short, field);
        let chunk_at = |ranges: &[E::Word], entry: u32, len: usize| {
            hasher.hash_one(&ranges[E::base(entry) as usize..][..len])
        };
        let hash = hasher.hash_one(&words[..]);
        let same = |entry: &u32| {
            let base = E::base(*entry) as usize;
            entry ^ E::entry(base as u32, false, 0) == like
                && ranges[base..].get(..len).is_some_and(|chunk| chunk == words)
        };
        if let Some(entry) = physical.find(hash, same) {
            return Ok(*entry);
        }
        let base = ranges.len() as u32;
        if base >> E::BASE_BITS != 0 {
            let what = "words in the range table";
            return Err(CompileError::TooMany { engine: NAME, what, limit: 1 << E::BASE_BITS });
        }
        ranges.extend_from_slice(words);
        let entry = E::entry(base, short, field);
        physical.insert_unique(hash, entry, |entry| {
            chunk_at(ranges, *entry, chunk_words::<E>(ranges, *entry))
        });
        Ok(entry)
    }

    /// Puts the chunk into `words`; its size field.
    fn encode(
        &mut self,
        fragments: &[Fragment<E::Word>],
        short: bool,
    ) -> Result<u32, CompileError> {
        let Self { words, hop_bits, .. } = self;
        let size = fragments.len();
        words.clear();
        if short {
            let half = |f: &Fragment<E::Word>| f.start.to_u128() as u16 | f.hop as u16;
            words.extend(
                fragments
                    .chunks(2)
                    .map(|pair| E::Word::of_halves([half(&pair[0]), pair.get(1).map_or(0, half)])),
            );
        } else {
            if E::XL && size > E::MAX_SIZE {
                words.push(E::Word::from_u128(size as u128));
            }
            words.extend(fragments.iter().map(|f| E::Word::pack(f.start, f.hop, *hop_bits)));
        }
        if size <= E::MAX_SIZE {
            Ok(size as u32 - 1)
        } else if E::XL {
            Ok(E::XL_MARK)
        } else {
            let what = "ranges in one chunk";
            Err(CompileError::TooMany { engine: NAME, what, limit: E::MAX_SIZE as u64 })
        }
    }
}

/// The words of a physical chunk.
pub(super) fn chunk_words<E: Format>(ranges: &[E::Word], entry: u32) -> usize {
    let field = E::size_field(entry);
    if E::is_short(entry) {
        (field as usize + 1).div_ceil(2)
    } else if E::XL && field == E::XL_MARK {
        let size = ranges[E::base(entry) as usize].to_u128();
        usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1)
    } else {
        field as usize + 1
    }
}

/// The short format: the 8 lowest bits of the start are zero, the next hop fits 8 bits.
fn fits_short<B: Bits>(fragment: &Fragment<B>) -> bool {
    fragment.start.to_u128() & 0xff == 0 && fragment.hop < 256
}
