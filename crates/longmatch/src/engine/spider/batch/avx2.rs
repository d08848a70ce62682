//! Vectors of eight addresses: the paper's kernels.
//!
//! One loop does Algorithm 1 (IPv4) or Algorithm 2 (IPv6) for a number of vectors. A number of ways
//! that is no multiple of eight leaves lanes of the last vector unused: these stand at EoL from the
//! beginning, where the paper's lanes wait that have ended. The number is no constant of the code,
//! so 16 numbers need two kernels; that costs one `and` for each iteration.

use core::arch::x86_64::*;
use core::hint::black_box;

use super::super::layout::{DIRECT_OCTETS, Entry, Spider};
use super::ahead::{direct_index, gather, longer, octet};
use crate::net::{Bits, Family, NextHopId};
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
        group(l, spider, keys, out, l.all());
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
        group(l, spider, keys, out.first_chunk_mut().expect("as many answers as addresses"), used);
        (from, to) = (&from[ways..], &mut to[ways..]);
    }
    addrs.len() - from.len()
}

/// Looks up generated keys, `ways` at a time: see [`Structure::iterate`].
///
/// `generate` is compiled in here. An iteration keeps its keys in registers, or loads them as it
/// stored them: a vector load of keys that were just stored one by one waits until they have left
/// the store buffer.
///
/// [`Structure::iterate`]: crate::engine::Structure::iterate
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn iterate<F: Family, E: Entry, const N: usize>(
    l: Avx2,
    spider: &Spider<F, E>,
    ways: usize,
    lookups: usize,
    mut generate: impl FnMut(&mut [F::Bits; LANES]),
) -> u32 {
    assert!((N - 1) * LANES < ways && ways <= N * LANES);
    let used = first_lanes::<F>(l, ways - (N - 1) * LANES);
    let mut out = [[None; LANES]; N];
    let (mut sum, mut left) = (0, lookups);
    while left > 0 {
        let mut keys = [[F::Bits::ZERO; LANES]; N];
        for keys in &mut keys {
            generate(keys);
        }
        group(l, spider, &keys, &mut out, used);
        let count = ways.min(left);
        sum ^= NextHopId::to_raw(black_box(&out).as_flattened()[count - 1]);
        left -= count;
    }
    sum
}

/// The lanes of a vector's first `count` addresses, all bits set in each.
#[inline]
#[target_feature(enable = "avx2")]
fn first_lanes<F: Family>(l: Avx2, count: usize) -> __m256i {
    let address = match F::WIDTH {
        32 => _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        _ => _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7),
    };
    l.less(address, l.splat(count as u32))
}

/// Looks up `N` vectors, of the last one only the lanes `used`: Algorithms 1 and 2, each line for
/// all vectors.
#[inline]
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
fn group<F: Family, E: Entry, const N: usize>(
    l: Avx2,
    spider: &Spider<F, E>,
    keys: &[[F::Bits; LANES]; N],
    out: &mut [[Option<NextHopId>; LANES]; N],
    used: __m256i,
) {
    let zero = l.splat(0);
    let mut dst = [zero; N];
    let mut res = [zero; N];
    let mut nri = [zero; N];
    for i in 0..N {
        dst[i] = four_octets::<F>(&keys[i], 0);
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
                dst[i] = four_octets::<F>(&keys[i], at / 4);
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
/// paper's unpacking, which [`first_lanes`] knows and [`store`] undoes.
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
    use crate::net::{Ipv4, Ipv6, Prefix};
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
