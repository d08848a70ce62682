use super::layout::{CHUNK, LONGER, PADDING};
use super::*;
use crate::engine::testing::{
    Test, batches_agree, check_finds, edges_of_ipv4, hop, rib4, spread, unread_spec,
};
use crate::net::{Ipv6, Prefix, Route};

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
    assert_eq!(sail.lookup_bits(0x0a02_0190), NextHopId::new(4));
    sail.check(&example()).unwrap();
}

fn variants(rib: &Rib<Ipv4>, each: Test<'_, Ipv4>) {
    for batch in [Batch::Auto, Batch::Each, Batch::Flight] {
        each(&Sail::compile(rib, &Config { batch }).unwrap());
    }
}

#[test]
fn edges_of_the_address() {
    edges_of_ipv4(variants);
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
    assert!(crate::Fib::compile(&rib, unread_spec("sail:s=16")).is_err());
}

/// `check` detects damage.
#[test]
fn check_finds_damage() {
    let rib = example();
    let good = compile(&rib).unwrap();
    let damage: &[fn(&mut Sail)] = &[
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
    check_finds(&good, &rib, damage);
    assert!(good.check(&rib4(&[("10.0.0.0/8", 1)])).is_err(), "another RIB");
}

/// Every kernel at every level.
#[test]
fn levels_agree() {
    let rib = spread(8..=32, 300);
    variants(&rib, &mut |sail| {
        sail.check(&rib).unwrap();
        batches_agree(sail, &rib);
    });
}
