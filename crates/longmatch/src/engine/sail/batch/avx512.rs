//! A gather a level for 16 addresses, several vectors in flight. Level 32 is rarely needed; a
//! well predicted branch skips it.

use core::arch::x86_64::*;

use super::super::layout::{LONGER, Sail};
use super::scalar;
use crate::next_hop::NextHopId;

/// Lanes of a vector.
const LANES: usize = 16;
/// Vectors in flight.
const VECTORS: usize = 4;

#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
pub(super) fn lookup_batch(sail: &Sail, addrs: &[u32], out: &mut [Option<NextHopId>]) {
    let (groups, rest) = addrs.as_chunks::<{ LANES * VECTORS }>();
    let (out_groups, out_rest) = out.as_chunks_mut::<{ LANES * VECTORS }>();
    for (keys, out) in groups.iter().zip(out_groups) {
        group(sail, keys, out);
    }
    scalar::in_flight(sail, rest, out_rest);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn group(
    sail: &Sail,
    keys: &[u32; LANES * VECTORS],
    out: &mut [Option<NextHopId>; LANES * VECTORS],
) {
    let mut key = [_mm512_setzero_si512(); VECTORS];
    let mut hop = [_mm512_setzero_si512(); VECTORS];
    let mut index = [_mm512_setzero_si512(); VECTORS];
    let mut deep = [0; VECTORS];
    for v in 0..VECTORS {
        // SAFETY: 16 addresses from a multiple of 16 on.
        key[v] = unsafe { _mm512_loadu_si512(keys[v * LANES..][..LANES].as_ptr().cast()) };
        hop[v] = bcn16(sail, key[v]);
    }
    for v in 0..VECTORS {
        let longer = _mm512_test_epi32_mask(hop[v], longer());
        index[v] = index24(hop[v], key[v]);
        hop[v] = bn24(sail, hop[v], longer, index[v]);
        deep[v] = _mm512_test_epi32_mask(hop[v], self::longer());
    }
    if deep.iter().any(|mask| *mask != 0) {
        for v in 0..VECTORS {
            hop[v] = n32(sail, hop[v], deep[v], index[v], key[v]);
        }
    }
    for v in 0..VECTORS {
        // SAFETY: 16 answers from a multiple of 16 on; `Option<NextHopId>` is a `u32`, 0 for none.
        unsafe { _mm512_storeu_si512(out[v * LANES..][..LANES].as_mut_ptr().cast(), hop[v]) };
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn longer() -> __m512i {
    _mm512_set1_epi32(LONGER.into())
}

/// The lower halves of gathered 32 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn entry(gathered: __m512i) -> __m512i {
    _mm512_and_si512(gathered, _mm512_set1_epi32(0xffff))
}

/// Level 16.
#[inline]
#[target_feature(enable = "avx512f")]
fn bcn16(sail: &Sail, key: __m512i) -> __m512i {
    let index = _mm512_srli_epi32::<16>(key);
    // SAFETY: 16 bits (invariant 1); the last entry is followed by padding.
    entry(unsafe { _mm512_i32gather_epi32::<2>(index, sail.bcn16.as_ptr().cast()) })
}

/// The indices in BN24 and C24.
#[inline]
#[target_feature(enable = "avx512f")]
fn index24(bcn: __m512i, key: __m512i) -> __m512i {
    let chunk = _mm512_slli_epi32::<8>(_mm512_andnot_si512(longer(), bcn));
    let inside = _mm512_and_si512(_mm512_srli_epi32::<8>(key), _mm512_set1_epi32(0xff));
    _mm512_or_si512(chunk, inside)
}

/// Level 24, for the lanes that go there.
#[inline]
#[target_feature(enable = "avx512f")]
fn bn24(sail: &Sail, hop: __m512i, lanes: __mmask16, index: __m512i) -> __m512i {
    let at = sail.bn24.as_ptr().cast();
    // SAFETY: the lanes have a C16 (invariant 2); the last entry is followed by padding.
    entry(unsafe { _mm512_mask_i32gather_epi32::<2>(hop, lanes, index, at) })
}

/// Level 32, for the lanes that go there.
#[inline]
#[target_feature(enable = "avx512f")]
fn n32(sail: &Sail, hop: __m512i, lanes: __mmask16, index: __m512i, key: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let at = sail.c24.as_ptr().cast();
    // SAFETY: as for BN24 (invariant 2).
    let c24 = unsafe { _mm512_mask_i32gather_epi32::<4>(zero, lanes, index, at) };
    let inside = _mm512_and_si512(key, _mm512_set1_epi32(0xff));
    let index = _mm512_or_si512(_mm512_slli_epi32::<8>(c24), inside);
    let at = sail.n32.as_ptr().cast();
    // SAFETY: the lanes have a C24 (invariant 3), and chunks are few enough for 31 bits; the last
    // entry is followed by padding.
    entry(unsafe { _mm512_mask_i32gather_epi32::<2>(hop, lanes, index, at) })
}
