//! Binary searches in the lanes of AVX-512 for IPv6.
//!
//! A lane compares the upper 64 bits of a range with those of the address. They are equal only
//! where an address agrees with a range's start for 64 bits below the chunk's; a well predicted
//! branch then reads the lower 64 bits too.

use core::arch::x86_64::*;

use super::super::direct::{DirectView, Tables};
use super::super::layout::{Format, View};
use super::super::lookup::{self, BranchFree};
use crate::engine::kit::in_flight::InVectors;
use crate::net::NextHopId;
use crate::simd::lanes::Avx512;

/// Lanes of a vector.
const LANES: usize = 8;

/// A table for this kernel, with the proof that the CPU has its instructions.
#[derive(Clone, Copy)]
pub(super) struct Gather128<'a, E: Format, V: DirectView>(pub Avx512, pub &'a View<'a, E, V>);

impl<E: Format<Word = u128>, V: DirectView> InVectors for Gather128<'_, E, V> {
    type Addr = u128;
    const LANES: usize = LANES;

    #[inline(always)]
    fn one(self, key: u128) -> Option<NextHopId> {
        lookup::lookup::<_, _, BranchFree>(*self.1, key)
    }

    #[inline(always)]
    fn group<const N: usize>(self, keys: &[u128], out: &mut [Option<NextHopId>]) {
        // SAFETY: `self` contains the proof that the CPU has AVX-512.
        unsafe { group::<E, V, N>(self.1, keys, out) };
    }
}

/// 128-bit numbers, as separate upper and lower halves.
#[derive(Clone, Copy)]
struct Wide {
    high: __m512i,
    low: __m512i,
}

/// The searches of one vector.
#[derive(Clone, Copy)]
struct Searches {
    entry: __m512i,
    /// Lanes that have a chunk.
    active: __mmask8,
    /// Current range of the search, and the number of ranges left from it on.
    lower: __m512i,
    size: __m512i,
    probe: Wide,
}

#[inline]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn group<E: Format<Word = u128>, V: DirectView, const N: usize>(
    &dxr: &View<'_, E, V>,
    keys: &[u128],
    out: &mut [Option<NextHopId>],
) {
    let (keys, out) = (&keys[..N * LANES], &mut out[..N * LANES]);
    // No closures: rustc 1.95 inlines them only in some copies of the kernel. The other copies were
    // 15 % slower.
    let mut s = [begin(dxr, load(keys)); N];
    for v in 1..N {
        s[v] = begin(dxr, load(&keys[v * LANES..]));
    }
    loop {
        let mut sizes = s[0].size;
        for s in &s[1..] {
            sizes = _mm512_or_si512(sizes, s.size);
        }
        if _mm512_test_epi64_mask(sizes, splat(!1)) == 0 {
            break;
        }
        for s in &mut s {
            halve(dxr, s);
        }
    }
    for (v, s) in s.iter().enumerate() {
        let range = words(dxr, s.active, s.lower, 0);
        let mut hop = _mm512_srl_epi64(s.entry, count(32 - E::BASE_BITS));
        hop = _mm512_mask_and_epi64(hop, s.active, range, splat((1 << dxr.hop_bits) - 1));
        let out: &mut [Option<NextHopId>] = &mut out[v * LANES..][..LANES];
        let hops = _mm512_cvtepi64_epi32(hop);
        // SAFETY: `out` has 8 answers; `Option<NextHopId>` is a `u32`, 0 for none.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), hops) };
    }
}

/// 8 addresses.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(keys: &[u128]) -> Wide {
    let keys: &[u128; LANES] = keys.first_chunk().expect("a vector of addresses");
    let at = keys.as_ptr().cast::<i64>();
    // SAFETY: reads the first 4 of the 8 addresses in `keys`.
    let first = unsafe { _mm512_loadu_si512(at.cast()) };
    // SAFETY: reads the other 4 of the 8 addresses in `keys`.
    let second = unsafe { _mm512_loadu_si512(at.wrapping_add(LANES).cast()) };
    let low = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    let high = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    Wide {
        high: _mm512_permutex2var_epi64(first, high, second),
        low: _mm512_permutex2var_epi64(first, low, second),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(value: i64) -> __m512i {
    _mm512_set1_epi64(value)
}

/// A shift count; 64 and more shift everything out.
#[inline]
#[target_feature(enable = "avx512f")]
fn count(bits: u32) -> __m128i {
    _mm_cvtsi32_si128(bits as i32)
}

/// The entries of the direct table, widened.
#[inline]
#[target_feature(enable = "avx512f")]
fn entries<E: Format<Word = u128>, V: DirectView>(dxr: View<'_, E, V>, key: Wide) -> __m512i {
    let Tables { first, entries, x } = dxr.direct.tables();
    let mut index = _mm512_srl_epi64(key.high, count(64 - u32::from(dxr.k)));
    if x != 0 {
        let d = _mm512_srl_epi64(index, count(x.into()));
        // SAFETY: d is below 2^d, so the entry exists; `first` has one element more, which covers
        // the upper half of the last 32 bits gathered.
        let block = unsafe { _mm512_i64gather_epi32::<2>(d, first.cast()) };
        let block = _mm512_and_si512(_mm512_cvtepu32_epi64(block), splat(0xffff));
        let inside = _mm512_and_si512(index, splat((1 << x) - 1));
        index = _mm512_or_si512(_mm512_sll_epi64(block, count(x.into())), inside);
    }
    // SAFETY: an index of K bits (invariant 2), or an entry in a block that `first` names. A
    // concurrently replaced entry reads as the old or the new one (see `simd/lanes`).
    _mm512_cvtepu32_epi64(unsafe { _mm512_i64gather_epi32::<4>(index, entries.cast()) })
}

/// Reads the direct table and starts the searches.
#[inline]
#[target_feature(enable = "avx512f")]
fn begin<E: Format<Word = u128>, V: DirectView>(dxr: View<'_, E, V>, key: Wide) -> Searches {
    let entry = entries(dxr, key);
    let field = _mm512_and_si512(entry, splat(E::XL_MARK.into()));
    let active = _mm512_test_epi64_mask(field, field);
    let mut lower = _mm512_srl_epi64(entry, count(32 - E::BASE_BITS));
    let mut size = _mm512_maskz_add_epi64(active, field, splat(1));
    if E::XL {
        let xl = _mm512_cmpeq_epi64_mask(field, splat(E::XL_MARK.into()));
        size = _mm512_mask_mov_epi64(size, xl, words(dxr, xl, lower, 0));
        lower = _mm512_mask_add_epi64(lower, xl, lower, splat(1));
    }
    Searches { entry, active, lower, size, probe: probe(dxr, key) }
}

/// `Word::probe` of 8 addresses.
#[inline]
#[target_feature(enable = "avx512f")]
fn probe<E: Format<Word = u128>, V: DirectView>(dxr: View<'_, E, V>, key: Wide) -> Wide {
    let (k, hop_bits) = (u32::from(dxr.k), u32::from(dxr.hop_bits));
    let up = Wide {
        high: _mm512_or_si512(
            _mm512_sll_epi64(key.high, count(k)),
            _mm512_srl_epi64(key.low, count(64 - k)),
        ),
        low: _mm512_sll_epi64(key.low, count(k)),
    };
    let right = k - hop_bits;
    let low = _mm512_or_si512(
        _mm512_sll_epi64(up.high, count(64 - right)),
        _mm512_srl_epi64(up.low, count(right)),
    );
    Wide {
        high: _mm512_srl_epi64(up.high, count(right)),
        low: _mm512_or_si512(low, splat((1 << hop_bits) - 1)),
    }
}

/// Reads the lower (0) or upper (1) halves of the range table's words at `index`.
#[inline]
#[target_feature(enable = "avx512f")]
fn words<E: Format<Word = u128>, V: DirectView>(
    dxr: View<'_, E, V>,
    lanes: __mmask8,
    index: __m512i,
    half: usize,
) -> __m512i {
    let at = dxr.ranges.as_ptr().cast::<i64>().wrapping_add(half);
    let index = _mm512_slli_epi64::<1>(index);
    let zero = _mm512_setzero_si512();
    // SAFETY: the chosen lanes have a word of a chunk (invariant 3); the others do not read.
    unsafe { _mm512_mask_i64gather_epi64::<8>(zero, lanes, index, at) }
}

/// One step of each search.
#[inline]
#[target_feature(enable = "avx512f")]
fn halve<E: Format<Word = u128>, V: DirectView>(dxr: View<'_, E, V>, s: &mut Searches) {
    let half = _mm512_srli_epi64::<1>(s.size);
    let middle = _mm512_add_epi64(s.lower, half);
    let high = words(dxr, s.active, middle, 1);
    let mut reached = _mm512_cmplt_epu64_mask(high, s.probe.high);
    let equal = _mm512_mask_cmpeq_epi64_mask(s.active, high, s.probe.high);
    if equal != 0 {
        let low = words(dxr, equal, middle, 0);
        reached |= _mm512_mask_cmple_epu64_mask(equal, low, s.probe.low);
    }
    s.lower = _mm512_mask_mov_epi64(s.lower, reached, middle);
    s.size = _mm512_sub_epi64(s.size, half);
}
