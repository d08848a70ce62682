//! Several lookups in flight without vectors: the paper's lanes as arrays.
//!
//! EoL makes this possible without branches: an address that has ended reads zeros until all of its
//! group have.
//!
//! Without success: groups of 64 that prefetch each level before they read it, with and without
//! packing the addresses that continue (both half as fast on tables that fit the cache, and 20 % to
//! 30 % slower on IPv6; only IPv4 random keys gained on large tables).

use core::hint::black_box;

use super::super::layout::{DIRECT_OCTETS, Entry, Spider};
use super::super::lookup;
use super::Words;
use crate::engine::kit::in_flight::InGroups;
use crate::net::{Bits, Family, NextHopId};
use crate::simd::Work;

/// Addresses in a group: as many as the registers hold the state of.
const GROUP: usize = 16;

/// Looks up generated keys one by one: the iterations of the paper's kernels without vectors.
pub(super) struct Iterations<'a, F: Family, E, G> {
    pub spider: &'a Spider<F, E>,
    /// At most [`GROUP`].
    pub ways: usize,
    pub lookups: usize,
    pub generate: G,
}

impl<F: Family, E: Entry, G: FnMut() -> Words> Work for Iterations<'_, F, E, G> {
    type Output = u32;

    #[inline(always)]
    fn run(mut self) -> u32 {
        let (mut keys, mut out) = ([[F::Bits::ZERO; 8]; GROUP / 8], [None; GROUP]);
        let (mut sum, mut left) = (0, self.lookups);
        while left > 0 {
            for keys in &mut keys[..self.ways.div_ceil(8)] {
                let words = (self.generate)();
                for (i, key) in keys.iter_mut().enumerate() {
                    let words = words[..usize::from(F::WIDTH / 32)].iter();
                    let bits = words.fold(0, |bits, word| bits << 32 | u128::from(word[i]));
                    *key = F::Bits::from_u128(bits);
                }
            }
            let count = self.ways.min(left);
            for (key, out) in keys.as_flattened()[..count].iter().zip(&mut out) {
                *out = lookup::lookup(self.spider, *key);
            }
            sum ^= NextHopId::to_raw(black_box(&out)[count - 1]);
            left -= count;
        }
        sum
    }
}

impl<F: Family, E: Entry> InGroups<GROUP> for &Spider<F, E> {
    type Addr = F::Bits;

    #[inline(always)]
    fn one(self, key: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self, key)
    }

    #[inline(always)]
    fn group(self, keys: &[F::Bits; GROUP], out: &mut [Option<NextHopId>; GROUP]) {
        *out = group(self, keys).map(NextHopId::new);
    }
}

#[inline(always)]
fn group<F: Family, E: Entry>(spider: &Spider<F, E>, keys: &[F::Bits; GROUP]) -> [u32; GROUP] {
    let mut val = keys.map(|key| lookup::entry(spider, lookup::direct_index::<F>(key)));
    let mut res = val.map(E::next_hop_index);
    let mut octet = DIRECT_OCTETS;
    while val.iter().fold(0, |any, val| any | val.next_row_index()) != 0 {
        for i in 0..GROUP {
            let row = val[i].next_row_index();
            val[i] = lookup::entry(spider, lookup::row_index::<F>(row, keys[i], octet));
            let found = val[i].next_hop_index();
            // Not an `if`: a branch on each address's result would be mispredicted.
            res[i] = found | res[i] & u32::from(found != 0).wrapping_sub(1);
        }
        octet += 1;
    }
    res
}
