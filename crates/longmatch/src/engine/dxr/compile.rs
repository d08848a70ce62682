//! RIB to DXR: the address space as ranges, cut into chunks; equal chunks once.

use alloc::vec::Vec;
use core::hash::BuildHasher;
use core::marker::PhantomData;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::direct::Direct;
use super::layout::{Dxr, Format, HOP_BITS, MAX_K, MIN_K, Word};
use super::{Config, EXPECTED, NAME};
use crate::addr::{Bits, Family};
use crate::error::{CompileError, OptionError};
use crate::next_hop::NextHopId;
use crate::prefix::Prefix;
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
    let ranges = (*compiler.ranges).into();
    let direct = T::build(entries, d, x)?;
    Ok(Dxr { direct, ranges, k, hop_bits, batch, live: false, format: PhantomData })
}

/// The greatest next hop that both a direct entry and a range have room for.
pub(super) fn max_next_hop<E: Format>(hop_bits: u8) -> u32 {
    (1 << E::BASE_BITS.min(hop_bits.into())) - 1
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

/// Puts the fragments of one chunk into `fragments`: those of its addresses, which begin with the
/// `k` bits `index`. O(depth of the trie + routes in the chunk).
pub(super) fn fragments_of<F: Family>(
    rib: &Rib<F>,
    k: u8,
    index: usize,
    fragments: &mut Vec<Fragment<F::Bits>>,
) {
    let inside = !F::Bits::mask(k);
    let first = F::Bits::from_u128((index as u128) << (F::WIDTH - k));
    let ranges = rib.ranges_in(Prefix::from_bits_masked(first, k)).coalesced();
    fragments.clear();
    fragments.extend(ranges.map(|range| {
        let hop = NextHopId::to_raw(range.next_hop());
        Fragment { start: range.first & inside, hop }
    }));
}

struct Compiler<E: Format> {
    ranges: Vec<E::Word>,
    /// The direct entries of the physical chunks, to find equal ones.
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

    /// The direct entry of a chunk, which is added to the range table unless it is there already.
    fn chunk(&mut self, fragments: &[Fragment<E::Word>]) -> Result<u32, CompileError> {
        if let [only] = fragments {
            return Ok(E::entry(only.hop, false, 0));
        }
        let like = self.encoder.encode(fragments)?;
        let Self { ranges, physical, hasher, encoder: Encoder { words, .. } } = self;
        let chunk_at = |ranges: &[E::Word], entry: u32| hasher.hash_one(chunk::<E>(ranges, entry));
        let hash = hasher.hash_one(&words[..]);
        let same = |entry: &u32| is_chunk::<E>(ranges, *entry, like, words);
        if let Some(entry) = physical.find(hash, same) {
            return Ok(*entry);
        }
        let base = ranges.len() as u32;
        if base >> E::BASE_BITS != 0 {
            let what = "words in the range table";
            return Err(CompileError::TooMany { engine: NAME, what, limit: 1 << E::BASE_BITS });
        }
        ranges.extend_from_slice(words);
        let entry = like | E::entry(base, false, 0);
        physical.insert_unique(hash, entry, |entry| chunk_at(ranges, *entry));
        Ok(entry)
    }
}

/// Fragments to the words of a chunk.
pub(super) struct Encoder<E: Format> {
    pub hop_bits: u8,
    /// The words of the chunk at hand.
    pub words: Vec<E::Word>,
}

impl<E: Format> Encoder<E> {
    pub fn new(hop_bits: u8) -> Self {
        Self { hop_bits, words: Vec::new() }
    }

    /// Puts a chunk of two fragments or more into `words`; its direct entry if its base were 0.
    ///
    /// # Errors
    /// When the chunk has too many ranges.
    pub fn encode(&mut self, fragments: &[Fragment<E::Word>]) -> Result<u32, CompileError> {
        let short = E::SHORT && fragments.iter().all(fits_short);
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
            Ok(E::entry(0, short, size as u32 - 1))
        } else if E::XL {
            Ok(E::entry(0, short, E::XL_MARK))
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

/// A physical chunk.
pub(super) fn chunk<E: Format>(ranges: &[E::Word], entry: u32) -> &[E::Word] {
    &ranges[E::base(entry) as usize..][..chunk_words::<E>(ranges, entry)]
}

/// Whether the physical chunk of an entry has these words, and otherwise the entry is `like` but for
/// its base.
pub(super) fn is_chunk<E: Format>(
    ranges: &[E::Word],
    entry: u32,
    like: u32,
    words: &[E::Word],
) -> bool {
    let base = E::base(entry);
    entry == like | E::entry(base, false, 0)
        && ranges[base as usize..].get(..words.len()).is_some_and(|chunk| chunk == words)
}

/// The short format: the 8 lowest bits of the start are zero, the next hop fits 8 bits.
fn fits_short<B: Bits>(fragment: &Fragment<B>) -> bool {
    fragment.start.to_u128() & 0xff == 0 && fragment.hop < 256
}
