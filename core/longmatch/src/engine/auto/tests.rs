use alloc::string::{String, ToString};
use core::time::Duration;

use super::goal::parse_time;
use super::*;
use crate::engine::Engines;
use crate::simd::Level;
use crate::{Bits, Family, Fib, Ipv4, Ipv6, NextHopId, Prefix, Route};

fn goal(text: &str) -> AutoGoal {
    AutoGoal::of(&text.parse().unwrap()).unwrap()
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

#[test]
fn options_are_read() {
    assert_eq!(goal("auto"), AutoGoal::default());
    for (size, expected) in [("1", 1), ("3K", 3 << 10), ("2G", 2 << 30)] {
        assert_eq!(goal(&alloc::format!("auto:memory={size}")).memory, Some(expected));
    }
    for (limit, lower) in [(5, 5), (5 << 20, 4 << 20)] {
        let spec = "auto:memory=4M".parse::<EngineSpec>().unwrap().with_memory(limit);
        assert_eq!(AutoGoal::of(&spec).unwrap().memory, Some(lower));
    }
    for (text, millis) in [("1ms", 1), ("50ms", 50), ("2s", 2000), ("10s", 10_000)] {
        let time = parse_time(text).unwrap();
        assert_eq!(time, Duration::from_millis(millis));
        let goal = AutoGoal::of(&alloc::format!("auto:try={text}").parse().unwrap());
        assert_eq!(goal.is_ok(), cfg!(feature = "std"), "{goal:?}");
        let trial = Some(Trial { time, ..Trial::default() });
        assert!(goal.is_ok_and(|goal| goal.trial == trial) || cfg!(not(feature = "std")));
    }
    #[cfg(feature = "std")]
    {
        let all = goal("auto:use=batch:use=one:simd=scalar:traffic=few:try=50ms");
        let (usage, traffic, level) = (Usage::One, Locality::Few, Some(Level::Scalar));
        let trial = Trial { usage, traffic, level, ..Trial::default() };
        assert_eq!(all, AutoGoal { memory: None, trial: Some(trial) });
    }
}

#[test]
fn other_options_are_errors() {
    for option in [
        "use",
        "use=",
        "use=one",
        "traffic=few",
        "simd=avx2",
        "memory",
        "memory=",
        "memory=M",
        "memory=0",
        "memory=-1",
        "memory=+1",
        "memory=4m",
        "memory=4 M",
        "memory=99999999999G",
        "cpu=zen4",
        "calibrate=off",
        "try=",
        "try=50",
        "try=+1s",
        "try=0ms",
        "try=11000ms",
        "try=99999999999999999s",
        "s=18",
        "",
    ] {
        let spec = EngineSpec::from(EngineKind::Auto).option(option);
        let error = AutoGoal::of(&spec).unwrap_err();
        assert_eq!((error.engine, &*error.option), (NAME, option));
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

/// No two engines have the same place, and the oracle has none.
#[test]
fn the_order_of_engines_is_one() {
    let place = |kind: EngineKind| kind.descriptor().unwrap().order;
    let mut places: Vec<_> = order().map(place).collect();
    places.dedup();
    assert_eq!(places.len(), order().count());
    assert!(order().all(|kind| !kind.is_oracle()));
    let of_six: Vec<_> = candidates::<Ipv6>(None).map(|spec| spec.kind).collect();
    assert!(of_six.iter().all(|kind| Ipv6::has(*kind)) && !of_six.contains(&EngineKind::Sail));
}

/// What a choice says of itself, for tables of all sizes, with and without a limit. A table of few routes that stays so
/// is small; one that may grow is not.
#[test]
fn the_first_engine_is_chosen() {
    fn first<F: Engines>() {
        let first = candidates::<F>(None).next().unwrap();
        for count in [0, 1, 7, 3000] {
            let rib = internet::<F>(count, 5);
            let few = F::WIDTH == Ipv4::WIDTH && rib.len() <= FEW;
            let first = if few { first.clone().option(SPARE) } else { first.clone() };
            for memory in [None, Some(1 << 30)] {
                let (choice, fib) = Fib::choose(&rib, &AutoGoal { memory, trial: None }).unwrap();
                fib.check(&rib).unwrap();
                assert_eq!((fib.name(), choice.spec.kind), (first.kind.name(), first.kind));
                assert_eq!(choice.bytes, fib.memory_usage().bytes() as u64);
                assert_eq!(alloc::format!("{choice}"), alloc::format!("auto: {first}"));
            }
        }
    }
    first::<Ipv4>();
    first::<Ipv6>();
    let few = internet::<Ipv4>(FEW as u32, 5);
    let frozen = Fib::compile(&few, EngineKind::Auto).unwrap().memory_usage().bytes();
    let live = crate::live::Writer::new(few, EngineKind::Auto).unwrap().memory_usage().bytes();
    assert!(frozen < 16 << 10 && live > 64 << 10, "{frozen}, {live}");
}

/// Where a limit refuses the first engine, the smallest of the others that keep it is chosen.
fn the_smallest_is_chosen<F: Engines>(rib: &Rib<F>) {
    let bytes = |spec| Some(Fib::compile(rib, spec).ok()?.memory_usage().bytes() as u64);
    let first = candidates::<F>(None).next().unwrap();
    let (mut sizes, limits) = (Vec::new(), [1 << 10, 200 << 10, 1 << 20, 4 << 20, 1 << 30]);
    for limit in limits {
        let mut build = |spec: &EngineSpec| match spec.kind {
            kind if kind == first.kind => {
                Err(CompileError::TooLarge { engine: kind.name(), bytes: limit + 1, limit })
            }
            _ => boxed(spec, rib),
        };
        let least = candidates::<F>(Some(limit)).skip(1).filter_map(bytes).min();
        match choose(rib, Some(limit), Life::Live, &mut build) {
            Ok((choice, engine)) => {
                engine.check(rib).unwrap();
                assert_eq!(choice.spec.memory, Some(limit));
                assert_eq!(choice.bytes, engine.memory_usage().bytes() as u64);
                assert!(least == Some(choice.bytes) && choice.bytes <= limit, "{choice:?}");
                let text = choice.to_string();
                let start = alloc::format!("auto: {first} may take {}", Size(limit + 1));
                let end = alloc::format!("{} takes {}", choice.spec, Size(choice.bytes));
                assert!(text.starts_with(&start) && text.ends_with(&end), "{text}");
                sizes.push(choice.bytes);
            }
            Err(error) => {
                let smallest = first.kind.name();
                assert_eq!(error, CompileError::Memory { limit, smallest, bytes: limit + 1 });
                assert_eq!(least, None);
            }
        }
    }
    assert!(!sizes.is_empty() && sizes.len() < limits.len(), "{sizes:?}");
}

/// The first engine is chosen from its own estimate on. A limit that none keeps is an error that
/// names a sufficient one.
fn limits_hold<F: Engines>(rib: &Rib<F>) {
    let choose = |limit| Fib::choose(rib, &AutoGoal { memory: Some(limit), trial: None });
    let first = candidates::<F>(Some(1)).next().unwrap();
    let needed = match Fib::compile(rib, first.clone()) {
        Err(CompileError::TooLarge { bytes, .. }) => bytes,
        other => panic!("{other:?}"),
    };
    let (choice, fib) = choose(needed).unwrap();
    assert_eq!((choice.spec.kind, choice.refusal), (first.kind, None));
    assert!(fib.memory_usage().bytes() as u64 <= needed);
    match choose(1 << 10) {
        Err(CompileError::Memory { limit, smallest, bytes }) => {
            assert!(limit == 1 << 10 && bytes > limit);
            assert!(smallest.parse::<EngineKind>().is_ok(), "{smallest}");
            assert!(choose(bytes).unwrap().0.bytes <= bytes);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn limits_on_memory_hold() {
    let (four, six) = (internet::<Ipv4>(20_000, 200), internet::<Ipv6>(20_000, 200));
    limits_hold(&four);
    limits_hold(&six);
    the_smallest_is_chosen(&four);
    the_smallest_is_chosen(&six);
}

/// An engine that cannot hold the table is passed over, after its wider variants.
#[test]
fn the_next_engine_is_tried() {
    let rib = internet::<Ipv4>(1000, 9);
    let refusal = CompileError::TooMany { engine: "folio", what: "pages", limit: 1 };
    let mut attempts = Vec::new();
    let mut build = |spec: &EngineSpec| {
        attempts.push(alloc::format!("{spec}"));
        match spec.kind {
            EngineKind::Folio => Err(refusal.clone()),
            _ => boxed(spec, &rib),
        }
    };
    let (choice, engine) = choose::<Ipv4, _>(&rib, None, Life::Live, &mut build).unwrap();
    engine.check(&rib).unwrap();
    let folio = EngineSpec::from(EngineKind::Folio);
    let mut expected = folio.wider();
    expected.insert(0, folio);
    expected.push(EngineKind::Poptrie.into());
    let expected: Vec<_> = expected.iter().map(EngineSpec::to_string).collect();
    assert_eq!(attempts, expected);
    assert_eq!(choice.spec.kind, EngineKind::Poptrie);
    let text = alloc::format!("{choice}");
    assert!(text.starts_with("auto: folio: the table needs more than 1 pages; poptrie takes "));

    let mut rib = rib;
    let hop = NextHopId::new(70_000).unwrap();
    rib.insert("0.0.0.0/1".parse().unwrap(), hop).unwrap();
    let spider = EngineSpec::from(EngineKind::Spider);
    let (wide, ..) = try_wider(spider, &mut |spec| boxed(spec, &rib)).unwrap();
    assert_eq!(wide.to_string(), "spider:entry=64");
}

/// Without an engine that holds the table, the error is that of the first.
#[test]
fn the_error_is_the_first_ones() {
    let rib = internet::<Ipv4>(10, 9);
    let mut refuse = |spec: &EngineSpec| -> Result<(u64, ()), _> {
        let (engine, id, limit) = (spec.kind.name(), 9, 8);
        Err(CompileError::NextHopTooLarge { engine, id, limit })
    };
    let error = choose::<Ipv4, _>(&rib, None, Life::Live, &mut refuse).unwrap_err();
    assert!(matches!(error, CompileError::NextHopTooLarge { engine: "folio", .. }), "{error}");
    assert_eq!(none_fits(Vec::new(), "ipv4"), CompileError::NoEngine { family: "ipv4" });
}

struct Named;

impl<F: Family> EngineVisitor<F> for Named {
    type Output = (&'static str, String);

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        (E::NAME, engine.variant())
    }
}

/// A visitor gets the engine that a pointer leads to.
#[test]
fn the_choice_names_the_compiled_engine() {
    let rib = internet::<Ipv4>(1000, 9);
    for text in ["auto", "auto:memory=200K"] {
        let (choice, (name, variant)) = compile(&rib, &goal(text), Named).unwrap();
        assert_eq!(name, choice.spec.kind.name());
        let spec = text.parse::<EngineSpec>().unwrap();
        for again in [choice.spec, spec.clone()] {
            let again = Fib::compile(&rib, again).unwrap();
            assert_eq!((again.name(), again.variant()), (name, variant.clone()));
        }
        assert_eq!(Ipv4::build(&spec, &rib, Named).unwrap(), (name, variant), "{text}");
    }
}

/// A trial compiles what fits, keeps one of it, and reports all of it.
#[test]
#[cfg(feature = "std")]
fn a_trial_chooses_the_fastest() {
    fn tries<F: Engines>(rib: &Rib<F>, spec: &str) {
        let goal = goal(spec);
        let (choice, (name, _)) = compile(rib, &goal, Named).unwrap();
        assert_eq!(choice.spec.kind.name(), name);
        let least = choice.tried.iter().min_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds));
        assert_eq!(least.unwrap().spec, choice.spec);
        assert!(choice.tried.len() == 3 && least.unwrap().nanoseconds > 0.0, "{choice:?}");
        let (choice, fib) = Fib::choose(rib, &goal).unwrap();
        fib.check(rib).unwrap();
        assert!(fib.memory_usage().bytes() as u64 <= goal.memory.unwrap_or(u64::MAX));
        assert!(choice.tried.iter().any(|it| it.spec.kind.name() == fib.name()));
        let (text, fastest) = (alloc::format!("{choice}"), alloc::format!("{}", choice.spec));
        assert!(text.contains(&alloc::format!("{fastest}, the fastest of ")), "{text}");
    }
    let (four, six) = (internet(5_000, 20), internet(5_000, 20));
    for spec in ["auto:try=1ms", "auto:use=one:traffic=few:try=1ms", "auto:memory=12M:try=1ms"] {
        tries::<Ipv4>(&four, spec);
        tries::<Ipv6>(&six, spec);
    }
    let (choice, _) = compile(&Rib::<Ipv4>::new(), &goal("auto:try=1ms"), Named).unwrap();
    assert!(choice.tried.is_empty(), "no address is routed");
    match Fib::choose(&four, &goal("auto:memory=1K:try=1ms")) {
        Err(CompileError::Memory { limit, bytes, .. }) => assert!(limit == 1024 && bytes > limit),
        other => panic!("{:?}", other.map(|(choice, _)| choice)),
    }
    let trial = Some(Trial { time: Duration::from_nanos(1), ..Trial::default() });
    let error = compile(&four, &AutoGoal { trial, memory: None }, Named).unwrap_err();
    assert!(matches!(error, CompileError::Option(_)), "{error}");
}

/// Empty and full tables.
#[test]
fn the_smallest_tables_have_an_engine() {
    fn both<F: Engines>() {
        let mut rib = Rib::<F>::new();
        let check = |rib: &Rib<F>| {
            for spec in ["auto", "auto:memory=1M", "auto:memory=3K"] {
                Fib::compile(rib, spec.parse::<EngineSpec>().unwrap()).unwrap().check(rib).unwrap();
            }
        };
        check(&rib);
        let everything = Prefix::from_bits_masked(F::Bits::ZERO, 0);
        rib.insert(everything, NextHopId::new(3).unwrap()).unwrap();
        check(&rib);
    }
    both::<Ipv4>();
    both::<Ipv6>();
}
