use alloc::vec::Vec;

use super::layout::{CHUNK, LONGER, PADDING};
use super::*;
use crate::net::{Ipv6, Prefix, Route};

fn hop(n: u32) -> NextHopId {
    NextHopId::new(n).unwrap()
}

fn rib4(routes: &[(&str, u32)]) -> Rib<Ipv4> {
    routes.iter().map(|(p, n)| Route { prefix: p.parse().unwrap(), next_hop: hop(*n) }).collect()
}

fn compile(rib: &Rib<Ipv4>) -> Result<Sail, CompileError> {
    Sail::compile(rib, &Config::default())
}

fn example() -> Rib<Ipv4> {
    rib4(&[("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.2.0.0/24", 3), ("10.2.1.128/25", 4)])
}

/// The example of the README.
#[test]
fn the_readme_example() {
    let sail = compile(&example()).unwrap();
    assert_eq!((sail.bcn16[0x0900], sail.bcn16[0x0a01]), (0, 1));
    assert_eq!((sail.bcn16[0x0a00], sail.bcn16[0x0a02]), (LONGER, LONGER | 1));
    assert_eq!(sail.bn24[0x3f..0x51][..2], [1, 2]);
    assert_eq!(sail.bn24[0x4f..0x51], [2, 1]);
    assert_eq!(sail.bn24[CHUNK..CHUNK + 3], [3, LONGER, 1]);
    assert_eq!(sail.c24[CHUNK + 1], 0);
    assert_eq!(sail.n32[127..129], [1, 4]);
    let lens = [sail.bcn16.len(), sail.bn24.len(), sail.c24.len(), sail.n32.len()];
    assert_eq!(lens, [65_536 + PADDING, 2 * CHUNK + PADDING, 2 * CHUNK, CHUNK + PADDING]);
    assert_eq!(sail.lookup(0x0a02_0190), NextHopId::new(4));
    sail.check(&example()).unwrap();
}

#[test]
fn edges_of_the_address() {
    let rib = rib4(&[("0.0.0.0/32", 1), ("255.255.255.255/32", 2), ("255.255.255.254/31", 3)]);
    let sail = compile(&rib).unwrap();
    sail.check(&rib).unwrap();
    for simd in Simd::available() {
        let mut out = [None; 130];
        sail.lookup_batch_with(simd, &[u32::MAX; 130], &mut out);
        assert_eq!(out, [NextHopId::new(2); 130]);
    }
    let empty = Rib::new();
    compile(&empty).unwrap().check(&empty).unwrap();
}

/// A next hop has 15 bits, a chunk's number too.
#[test]
fn limits_are_errors() {
    let rib = |id| rib4(&[("10.0.0.0/8", id), ("10.0.0.0/30", 1), ("10.1.1.0/24", id)]);
    compile(&rib(32_767)).unwrap().check(&rib(32_767)).unwrap();
    let refused = CompileError::NextHopTooLarge { engine: NAME, id: 32_768, limit: 32_767 };
    assert_eq!(compile(&rib(32_768)), Err(refused));

    let chunks = |n: u32| -> Rib<Ipv4> {
        let route = |i| Route { prefix: Prefix::from_bits_masked(i << 16, 17), next_hop: hop(1) };
        (0..n).map(route).collect()
    };
    let full = chunks(32_768);
    compile(&full).unwrap().check(&full).unwrap();
    let what = "chunks of level 24 (C16 has 15 bits)";
    let refused = CompileError::TooMany { engine: NAME, what, limit: 32_768 };
    assert_eq!(compile(&chunks(32_769)), Err(refused.clone()));
    assert_eq!(compile(&chunks(65_536)), Err(refused));
}

#[test]
fn ipv4_only_and_options() {
    let spec = |text: &str| text.parse::<super::super::EngineSpec>().unwrap();
    let error = crate::Fib::compile(&Rib::<Ipv6>::new(), spec("sail")).unwrap_err();
    assert_eq!(error, CompileError::Family { engine: NAME, family: "ipv6" });
    let rib = example();
    for variant in ["batch=each", "batch=flight"] {
        let fib = crate::Fib::compile(&rib, spec(&alloc::format!("sail:{variant}"))).unwrap();
        assert_eq!(fib.variant(), variant);
    }
    assert!(crate::Fib::compile(&rib, spec("sail:s=16")).is_err());
}

/// `check` detects damage.
#[test]
fn check_finds_damage() {
    let rib = example();
    let good = compile(&rib).unwrap();
    let damage: [fn(&mut Sail); 13] = [
        |p| p.bcn16[0x0a01] = 2,
        |p| p.bcn16[0x0a00] = LONGER | 7,
        |p| p.bcn16[0x0a02] = LONGER,
        |p| p.bcn16[1 << 16] = 1,
        |p| p.bcn16 = p.bcn16[1..].into(),
        |p| p.bn24[0] = 3,
        |p| p.bn24[CHUNK + 1] = LONGER | 1,
        |p| p.bn24 = p.bn24[..CHUNK].into(),
        |p| p.c24[CHUNK + 1] = 1,
        |p| p.c24[CHUNK] = 1,
        |p| p.c24 = p.c24[..CHUNK].into(),
        |p| p.n32[5] = LONGER | 1,
        |p| p.n32 = [].into(),
    ];
    for (i, damage) in damage.into_iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad);
        // `check` must detect damaged indices before it reads through them.
        assert!(bad.check(&rib).is_err(), "damage {i}");
    }
    assert!(good.check(&rib4(&[("10.0.0.0/8", 1)])).is_err(), "another RIB");
}

/// Every kernel at every level.
#[test]
fn levels_agree() {
    let rib: Rib<Ipv4> = (0..3000u32)
        .map(|i| {
            let prefix = Prefix::from_bits_masked(i.wrapping_mul(0x9e37_79b9), 8 + (i % 25) as u8);
            Route { prefix, next_hop: hop(1 + i % 300) }
        })
        .collect();
    let keys: Vec<u32> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
    let expected: Vec<_> =
        rib.ranges().flat_map(|range| [range.next_hop(), range.next_hop()]).collect();
    for batch in [Batch::Auto, Batch::Each, Batch::Flight] {
        let sail = Sail::compile(&rib, &Config { batch }).unwrap();
        sail.check(&rib).unwrap();
        for simd in Simd::available() {
            let mut out = alloc::vec![None; keys.len()];
            sail.lookup_batch_with(simd, &keys, &mut out);
            assert!(out == expected, "{batch:?} at {}", simd.level());
        }
    }
}
