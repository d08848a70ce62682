//! The tables of DXR and the bits in them.
//!
//! Nothing here depends on the direct table's form; that is `direct.rs`.

use core::hash::Hash;
use core::marker::PhantomData;

use super::Batch;
use super::batch::Kernels;
use super::direct::{Direct, DirectView, FrozenDirect, Levels, Single};
use super::lookup::{BranchFree, Search};
use crate::mem::{Items, Memory, Plain, Readable};
use crate::net::{Bits, Family, Ipv4, Ipv6};

/// The fewest bits that the direct table resolves. A range's start holds the other 16 bits of IPv4;
/// IPv6 has the same bound, though its start holds 112 bits.
pub(super) const MIN_K: u8 = 16;
/// The most bits that the direct table resolves: the papers go to 22, which takes 16 MiB.
pub(super) const MAX_K: u8 = 22;

/// Bits of a next hop in a long range entry without the option `hops=k`.
pub(super) const HOP_BITS: u8 = 16;

/// Layout of the entries of the direct table and of the ranges.
///
/// Sealed: [`Original`], [`Wide`], [`Long`] and [`Xl`].
///
/// An entry of the direct table has 32 bits:
///
/// ```text
///            31             13  12  11           0
///           +-----------------+---+---------------+
///  Original | base         19 | S | size - 1   12 |   a chunk: `size` ranges at `base`
///           +-----------------+---+---------------+
///           | next hop     19 | 0 | 0          12 |   every address has this next hop; 0: none
///           +-----------------+---+---------------+
///            31            12  11                0
///           +-----------------+-------------------+
///  Wide     | base         20 | size - 1       12 |
///           +-----------------+-------------------+
///            31          13  12                  0
///           +-----------------+-------------------+
///  Long, Xl | base         19 | size - 1       13 |
///           +-----------------+-------------------+
///  S        the chunk's ranges are in short format
///  base     index of the chunk's first word in the range table
///  size     a chunk of one range is resolved by the direct table, so 0 is free to mean that
/// ```
///
/// The fields set the limits: a base beyond 19 (20) bits or a size beyond 12 (13) is an error.
///
/// The range table is an array of words as wide as an address. A long entry is a word, a short one
/// half a word of IPv4; zeros fill up a short chunk of an odd number of ranges.
///
/// ```text
///               31           16 15            0
///              +---------------+---------------+
///  IPv4, long  | start      16 | next hop   16 |     start: the address bits after the first K
///              +---------------+---------------+
///               15    8 7     0
///              +-------+-------+
///  short       | start | next  |     start: without its 8 lowest bits, all zero
///              +-------+-------+
///               127                   16 15            0
///              +-------------------------+---------------+
///  IPv6        | start               112 | next hop   16 |
///              +-------------------------+---------------+
/// ```
///
/// With the option `hops=k` the start has the `width - K` bits that it needs, and the next hop the
/// other `K`.
pub trait Format: Kernels + Copy + Send + Sync + 'static {
    /// The family of the addresses.
    type Family: Family<Bits = Self::Word>;
    /// A word of the range table.
    type Word: Word;
    /// The option that chooses the format; empty for the family's first.
    const OPTION: &'static str;
    /// Bits of the base, or of a next hop, in a direct entry.
    const BASE_BITS: u32;
    /// Bits of the size in a direct entry.
    const SIZE_BITS: u32;
    /// Whether there is a short format.
    const SHORT: bool;
    /// Whether a chunk may exceed the size field: then the field is all ones, the chunk's first
    /// word is its size, and its ranges follow.
    const XL: bool;

    /// The greatest size that the size field holds.
    const MAX_SIZE: usize = (1 << Self::SIZE_BITS) - Self::XL as usize;
    /// The size field of a chunk with its size in front.
    const XL_MARK: u32 = (1 << Self::SIZE_BITS) - 1;
    /// The flag of the short format.
    const SHORT_FLAG: u32 = if Self::SHORT { 1 << Self::SIZE_BITS } else { 0 };

    /// Extracts the base, or the next hop, of a direct entry.
    #[inline(always)]
    fn base(entry: u32) -> u32 {
        entry >> (32 - Self::BASE_BITS)
    }

    /// Extracts the size field of a direct entry: one less than the size, 0 for a next hop.
    #[inline(always)]
    fn size_field(entry: u32) -> u32 {
        entry & Self::XL_MARK
    }

    /// Whether the chunk of a direct entry is in short format.
    #[inline(always)]
    fn is_short(entry: u32) -> bool {
        entry & Self::SHORT_FLAG != 0
    }

    /// Builds a direct entry.
    fn entry(base: u32, short: bool, size_field: u32) -> u32 {
        debug_assert!(base >> Self::BASE_BITS == 0 && size_field >> Self::SIZE_BITS == 0);
        let flag = if short { Self::SHORT_FLAG } else { 0 };
        base << (32 - Self::BASE_BITS) | flag | size_field
    }
}

/// The format of the papers: base 19 bits, short flag, size 12 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original;

/// The Poptrie paper's extension for larger tables (section 4.8). The base takes the bit of the
/// short flag, so every chunk is long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide;

/// The Poptrie paper's extension to IPv6 (section 4.10). There is no short format, and the size
/// takes the bit of its flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Long;

/// [`Long`] with chunks of any size, after the authors' code in FreeBSD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xl;

const _: () = assert!(
    Original::BASE_BITS + 1 + Original::SIZE_BITS == 32
        && Wide::BASE_BITS + Wide::SIZE_BITS == 32
        && Long::BASE_BITS + Long::SIZE_BITS == 32
        && Xl::BASE_BITS + Xl::SIZE_BITS == 32
);

impl Format for Original {
    type Family = Ipv4;
    type Word = u32;
    const OPTION: &'static str = "";
    const BASE_BITS: u32 = 19;
    const SIZE_BITS: u32 = 12;
    const SHORT: bool = true;
    const XL: bool = false;
}

impl Format for Wide {
    type Family = Ipv4;
    type Word = u32;
    const OPTION: &'static str = "wide";
    const BASE_BITS: u32 = 20;
    const SIZE_BITS: u32 = 12;
    const SHORT: bool = false;
    const XL: bool = false;
}

impl Format for Long {
    type Family = Ipv6;
    type Word = u128;
    const OPTION: &'static str = "";
    const BASE_BITS: u32 = 19;
    const SIZE_BITS: u32 = 13;
    const SHORT: bool = false;
    const XL: bool = false;
}

impl Format for Xl {
    type Family = Ipv6;
    type Word = u128;
    const OPTION: &'static str = "xl";
    const BASE_BITS: u32 = 19;
    const SIZE_BITS: u32 = 13;
    const SHORT: bool = false;
    const XL: bool = true;
}

/// A word of the range table: an address, as an integer. Sealed: `u32` and `u128`.
pub trait Word: Bits + Plain {
    /// Builds a long entry.
    fn pack(start: Self, hop: u32, hop_bits: u8) -> Self;

    /// The next hop of a long entry.
    fn hop(self, hop_bits: u8) -> u32;

    /// Whether a long entry fits the short format. The 8 lowest bits of its start must be zero, and
    /// its next hop below 256.
    fn fits_short(self, hop_bits: u8) -> bool;

    /// The short entry of a long one.
    fn to_short(self, hop_bits: u8) -> u16;

    /// The greatest long entry whose start is at or before an address. Entries up to this one begin
    /// at or before the address.
    fn probe(self, k: u8, hop_bits: u8) -> Self;

    /// The greatest short entry whose start is at or before an address.
    fn short_probe(self, k: u8) -> u16;

    /// Builds a word of two short entries, in the order of memory.
    fn of_halves(halves: [u16; 2]) -> Self;

    /// Views the range table as short entries, two a word.
    fn halves(words: &[Self]) -> &[u16];
}

impl Word for u32 {
    fn pack(start: Self, hop: u32, hop_bits: u8) -> Self {
        start << hop_bits | hop
    }

    #[inline(always)]
    fn hop(self, hop_bits: u8) -> u32 {
        self & ((1 << hop_bits) - 1)
    }

    #[inline(always)]
    fn probe(self, k: u8, hop_bits: u8) -> Self {
        (self << k) >> (k - hop_bits) | ((1 << hop_bits) - 1)
    }

    #[inline(always)]
    fn short_probe(self, k: u8) -> u16 {
        ((self << k) >> k) as u16 | 0xff
    }

    fn fits_short(self, hop_bits: u8) -> bool {
        self >> hop_bits & 0xff == 0 && self.hop(hop_bits) < 256
    }

    fn to_short(self, hop_bits: u8) -> u16 {
        (self >> hop_bits) as u16 | self.hop(hop_bits) as u16
    }

    fn of_halves([first, second]: [u16; 2]) -> Self {
        let ([a, b], [c, d]) = (first.to_ne_bytes(), second.to_ne_bytes());
        Self::from_ne_bytes([a, b, c, d])
    }

    #[inline(always)]
    fn halves(words: &[Self]) -> &[u16] {
        // SAFETY: the slices cover the same bytes; a `u32` is two `u16` without padding, and
        // aligned for them.
        unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), 2 * words.len()) }
    }
}

impl Word for u128 {
    fn pack(start: Self, hop: u32, hop_bits: u8) -> Self {
        start << hop_bits | Self::from(hop)
    }

    #[inline(always)]
    fn hop(self, hop_bits: u8) -> u32 {
        self as u32 & ((1 << hop_bits) - 1)
    }

    #[inline(always)]
    fn probe(self, k: u8, hop_bits: u8) -> Self {
        (self << k) >> (k - hop_bits) | ((1 << hop_bits) - 1)
    }

    #[inline(always)]
    fn short_probe(self, _: u8) -> u16 {
        0
    }

    fn fits_short(self, _: u8) -> bool {
        false
    }

    fn to_short(self, _: u8) -> u16 {
        unreachable!("IPv6 has no short format")
    }

    fn of_halves(_: [u16; 2]) -> Self {
        unreachable!("IPv6 has no short format")
    }

    #[inline(always)]
    fn halves(_: &[Self]) -> &[u16] {
        &[]
    }
}

/// A DXR: entries and ranges in the format `E`, the direct table in one level or two, and the
/// search that lookups use.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. `k` is from 16 to 22; `hop_bits` is 16 or `k`.
/// 2. The direct table has an entry for each of the `2^k` chunks (see `direct.rs` for its own
///    invariants).
/// 3. The words of each chunk lie in the range table. Bytes beyond the last word are readable: a
///    kernel that gathers 32 bits at a range of 16 bits reads the two bytes after it.
/// 4. A chunk has at least two ranges. The first starts at 0; each other starts after the one
///    before, with another next hop.
/// 5. Physical chunks are contiguous and no two are equal. Only a live table has gaps: words no
///    longer used, or not yet.
/// 6. The half word that fills up a short chunk is zero.
/// 7. In a live table one store replaces an entry of the direct table, and words of the range
///    table are written only while no entry that a reader may have read leads to them (`update/`).
///
/// ```
/// use longmatch::engine::dxr::{Config, Dxr, Original};
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let dxr: Dxr<Original> = Dxr::compile(&rib, &Config::default())?;
/// let mut hops = [None; 2];
/// dxr.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Dxr<E: Format, T: Direct = Single, S: Search = BranchFree> {
    pub(super) direct: T,
    pub(super) ranges: <T::Memory as Memory>::Array<E::Word>,
    pub(super) k: u8,
    pub(super) hop_bits: u8,
    pub(super) batch: Batch,
    pub(super) types: PhantomData<(E, S)>,
}

impl<E: Format, T: FrozenDirect, S: Search> Clone for Dxr<E, T, S> {
    fn clone(&self) -> Self {
        let Self { direct, ranges, k, hop_bits, batch, types } = self;
        let (k, hop_bits, batch, types) = (*k, *hop_bits, *batch, *types);
        Self { direct: direct.clone(), ranges: ranges.clone(), k, hop_bits, batch, types }
    }
}

impl<E: Format, T: Direct, S: Search> Dxr<E, T, S> {
    /// Returns the view that lookups read.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, E, T::View<'_>> {
        View {
            direct: self.direct.view(),
            ranges: self.ranges.items().shared(),
            k: self.k,
            hop_bits: self.hop_bits,
            batch: self.batch,
        }
    }
}

/// A DXR as lookups read it, in either kind of memory. Passed by value, so that loops keep the
/// arrays' addresses in registers.
#[derive(Clone, Copy)]
pub struct View<'a, E: Format, V: DirectView> {
    pub(super) direct: V,
    pub(super) ranges: Items<'a, E::Word>,
    pub(super) k: u8,
    pub(super) hop_bits: u8,
    pub(super) batch: Batch,
}

impl<'a, E: Format, V: DirectView> View<'a, E, V> {
    /// The view that kernels take: see [`Items::shared`].
    #[inline(always)]
    pub(super) fn shared(self) -> View<'a, E, V::Shared> {
        let Self { direct, ranges, k, hop_bits, batch } = self;
        View { direct: direct.shared(), ranges, k, hop_bits, batch }
    }
}

/// The arrays of a DXR that is not being changed; the input of its check.
pub(super) struct Slices<'a, E: Format> {
    pub direct: Levels<'a>,
    pub ranges: &'a [E::Word],
    pub k: u8,
    pub hop_bits: u8,
}

impl<E: Format> Slices<'_, E> {
    /// Locates the chunk of a direct entry that is not a next hop.
    ///
    /// # Panics
    /// When its first word lies outside the range table.
    pub fn chunk(&self, entry: u32) -> Chunk {
        chunk::<E>(entry, |base| self.ranges[base])
    }

    /// Every entry of the direct table, in order.
    pub fn entries(&self) -> impl Iterator<Item = u32> {
        (0..1usize << self.k).map(|index| self.direct.entry(index))
    }
}

/// Position of the ranges of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Chunk {
    /// The first range: an index of words, or of half words where `short`.
    pub first: usize,
    /// Number of ranges.
    pub size: usize,
    pub short: bool,
}

/// Locates the chunk of an entry that is not a next hop. `word` reads the range table.
#[inline(always)]
pub(super) fn chunk<E: Format>(entry: u32, word: impl Fn(usize) -> E::Word) -> Chunk {
    let (base, field) = (E::base(entry) as usize, E::size_field(entry));
    if E::is_short(entry) {
        return Chunk { first: 2 * base, size: field as usize + 1, short: true };
    }
    if E::XL && field == E::XL_MARK {
        return Chunk { first: base + 1, size: word(base).to_u128() as usize, short: false };
    }
    Chunk { first: base, size: field as usize + 1, short: false }
}
