//! The one test suite for all engines: every engine and variant, at every SIMD level of this CPU,
//! against the oracle. Named cases are in `testdata/lpm/*.toml`; proptest generates the others.

mod common;

use std::fmt::Debug;
use std::str::FromStr;

use common::{Answers, check_all, levels, specs, spread};
use longmatch::simd::Level;
use longmatch::{
    Bits, CompileError, EngineKind, EngineSpec, Engines, Family, Fib, Ipv4, Ipv6, NextHopId,
    Prefix, Rib, Route,
};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct CaseFile {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    /// `prefix next-hop`, in the order of insertion.
    routes: Vec<String>,
    /// Prefixes removed afterwards.
    #[serde(default)]
    removed: Vec<String>,
    /// `address next-hop`, or `address -` for none.
    answers: Vec<String>,
}

/// The two words of a line, if the line belongs to the family.
fn words<F: Family>(line: &str) -> Option<(&str, &str)> {
    let is_ipv6 = line.contains(':');
    (is_ipv6 == (F::WIDTH == 128)).then(|| line.split_once(' ').expect("two words per line"))
}

fn hop(text: &str) -> Option<NextHopId> {
    NextHopId::new(if text == "-" { 0 } else { text.parse().unwrap() })
}

fn run_case<F: Engines>(case: &Case)
where
    <F::Addr as FromStr>::Err: Debug,
{
    let mut rib = Rib::<F>::new();
    for (prefix, next_hop) in case.routes.iter().filter_map(|line| words::<F>(line)) {
        rib.insert(prefix.parse().unwrap(), hop(next_hop).unwrap()).unwrap();
    }
    for prefix in case.removed.iter().filter(|p| p.contains(':') == (F::WIDTH == 128)) {
        rib.remove(prefix.parse().unwrap()).expect("a withdrawn prefix is there");
    }
    let queries = case.answers.iter().filter_map(|line| words::<F>(line));
    let answers: Answers<F> =
        queries.map(|(addr, next_hop)| (F::bits(addr.parse().unwrap()), hop(next_hop))).collect();
    check_all(&case.name, &rib, &answers);
}

#[test]
fn named_cases() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/lpm");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let file: CaseFile = toml::from_str(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        for case in &file.case {
            run_case::<Ipv4>(case);
            run_case::<Ipv6>(case);
            count += 1;
        }
    }
    assert!(count >= 20, "only {count} cases were found in {folder}");
}

/// Prints the levels tested on this machine, and the levels skipped.
#[test]
fn levels_are_announced() {
    for level in Level::ALL {
        let tested = levels().any(|simd| simd.level() == level);
        println!("{level}: {}", if tested { "tested" } else { "SKIPPED, this CPU lacks it" });
    }
    assert!(levels().count() >= 1);
}

/// Batches of 0 to 65 addresses and some larger ones.
///
/// The rest of a longer output is untouched.
#[test]
fn batches_of_every_small_size() {
    let rib = common::spread::<Ipv4>(2000);
    let keys: Vec<u32> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
    let expected: Vec<_> =
        rib.ranges().flat_map(|range| [range.next_hop(), range.next_hop()]).collect();
    let untouched = NextHopId::new(0xdead);
    for spec in specs::<Ipv4>() {
        let fib = Fib::compile(&rib, spec.clone()).unwrap();
        for simd in levels() {
            for size in (0..=65).chain([127, 128, 129, 1000]) {
                let mut out = vec![untouched; size + 3];
                fib.lookup_batch_with(simd, &keys[size..][..size], &mut out);
                let level = simd.level();
                assert_eq!(out[..size], expected[size..][..size], "{spec}, {level}, {size}");
                assert!(out[size..].iter().all(|o| *o == untouched), "{spec} wrote past {size}");
            }
        }
    }
}

#[test]
fn a_short_output_panics() {
    for kind in EngineKind::ALL {
        let fib = Fib::compile(&common::spread::<Ipv4>(10), kind).unwrap();
        let batch = || fib.lookup_batch(&[1, 2, 3], &mut [None; 2]);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(batch)).is_err(), "{kind}");
    }
}

/// R4 (matchy #11): the order of insertion does not matter.
#[test]
fn order_of_insertion_does_not_matter() {
    let rib = common::spread::<Ipv6>(300);
    let mut reversed: Vec<Route<Ipv6>> = rib.iter().collect();
    reversed.reverse();
    let reversed: Rib<Ipv6> = reversed.into_iter().collect();
    for spec in specs::<Ipv6>() {
        Fib::compile(&reversed, spec).unwrap().check(&rib).unwrap();
    }
}

/// P2, P3, P4: nested IPv6 routes of every length, for several stems, are all answered.
#[test]
fn every_ipv6_length_is_held() {
    let mut rib = Rib::<Ipv6>::new();
    for stem in [0u128, 0x2001_0db8 << 96, u128::MAX] {
        for len in 0..=128u8 {
            let hop = NextHopId::new(1 + u32::from(len)).unwrap();
            rib.insert(Prefix::from_bits_masked(stem, len), hop).unwrap();
        }
    }
    let answers: Answers<Ipv6> = rib
        .iter()
        .flat_map(|route| [route.prefix.first(), route.prefix.last()])
        .map(|bits| (bits, rib.get_lpm(Ipv6::addr(bits)).map(|route| route.next_hop)))
        .collect();
    check_all("every length", &rib, &answers);
}

/// Routes, a number of them to remove, and addresses to look up besides those at their ends.
type Tested<F> = (Vec<(Prefix<F>, u32)>, usize, Vec<u128>);

/// Routes with few bits set, so that they nest, coincide and repeat.
///
/// The bits are at both ends of the address and around the ends of common strides.
fn tested<F: Family>() -> impl Strategy<Value = Tested<F>> {
    let len = prop_oneof![0..=F::WIDTH, Just(F::WIDTH), 16u8..=26];
    let route = (0u128..8, 0u128..256, 0u128..16, len, 1u32..5).prop_map(|(a, b, c, len, hop)| {
        let bits = (a << (F::WIDTH - 3)) | (b << (F::WIDTH - 24)) | c;
        (Prefix::from_bits_masked(F::Bits::from_u128(bits), len), hop)
    });
    let routes = proptest::collection::vec(route, 0..40);
    (routes, 0usize..10, proptest::collection::vec(any::<u128>(), 20))
}

/// Inserts all routes, removes the first ones, and compares every engine with the oracle.
///
/// The addresses are both sides of every prefix's ends, and others.
fn matches_the_oracle<F: Engines>((routes, removed, probes): Tested<F>) {
    let mut rib = Rib::new();
    for (prefix, hop) in &routes {
        rib.insert(*prefix, NextHopId::new(*hop).unwrap()).unwrap();
    }
    for (prefix, _) in routes.iter().take(removed) {
        rib.remove(*prefix);
    }
    let oracle = Fib::compile(&rib, EngineKind::Linear).unwrap();
    let ends = routes.iter().flat_map(|(prefix, _)| {
        let (first, last) = (prefix.first(), prefix.last());
        [Some(first), first.predecessor(), Some(last), last.successor()]
    });
    let probes = probes.iter().map(|probe| F::Bits::from_u128(*probe));
    let keys = ends.flatten().chain(probes);
    let answers: Answers<F> = keys.map(|key| (key, oracle.lookup(F::addr(key)))).collect();
    check_all("proptest", &rib, &answers);
}

proptest! {
    #![proptest_config(common::cases(64))]

    #[test]
    fn ipv4_matches_the_oracle(table in tested::<Ipv4>()) {
        matches_the_oracle(table);
    }

    #[test]
    fn ipv6_matches_the_oracle(table in tested::<Ipv6>()) {
        matches_the_oracle(table);
    }
}

/// The estimated bytes of an engine, from the error that the smallest limit causes.
fn estimate<F: Engines>(rib: &Rib<F>, spec: &EngineSpec) -> Option<u64> {
    match Fib::compile(rib, spec.clone().with_memory(1)) {
        Err(CompileError::TooLarge { bytes, limit: 1, .. }) => Some(bytes),
        Err(CompileError::Memory { limit: 1, .. }) if spec.kind == EngineKind::Auto => None,
        Err(error) => panic!("{spec}: {error}"),
        // A list of routes takes nothing for an empty table.
        Ok(fib) => {
            assert_eq!((fib.memory_usage().bytes(), rib.len()), (0, 0), "{spec} was not refused");
            None
        }
    }
}

/// Every engine's estimate is an upper bound of its size and a sufficient limit.
fn check_estimates<F: Engines>(rib: &Rib<F>) {
    for spec in specs::<F>() {
        let Some(bytes) = estimate(rib, &spec) else { continue };
        let fib = Fib::compile(rib, spec.clone().with_memory(bytes)).unwrap();
        let taken = fib.memory_usage().bytes() as u64;
        // A route that ends where a child begins can need its own node.
        let uncounted =
            if spec.kind == EngineKind::TreeBitmap { 24 * rib.len() as u64 } else { 64 };
        assert!(taken <= bytes + uncounted, "{spec} takes {taken}, estimated at {bytes}");
    }
}

#[test]
fn estimates_are_upper_bounds() {
    check_estimates(&Rib::<Ipv4>::new());
    check_estimates(&Rib::<Ipv6>::new());
    check_estimates(&spread::<Ipv4>(3000));
    check_estimates(&spread::<Ipv6>(1000));
}

/// Few routes can make a huge table.
///
/// Its size is estimated, and refused, before allocation.
#[test]
fn random_host_routes_are_refused_by_their_estimate() {
    let mut bits = 1u128;
    let host_routes = (1..=30_000u32).map(|i| {
        bits = bits.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(i.into());
        let prefix = Prefix::from_bits_masked(bits ^ bits >> 67, 128);
        Route { prefix, next_hop: NextHopId::new(1 + i % 17).unwrap() }
    });
    let rib: Rib<Ipv6> = host_routes.collect();
    for (spec, mib) in [("spider", 200), ("dir24_8", 100), ("radix", 20), ("poptrie", 9)] {
        let spec: EngineSpec = spec.parse().unwrap();
        let bytes = estimate(&rib, &spec).unwrap();
        assert!(bytes > mib << 20, "{spec}: {bytes}");
        assert!(Fib::compile(&rib, spec.with_memory(mib << 20)).is_err());
    }
}
