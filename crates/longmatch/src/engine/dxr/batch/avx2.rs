//! Binary searches in the lanes of AVX2: like `avx512.rs`, with 8 lanes and vectors as masks.

use core::arch::x86_64::*;

use super::super::direct::{DirectView, Tables};
use super::super::layout::{Format, View};
use crate::engine::kit::in_flight::in_groups;
use crate::net::NextHopId;

/// Lanes of a vector.
const LANES: usize = 8;
/// Vectors in flight.
const VECTORS: usize = 4;

#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
pub(super) fn lookup_batch<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    addrs: &[u32],
    out: &mut [Option<NextHopId>],
) {
    let (groups, rest) = addrs.as_chunks::<{ LANES * VECTORS }>();
    let (out_groups, out_rest) = out.as_chunks_mut::<{ LANES * VECTORS }>();
    for (keys, out) in groups.iter().zip(out_groups) {
        let keys: [__m256i; VECTORS] = core::array::from_fn(|v| load(&keys[v * LANES..]));
        let hops = search(dxr, keys);
        for v in 0..VECTORS {
            store(&mut out[v * LANES..], hops[v]);
        }
    }
    in_groups(dxr, rest, out_rest);
}

/// 8 addresses.
#[inline]
#[target_feature(enable = "avx2")]
fn load(keys: &[u32]) -> __m256i {
    let keys: &[u32; LANES] = keys.first_chunk().expect("a vector of addresses");
    // SAFETY: `keys` has 32 bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(keys.as_ptr().cast()) }
}

/// 8 next hops: `Option<NextHopId>` is a `u32`, 0 for none.
#[inline]
#[target_feature(enable = "avx2")]
fn store(out: &mut [Option<NextHopId>], hops: __m256i) {
    let out: &mut [Option<NextHopId>; LANES] = out.first_chunk_mut().expect("a vector of answers");
    // SAFETY: `out` has 32 bytes, in which every bit pattern is a valid value.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), hops) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat(value: u32) -> __m256i {
    _mm256_set1_epi32(value as i32)
}

#[inline]
#[target_feature(enable = "avx2")]
fn shift_right(v: __m256i, bits: u32) -> __m256i {
    _mm256_srl_epi32(v, _mm_cvtsi32_si128(bits as i32))
}

#[inline]
#[target_feature(enable = "avx2")]
fn shift_left(v: __m256i, bits: u32) -> __m256i {
    _mm256_sll_epi32(v, _mm_cvtsi32_si128(bits as i32))
}

/// The entries of the direct table for 8 addresses.
#[inline]
#[target_feature(enable = "avx2")]
fn entries<E: Format<Word = u32>, V: DirectView>(dxr: View<'_, E, V>, keys: __m256i) -> __m256i {
    let Tables { first, entries, x } = dxr.direct.tables();
    let mut index = shift_right(keys, 32 - u32::from(dxr.k));
    if x != 0 {
        let d = shift_right(index, x.into());
        // SAFETY: d is below 2^d, so the entry exists; `first` has one element more, which covers
        // the upper half of the last 32 bits gathered.
        let block = unsafe { _mm256_i32gather_epi32::<2>(first.cast(), d) };
        let block = _mm256_and_si256(block, splat(0xffff));
        let inside = _mm256_and_si256(index, splat((1 << x) - 1));
        index = _mm256_or_si256(shift_left(block, x.into()), inside);
    }
    // SAFETY: an index of K bits (invariant 2), or an entry in a block that `first` names. A
    // concurrently replaced entry reads as the old or the new one (see `simd/lanes`).
    unsafe { _mm256_i32gather_epi32::<4>(entries.cast(), index) }
}

/// The searches of one vector. Masks are all ones or zero in a lane.
#[derive(Clone, Copy)]
struct Searches {
    /// Lanes that have a chunk.
    active: __m256i,
    /// Start of a lane's chunk, in half words.
    first: __m256i,
    /// Current range of the search, and the number of ranges left from it on.
    lower: __m256i,
    size: __m256i,
    /// 1 where ranges are words, 0 where they are half words.
    long: __m256i,
    /// Shift of a range to the upper half of a lane: 0 for a word, 16 for a half word.
    shift: __m256i,
    probe: __m256i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn is_set(v: __m256i, bits: u32) -> __m256i {
    let zero = _mm256_cmpeq_epi32(_mm256_and_si256(v, splat(bits)), _mm256_setzero_si256());
    _mm256_xor_si256(zero, splat(u32::MAX))
}

#[inline]
#[target_feature(enable = "avx2")]
fn searches<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    keys: __m256i,
    entry: __m256i,
) -> Searches {
    let (k, hop_bits) = (u32::from(dxr.k), u32::from(dxr.hop_bits));
    let field = _mm256_and_si256(entry, splat(E::XL_MARK));
    let is_short = is_set(entry, E::SHORT_FLAG);
    let inside = shift_left(keys, k);
    let probe = _mm256_or_si256(shift_right(inside, k - hop_bits), splat((1 << hop_bits) - 1));
    let short_probe = _mm256_or_si256(shift_right(inside, k - 16), splat(0x00ff_ffff));
    Searches {
        active: is_set(entry, E::XL_MARK),
        first: shift_left(shift_right(entry, 32 - E::BASE_BITS), 1),
        lower: _mm256_setzero_si256(),
        size: _mm256_add_epi32(field, splat(1)),
        long: _mm256_andnot_si256(is_short, splat(1)),
        shift: _mm256_and_si256(is_short, splat(16)),
        probe: _mm256_blendv_epi8(probe, short_probe, is_short),
    }
}

/// Reads range `index` of each lane's chunk, as 32 bits from its first byte.
#[inline]
#[target_feature(enable = "avx2")]
fn ranges<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    s: &Searches,
    index: __m256i,
) -> __m256i {
    let at = _mm256_add_epi32(s.first, _mm256_sllv_epi32(index, s.long));
    let zero = _mm256_setzero_si256();
    // SAFETY: active lanes have a range of their chunk, and the two bytes after a short range are
    // readable (invariant 3). Inactive lanes do not read.
    unsafe { _mm256_mask_i32gather_epi32::<2>(zero, dxr.ranges.as_ptr().cast(), at, s.active) }
}

/// Returns the raw next hops of a group of addresses.
#[inline]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
fn search<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    keys: [__m256i; VECTORS],
) -> [__m256i; VECTORS] {
    let entry = core::array::from_fn::<_, VECTORS, _>(|v| entries(dxr, keys[v]));
    let mut s: [Searches; VECTORS] = core::array::from_fn(|v| searches(dxr, keys[v], entry[v]));
    let mut any = entry.into_iter().reduce(|a, b| _mm256_or_si256(a, b)).expect("vectors");
    any = _mm256_and_si256(any, splat(E::XL_MARK));
    // As many passes as the greatest `size - 1` has bits.
    while _mm256_testz_si256(any, any) == 0 {
        any = _mm256_srli_epi32::<1>(any);
        for s in &mut s {
            let half = _mm256_srli_epi32::<1>(s.size);
            let middle = _mm256_add_epi32(s.lower, half);
            let range = _mm256_sllv_epi32(ranges(dxr, s, middle), s.shift);
            // Unsigned comparison: the range is at most the probe if the lesser of both is the
            // range.
            let reached = _mm256_cmpeq_epi32(_mm256_min_epu32(range, s.probe), range);
            s.lower = _mm256_blendv_epi8(s.lower, middle, reached);
            s.size = _mm256_sub_epi32(s.size, half);
        }
    }
    core::array::from_fn(|v| {
        let range = ranges(dxr, &s[v], s[v].lower);
        let long_mask = splat((1 << dxr.hop_bits) - 1);
        let mask = _mm256_blendv_epi8(long_mask, splat(0xff), is_set(entry[v], E::SHORT_FLAG));
        let hop = shift_right(entry[v], 32 - E::BASE_BITS);
        _mm256_blendv_epi8(hop, _mm256_and_si256(range, mask), s[v].active)
    })
}
