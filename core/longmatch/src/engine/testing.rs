//! Helpers shared by the tests of several engines.

pub(crate) mod changes;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::{Checked, EngineKind, EngineSpec, Engines};
use crate::engine::kit::CompileError;
use crate::net::{Bits, Family, Ipv4, Ipv6, NextHopId, Prefix, Route};
use crate::rib::Rib;
use crate::simd::Simd;

pub(crate) fn hop(n: u32) -> NextHopId {
    NextHopId::new(n).expect("a next hop other than 0")
}

/// A spec with options that the engine may lack, which parsing would refuse.
pub(crate) fn unread_spec(text: &str) -> EngineSpec {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let spec = EngineSpec::from(name.parse::<EngineKind>().expect("the name of an engine"));
    let options = options.split(':').filter(|_| text.contains(':'));
    options.fold(spec, |spec, option| spec.option(option))
}

pub(crate) fn prefix<F: Family>(text: &str) -> Prefix<F> {
    text.parse().expect("a prefix without host bits")
}

/// Makes a table of prefixes and next hops.
pub(crate) fn rib<F: Family>(routes: &[(&str, u32)]) -> Rib<F> {
    let route = |(text, n): &(&str, u32)| Route { prefix: prefix(text), next_hop: hop(*n) };
    routes.iter().map(route).collect()
}

/// [`rib`] where the family cannot be inferred.
pub(crate) fn rib4(routes: &[(&str, u32)]) -> Rib<Ipv4> {
    rib(routes)
}

/// A table of 3,000 routes of all these lengths, with `hops` next hops.
pub(crate) fn spread<F: Family>(lens: RangeInclusive<u8>, hops: u32) -> Rib<F> {
    let lens: Vec<u8> = lens.collect();
    let route = |i: u32| {
        let high = u128::from(i.wrapping_mul(0x9e37_79b9)) << (F::WIDTH - 32);
        let bits = F::Bits::from_u128(high ^ u128::from(i.wrapping_mul(0x85eb_ca6b)));
        let prefix = Prefix::from_bits_masked(bits, lens[i as usize % lens.len()]);
        Route { prefix, next_hop: hop(1 + i % hops) }
    };
    (0..3000).map(route).collect()
}

/// Builds the engine that a text such as `poptrie:s=16` names.
pub(crate) fn built<F: Engines>(
    spec: &str,
    rib: &Rib<F>,
) -> Result<Arc<dyn Checked<F>>, CompileError> {
    F::build_shared(&unread_spec(spec), rib)
}

/// Returns the first and last address of each range of a RIB, and their answers.
pub(crate) fn ends<F: Family>(rib: &Rib<F>) -> (Vec<F::Bits>, Vec<Option<NextHopId>>) {
    let ends = |first, last, hop| [(first, hop), (last, hop)];
    rib.ranges().flat_map(|range| ends(range.first, range.last, range.next_hop())).unzip()
}

/// Compares batches with the RIB at every level: both ends of each range, in uneven batches.
pub(crate) fn batches_agree<F: Family>(engine: &dyn Checked<F>, rib: &Rib<F>) {
    let (keys, right) = ends(rib);
    assert!(keys.len() > 2000, "groups of every kernel, and a rest");
    for simd in Simd::available() {
        for start in [0, 1, 15, 100] {
            let mut out = vec![None; keys.len() - start];
            engine.lookup_batch_with(simd, &keys[start..], &mut out);
            assert!(out == right[start..], "{} at {}", engine.variant(), simd.level());
        }
    }
}

/// A test of an engine.
pub(crate) type Test<'a, F> = &'a mut dyn FnMut(&dyn Checked<F>);

/// Runs a test with every variant of an engine, compiled from a RIB.
pub(crate) type Variants<F> = fn(&Rib<F>, Test<'_, F>);

/// D9, D16, D17: /32 at both ends of the address space, and no route.
pub(crate) fn edges_of_ipv4(variants: Variants<Ipv4>) {
    let routes = [("0.0.0.0/32", 1), ("255.255.255.255/32", 2), ("255.255.255.254/31", 3)];
    edges(variants, &rib(&routes), [u32::MAX - 1, u32::MAX], [3, 2]);
}

/// D9, D16, D17: /128 at both ends of the address space, and no route.
pub(crate) fn edges_of_ipv6(variants: Variants<Ipv6>) {
    let mut rib = rib(&[("::/0", 1), ("::/128", 2), ("::/127", 3), ("8000::/1", 4)]);
    rib.insert(Prefix::from_bits_masked(u128::MAX, 128), hop(9)).unwrap();
    edges(variants, &rib, [u128::MAX - 1, u128::MAX], [4, 9]);
}

fn edges<F: Family>(variants: Variants<F>, rib: &Rib<F>, last: [F::Bits; 2], right: [u32; 2]) {
    let right = right.map(NextHopId::new);
    variants(rib, &mut |engine| {
        engine.check(rib).unwrap();
        assert_eq!(last.map(|addr| engine.lookup_bits(addr)), right);
        for simd in Simd::available() {
            let mut out = [None; 130];
            engine.lookup_batch_with(simd, &[last[1]; 130], &mut out);
            assert_eq!(out, [right[1]; 130], "{} at {}", engine.variant(), simd.level());
        }
    });
    variants(&Rib::new(), &mut |engine| engine.check(&Rib::new()).unwrap());
}

/// Verifies that `check` detects each damage, and another RIB.
///
/// It must detect damaged indices before it reads through them.
pub(crate) fn check_finds<F: Family, E: Checked<F> + Clone>(
    good: &E,
    rib: &Rib<F>,
    damage: &[fn(&mut E)],
) {
    good.check(rib).unwrap();
    for (i, damage) in damage.iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad);
        assert!(bad.check(rib).is_err(), "damage {i}");
    }
    let one_fewer: Rib<F> = rib.iter().take(rib.len() - 1).collect();
    assert!(good.check(&one_fewer).is_err(), "another RIB");
    assert!(good.check(&Rib::new()).is_err(), "no routes");
}
