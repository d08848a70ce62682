//! Batches in every form of addresses: each engine answers them as it answers integers.

mod common;

use common::{levels, specs, spread};
use longmatch::{Engines, Fib, Form, Ipv4, Ipv6, Keys, NextHopId, Rib};

/// The same addresses in all forms of a family.
trait Forms: Engines {
    /// Hands each form to `see`.
    fn each_form(addrs: &[Self::Bits], see: impl FnMut(Keys<'_, Self>));
}

impl Forms for Ipv4 {
    fn each_form(addrs: &[u32], mut see: impl FnMut(Keys<'_, Self>)) {
        let network: Vec<[u8; 4]> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
        see(addrs.into());
        see(network.as_slice().into());
    }
}

impl Forms for Ipv6 {
    fn each_form(addrs: &[u128], mut see: impl FnMut(Keys<'_, Self>)) {
        let halves: Vec<[u64; 2]> =
            addrs.iter().map(|addr| [(addr >> 64) as u64, *addr as u64]).collect();
        let network: Vec<[u8; 16]> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
        see(addrs.into());
        see(halves.as_slice().into());
        see(network.as_slice().into());
    }
}

/// Batches of 0 to 65 addresses and around the block in which other forms are converted, with room
/// left over, which must stay as it was.
fn every_form_and_small_size<F: Forms>(rib: &Rib<F>) {
    const SIZES: [usize; 7] = [127, 255, 256, 257, 511, 513, 1000];
    let untouched = NextHopId::new(0xdead);
    let keys: Vec<F::Bits> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
    let keys: Vec<F::Bits> = keys.iter().copied().cycle().skip(7).take(1000).collect();
    for spec in specs::<F>() {
        let fib = Fib::compile(rib, spec.clone()).unwrap();
        let right: Vec<_> = keys.iter().map(|key| fib.lookup(F::addr(*key))).collect();
        for size in (0..=65).chain(SIZES) {
            F::each_form(&keys[..size], |keys| {
                for simd in levels() {
                    let mut out = vec![untouched; size + 3];
                    fib.lookup_keys_with(simd, keys, &mut out);
                    let about = format!("{spec}, {}, {size}, {:?}", simd.level(), keys.form());
                    assert!(out[..size] == right[..size], "{about}");
                    assert!(out[size..].iter().all(|o| *o == untouched), "{about}: wrote past");
                }
            });
        }
    }
}

#[test]
fn ipv4_in_every_form_and_small_size() {
    every_form_and_small_size(&spread::<Ipv4>(2000));
}

#[test]
fn ipv6_in_every_form_and_small_size() {
    every_form_and_small_size(&spread::<Ipv6>(500));
}

#[test]
fn too_little_room_is_a_panic() {
    for spec in specs::<Ipv6>() {
        let fib = Fib::compile(&spread::<Ipv6>(10), spec.clone()).unwrap();
        Ipv6::each_form(&[1, 2, 3], |keys| {
            let batch = || fib.lookup_keys(keys, &mut [None; 2]);
            let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(batch)).is_err();
            assert!(panics, "{spec}, {:?}", keys.form());
        });
    }
}

/// The bytes of packets begin anywhere.
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
            assert_eq!(keys.form(), Form::Network);
            let mut out = vec![None; addrs.len()];
            fib.lookup_keys(keys, &mut out);
            assert!(out == right, "{spec} at {shift}");
        }
    }
}
