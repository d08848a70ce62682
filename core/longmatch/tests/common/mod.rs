//! Shared parts of the tests of all engines.
#![allow(dead_code, reason = "each test program uses a part of it")]

use longmatch::engine::Descriptor;
use longmatch::simd::Simd;
use longmatch::{
    Bits, CompileError, EngineKind, EngineSpec, Engines, Family, Fib, NextHopId, Prefix, Rib, Route,
};
use proptest::test_runner::Config as ProptestConfig;

/// Addresses with their answers.
pub type Answers<F> = Vec<(<F as Family>::Bits, Option<NextHopId>)>;

/// Whether the tests take their quick form. The environment requests it where instructions are many times slower, as in
/// an emulator.
pub fn quick() -> bool {
    std::env::var_os("LONGMATCH_QUICK").is_some()
}

/// Proptest with `full` cases, or fewer in the quick form.
pub fn cases(full: u32) -> ProptestConfig {
    ProptestConfig::with_cases(if quick() { full.div_ceil(32) } else { full })
}

/// Every engine of the family with its defaults, and the variants that its descriptor lists.
pub fn specs<F: Engines>() -> Vec<EngineSpec> {
    let mut specs: Vec<EngineSpec> = vec![EngineKind::Auto.into()];
    for kind in EngineKind::ALL {
        specs.push(kind.into());
        let [both, ipv4, ipv6] = descriptor(kind).variants;
        let own = if F::WIDTH == 32 { ipv4 } else { ipv6 };
        let variants = both.iter().chain(own).map(|variant| format!("{kind}:{variant}"));
        specs.extend(variants.map(|text| text.parse::<EngineSpec>().unwrap()));
    }
    let only = only_engine();
    specs.retain(|spec| F::has(spec.kind) && only.is_none_or(|only| only == spec.kind));
    specs
}

/// The one engine to test, if the environment names one: for work on an engine.
fn only_engine() -> Option<EngineKind> {
    let name = std::env::var("LONGMATCH_ENGINE").ok()?;
    Some(name.parse().unwrap_or_else(|error| panic!("LONGMATCH_ENGINE={name}: {error}")))
}

/// Every SIMD level of this CPU.
pub fn levels() -> impl Iterator<Item = Simd> {
    Simd::available()
}

/// Whether compiling and checking takes long for any table. The quick form then does so only in tests with one table.
fn is_slow(spec: &EngineSpec) -> bool {
    spec.kind != EngineKind::Auto && descriptor(spec.kind).slow
}

fn descriptor(kind: EngineKind) -> &'static Descriptor {
    kind.descriptor().expect("tests have every engine")
}

/// Compiles the RIB with every engine, checks each structure and compares its answers.
///
/// The answers are looked up singly, one after the other and as a batch, at every level.
pub fn check_all<F: Engines>(name: &str, rib: &Rib<F>, answers: &[(F::Bits, Option<NextHopId>)]) {
    let (keys, expected): (Vec<F::Bits>, Vec<_>) = answers.iter().copied().unzip();
    for spec in specs::<F>().into_iter().filter(|spec| !quick() || !is_slow(spec)) {
        let fib = match Fib::compile(rib, spec.clone()) {
            Ok(fib) => fib,
            // An error that names an exceeded limit is a proper answer, if next hops of 15 bits
            // fit.
            Err(CompileError::NextHopTooLarge { id, limit, .. }) if id > limit => {
                assert!(id == rib.max_next_hop() && limit >= 32_767, "{name}, {spec}: {limit}");
                continue;
            }
            Err(error) => panic!("{name}, {spec}: {error}"),
        };
        fib.check(rib).unwrap_or_else(|corrupt| panic!("{name}, {spec}: {corrupt}"));
        for (key, hop) in answers {
            let addr = F::addr(*key);
            assert_eq!(fib.lookup(addr), *hop, "{name}, {spec}: {addr}");
        }
        for simd in levels() {
            let mut out = vec![None; keys.len()];
            fib.lookup_each(simd, &keys, &mut out);
            assert!(out == expected, "{name}, {spec} one by one at {}", simd.level());
            out.fill(None);
            fib.lookup_batch_with(simd, &keys, &mut out);
            assert!(out == expected, "{name}, {spec} in a batch at {}", simd.level());
        }
    }
}

/// A table of about `count` routes of all lengths, spread over the address space.
pub fn spread<F: Family>(count: u32) -> Rib<F> {
    let route = |i: u32| {
        let high = u128::from(i.wrapping_mul(0x9e37_79b9)) << (F::WIDTH - 32);
        let low = u128::from(i.wrapping_mul(0x85eb_ca6b));
        let len = 1 + (i % u32::from(F::WIDTH)) as u8;
        let prefix = Prefix::from_bits_masked(F::Bits::from_u128(high | low), len);
        Route { prefix, next_hop: NextHopId::new(1 + i % 17).unwrap() }
    };
    (0..count).map(route).collect()
}
