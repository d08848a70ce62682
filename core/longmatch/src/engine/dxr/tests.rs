use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::direct::Levels;
use super::layout::Word;
use super::layout::{MAX_K, MIN_K};
use super::*;
use crate::engine::testing::{
    Test, batches_agree, built, check_finds, edges_of_ipv4, edges_of_ipv6, hop, rib4, unread_spec,
};
use crate::net::{Family, Prefix, Route};

mod changes;
mod gaps;
mod limits;

fn config(d: u8) -> Config {
    Config { d, ..Config::default() }
}

fn example() -> Rib<Ipv4> {
    rib4(&[
        ("10.0.0.0/8", 1),
        ("10.0.64.0/20", 2),
        ("10.1.64.0/20", 2),
        ("10.2.0.0/24", 3),
        ("10.3.0.128/25", 3),
    ])
}

/// The README's example: a short chunk shared by two direct entries, another short one, and a long
/// one.
#[test]
fn the_readme_example() {
    let dxr = Dxr::<Original>::compile(&example(), &config(16)).unwrap();
    let entries = &dxr.direct.entries;
    assert_eq!(entries[0x0900], 0, "no route");
    assert_eq!(entries[0x0a04], 1 << 13, "next hop 1");
    let shared = 1 << 12 | 2;
    assert_eq!(entries[0x0a00..0x0a02], [shared; 2], "base 0, short, 3 ranges");
    assert_eq!(entries[0x0a02], 2 << 13 | 1 << 12 | 1, "base 2, short, 2 ranges");
    assert_eq!(entries[0x0a03], 3 << 13 | 2, "base 3, long, 3 ranges");
    let halves = u32::halves(&dxr.ranges);
    assert_eq!(halves[..6], [0x0001, 0x4002, 0x5001, 0, 0x0003, 0x0101]);
    assert_eq!(dxr.ranges[3..], [0x0000_0001, 0x0080_0003, 0x0100_0001]);
    assert_eq!(dxr.lookup_bits(0x0a01_4809), NextHopId::new(2));
    dxr.check(&example()).unwrap();
    let statistics = dxr.statistics();
    let counts = |short_chunks, short_fragments| Counts {
        short_chunks,
        short_fragments,
        long_chunks: 1,
        long_fragments: 3,
    };
    assert_eq!(statistics.physical, counts(2, 5));
    assert_eq!(statistics.aggregated, counts(3, 8));
    assert_eq!((statistics.longest, statistics.resolved), (3, 65_536 - 4));
    assert_eq!((statistics.direct_bytes, statistics.range_bytes), (262_144, 24));
    assert_eq!(chunk_lengths(&example(), 16).chunks[..4], [65_532, 1, 3, 0]);
}

/// The same example as the authors' element counts it: short chunks have an even number of fragments, and
/// a route longer than /24 makes a chunk long, whether or not it changes an answer.
#[test]
fn published_statistics_of_the_readme_example() {
    let counts = |short: (usize, usize), long: (usize, usize)| Counts {
        short_chunks: short.0,
        short_fragments: short.1,
        long_chunks: long.0,
        long_fragments: long.1,
    };
    let mut rib = example();
    let published = published_statistics(&rib, 16);
    assert_eq!(published.physical, counts((2, 6), (1, 3)));
    assert_eq!(published.aggregated, counts((3, 10), (1, 3)));
    assert_eq!((published.longest, published.resolved), (3, 65_536 - 4));
    assert_eq!((published.direct_bytes, published.range_bytes), (262_144, 24));
    // Inside of 10.2.0.0/24, which has the same next hop.
    rib.insert("10.2.0.64/26".parse().unwrap(), hop(3)).unwrap();
    let published = published_statistics(&rib, 16);
    assert_eq!(published.physical, counts((1, 4), (2, 5)));
    assert_eq!(published.range_bytes, 28);
    let own = Dxr::<Original>::compile(&rib, &config(16)).unwrap().statistics();
    assert_eq!((own.physical.long_chunks, own.range_bytes), (1, 24));
    // Routes in the same chunk hide this one, whose next hop is beyond a short fragment.
    for (prefix, next_hop) in [("10.4.0.0/17", 256), ("10.4.0.0/18", 1), ("10.4.64.0/18", 2)] {
        rib.insert(prefix.parse().unwrap(), hop(next_hop)).unwrap();
    }
    let published = published_statistics(&rib, 16);
    assert_eq!(published.physical, counts((1, 4), (3, 8)), "10.4 has the fragments 1, 2, 1");
    assert_eq!(published_statistics(&Rib::new(), 20).resolved, 1 << 20);
}

/// Where no route is longer than /24, only the copies of last fragments make a difference.
#[test]
fn published_statistics_agree_with_the_structure() {
    let rib = spread(30);
    assert!(rib.iter().any(|route| route.prefix.len() > 24));
    let mut rib24 = Rib::new();
    for route in rib.iter().filter(|route| route.prefix.len() <= 24) {
        rib24.insert(route.prefix, route.next_hop).unwrap();
    }
    for k in MIN_K..=MAX_K {
        for rib in [&rib, &rib24] {
            let published = published_statistics(rib, k);
            let own = Dxr::<Original>::compile(rib, &config(k)).unwrap().statistics();
            assert_eq!((published.k, published.resolved), (own.k, own.resolved));
            assert_eq!(published.direct_bytes, own.direct_bytes);
            let Counts { short_fragments, long_fragments, .. } = published.physical;
            assert_eq!(published.range_bytes, 2 * short_fragments + 4 * long_fragments);
            let (all, of_own) = (published.aggregated, own.aggregated);
            assert_eq!(
                all.short_chunks + all.long_chunks,
                of_own.short_chunks + of_own.long_chunks
            );
            assert!(all.long_chunks >= of_own.long_chunks);
        }
        let published = published_statistics(&rib24, k);
        let own = Dxr::<Original>::compile(&rib24, &config(k)).unwrap().statistics();
        assert_eq!(published.range_bytes, own.range_bytes);
        assert_eq!(published.physical.short_chunks, own.physical.short_chunks);
        assert_eq!(published.aggregated.long_chunks, 0);
    }
}

/// Two levels store equal blocks of the second once.
#[test]
fn two_levels_hold_the_same_entries() {
    let single = Dxr::<Original>::compile(&example(), &config(20)).unwrap();
    let split = Config { x: 5, ..config(15) };
    let split = Dxr::<Original, Split>::compile(&example(), &split).unwrap();
    assert!(single.slices().entries().eq(split.slices().entries()));
    assert_eq!(single.ranges, split.ranges);
    assert_eq!(split.direct.first.len(), (1 << 15) + 1);
    assert!(split.direct.entries.len() < 8 * 32, "few blocks differ");
    assert_eq!(Structure::variant(&split), "d=15:x=5");
    split.check(&example()).unwrap();
}

/// Calls `each` with every variant of a family.
fn variants<F: crate::Engines>(rib: &Rib<F>, each: Test<'_, F>) {
    let other = if F::WIDTH == 32 { "wide" } else { "xl" };
    for table in ["d=16", "d=18", "d=22", "d=12:x=8", "d=4:x=18"] {
        for format in ["", other, "hops=k"] {
            for batch in ["", "batch=each", "batch=flight", "batch=gather", "batch=line"] {
                let text = format!("dxr:{table}:{format}:{batch}").replace("::", ":");
                each(&*built(text.trim_end_matches(':'), rib).unwrap());
            }
        }
    }
}

#[test]
fn edges_of_the_address() {
    edges_of_ipv4(variants);
    edges_of_ipv6(variants);
}

/// The short format takes only next hops up to 255 and starts at multiples of 256.
#[test]
fn short_chunks_have_small_hops_and_aligned_starts() {
    let is_short = |route: (&str, u32)| {
        let rib = rib4(&[("10.0.0.0/8", 1), route]);
        let dxr = Dxr::<Original>::compile(&rib, &config(18)).unwrap();
        dxr.check(&rib).unwrap();
        dxr.statistics().physical.short_chunks == 1
    };
    assert!(is_short(("10.0.0.0/24", 255)));
    assert!(!is_short(("10.0.0.0/24", 256)));
    assert!(!is_short(("10.0.0.0/25", 255)));
}

#[test]
fn options() {
    let rib = rib4(&[("10.0.0.0/8", 1)]);
    let compile = |text: &str| crate::Fib::<Ipv4>::compile(&rib, unread_spec(text));
    for good in [
        "d=18",
        "d=16",
        "d=22",
        "d=15:x=5",
        "d=16:x=6",
        "d=18:wide:hops=k:batch=gather",
        "d=18:batch=line",
        "d=18:batch=flight",
        "d=18:batch=each",
    ] {
        assert_eq!(compile(&format!("dxr:{good}")).unwrap().variant(), good);
    }
    for bad in [
        "d=15",
        "d=23",
        "d=17:x=3",
        "d=10:x=5",
        "d=16:x=7",
        "x=4",
        "x=0:d=9",
        "d=",
        "xl",
        "hops=9",
        "batch=no",
        "d=255:x=255",
        "",
    ] {
        assert!(matches!(compile(&format!("dxr:{bad}")), Err(CompileError::Option(_))), "{bad}");
    }
    let error = "dxr:x=40".parse::<super::super::EngineSpec>().unwrap_err().to_string();
    assert!(error.starts_with("dxr: no option 'x=40'; expected d=16 to d=22"), "{error}");
    let ipv6 = Rib::<Ipv6>::new();
    assert!(crate::Fib::compile(&ipv6, unread_spec("dxr:xl")).is_ok());
    assert!(crate::Fib::compile(&ipv6, unread_spec("dxr:wide")).is_err());
}

/// `check` detects damage.
#[test]
fn check_finds_damage() {
    let rib = example();
    let good = Dxr::<Original>::compile(&rib, &config(16)).unwrap();
    let damage: &[fn(&mut Dxr<Original>)] = &[
        |p| p.ranges[0] = 9,
        |p| p.ranges[4] = 0x0080_0004,
        |p| p.ranges[4] = 0x0100_0003,
        |p| p.ranges[1] |= u32::MAX / 0xffff * 7,
        |p| p.ranges = p.ranges[..5].into(),
        |p| p.ranges = [][..].into(),
        |p| p.direct.entries[0x0a03] = 500 << 13 | 2,
        |p| p.direct.entries[0x0a03] = 3 << 13 | 3,
        |p| p.direct.entries[0x0a03] = 3 << 13 | 1,
        |p| p.direct.entries[0x0a04] = 2 << 13,
        |p| p.direct.entries[0x0a04] = 1 << 13 | 1 << 12,
        |p| p.direct.entries = p.direct.entries[1..].into(),
    ];
    check_finds(&good, &rib, damage);
    let mut bad = good.clone();
    (bad.k, bad.hop_bits) = (18, 17);
    assert!(bad.check(&rib).is_err());
    assert!(good.check(&rib4(&[("10.0.0.0/8", 1)])).is_err(), "another RIB");
}

/// `check` detects damage to the parts that two levels and `xl` add.
#[test]
fn check_finds_damage_in_other_forms() {
    let rib = example();
    let split = Config { x: 6, ..config(12) };
    let good = Dxr::<Wide, Split>::compile(&rib, &split).unwrap();
    let damage: &[fn(&mut Dxr<Wide, Split>)] = &[
        |p| p.direct.first[3] = 900,
        |p| p.direct.first[0x0a0] = 0,
        |p| p.direct.x = 18,
        |p| p.direct.first = p.direct.first[1..].into(),
        |p| p.direct.entries = p.direct.entries[..70].into(),
        |p| p.direct.entries.copy_within(..64, 64),
    ];
    check_finds(&good, &rib, damage);
    let rib: Rib<Ipv6> = (0..5000u128)
        .map(|i| Prefix::from_bits_masked(1 + 2 * i, 128))
        .map(|prefix| Route { prefix, next_hop: hop(7) })
        .collect();
    let good = Dxr::<Xl>::compile(&rib, &config(18)).unwrap();
    good.check(&rib).unwrap();
    for size in [0, 1, 8000, 10_000, 10_002, u128::from(u64::MAX)] {
        let mut bad = good.clone();
        bad.ranges[0] = size;
        assert!(bad.check(&rib).is_err(), "size {size}");
    }
}

/// A table of many lengths and next hops.
fn spread(hops: u32) -> Rib<Ipv4> {
    (0..3000u32)
        .map(|i| {
            let bits = i.wrapping_mul(0x9e37_79b9) & 0x03ff_ffff;
            let prefix = Prefix::from_bits_masked(bits, 8 + (i % 25) as u8);
            Route { prefix, next_hop: hop(1 + i % hops) }
        })
        .collect()
}

/// Both ends of every range, at every level, with every variant.
fn agree<F: crate::Engines>(rib: &Rib<F>) {
    variants(rib, &mut |engine| batches_agree(engine, rib));
}

/// Every kernel, on short and long chunks of all sizes. IPv6 starts differ in high or in low bits.
#[test]
fn levels_agree() {
    agree(&spread(30));
    agree(&spread(300));
    let route = |i: u32| {
        let bits = u128::from(i.wrapping_mul(0x9e37_79b9)) << 78 | u128::from((i % 7) << (i % 30));
        let prefix = Prefix::from_bits_masked(bits, 16 + (i % 113) as u8);
        Route { prefix, next_hop: hop(1 + i % 30) }
    };
    agree::<Ipv6>(&(0..3000).map(route).collect());
}

/// Chunks with their size in front, in lanes.
#[test]
fn levels_agree_on_long_chunks() {
    let rib: Rib<Ipv6> = (0..5000u128)
        .map(|i| Prefix::from_bits_masked(i << 62, 66))
        .chain((0..5000u128).map(|i| Prefix::from_bits_masked(1 << 126 | i << 63, 66)))
        .map(|prefix| Route { prefix, next_hop: hop(1 + (prefix.first() >> 62) as u32 % 300) })
        .collect();
    let dxr = Dxr::<Xl>::compile(&rib, &config(16)).unwrap();
    dxr.check(&rib).unwrap();
    assert!(dxr.statistics().longest > 9000);
    batches_agree(&dxr, &rib);
}

/// Chunk lengths and statistics agree; equal chunks are one physical chunk.
#[test]
fn statistics_agree_with_chunk_lengths() {
    let rib = spread(30);
    for k in MIN_K..=MAX_K {
        let statistics = Dxr::<Original>::compile(&rib, &config(k)).unwrap().statistics();
        let lengths = chunk_lengths(&rib, k);
        assert_eq!(lengths.chunks.iter().sum::<usize>(), 1 << k);
        assert_eq!(lengths.chunks[0], statistics.resolved);
        assert_eq!(lengths.longest, statistics.longest);
        let Counts { short_chunks, long_chunks, .. } = statistics.aggregated;
        assert_eq!(statistics.resolved + short_chunks + long_chunks, 1 << k);
        let mut distinct: BTreeMap<Vec<(u32, u32)>, usize> = BTreeMap::new();
        compile::for_each_chunk(&rib, k, |count, fragments| {
            let chunk: Vec<_> = fragments.iter().map(|f| (f.start, f.hop)).collect();
            *distinct.entry(chunk).or_default() += count;
            Ok::<(), core::convert::Infallible>(())
        })
        .unwrap();
        distinct.retain(|chunk, _| chunk.len() > 1);
        let Counts { short_chunks, long_chunks, short_fragments, long_fragments } =
            statistics.physical;
        assert_eq!(short_chunks + long_chunks, distinct.len());
        let fragments: usize = distinct.keys().map(Vec::len).sum();
        assert_eq!(short_fragments + long_fragments, fragments);
    }
    let fib = crate::Fib::compile(&rib, super::super::EngineKind::Dxr).unwrap();
    assert_eq!(fib.statistics(&rib).len(), 8 + 7);
}
