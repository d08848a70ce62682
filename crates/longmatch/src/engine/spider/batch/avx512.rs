//! Vectors of 16 addresses: our kernel, which prefetches the entries of many vectors.

use core::arch::x86_64::*;

use super::super::layout::{DIRECT, DIRECT_OCTETS, Entry, Spider};
use super::VECTORS;
use crate::net::{Family, NextHopId};
use crate::simd::prefetch;

/// Addresses in a vector.
const LANES: usize = 16;

/// Answers all addresses in groups of [`VECTORS`] vectors, each level prefetched.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq")]
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn ahead<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let (vectors, rest) = addrs.as_chunks::<LANES>();
    let (out_vectors, out_rest) = out.as_chunks_mut::<LANES>();
    for (keys, out) in vectors.chunks(VECTORS).zip(out_vectors.chunks_mut(VECTORS)) {
        group_ahead(spider, keys, out);
    }
    if let Some(first) = rest.first() {
        // The unused lanes repeat the first address and read nothing new.
        let mut padded = [*first; LANES];
        padded[..rest.len()].copy_from_slice(rest);
        let mut answers = [[None; LANES]];
        group_ahead(spider, &[padded], &mut answers);
        out_rest.copy_from_slice(&answers[0][..rest.len()]);
    }
}

/// Looks up at most [`VECTORS`] vectors of addresses, level by level.
///
/// First computes and prefetches the index of every address, then reads the entries. Only vectors
/// with an address that continues take part.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn group_ahead<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    keys: &[[F::Bits; LANES]],
    out: &mut [[Option<NextHopId>; LANES]],
) {
    let zero = _mm512_setzero_si512();
    let mut dst = [zero; VECTORS];
    let mut res = [zero; VECTORS];
    let mut nri = [zero; VECTORS];
    let mut going_on = zero;
    for (i, keys) in keys.iter().enumerate() {
        // Prefetch the addresses of the next group.
        for line in (0..LANES).step_by(64 / size_of::<F::Bits>()) {
            prefetch(keys, VECTORS * LANES + line);
        }
        dst[i] = four_octets::<F>(keys, 0);
        (res[i], nri[i]) = gather(spider, direct_index(dst[i]));
        going_on = _mm512_or_si512(going_on, nri[i]);
    }
    let mut idx = [[0; LANES]; VECTORS];
    let mut octet = DIRECT_OCTETS;
    while !all_ended(going_on) {
        let mask = octet_mask(octet % 4);
        for (i, keys) in keys.iter().enumerate() {
            if octet.is_multiple_of(4) {
                dst[i] = four_octets::<F>(keys, octet / 4);
            }
            if !all_ended(nri[i]) {
                idx[i] = lanes(_mm512_add_epi32(_mm512_shuffle_epi8(dst[i], mask), nri[i]));
                idx[i].iter().for_each(|idx| prefetch(&spider.fib, *idx as usize));
            }
        }
        going_on = zero;
        for i in 0..keys.len() {
            if !all_ended(nri[i]) {
                let (nhi, next) = gather(spider, vector(&idx[i]));
                res[i] = longer(res[i], nhi);
                nri[i] = next;
                going_on = _mm512_or_si512(going_on, next);
            }
        }
        octet += 1;
    }
    for (out, res) in out.iter_mut().zip(res) {
        // SAFETY: `out` has 16 answers of four bytes, each a next hop or 0 = none.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), res) };
    }
}

/// Indices in the direct pointing table (Algorithm 1, lines 3 and 4).
#[inline]
#[target_feature(enable = "avx512f")]
fn direct_index(dst: __m512i) -> __m512i {
    _mm512_add_epi32(_mm512_srli_epi32::<16>(dst), _mm512_set1_epi32(DIRECT as i32))
}

/// Whether all next-row indexes are 0 (line 9).
#[inline]
#[target_feature(enable = "avx512f")]
fn all_ended(nri: __m512i) -> bool {
    _mm512_test_epi32_mask(nri, nri) == 0
}

/// The results after a row: its next hops, else the previous results (lines 15 and 16).
#[inline]
#[target_feature(enable = "avx512f")]
fn longer(res: __m512i, nhi: __m512i) -> __m512i {
    _mm512_mask_mov_epi32(res, _mm512_test_epi32_mask(nhi, nhi), nhi)
}

/// Converts the lanes of a vector to numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn lanes(vector: __m512i) -> [u32; LANES] {
    let mut lanes = [0; LANES];
    // SAFETY: the array has the 64 bytes that the store writes.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), vector) };
    lanes
}

/// Converts numbers to the lanes of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn vector(lanes: &[u32; LANES]) -> __m512i {
    // SAFETY: the array has the 64 bytes that the load reads.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

/// `shuffle8` mask: moves octet 0 to 3 of each lane, counted from its highest byte, to the lowest.
/// The other bytes become zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn octet_mask(octet: u8) -> __m512i {
    let lowest_bytes = _mm512_set4_epi32(12, 8, 4, 0);
    _mm512_add_epi32(lowest_bytes, _mm512_set1_epi32(0x8080_8000_u32 as i32 | i32::from(3 - octet)))
}

/// Octets `4 * part` to `4 * part + 3` of 16 addresses.
///
/// The first octet is in the highest byte of each lane. Where Algorithm 2 unpacks, permutations of
/// two registers keep the order.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn four_octets<F: Family>(keys: &[F::Bits; LANES], part: u8) -> __m512i {
    let keys: *const __m512i = keys.as_ptr().cast();
    let load = |i| {
        let at = keys.wrapping_add(i);
        // SAFETY: 16 addresses fill one vector for IPv4, four for IPv6; `i` is below that number.
        unsafe { _mm512_loadu_si512(at) }
    };
    if F::WIDTH == 32 {
        return load(0);
    }
    // Every fourth of 32 numbers: those of 8 addresses. In host order the first is the highest.
    let every_fourth = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
    let index = _mm512_add_epi32(every_fourth, _mm512_set1_epi32(i32::from(3 - part)));
    let low = _mm512_permutex2var_epi32(load(0), index, load(1));
    let high = _mm512_permutex2var_epi32(load(2), index, load(3));
    _mm512_shuffle_i64x2::<0b01_00_01_00>(low, high)
}

/// Reads 16 entries: next-hop indices, and next-row indices times 256. The latter are the starts of
/// the rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn gather<F, E: Entry>(spider: &Spider<F, E>, idx: __m512i) -> (__m512i, __m512i) {
    let fib = spider.fib.as_ptr();
    if E::BITS == 32 {
        // SAFETY: each index is that of an entry: of the direct pointing table, of a row that an
        // entry names, or of EoL (invariants 1, 2 and 3).
        let val = unsafe { _mm512_i32gather_epi32::<4>(idx, fib.cast()) };
        // Bytes 2 and 3 of each lane, shifted left by one byte.
        let mask_nri = _mm512_set4_epi32(
            0x800f_0e80_u32 as i32,
            0x800b_0a80_u32 as i32,
            0x8007_0680_u32 as i32,
            0x8003_0280_u32 as i32,
        );
        let nhi = _mm512_and_si512(val, _mm512_set1_epi32(0x0000_ffff));
        (nhi, _mm512_shuffle_epi8(val, mask_nri))
    } else {
        let (idx_low, idx_high) =
            (_mm512_castsi512_si256(idx), _mm512_extracti64x4_epi64::<1>(idx));
        // SAFETY: each index is that of an entry (invariants 1, 2 and 3), below 2^31 (invariant 1).
        let low = unsafe { _mm512_i32gather_epi64::<8>(idx_low, fib.cast()) };
        // SAFETY: each index is that of an entry (invariants 1, 2 and 3), below 2^31 (invariant 1).
        let high = unsafe { _mm512_i32gather_epi64::<8>(idx_high, fib.cast()) };
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
        let nhi = _mm512_permutex2var_epi32(low, even, high);
        let nri = _mm512_permutex2var_epi32(low, odd, high);
        (nhi, _mm512_slli_epi32::<8>(nri))
    }
}
