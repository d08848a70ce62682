//! A gather a level for 8 addresses, several vectors in flight: as `avx512.rs`, with vectors for
//! masks.

use core::arch::x86_64::*;

use super::super::layout::{LONGER, Sail};
use super::scalar;
use crate::next_hop::NextHopId;

/// Lanes of a vector.
const LANES: usize = 8;
/// Vectors in flight.
const VECTORS: usize = 4;

#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
pub(super) fn lookup_batch(sail: &Sail, addrs: &[u32], out: &mut [Option<NextHopId>]) {
    let (groups, rest) = addrs.as_chunks::<{ LANES * VECTORS }>();
    let (out_groups, out_rest) = out.as_chunks_mut::<{ LANES * VECTORS }>();
    for (keys, out) in groups.iter().zip(out_groups) {
        group(sail, keys, out);
    }
    scalar::in_flight(sail, rest, out_rest);
}

#[inline]
#[target_feature(enable = "avx2")]
fn group(
    sail: &Sail,
    keys: &[u32; LANES * VECTORS],
    out: &mut [Option<NextHopId>; LANES * VECTORS],
) {
    let mut key = [_mm256_setzero_si256(); VECTORS];
    let mut hop = [_mm256_setzero_si256(); VECTORS];
    let mut index = [_mm256_setzero_si256(); VECTORS];
    let mut deep = [_mm256_setzero_si256(); VECTORS];
    for v in 0..VECTORS {
        // SAFETY: 8 addresses from a multiple of 8 on.
        key[v] = unsafe { _mm256_loadu_si256(keys[v * LANES..][..LANES].as_ptr().cast()) };
        hop[v] = bcn16(sail, key[v]);
    }
    for v in 0..VECTORS {
        index[v] = index24(hop[v], key[v]);
        hop[v] = bn24(sail, hop[v], goes_on(hop[v]), index[v]);
        deep[v] = goes_on(hop[v]);
    }
    if deep.iter().any(|mask| _mm256_movemask_epi8(*mask) != 0) {
        for v in 0..VECTORS {
            hop[v] = n32(sail, hop[v], deep[v], index[v], key[v]);
        }
    }
    for v in 0..VECTORS {
        // SAFETY: 8 answers from a multiple of 8 on; `Option<NextHopId>` is a `u32`, 0 for none.
        unsafe { _mm256_storeu_si256(out[v * LANES..][..LANES].as_mut_ptr().cast(), hop[v]) };
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn longer() -> __m256i {
    _mm256_set1_epi32(LONGER.into())
}

/// All ones in the lanes whose entry refers to the next level.
#[inline]
#[target_feature(enable = "avx2")]
fn goes_on(hop: __m256i) -> __m256i {
    _mm256_cmpeq_epi32(_mm256_and_si256(hop, longer()), longer())
}

/// The lower halves of gathered 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn entry(gathered: __m256i) -> __m256i {
    _mm256_and_si256(gathered, _mm256_set1_epi32(0xffff))
}

/// Level 16.
#[inline]
#[target_feature(enable = "avx2")]
fn bcn16(sail: &Sail, key: __m256i) -> __m256i {
    let index = _mm256_srli_epi32::<16>(key);
    // SAFETY: 16 bits (invariant 1); the last entry is followed by padding.
    entry(unsafe { _mm256_i32gather_epi32::<2>(sail.bcn16.as_ptr().cast(), index) })
}

/// The indices in BN24 and C24.
#[inline]
#[target_feature(enable = "avx2")]
fn index24(bcn: __m256i, key: __m256i) -> __m256i {
    let chunk = _mm256_slli_epi32::<8>(_mm256_andnot_si256(longer(), bcn));
    let inside = _mm256_and_si256(_mm256_srli_epi32::<8>(key), _mm256_set1_epi32(0xff));
    _mm256_or_si256(chunk, inside)
}

/// Level 24, for the lanes that go there.
#[inline]
#[target_feature(enable = "avx2")]
fn bn24(sail: &Sail, hop: __m256i, lanes: __m256i, index: __m256i) -> __m256i {
    let at = sail.bn24.as_ptr().cast();
    // SAFETY: the lanes have a C16 (invariant 2); the last entry is followed by padding.
    entry(unsafe { _mm256_mask_i32gather_epi32::<2>(hop, at, index, lanes) })
}

/// Level 32, for the lanes that go there.
#[inline]
#[target_feature(enable = "avx2")]
fn n32(sail: &Sail, hop: __m256i, lanes: __m256i, index: __m256i, key: __m256i) -> __m256i {
    let zero = _mm256_setzero_si256();
    let at = sail.c24.as_ptr().cast();
    // SAFETY: as for BN24 (invariant 2).
    let c24 = unsafe { _mm256_mask_i32gather_epi32::<4>(zero, at, index, lanes) };
    let inside = _mm256_and_si256(key, _mm256_set1_epi32(0xff));
    let index = _mm256_or_si256(_mm256_slli_epi32::<8>(c24), inside);
    let at = sail.n32.as_ptr().cast();
    // SAFETY: the lanes have a C24 (invariant 3), and chunks are few enough for 31 bits; the last
    // entry is followed by padding.
    entry(unsafe { _mm256_mask_i32gather_epi32::<2>(hop, at, index, lanes) })
}
