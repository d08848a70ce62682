//! One chunk: its fragments, and the conversion to and from its stored words.

use alloc::vec::Vec;

use super::NAME;
use super::layout::{Format, Word};
use crate::engine::kit::CompileError;
use crate::net::{Bits, Family, NextHopId, Prefix};
use crate::rib::Rib;

/// A range inside a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fragment<B> {
    /// The first address, without the bits that all addresses of the chunk share.
    pub start: B,
    /// The raw next hop, 0 = no route.
    pub hop: u32,
}

/// Writes the fragments of a prefix's addresses into `fragments`.
///
/// The prefix is a chunk of `k` bits or lies in one. O(depth of the trie + routes in the prefix).
pub(super) fn fragments_of<F: Family>(
    rib: &Rib<F>,
    prefix: Prefix<F>,
    k: u8,
    fragments: &mut Vec<Fragment<F::Bits>>,
) {
    let inside = !F::Bits::mask(k);
    fragments.clear();
    fragments.extend(rib.ranges_in(prefix).coalesced().map(|range| {
        let hop = NextHopId::to_raw(range.next_hop());
        Fragment { start: range.first & inside, hop }
    }));
}

/// Number of words of a physical chunk.
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

/// Returns the words of a physical chunk.
pub(super) fn chunk<E: Format>(ranges: &[E::Word], entry: u32) -> &[E::Word] {
    &ranges[E::base(entry) as usize..][..chunk_words::<E>(ranges, entry)]
}

/// Whether an entry's physical chunk has these words. The entry must also equal `like` in all but
/// the base.
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

/// The current chunk as long ranges, and as the words to store.
pub(super) struct Encoder<E: Format> {
    hop_bits: u8,
    /// A word for the size, and the ranges.
    long: Vec<E::Word>,
    /// The ranges in short format.
    short: Vec<E::Word>,
    stored: Stored,
}

/// The word array that a chunk is stored from.
#[derive(Clone, Copy)]
enum Stored {
    Short,
    Long,
    /// Long ranges, with the size in front.
    Sized,
}

impl<E: Format> Encoder<E> {
    pub fn new(hop_bits: u8) -> Self {
        Self { hop_bits, long: Vec::new(), short: Vec::new(), stored: Stored::Long }
    }

    /// Loads a chunk from its fragments.
    pub fn set(&mut self, fragments: &[Fragment<E::Word>]) {
        self.long.clear();
        self.long.push(E::Word::ZERO);
        let pack = |f: &Fragment<E::Word>| E::Word::pack(f.start, f.hop, self.hop_bits);
        self.long.extend(fragments.iter().map(pack));
    }

    /// Loads the chunk of a direct entry.
    pub fn load(&mut self, ranges: &[E::Word], entry: u32) {
        self.long.clear();
        let field = E::size_field(entry);
        if field == 0 {
            self.set(&[Fragment { start: E::Word::ZERO, hop: E::base(entry) }]);
        } else if E::is_short(entry) {
            self.long.push(E::Word::ZERO);
            let halves = &E::Word::halves(chunk::<E>(ranges, entry))[..=field as usize];
            self.long.extend(halves.iter().map(|half| {
                let start = E::Word::from_u128((half & 0xff00).into());
                E::Word::pack(start, (half & 0xff).into(), self.hop_bits)
            }));
        } else if E::XL && field == E::XL_MARK {
            self.long.extend_from_slice(chunk::<E>(ranges, entry));
        } else {
            self.long.push(E::Word::ZERO);
            self.long.extend_from_slice(chunk::<E>(ranges, entry));
        }
    }

    /// Returns the chunk's ranges in long format.
    pub fn ranges(&self) -> &[E::Word] {
        &self.long[1..]
    }

    /// Returns the next hop of a chunk of one range.
    pub fn only_hop(&self) -> Option<u32> {
        let [only] = self.ranges() else { return None };
        Some(only.hop(self.hop_bits))
    }

    /// Replaces the ranges from `first` to `last`, both included.
    ///
    /// These are addresses without the bits that all addresses of the chunk share; `end` is the
    /// greatest of them. Calls `visit` with the removed ranges and with the added ones.
    pub fn splice(
        &mut self,
        [first, last, end]: [E::Word; 3],
        fragments: &[Fragment<E::Word>],
        visit: impl FnOnce(&[E::Word], &[E::Word]),
    ) {
        let bits = self.hop_bits;
        let ranges = &self.long[1..];
        let from = ranges.partition_point(|range| *range < E::Word::pack(first, 0, bits));
        let mut hop = from.checked_sub(1).map(|before| ranges[before].hop(bits));
        let (mut to, mut after) = (ranges.len(), None);
        if last < end
            && let Some(start) = last.successor()
        {
            let begun = E::Word::pack(start, (1 << bits) - 1, bits);
            to = ranges.partition_point(|range| *range <= begun);
            after = Some(Fragment { start, hop: ranges[to - 1].hop(bits) });
        }
        self.short.clear();
        for fragment in fragments.iter().copied().chain(after) {
            if hop != Some(fragment.hop) {
                self.short.push(E::Word::pack(fragment.start, fragment.hop, bits));
            }
            hop = Some(fragment.hop);
        }
        visit(&ranges[from..to], &self.short);
        self.long.splice(1 + from..1 + to, self.short.drain(..));
    }

    /// Chooses the format of a chunk of at least two ranges.
    ///
    /// Returns its direct entry for base 0.
    ///
    /// # Errors
    /// When the chunk has too many ranges.
    pub fn finish(&mut self) -> Result<u32, CompileError> {
        let ranges = &self.long[1..];
        let size = ranges.len();
        if size > E::MAX_SIZE {
            if !E::XL {
                let what = "ranges in one chunk";
                return Err(CompileError::TooMany {
                    engine: NAME,
                    what,
                    limit: E::MAX_SIZE as u64,
                });
            }
            self.stored = Stored::Sized;
            self.long[0] = E::Word::from_u128(size as u128);
            return Ok(E::entry(0, false, E::XL_MARK));
        }
        let bits = self.hop_bits;
        if E::SHORT && ranges.iter().all(|range| range.fits_short(bits)) {
            self.stored = Stored::Short;
            let half = |range: &E::Word| range.to_short(bits);
            let words = ranges
                .chunks(2)
                .map(|pair| E::Word::of_halves([half(&pair[0]), pair.get(1).map_or(0, half)]));
            self.short.clear();
            self.short.extend(words);
            return Ok(E::entry(0, true, size as u32 - 1));
        }
        self.stored = Stored::Long;
        Ok(E::entry(0, false, size as u32 - 1))
    }

    /// Returns the words of the chunk, once its format is chosen.
    pub fn words(&self) -> &[E::Word] {
        match self.stored {
            Stored::Short => &self.short,
            Stored::Long => &self.long[1..],
            Stored::Sized => &self.long,
        }
    }
}
