//! AVX-512 kernel for IPv4 that chooses the search by group.
//!
//! Binary searches in the lanes (`gather`) finish a group of up to 64 addresses, or searches of one
//! address at a time do, a cache line of ranges at a time: they halve the chunk down to as many
//! ranges as a vector holds, then compare these at once. The number of ranges that begin at or
//! before the address selects the range.
//!
//! The time of the searches in the lanes does not depend on their number, so they serve groups in
//! which many addresses have ranges.
//!
//! Lookups a second in millions for random / routed / zipf addresses, on `ipv4-full` with K = 18
//! (Zen 5, shared): lanes only 361 / 387 / 419, lines only 604 / 320 / 367, by group 610 / 392 /
//! 409.

use core::arch::x86_64::*;

use super::super::Batch;
use super::super::direct::DirectView;
use super::super::layout::{Format, View, Word};
use super::super::lookup::{self, BranchFree, Ranges};
use super::gather;
use crate::engine::kit::in_flight::InVectors;
use crate::net::NextHopId;
use crate::simd::lanes::{Avx512, Lanes};

/// Lanes of a vector.
const LANES: usize = Avx512::COUNT;
/// Largest number of addresses with ranges, for each vector of a group, that are searched one at a
/// time.
const FEW: u32 = 6;

/// A table for this kernel, with the proof that the CPU has its instructions.
#[derive(Clone, Copy)]
pub(super) struct LineKernel<'a, E: Format, V: DirectView>(pub Avx512, pub &'a View<'a, E, V>);

impl<E: Format<Word = u32>, V: DirectView> InVectors for LineKernel<'_, E, V> {
    type Addr = u32;
    const LANES: usize = LANES;

    #[inline(always)]
    fn one(self, key: u32) -> Option<NextHopId> {
        lookup::lookup::<_, _, BranchFree>(*self.1, key)
    }

    #[inline(always)]
    fn group<const N: usize>(self, keys: &[u32], out: &mut [Option<NextHopId>]) {
        // SAFETY: `self` contains the proof that the CPU has AVX-512.
        unsafe { group::<E, V, N>(self.0, self.1, keys, out) };
    }
}

#[inline]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn group<E: Format<Word = u32>, V: DirectView, const N: usize>(
    l: Avx512,
    &dxr: &View<'_, E, V>,
    keys: &[u32],
    out: &mut [Option<NextHopId>],
) {
    // A `u64` is a mask of the addresses.
    const { assert!(N * LANES <= 64) };
    let (keys, out) = (&keys[..N * LANES], &mut out[..N * LANES]);
    let [key, entry] = gather::entries::<_, E, V, N>(l, dxr, keys);
    let has_ranges = with_bits(entry, E::XL_MARK);
    let lines = match dxr.batch {
        Batch::Line => true,
        Batch::Gather => false,
        _ => has_ranges.count_ones() <= FEW * N as u32,
    };
    if !lines {
        return gather::search(l, dxr, key, entry, out);
    }
    let mut entries = [[0; LANES]; N];
    for v in 0..N {
        let hops = l.shr(entry[v], l.splat(32 - E::BASE_BITS));
        l.answer(hops, &mut out[v * LANES..]);
        // SAFETY: the array has 16 entries.
        unsafe { l.store(entries[v].as_mut_ptr(), entry[v]) };
    }
    let entries = entries.as_flattened();
    let is_short = with_bits(entry, E::SHORT_FLAG);
    for i in Ones::<N>(has_ranges & is_short) {
        out[i] = NextHopId::new(short(dxr, keys[i], entries[i]));
    }
    for i in Ones::<N>(has_ranges & !is_short) {
        out[i] = NextHopId::new(long(dxr, keys[i], entries[i]));
    }
}

/// Mask of the addresses whose entry has any of these bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn with_bits<const N: usize>(entry: [__m512i; N], bits: u32) -> u64 {
    let mut all = 0;
    for (v, entry) in entry.iter().enumerate() {
        let lanes = _mm512_test_epi32_mask(*entry, _mm512_set1_epi32(bits as i32));
        all |= u64::from(lanes) << (v * LANES);
    }
    all
}

/// Iterator over the positions of the set bits in a mask of `N` vectors.
struct Ones<const N: usize>(u64);

impl<const N: usize> Iterator for Ones<N> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let bits = self.0;
        self.0 = bits & bits.wrapping_sub(1);
        (bits != 0).then_some(bits.trailing_zeros() as usize % (N * LANES))
    }
}

/// Halves the chunk of an entry until a vector holds the ranges.
///
/// Returns the first range and their number.
#[inline(always)]
fn narrow<E: Format, R: Copy + Ord>(ranges: Ranges<'_, R>, entry: u32, probe: R) -> (usize, usize) {
    let mut first = E::base(entry) as usize * (size_of::<u32>() / size_of::<R>());
    let mut size = E::size_field(entry) as usize + 1;
    while size > size_of::<__m512i>() / size_of::<R>() {
        let half = size / 2;
        let after = probe < ranges.at(first + half);
        first = core::hint::select_unpredictable(after, first, first + half);
        size -= half;
    }
    (first, size)
}

/// Returns the next hop in a chunk in short format.
#[inline]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn short<E: Format<Word = u32>, V: DirectView>(dxr: View<'_, E, V>, key: u32, entry: u32) -> u32 {
    let (halves, probe) = (Ranges::short(dxr), key.short_probe(dxr.k));
    let (first, size) = narrow::<E, _>(halves, entry, probe);
    let lanes = _bzhi_u32(u32::MAX, size as u32);
    let ranges = halves.from(first).cast();
    // SAFETY: `size` ranges of a chunk lie in the range table (invariant 3); the other lanes do not
    // read.
    let ranges = unsafe { _mm512_maskz_loadu_epi16(lanes, ranges) };
    let reached = _mm512_mask_cmple_epu16_mask(lanes, ranges, _mm512_set1_epi16(probe as i16));
    // The first range begins at or before every address of the chunk, so the count is at least 1.
    (halves.at(first + reached.count_ones() as usize - 1) & 0xff).into()
}

/// Returns the next hop in a chunk in long format.
#[inline]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn long<E: Format<Word = u32>, V: DirectView>(dxr: View<'_, E, V>, key: u32, entry: u32) -> u32 {
    let (words, probe) = (Ranges::long(dxr), key.probe(dxr.k, dxr.hop_bits));
    let (first, size) = narrow::<E, _>(words, entry, probe);
    let lanes = _bzhi_u32(u32::MAX, size as u32) as u16;
    let ranges = words.from(first).cast();
    // SAFETY: `size` ranges of a chunk lie in the range table (invariant 3); the other lanes do not
    // read.
    let ranges = unsafe { _mm512_maskz_loadu_epi32(lanes, ranges) };
    let reached = _mm512_mask_cmple_epu32_mask(lanes, ranges, _mm512_set1_epi32(probe as i32));
    words.at(first + reached.count_ones() as usize - 1).hop(dxr.hop_bits)
}
