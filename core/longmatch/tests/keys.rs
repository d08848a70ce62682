//! Batches in every key layout have the same answers as integers, in each engine.

mod common;

use std::sync::OnceLock;

use common::{levels, specs, spread};
use longmatch::{Bits, Engines, Fib, Ipv4, Ipv6, KeyLayout, Keys, NextHopId, Rib};
use proptest::prelude::*;

/// The same addresses in all key layouts of a family.
trait Layouts: Engines {
    /// Calls `visit` with each layout.
    fn each_layout(addrs: &[Self::Bits], visit: impl FnMut(Keys<'_, Self>));
}

impl Layouts for Ipv4 {
    fn each_layout(addrs: &[u32], mut visit: impl FnMut(Keys<'_, Self>)) {
        let network: Vec<[u8; 4]> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
        visit(addrs.into());
        visit(network.as_slice().into());
    }
}

impl Layouts for Ipv6 {
    fn each_layout(addrs: &[u128], mut visit: impl FnMut(Keys<'_, Self>)) {
        let halves: Vec<[u64; 2]> =
            addrs.iter().map(|addr| [(addr >> 64) as u64, *addr as u64]).collect();
        let network: Vec<[u8; 16]> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
        visit(addrs.into());
        visit(halves.as_slice().into());
        visit(network.as_slice().into());
    }
}

/// Batches of 0 to 65 addresses, and of sizes around a block of the conversion.
///
/// The output is longer; its rest must be untouched.
fn every_layout_and_small_size<F: Layouts>(rib: &Rib<F>) {
    const SIZES: [usize; 7] = [127, 255, 256, 257, 511, 513, 1000];
    let untouched = NextHopId::new(0xdead);
    let keys: Vec<F::Bits> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
    let keys: Vec<F::Bits> = keys.iter().copied().cycle().skip(7).take(1000).collect();
    for spec in specs::<F>() {
        let fib = Fib::compile(rib, spec.clone()).unwrap();
        let right: Vec<_> = keys.iter().map(|key| fib.lookup(F::addr(*key))).collect();
        for size in (0..=65).chain(SIZES) {
            F::each_layout(&keys[..size], |keys| {
                for simd in levels() {
                    let mut out = vec![untouched; size + 3];
                    fib.lookup_keys_with(simd, keys, &mut out);
                    let about = format!("{spec}, {}, {size}, {:?}", simd.level(), keys.layout());
                    assert!(out[..size] == right[..size], "{about}");
                    assert!(out[size..].iter().all(|o| *o == untouched), "{about}: wrote past");
                }
            });
        }
    }
}

#[test]
fn ipv4_in_every_layout_and_small_size() {
    every_layout_and_small_size(&spread::<Ipv4>(2000));
}

#[test]
fn ipv6_in_every_layout_and_small_size() {
    every_layout_and_small_size(&spread::<Ipv6>(500));
}

#[test]
fn a_short_output_panics() {
    for spec in specs::<Ipv6>() {
        let fib = Fib::compile(&spread::<Ipv6>(10), spec.clone()).unwrap();
        Ipv6::each_layout(&[1, 2, 3], |keys| {
            let batch = || fib.lookup_keys(keys, &mut [None; 2]);
            let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(batch)).is_err();
            assert!(panics, "{spec}, {:?}", keys.layout());
        });
    }
}

/// Packets' bytes have no alignment.
#[test]
fn network_order_at_every_alignment() {
    let rib = spread::<Ipv4>(2000);
    let addrs: Vec<u32> = rib.ranges().map(|range| range.last).take(100).collect();
    for spec in specs::<Ipv4>() {
        let fib = Fib::compile(&rib, spec.clone()).unwrap();
        let mut right = vec![None; addrs.len()];
        fib.lookup_batch(&addrs, &mut right);
        for shift in 0..4 {
            let mut bytes = vec![0; shift];
            bytes.extend(addrs.iter().flat_map(|addr| addr.to_be_bytes()));
            let (packets, rest) = bytes[shift..].as_chunks::<4>();
            assert!(rest.is_empty());
            let keys = Keys::from(packets);
            assert_eq!(keys.layout(), KeyLayout::Network);
            let mut out = vec![None; addrs.len()];
            fib.lookup_keys(keys, &mut out);
            assert!(out == right, "{spec} at {shift}");
        }
    }
}

/// Every engine, compiled once for all cases.
fn fibs<F: Engines>(routes: u32) -> Vec<Fib<F>> {
    let rib = spread::<F>(routes);
    specs::<F>().into_iter().map(|spec| Fib::compile(&rib, spec).unwrap()).collect()
}

/// Addresses near routes: below a given length they have the bits of `noise`.
fn near_routes<F: Engines>(routes: u32, picks: &[(usize, u8, u128)]) -> Vec<F::Bits> {
    let rib: Vec<_> = spread::<F>(routes).iter().collect();
    let near = |(pick, len, noise): &(usize, u8, u128)| {
        let route = rib[pick % rib.len()].prefix;
        let mask = F::Bits::mask(len % (F::WIDTH + 1));
        route.first() & mask | F::Bits::from_u128(*noise) & !mask
    };
    picks.iter().map(near).collect()
}

fn picks() -> impl Strategy<Value = Vec<(usize, u8, u128)>> {
    proptest::collection::vec(any::<(usize, u8, u128)>(), 0..=65)
}

/// Every engine, level and layout agrees with single lookups.
fn as_one_by_one<F: Layouts>(fibs: &[Fib<F>], addrs: &[F::Bits]) {
    for fib in fibs {
        let right: Vec<_> = addrs.iter().map(|addr| fib.lookup(F::addr(*addr))).collect();
        F::each_layout(addrs, |keys| {
            for simd in levels() {
                let mut out = vec![NextHopId::new(0xdead); keys.len()];
                fib.lookup_keys_with(simd, keys, &mut out);
                assert_eq!(out, right, "{fib:?}, {}, {:?}", simd.level(), keys.layout());
            }
        });
    }
}

proptest! {
    #![proptest_config(common::cases(256))]

    #[test]
    fn ipv4_layouts_have_the_same_answers(picks in picks()) {
        static FIBS: OnceLock<Vec<Fib<Ipv4>>> = OnceLock::new();
        as_one_by_one(FIBS.get_or_init(|| fibs(2000)), &near_routes::<Ipv4>(2000, &picks));
    }

    #[test]
    fn ipv6_layouts_have_the_same_answers(picks in picks()) {
        static FIBS: OnceLock<Vec<Fib<Ipv6>>> = OnceLock::new();
        as_one_by_one(FIBS.get_or_init(|| fibs(500)), &near_routes::<Ipv6>(500, &picks));
    }
}
