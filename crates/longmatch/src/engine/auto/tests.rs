use super::*;
use crate::engine::Engines;
use crate::{Bits, Family, Fib, Ipv4, Ipv6, NextHopId, Prefix, Route};

fn goal(text: &str) -> AutoGoal {
    AutoGoal::parse(&text.parse::<EngineSpec>().unwrap().options).unwrap()
}

/// About `count` routes that resemble the Internet's: typical lengths, close together.
fn internet<F: Family>(count: u32, next_hops: u32) -> Rib<F> {
    let usual = if F::WIDTH == 32 { 24 } else { 48 };
    let route = |i: u32| {
        let mixed = u64::from(i / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let network = (mixed << 3 | u64::from(i % 8)) & ((1 << (usual - 3)) - 1);
        let bits = u128::from(network | 1 << (usual - 3)) << (F::WIDTH - usual);
        let len = usual - (i % 7).saturating_sub(3) as u8;
        let prefix = Prefix::from_bits_masked(F::Bits::from_u128(bits), len);
        let next_hop = NextHopId::new(1 + i.wrapping_mul(0x85eb_ca6b) % next_hops).unwrap();
        Route { prefix, next_hop }
    };
    (0..count).map(route).collect()
}

fn chosen<F: Engines>(rib: &Rib<F>, spec: &str) -> Result<Fib<F>, CompileError> {
    Fib::compile(rib, spec.parse::<EngineSpec>().unwrap())
}

#[test]
fn options_are_read() {
    assert_eq!(goal("auto"), AutoGoal::default());
    assert_eq!(goal("auto:use=one:use=batch"), AutoGoal::default());
    let all = goal("auto:memory=4M:use=one:simd=scalar");
    let expected =
        AutoGoal { usage: Usage::One, memory: Some(4 << 20), level: Some(Level::Scalar) };
    assert_eq!(all, expected);
    for (size, expected) in [("1", 1), ("3K", 3 << 10), ("2G", 2 << 30)] {
        assert_eq!(goal(&alloc::format!("auto:memory={size}")).memory, Some(expected));
    }
}

#[test]
fn other_options_are_errors() {
    for option in [
        "use",
        "use=",
        "use=two",
        "memory",
        "memory=",
        "memory=M",
        "memory=0",
        "memory=-1",
        "memory=+1",
        "memory=4m",
        "memory=4 M",
        "memory=99999999999G",
        "simd=avx3",
        "s=18",
        "",
    ] {
        let options = [String::from(option)];
        let error = AutoGoal::parse(&options).unwrap_err();
        assert_eq!((error.engine, &error.option), (NAME, &options[0]));
        let spec = EngineSpec { kind: EngineKind::Auto, options: options.into(), memory: None };
        let compiled = Fib::compile(&Rib::<Ipv4>::new(), spec);
        assert!(matches!(compiled, Err(CompileError::Option(_))), "{option}");
    }
}

#[test]
fn auto_has_a_name_but_is_not_in_all() {
    assert_eq!("auto".parse(), Ok(EngineKind::Auto));
    assert!(!EngineKind::ALL.contains(&EngineKind::Auto));
    assert!(Ipv4::has(EngineKind::Auto) && Ipv6::has(EngineKind::Auto));
    let error = "automatic".parse::<EngineKind>().unwrap_err();
    assert!(alloc::format!("{error}").ends_with(" auto"));
}

/// The important choices of engine, at every level, also those that this CPU lacks.
#[test]
fn folio_is_chosen_for_batches_in_vectors() {
    let (four, six) = (internet::<Ipv4>(60_000, 200), internet::<Ipv6>(60_000, 200));
    for level in ["avx2", "avx512"] {
        let goal = goal(&alloc::format!("auto:simd={level}"));
        assert_eq!(rank(&four, &goal)[0].spec.kind, EngineKind::Folio, "{level}");
        assert_eq!(rank(&six, &goal)[0].spec.kind, EngineKind::Folio, "{level}");
    }
}

#[test]
fn rankings_have_every_engine_but_the_oracle() {
    for spec in ["auto", "auto:use=one", "auto:memory=1K", "auto:simd=portable"] {
        for count in [0, 1, 7, 1000] {
            let four = rank(&internet::<Ipv4>(count, 5), &goal(spec));
            let six = rank(&internet::<Ipv6>(count, 5), &goal(spec));
            for kind in EngineKind::ALL {
                let in_four = four.iter().any(|it| it.spec.kind == kind);
                let in_six = six.iter().any(|it| it.spec.kind == kind);
                assert_eq!(in_four, !kind.is_oracle(), "{kind}");
                assert_eq!(in_six, !kind.is_oracle() && Ipv6::has(kind), "{kind}");
            }
            let sound = |it: &Prediction| it.cycles.is_finite() && it.cycles > 0.0;
            assert!(four.iter().chain(&six).all(sound), "{spec}, {count}: {four:?} {six:?}");
        }
    }
}

#[test]
fn rankings_are_in_order() {
    let rib = internet::<Ipv4>(20_000, 200);
    let free = rank(&rib, &goal("auto:simd=avx512"));
    assert!(free.is_sorted_by(|a, b| a.cycles <= b.cycles), "{free:?}");
    let capped = rank(&rib, &goal("auto:simd=avx512:memory=1M"));
    let fitting = capped.iter().take_while(|it| it.bytes <= 1 << 20).count();
    let (fitting, others) = capped.split_at(fitting);
    assert!(!fitting.is_empty() && fitting.is_sorted_by(|a, b| a.cycles <= b.cycles));
    assert!(others.is_sorted_by(|a, b| a.bytes <= b.bytes) && others[0].bytes > 1 << 20);
}

/// Predicted bytes are within the factor that marks an engine as too large.
fn predicts_bytes<F: Engines>() {
    for (count, hops) in [(1, 1), (10, 3), (3000, 200), (60_000, 1000), (60_000, 70_000)] {
        let rib = internet::<F>(count, hops);
        for Prediction { spec, bytes, .. } in rank(&rib, &AutoGoal::default()) {
            let mut fibs = attempts(&spec).filter_map(|spec| Fib::compile(&rib, spec).ok());
            let Some(fib) = fibs.next() else { continue };
            let measured = fib.memory_usage().bytes() as u64;
            // Differences of a KiB do not affect the choice.
            let (predicted, measured) = (bytes + 1024, measured + 1024);
            let (low, high) = (predicted.min(measured), predicted.max(measured));
            assert!(
                high < low * MAX_MODEL_ERROR,
                "{spec}: {predicted}, {measured} with {count}, {hops}"
            );
        }
    }
}

#[test]
fn bytes_are_close_to_predictions() {
    predicts_bytes::<Ipv4>();
    predicts_bytes::<Ipv6>();
}

/// A memory limit holds, and the best fitting engine is chosen. A limit that none fits is an error
/// that names the bytes needed.
fn caps_hold<F: Engines>(rib: &Rib<F>) {
    let mut refused = 0;
    for kib in [1, 100, 500, 1100, 3000, 50_000] {
        match chosen(rib, &alloc::format!("auto:memory={kib}K")) {
            Ok(fib) => {
                assert!(fib.memory_usage().bytes() <= kib << 10, "{fib:?}");
                fib.check(rib).unwrap();
            }
            Err(CompileError::Memory { limit, smallest, bytes }) => {
                assert_eq!(limit, (kib << 10) as u64);
                assert!(bytes > limit && smallest.parse::<EngineKind>().is_ok());
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!((1..4).contains(&refused), "{refused}");
    let least = rank(rib, &goal("auto:memory=1")).swap_remove(0);
    let bytes = Fib::compile(rib, least.spec).unwrap().memory_usage().bytes();
    assert!(chosen(rib, &alloc::format!("auto:memory={bytes}")).is_ok());
}

#[test]
fn caps_on_memory_hold() {
    caps_hold(&internet::<Ipv4>(20_000, 200));
    caps_hold(&internet::<Ipv6>(20_000, 200));
}

/// A best-ranked engine that refuses the table is passed over.
#[test]
fn the_next_engine_is_tried() {
    let hop = |raw| NextHopId::new(raw).unwrap();
    let mut rib = internet::<Ipv4>(1000, 9);
    rib.insert("0.0.0.0/1".parse().unwrap(), hop(u32::MAX)).unwrap();
    for spec in ["auto", "auto:use=one", "auto:simd=scalar"] {
        let fib = chosen(&rib, spec).unwrap();
        fib.check(&rib).unwrap();
        assert_eq!(fib.lookup("1.2.3.4".parse().unwrap()), Some(hop(u32::MAX)), "{spec}");
    }
    let refusing = rank(&rib, &AutoGoal::default()).into_iter().filter(|it| {
        matches!(
            Fib::compile(&rib, it.spec.clone()),
            Err(CompileError::NextHopTooLarge { .. } | CompileError::TooMany { .. })
        )
    });
    assert!(refusing.count() >= 2, "SAIL and DXR at least refuse so great a next hop");
}

#[test]
fn the_prediction_names_the_compiled_engine() {
    struct Named;
    impl EngineVisitor<Ipv4> for Named {
        type Output = (&'static str, String);
        fn visit<E: Engine<Ipv4>>(self, engine: E) -> Self::Output {
            (E::NAME, engine.variant())
        }
    }
    let rib = internet::<Ipv4>(1000, 9);
    for text in ["auto", "auto:use=one", "auto:memory=200K"] {
        let (prediction, (name, variant)) = compile(&rib, &goal(text), Named).unwrap();
        assert_eq!(name, prediction.spec.kind.name());
        let again = Fib::compile(&rib, prediction.spec).unwrap();
        assert_eq!((again.name(), again.variant()), (name, variant.clone()));
        let built = Ipv4::build(&text.parse().unwrap(), &rib, Named).unwrap();
        assert_eq!(built, (name, variant), "{text}");
    }
}

/// Empty and full tables.
#[test]
fn the_smallest_tables_have_an_engine() {
    fn both<F: Engines>() {
        let mut rib = Rib::<F>::new();
        for spec in ["auto", "auto:use=one", "auto:memory=1M"] {
            chosen(&rib, spec).unwrap().check(&rib).unwrap();
        }
        let everything = Prefix::from_bits_masked(F::Bits::ZERO, 0);
        rib.insert(everything, NextHopId::new(3).unwrap()).unwrap();
        for spec in ["auto", "auto:use=one", "auto:memory=1M"] {
            chosen(&rib, spec).unwrap().check(&rib).unwrap();
        }
    }
    both::<Ipv4>();
    both::<Ipv6>();
}
