//! One address at a time, a cache line of ranges at a time.
//!
//! Halves down to as many ranges as a vector holds, then compares them at once. The number of
//! ranges that begin at or before the address selects the range.

use core::arch::x86_64::*;

use super::super::direct::DirectView;
use super::super::layout::{Format, View, Word};
use super::super::lookup::Ranges;
use super::avx512::{GROUP, splat};

/// Short ranges in a vector, and long ones.
const SHORT: usize = 32;
const LONG: usize = 16;

/// Iterator over the positions of the set bits.
pub(super) struct Ones(pub u64);

impl Iterator for Ones {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let bits = self.0;
        self.0 = bits & bits.wrapping_sub(1);
        (bits != 0).then_some(bits.trailing_zeros() as usize % GROUP)
    }
}

/// Halves until `size` is at most `limit`.
#[inline(always)]
fn narrow<R: Copy + Ord>(
    ranges: Ranges<'_, R>,
    mut first: usize,
    mut size: usize,
    probe: R,
    limit: usize,
) -> (usize, usize) {
    while size > limit {
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
pub(super) fn short<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    key: u32,
    entry: u32,
) -> u32 {
    let halves = Ranges::short(dxr);
    let (base, size) = (E::base(entry) as usize, E::size_field(entry) as usize + 1);
    let probe = key.short_probe(dxr.k);
    let (first, size) = narrow(halves, 2 * base, size, probe, SHORT);
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
pub(super) fn long<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    key: u32,
    entry: u32,
) -> u32 {
    let (base, size) = (E::base(entry) as usize, E::size_field(entry) as usize + 1);
    let probe = key.probe(dxr.k, dxr.hop_bits);
    let words = Ranges::long(dxr);
    let (first, size) = narrow(words, base, size, probe, LONG);
    let lanes = _bzhi_u32(u32::MAX, size as u32) as u16;
    let ranges = words.from(first).cast();
    // SAFETY: `size` ranges of a chunk lie in the range table (invariant 3); the other lanes do not
    // read.
    let ranges = unsafe { _mm512_maskz_loadu_epi32(lanes, ranges) };
    let reached = _mm512_mask_cmple_epu32_mask(lanes, ranges, splat(probe));
    words.at(first + reached.count_ones() as usize - 1).hop(dxr.hop_bits)
}
