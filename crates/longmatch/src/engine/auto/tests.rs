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
    let (usage, memory, level) = (Usage::One, Some(4 << 20), Some(Level::Scalar));
    assert_eq!(all, AutoGoal { usage, memory, level, ..AutoGoal::default() });
    let planned = goal("auto:traffic=few:calibrate=off:cpu=zen4");
    let (traffic, cpu) = (Locality::Few, PlannedCpu::Typical(Microarch::Zen4));
    assert_eq!(planned, AutoGoal { traffic, cpu, ..AutoGoal::default() });
    assert_eq!(goal("auto:cpu=zen4:calibrate=off").cpu, PlannedCpu::Uncalibrated);
    for (text, millis) in [("1ms", 1), ("50ms", 50), ("2s", 2000), ("10s", 10_000)] {
        let trial = parse_time(text).unwrap();
        assert_eq!(trial, Duration::from_millis(millis));
        let spec = alloc::format!("auto:try={text}").parse::<EngineSpec>().unwrap();
        let goal = AutoGoal::parse(&spec.options);
        assert_eq!(goal.is_ok(), cfg!(feature = "std"), "{goal:?}");
        assert!(goal.is_ok_and(|goal| goal.trial == Some(trial)) || cfg!(not(feature = "std")));
    }
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
        "traffic=",
        "traffic=many",
        "cpu=zen1",
        "calibrate=on",
        "try=",
        "try=50",
        "try=+1s",
        "try=0ms",
        "try=11000ms",
        "try=99999999999999999s",
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

/// The important choices of engine, at every level and for every CPU, also those of other machines.
#[test]
fn folio_is_chosen_for_batches_in_vectors() {
    let (four, six) = (internet::<Ipv4>(60_000, 200), internet::<Ipv6>(60_000, 200));
    for (level, cpu) in [
        ("avx2", "zen3"),
        ("avx2", "zen4"),
        ("avx2", "other"),
        ("avx512", "zen4"),
        ("avx512", "zen5"),
        ("avx512", "intel"),
    ] {
        let goal = goal(&alloc::format!("auto:simd={level}:cpu={cpu}"));
        assert_eq!(rank(&four, &goal)[0].spec.kind, EngineKind::Folio, "{level}, {cpu}");
        assert_eq!(rank(&six, &goal)[0].spec.kind, EngineKind::Folio, "{level}, {cpu}");
    }
}

/// The bytes and cycles of an engine's first candidate for a description of a CPU.
fn predicted(rib: &Rib<Ipv4>, kind: EngineKind, conditions: &Conditions) -> Prediction {
    let ranking = ranked::<Ipv4>(&Summary::of(rib), None, conditions);
    ranking.into_iter().find(|it| it.spec.kind == kind).unwrap()
}

/// Large tables suffer more than small ones where caches are small, and gain more where destinations
/// repeat.
#[test]
fn plans_follow_the_caches_and_the_traffic() {
    let rib = internet::<Ipv4>(60_000, 200);
    let large = goal("auto:use=one:simd=scalar:cpu=zen5").conditions();
    let mut small = large;
    (small.cpu.caches.l2, small.cpu.caches.l3) = (256 << 10, 2 << 20);
    let few = Conditions { traffic: Locality::Few, ..small };
    let cycles = |kind, conditions| predicted(&rib, kind, conditions).cycles;
    let slower = |kind, a, b| cycles(kind, a) / cycles(kind, b);
    let (direct, compact) = (EngineKind::Dir24_8, EngineKind::Poptrie);
    assert!(slower(direct, &small, &large) > slower(compact, &small, &large));
    assert!(slower(direct, &small, &few) > slower(compact, &small, &few));
    let bytes = predicted(&rib, direct, &large).bytes;
    assert_eq!(bytes, predicted(&rib, direct, &few).bytes, "only the time depends on the CPU");
}

/// The same description gives the same ranking.
#[test]
fn rankings_are_repeatable() {
    let rib = internet::<Ipv6>(5_000, 20);
    for microarch in Microarch::ALL {
        let goal = goal(&alloc::format!("auto:simd=avx2:cpu={}", microarch.name()));
        assert_eq!(rank(&rib, &goal), rank(&rib, &goal));
    }
    assert_eq!(rank(&rib, &goal("auto")), rank(&rib, &goal("auto")), "measured once at most");
}

/// A trial compiles what fits, keeps one of it, and reports all of it.
#[test]
#[cfg(feature = "std")]
fn a_trial_chooses_among_the_best() {
    struct Named;
    impl<F: Family> EngineVisitor<F> for Named {
        type Output = (&'static str, String);
        fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
            (E::NAME, engine.variant())
        }
    }
    fn tries<F: Engines>(rib: &Rib<F>, spec: &str) {
        let goal = goal(spec);
        let (choice, (name, _)) = compile(rib, &goal, Named).unwrap();
        assert_eq!(choice.prediction.spec.kind.name(), name);
        let least = choice.tried.iter().min_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds));
        assert_eq!(least.unwrap().spec, choice.prediction.spec);
        assert!(choice.tried.len() == 3 && least.unwrap().nanoseconds > 0.0, "{choice:?}");
        let fib = chosen(rib, spec).unwrap();
        fib.check(rib).unwrap();
        let limit = goal.memory.unwrap_or(u64::MAX);
        assert!(fib.memory_usage().bytes() as u64 <= limit);
        assert!(choice.tried.iter().any(|it| it.spec.kind.name() == fib.name()));
    }
    let (four, six) = (internet(5_000, 20), internet(5_000, 20));
    for spec in ["auto:try=1ms", "auto:use=one:traffic=few:try=1ms", "auto:memory=2M:try=1ms"] {
        tries::<Ipv4>(&four, spec);
        tries::<Ipv6>(&six, spec);
    }
    let (choice, _) = compile(&Rib::<Ipv4>::new(), &goal("auto:try=1ms"), Named).unwrap();
    assert!(choice.tried.is_empty(), "no address is routed");
    match chosen(&four, "auto:memory=1K:try=1ms") {
        Err(CompileError::Memory { limit, bytes, .. }) => assert!(limit == 1024 && bytes > limit),
        other => panic!("{other:?}"),
    }
    let trial = Some(Duration::from_nanos(1));
    let error = compile(&four, &AutoGoal { trial, ..AutoGoal::default() }, Named).unwrap_err();
    assert!(matches!(error, CompileError::Option(_)), "{error}");
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
    let small = [(1, 1), (10, 3), (3000, 200)];
    // The last table has next hops that few forms hold.
    for (count, hops) in
        small.into_iter().chain([(60_000, 1000), (60_000, 70_000), (9000, 1 << 20)])
    {
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
        let (choice, (name, variant)) = compile(&rib, &goal(text), Named).unwrap();
        let Choice { prediction, .. } = choice;
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
