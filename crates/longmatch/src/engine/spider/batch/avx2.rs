//! Vectors of eight addresses: the paper's kernels.
//!
//! The paper fuses a fixed number of vectors into one loop (Algorithm 1 for IPv4, Algorithm 2 for
//! IPv6; two vectors are its best, Spider_16w).

use core::arch::x86_64::*;
use core::array::{from_mut, from_ref};

use super::super::layout::{DIRECT_OCTETS, Entry, Spider};
use super::ahead::{direct_index, gather, longer, octet};
use crate::net::{Family, NextHopId};
use crate::simd::lanes::{Avx2, Lanes};

/// Addresses in a vector.
const LANES: usize = 8;

/// Answers all addresses, `N` vectors at a time; the rest one vector at a time.
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn fused<F: Family, E: Entry, const N: usize>(
    l: Avx2,
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let (vectors, rest) = addrs.as_chunks::<LANES>();
    let (out_vectors, out_rest) = out.as_chunks_mut::<LANES>();
    let (groups, vectors) = vectors.as_chunks::<N>();
    let (out_groups, out_vectors) = out_vectors.as_chunks_mut::<N>();
    for (keys, out) in groups.iter().zip(out_groups) {
        group(l, spider, keys, out);
    }
    for (keys, out) in vectors.iter().zip(out_vectors) {
        group(l, spider, from_ref(keys), from_mut(out));
    }
    partial(l, spider, rest, out_rest);
}

/// Answers all addresses, `USED` (2 or 4) at a time, in the lanes of one vector. The other lanes
/// repeat them and read nothing new.
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn some_lanes<F: Family, E: Entry, const USED: usize>(
    l: Avx2,
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let (groups, rest) = addrs.as_chunks::<USED>();
    let (out_groups, out_rest) = out.as_chunks_mut::<USED>();
    for (keys, out) in groups.iter().zip(out_groups) {
        group(l, spider, from_ref(keys), from_mut(out));
    }
    partial(l, spider, rest, out_rest);
}

/// Answers the rest of a batch, fewer addresses than a vector has lanes. The other lanes repeat the
/// first one.
#[inline]
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
fn partial<F: Family, E: Entry>(
    l: Avx2,
    spider: &Spider<F, E>,
    keys: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let Some(first) = keys.first() else { return };
    let mut padded = [*first; LANES];
    padded[..keys.len()].copy_from_slice(keys);
    let mut answers = [[None; LANES]];
    group(l, spider, &[padded], &mut answers);
    out.copy_from_slice(&answers[0][..keys.len()]);
}

/// Looks up `N` vectors with `USED` addresses in each: Algorithms 1 and 2, each line for all
/// vectors.
#[inline]
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
fn group<F: Family, E: Entry, const N: usize, const USED: usize>(
    l: Avx2,
    spider: &Spider<F, E>,
    keys: &[[F::Bits; USED]; N],
    out: &mut [[Option<NextHopId>; USED]; N],
) {
    let zero = l.splat(0);
    let mut dst = [zero; N];
    let mut res = [zero; N];
    let mut nri = [zero; N];
    for i in 0..N {
        dst[i] = four_octets::<F, _>(&keys[i], 0);
        (res[i], nri[i]) = gather(l, spider, direct_index(l, dst[i]));
    }
    for at in DIRECT_OCTETS..F::WIDTH / 8 {
        // Whether all next-row indices are 0 (line 9).
        if l.is_zero(nri.iter().fold(zero, |any, nri| l.or(any, *nri))) {
            break;
        }
        for i in 0..N {
            if at % 4 == 0 {
                dst[i] = four_octets::<F, _>(&keys[i], at / 4);
            }
            let (nhi, next) = gather(l, spider, l.add(octet(l, dst[i], at), nri[i]));
            res[i] = longer(l, res[i], nhi);
            nri[i] = next;
        }
    }
    for i in 0..N {
        store::<F, _>(res[i], &mut out[i]);
    }
}

/// Writes results as answers, in address order (Algorithm 2, lines 38 and 39).
#[inline]
#[target_feature(enable = "avx2")]
fn store<F: Family, const USED: usize>(res: __m256i, out: &mut [Option<NextHopId>; USED]) {
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let res = if F::WIDTH == 32 { res } else { _mm256_permutevar8x32_epi32(res, order) };
    let (low, out) = (_mm256_castsi256_si128(res), out.as_mut_ptr());
    const { assert!(USED == 2 || USED == 4 || USED == LANES) };
    match USED {
        // SAFETY: the array has 2 answers of four bytes, each a next hop or 0 = none.
        2 => unsafe { _mm_storel_epi64(out.cast(), low) },
        // SAFETY: the array has 4 answers of four bytes, each a next hop or 0 = none.
        4 => unsafe { _mm_storeu_si128(out.cast(), low) },
        // SAFETY: the array has 8 answers of four bytes, each a next hop or 0 = none.
        _ => unsafe { _mm256_storeu_si256(out.cast(), res) },
    }
}

/// Octets `4 * part` to `4 * part + 3` of 8 addresses, or of fewer, repeated.
///
/// The first octet is in the highest byte of each lane. For IPv6 the lanes are in the order of the
/// paper's unpacking, which [`store`] undoes.
#[inline]
#[target_feature(enable = "avx2")]
fn four_octets<F: Family, const USED: usize>(keys: &[F::Bits; USED], part: u8) -> __m256i {
    const { assert!(USED == 2 || USED == 4 || USED == LANES) };
    let keys: *const __m256i = keys.as_ptr().cast();
    if F::WIDTH == 32 {
        return match USED {
            // SAFETY: the array has 2 addresses of four bytes.
            2 => _mm256_broadcastq_epi64(unsafe { _mm_loadl_epi64(keys.cast()) }),
            // SAFETY: the array has 4 addresses of four bytes.
            4 => _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(keys.cast()) }),
            // SAFETY: the array has 8 addresses of four bytes.
            _ => unsafe { _mm256_loadu_si256(keys) },
        };
    }
    let load = |i| {
        let at = keys.wrapping_add(i % (USED / 2));
        // SAFETY: a vector is two IPv6 addresses, and the array has `USED / 2` vectors.
        unsafe { _mm256_loadu_si256(at) }
    };
    let dst = [load(0), load(1), load(2), load(3)];
    // The first four octets of an address in host order are its highest 32 bits.
    if part < 2 {
        let unpack1 = _mm256_unpackhi_epi32(dst[0], dst[2]);
        let unpack2 = _mm256_unpackhi_epi32(dst[1], dst[3]);
        match part {
            0 => _mm256_unpackhi_epi32(unpack1, unpack2),
            _ => _mm256_unpacklo_epi32(unpack1, unpack2),
        }
    } else {
        let unpack1 = _mm256_unpacklo_epi32(dst[0], dst[2]);
        let unpack2 = _mm256_unpacklo_epi32(dst[1], dst[3]);
        match part {
            2 => _mm256_unpackhi_epi32(unpack1, unpack2),
            _ => _mm256_unpacklo_epi32(unpack1, unpack2),
        }
    }
}
