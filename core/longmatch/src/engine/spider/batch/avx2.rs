//! Vectors of eight addresses: the paper's kernels.
//!
//! One loop does Algorithm 1 (IPv4) or Algorithm 2 (IPv6) for a number of vectors. A number of ways
//! that is not a multiple of eight leaves lanes of the last vector unused: these stand at EoL from the
//! beginning, where the paper's lanes wait that have ended. The number is no constant of the code,
//! so 16 numbers need two kernels; that costs one `and` for each iteration.

use core::arch::x86_64::*;
use core::hint::black_box;

use super::super::layout::{DIRECT_OCTETS, Entry, Spider};
use super::Words;
use super::ahead::{direct_index, gather, longer, octet};
use crate::net::{Family, NextHopId};
use crate::simd::lanes::{Avx2, Lanes};

/// Addresses in a vector.
pub(super) const LANES: usize = 8;

/// Answers all addresses with our kernel of four fused vectors, the rest vector by vector.
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn flight4<F: Family, E: Entry>(
    l: Avx2,
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let groups = addrs.as_chunks().0.as_chunks::<4>().0;
    let out_groups = out.as_chunks_mut().0.as_chunks_mut().0;
    for (keys, out) in groups.iter().zip(out_groups) {
        group::<F, E, 4>(l, spider, |i, part| four_octets::<F>(&keys[i], part), out, l.all());
    }
    let done = groups.as_flattened().as_flattened().len();
    lookup_batch::<F, E, 1>(l, spider, LANES, &addrs[done..], &mut out[done..]);
}

/// Answers all addresses, `ways` at a time, in `N` vectors: all lanes of these but some of the last.
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn lookup_batch<F: Family, E: Entry, const N: usize>(
    l: Avx2,
    spider: &Spider<F, E>,
    ways: usize,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let done = iterations::<F, E, N>(l, spider, ways, addrs, out);
    let rest = &addrs[done..];
    let Some(first) = rest.first() else { return };
    // The rest is looked up in a copy with room behind it, since vectors read past the ways. There
    // the first address is repeated.
    let (mut keys, mut answers) = ([[[*first; LANES]; N]; 2], [[[None; LANES]; N]; 2]);
    let keys = keys.as_flattened_mut().as_flattened_mut();
    let answers = answers.as_flattened_mut().as_flattened_mut();
    keys[..rest.len()].copy_from_slice(rest);
    let last = (rest.len() - 1) / ways * ways;
    iterations::<F, E, N>(l, spider, ways, &keys[..last + N * LANES], answers);
    out[done..].copy_from_slice(&answers[..rest.len()]);
}

/// Answers `ways` addresses at a time while `N` whole vectors can be read; returns how many addresses
/// are answered.
///
/// Unused lanes write too. The next iteration overwrites what they wrote; behind the answered
/// addresses, the caller does. Not inlined, so that both calls share one copy.
#[inline(never)]
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
fn iterations<F: Family, E: Entry, const N: usize>(
    l: Avx2,
    spider: &Spider<F, E>,
    ways: usize,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) -> usize {
    assert!((N - 1) * LANES < ways && ways <= N * LANES);
    let used = first_lanes::<F>(l, ways - (N - 1) * LANES);
    let (mut from, mut to) = (addrs, &mut out[..addrs.len()]);
    while let Some(keys) = from.as_chunks().0.first_chunk::<N>() {
        let (out, _) = to.as_chunks_mut();
        let out = out.first_chunk_mut().expect("as many answers as addresses");
        group::<F, E, N>(l, spider, |i, part| four_octets::<F>(&keys[i], part), out, used);
        (from, to) = (&from[ways..], &mut to[ways..]);
    }
    addrs.len() - from.len()
}

/// Answers of an iteration, within a cache line.
#[repr(align(64))]
struct Answers<const N: usize>([[Option<NextHopId>; LANES]; N]);

/// Looks up generated keys, `ways` at a time: see [`Structure::iterate`].
///
/// `generate` is compiled in here, so that keys stay in registers: a vector load of keys that were
/// just stored one by one waits until they have left the store buffer.
///
/// [`Structure::iterate`]: crate::engine::Structure::iterate
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn iterate<F: Family, E: Entry, const N: usize>(
    l: Avx2,
    spider: &Spider<F, E>,
    ways: usize,
    lookups: usize,
    mut generate: impl FnMut() -> Words,
) -> u32 {
    const { assert!(N == 1 || N == 2) };
    assert!((N - 1) * LANES < ways && ways <= N * LANES);
    let used = first_lanes::<F>(l, ways - (N - 1) * LANES);
    let mut out = Answers([[None; LANES]; N]);
    let (mut sum, mut left) = (0, lookups);
    while left > 0 {
        // Not a loop over `N`, which would keep the words in memory.
        let mut octets = [in_lanes::<F>(&generate()), [l.splat(0); 4]];
        if N == 2 {
            octets[1] = in_lanes::<F>(&generate());
        }
        let octets = |i: usize, part| octets[i][usize::from(part)];
        group::<F, E, N>(l, spider, octets, &mut out.0, used);
        let count = ways.min(left);
        sum ^= NextHopId::to_raw(black_box(&out).0.as_flattened()[count - 1]);
        left -= count;
    }
    sum
}

/// The words of 8 generated addresses, in the lanes of [`four_octets`].
#[inline]
#[target_feature(enable = "avx2")]
fn in_lanes<F: Family>(words: &Words) -> [__m256i; 4] {
    // No index here is a variable, so that the words stay in registers.
    let load = |word: &[u32; LANES]| {
        // SAFETY: the array has 8 words of four bytes.
        let word = unsafe { _mm256_loadu_si256(word.as_ptr().cast()) };
        _mm256_permutevar8x32_epi32(word, lane_addresses::<F>())
    };
    [load(&words[0]), load(&words[1]), load(&words[2]), load(&words[3])]
}

/// The number of the address in each lane of [`four_octets`].
#[inline]
#[target_feature(enable = "avx2")]
fn lane_addresses<F: Family>() -> __m256i {
    match F::WIDTH {
        32 => _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        _ => _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7),
    }
}

/// The lanes of a vector's first `count` addresses, all bits set in each.
#[inline]
#[target_feature(enable = "avx2")]
fn first_lanes<F: Family>(l: Avx2, count: usize) -> __m256i {
    l.less(lane_addresses::<F>(), l.splat(count as u32))
}

/// Looks up `N` vectors, of the last one only the lanes `used`: Algorithms 1 and 2, each line for
/// all vectors. `octets` returns four octets of a vector's addresses, as [`four_octets`] does.
#[inline]
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
fn group<F: Family, E: Entry, const N: usize>(
    l: Avx2,
    spider: &Spider<F, E>,
    octets: impl Fn(usize, u8) -> __m256i,
    out: &mut [[Option<NextHopId>; LANES]; N],
    used: __m256i,
) {
    let zero = l.splat(0);
    let mut dst = [zero; N];
    let mut res = [zero; N];
    let mut nri = [zero; N];
    for i in 0..N {
        dst[i] = octets(i, 0);
        let idx = direct_index(l, dst[i]);
        let idx = if i == N - 1 { l.and(idx, used) } else { idx };
        (res[i], nri[i]) = gather(l, spider, idx);
    }
    for at in DIRECT_OCTETS..F::WIDTH / 8 {
        // Whether all next-row indices are 0 (line 9).
        if l.is_zero(nri.iter().fold(zero, |any, nri| l.or(any, *nri))) {
            break;
        }
        for i in 0..N {
            if at % 4 == 0 {
                dst[i] = octets(i, at / 4);
            }
            let (nhi, next) = gather(l, spider, l.add(octet(l, dst[i], at), nri[i]));
            res[i] = longer(l, res[i], nhi);
            nri[i] = next;
        }
    }
    for i in 0..N {
        store::<F>(res[i], &mut out[i]);
    }
}

/// Writes results as answers, in address order (Algorithm 2, lines 38 and 39).
#[inline]
#[target_feature(enable = "avx2")]
fn store<F: Family>(res: __m256i, out: &mut [Option<NextHopId>; LANES]) {
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let res = if F::WIDTH == 32 { res } else { _mm256_permutevar8x32_epi32(res, order) };
    // SAFETY: the array has 8 answers of four bytes, each a next hop or 0 = none.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), res) };
}

/// Octets `4 * part` to `4 * part + 3` of 8 addresses.
///
/// The first octet is in the highest byte of each lane. For IPv6 the lanes are in the order of the
/// paper's unpacking, which [`lane_addresses`] knows and [`store`] undoes.
#[inline]
#[target_feature(enable = "avx2")]
fn four_octets<F: Family>(keys: &[F::Bits; LANES], part: u8) -> __m256i {
    let keys: *const __m256i = keys.as_ptr().cast();
    if F::WIDTH == 32 {
        // SAFETY: the array has 8 addresses of four bytes.
        return unsafe { _mm256_loadu_si256(keys) };
    }
    let load = |i| {
        let at = keys.wrapping_add(i);
        // SAFETY: a vector is two IPv6 addresses, and the array has four vectors.
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

#[cfg(test)]
mod tests {
    use super::super::super::{Config, Kernel};
    use super::*;
    use crate::engine::Engine;
    use crate::engine::testing::hop;
    use crate::net::{Bits, Ipv4, Ipv6, Prefix};
    use crate::rib::Rib;
    use crate::simd::Simd;

    /// The work of an iteration is that of its ways: a lane beyond them finds nothing, though its
    /// address has a route.
    #[test]
    fn unused_lanes_stand_at_eol() {
        fn unused<F: Family, E: Entry, const N: usize>(l: Avx2) {
            let mut rib = Rib::<F>::new();
            rib.insert(Prefix::from_bits_masked(F::Bits::ZERO, 0), hop(7)).unwrap();
            let config = Config { kernel: Some(Kernel::Ahead) };
            let spider = Spider::<F, E>::compile(&rib, &config).unwrap();
            for ways in (N - 1) * LANES + 1..=N * LANES {
                let mut out = [[Some(hop(9)); LANES]; N];
                let (keys, out) = ([[F::Bits::ZERO; LANES]; N], out.as_flattened_mut());
                // SAFETY: `l` is proof of AVX2.
                let done =
                    unsafe { iterations::<F, E, N>(l, &spider, ways, keys.as_flattened(), out) };
                assert_eq!(done, ways);
                assert_eq!(out[..ways], [Some(hop(7)); 2 * LANES][..ways]);
                assert!(out[ways..].iter().all(Option::is_none), "{ways} ways");
            }
        }
        let Some(l) = Avx2::new(Simd::best()) else { return };
        unused::<Ipv4, u32, 1>(l);
        unused::<Ipv4, u64, 2>(l);
        unused::<Ipv6, u64, 1>(l);
        unused::<Ipv6, u32, 2>(l);
    }
}
