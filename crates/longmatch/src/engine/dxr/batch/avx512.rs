//! AVX-512 kernel: gathers for the direct table, 16 addresses each.
//!
//! Then a group of 64 addresses is finished by binary searches in the lanes (here), or by the
//! ranges of one address at a time (`line.rs`).
//!
//! In the lanes one gather reads the middle of 16 searches and costs the same when few lanes
//! search. So it serves groups in which many addresses have ranges; `line.rs`, whose time depends
//! on the number of searches, serves the others. Short and long ranges are searched together: a
//! lane reads 32 bits at its range, and a short range is shifted so that it compares like a long
//! one.
//!
//! Lookups a second in millions for random / routed / zipf addresses, on `ipv4-full` with K = 18
//! (Zen 5, shared): lanes only 361 / 387 / 419, lines only 604 / 320 / 367, by group 610 / 392 /
//! 409.

use core::arch::x86_64::*;

use super::super::Batch;
use super::super::direct::{DirectView, Tables};
use super::super::layout::{Format, View};
use super::line;
use crate::engine::kit::in_flight::in_groups;
use crate::net::NextHopId;

/// Lanes of a vector.
const LANES: usize = 16;
/// Vectors in flight.
const VECTORS: usize = 4;
/// Addresses in a group; a `u64` is a mask of them.
pub(super) const GROUP: usize = LANES * VECTORS;
/// Largest number of addresses with ranges in a group for which `line` is faster.
const FEW: u32 = 24;

#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
pub(super) fn lookup_batch<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    addrs: &[u32],
    out: &mut [Option<NextHopId>],
) {
    let (groups, rest) = addrs.as_chunks::<GROUP>();
    let (out_groups, out_rest) = out.as_chunks_mut::<GROUP>();
    for (keys, out) in groups.iter().zip(out_groups) {
        group(dxr, keys, out);
    }
    in_groups(dxr, rest, out_rest);
}

#[inline]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn group<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    keys: &[u32; GROUP],
    out: &mut [Option<NextHopId>; GROUP],
) {
    let mut key = [_mm512_setzero_si512(); VECTORS];
    let mut entry = [_mm512_setzero_si512(); VECTORS];
    let mut has_ranges = 0;
    for v in 0..VECTORS {
        key[v] = load(&keys[v * LANES..]);
        entry[v] = entries(dxr, key[v]);
        let lanes = _mm512_test_epi32_mask(entry[v], splat(E::XL_MARK));
        has_ranges |= u64::from(lanes) << (v * LANES);
    }
    let lines = match dxr.batch {
        Batch::Line => true,
        Batch::Gather => false,
        _ => has_ranges.count_ones() <= FEW,
    };
    if !lines {
        let hops = search(dxr, key, entry);
        for v in 0..VECTORS {
            store(&mut out[v * LANES..], hops[v]);
        }
        return;
    }
    let mut is_short = 0;
    for v in 0..VECTORS {
        store(&mut out[v * LANES..], shift_right(entry[v], 32 - E::BASE_BITS));
        let lanes = _mm512_test_epi32_mask(entry[v], splat(E::SHORT_FLAG));
        is_short |= u64::from(lanes) << (v * LANES);
    }
    let mut entries = [0; GROUP];
    for v in 0..VECTORS {
        let to: &mut [u32] = &mut entries[v * LANES..][..LANES];
        // SAFETY: `to` has 16 entries.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), entry[v]) };
    }
    for i in line::Ones(has_ranges & is_short) {
        out[i] = NextHopId::new(line::short(dxr, keys[i], entries[i]));
    }
    for i in line::Ones(has_ranges & !is_short) {
        out[i] = NextHopId::new(line::long(dxr, keys[i], entries[i]));
    }
}

/// 16 addresses.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(keys: &[u32]) -> __m512i {
    let keys: &[u32; LANES] = keys.first_chunk().expect("a vector of addresses");
    // SAFETY: `keys` has 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(keys.as_ptr().cast()) }
}

/// 16 next hops: `Option<NextHopId>` is a `u32`, 0 for none.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(out: &mut [Option<NextHopId>], hops: __m512i) {
    let out: &mut [Option<NextHopId>; LANES] = out.first_chunk_mut().expect("a vector of answers");
    // SAFETY: `out` has 64 bytes, in which every bit pattern is a valid value.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), hops) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn splat(value: u32) -> __m512i {
    _mm512_set1_epi32(value as i32)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn shift_right(v: __m512i, bits: u32) -> __m512i {
    _mm512_srl_epi32(v, _mm_cvtsi32_si128(bits as i32))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn shift_left(v: __m512i, bits: u32) -> __m512i {
    _mm512_sll_epi32(v, _mm_cvtsi32_si128(bits as i32))
}

/// The entries of the direct table for 16 addresses.
#[inline]
#[target_feature(enable = "avx512f")]
fn entries<E: Format<Word = u32>, V: DirectView>(dxr: View<'_, E, V>, keys: __m512i) -> __m512i {
    let Tables { first, entries, x } = dxr.direct.tables();
    let mut index = shift_right(keys, 32 - u32::from(dxr.k));
    if x != 0 {
        let d = shift_right(index, x.into());
        // SAFETY: d is below 2^d, so the entry exists; `first` has one element more, which covers
        // the upper half of the last 32 bits gathered.
        let block = unsafe { _mm512_i32gather_epi32::<2>(d, first.cast()) };
        let block = _mm512_and_si512(block, splat(0xffff));
        let inside = _mm512_and_si512(index, splat((1 << x) - 1));
        index = _mm512_or_si512(shift_left(block, x.into()), inside);
    }
    // SAFETY: an index of K bits (invariant 2), or an entry in a block that `first` names. A
    // concurrently replaced entry reads as the old or the new one (see `simd/lanes`).
    unsafe { _mm512_i32gather_epi32::<4>(index, entries.cast()) }
}

/// The searches of one vector.
#[derive(Clone, Copy)]
struct Searches {
    /// Lanes that have a chunk.
    active: __mmask16,
    /// Start of a lane's chunk, in half words.
    first: __m512i,
    /// Current range of the search, and the number of ranges left from it on.
    lower: __m512i,
    size: __m512i,
    /// 1 where ranges are words, 0 where they are half words.
    long: __m512i,
    /// Shift of a range to the upper half of a lane: 0 for a word, 16 for a half word.
    shift: __m512i,
    probe: __m512i,
}

#[inline]
#[target_feature(enable = "avx512f")]
fn searches<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    keys: __m512i,
    entry: __m512i,
) -> Searches {
    let (k, hop_bits) = (u32::from(dxr.k), u32::from(dxr.hop_bits));
    let field = _mm512_and_si512(entry, splat(E::XL_MARK));
    let active = _mm512_test_epi32_mask(field, field);
    let is_short = _mm512_test_epi32_mask(entry, splat(E::SHORT_FLAG));
    let inside = shift_left(keys, k);
    let probe = _mm512_or_si512(shift_right(inside, k - hop_bits), splat((1 << hop_bits) - 1));
    let short_probe = _mm512_or_si512(shift_right(inside, k - 16), splat(0x00ff_ffff));
    Searches {
        active,
        first: shift_left(shift_right(entry, 32 - E::BASE_BITS), 1),
        lower: _mm512_setzero_si512(),
        size: _mm512_add_epi32(field, splat(1)),
        long: _mm512_mask_mov_epi32(splat(1), is_short, _mm512_setzero_si512()),
        shift: _mm512_maskz_mov_epi32(is_short, splat(16)),
        probe: _mm512_mask_mov_epi32(probe, is_short, short_probe),
    }
}

/// Reads range `index` of each lane's chunk, as 32 bits from its first byte.
#[inline]
#[target_feature(enable = "avx512f")]
fn ranges<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    s: &Searches,
    index: __m512i,
) -> __m512i {
    let at = _mm512_add_epi32(s.first, _mm512_sllv_epi32(index, s.long));
    let zero = _mm512_setzero_si512();
    // SAFETY: active lanes have a range of their chunk, and the two bytes after a short range are
    // readable (invariant 3). Inactive lanes do not read.
    unsafe { _mm512_mask_i32gather_epi32::<2>(zero, s.active, at, dxr.ranges.as_ptr().cast()) }
}

/// Returns the raw next hops of a group of addresses.
#[inline]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn search<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    keys: [__m512i; VECTORS],
    entry: [__m512i; VECTORS],
) -> [__m512i; VECTORS] {
    let mut s: [Searches; VECTORS] = core::array::from_fn(|v| searches(dxr, keys[v], entry[v]));
    let all = entry.into_iter().reduce(|a, b| _mm512_or_si512(a, b)).expect("vectors");
    let sizes = _mm512_reduce_or_epi32(all) as u32 & E::XL_MARK;
    for _ in 0..u32::BITS - sizes.leading_zeros() {
        for s in &mut s {
            let half = _mm512_srli_epi32::<1>(s.size);
            let middle = _mm512_add_epi32(s.lower, half);
            let range = _mm512_sllv_epi32(ranges(dxr, s, middle), s.shift);
            let reached = _mm512_cmple_epu32_mask(range, s.probe);
            s.lower = _mm512_mask_mov_epi32(s.lower, reached, middle);
            s.size = _mm512_sub_epi32(s.size, half);
        }
    }
    core::array::from_fn(|v| {
        let range = ranges(dxr, &s[v], s[v].lower);
        let long_mask = splat((1 << dxr.hop_bits) - 1);
        let is_short = _mm512_test_epi32_mask(entry[v], splat(E::SHORT_FLAG));
        let mask = _mm512_mask_mov_epi32(long_mask, is_short, splat(0xff));
        let hop = shift_right(entry[v], 32 - E::BASE_BITS);
        _mm512_mask_and_epi32(hop, s[v].active, range, mask)
    })
}
