use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::addr::{Bits, Ipv4, Ipv6};
use crate::route::Route;

fn hop(n: u32) -> NextHopId {
    NextHopId::new(n).unwrap()
}

fn prefix<F: Family>(text: &str) -> Prefix<F> {
    text.parse().unwrap()
}

fn rib<F: Family>(routes: &[(&str, u32)]) -> Rib<F> {
    routes.iter().map(|(p, n)| Route { prefix: prefix(p), next_hop: hop(*n) }).collect()
}

/// A RIB and its tables, changed together; checked after each step.
struct Pair<F: Family, E> {
    rib: Rib<F>,
    tables: Dir24_8<F, E>,
}

impl<F: Family, E: Entry> Pair<F, E> {
    fn new(rib: Rib<F>) -> Self {
        let tables = Dir24_8::compile(&rib, &()).unwrap();
        Self { rib, tables }
    }

    fn change(&mut self, prefix: Prefix<F>, raw: u32) {
        match NextHopId::new(raw) {
            Some(next_hop) => self.rib.insert(prefix, next_hop).map(|_| ()).unwrap(),
            None => self.rib.remove(prefix).map_or((), |_| ()),
        }
        self.tables.apply(&self.rib, &[prefix]).unwrap();
    }

    fn step(&mut self, text: &str, raw: u32) {
        self.change(prefix(text), raw);
        self.tables.check(&self.rib).unwrap_or_else(|corrupt| panic!("{text} {raw}: {corrupt}"));
    }

    fn answer(&self, text: &str) -> u32 {
        let addr = prefix::<F>(text).first();
        NextHopId::to_raw(self.tables.lookup(addr))
    }
}

/// The example of the README.
#[test]
fn the_readme_example() {
    let routes = [("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.0.80.128/25", 3)];
    let rib = rib::<Ipv4>(&routes);
    let tables = Dir24_8::<Ipv4>::compile(&rib, &()).unwrap();
    assert_eq!(tables.tbl24[0x0a_00_00], 1);
    assert_eq!(tables.tbl24[0x0a_00_40..=0x0a_00_4f], [2; 16]);
    assert_eq!(tables.tbl24[0x0a_00_50], 0x8000, "group 0");
    assert_eq!(tables.tbl24[0x0b_00_00], 0);
    assert_eq!(tables.tbl8[..128], [1; 128]);
    assert_eq!(tables.tbl8[128..], [3; 128]);
    assert_eq!(tables.lookup(0x0a00_50c8), Some(hop(3)));
    tables.check(&rib).unwrap();
}

/// D5: all 32,768 groups of 16-bit entries are usable, by compiling and by updating, and in an
/// exchange of one for another; one more is refused and changes nothing. D1: also after many
/// rounds.
#[test]
fn n_of_n_groups_are_usable() {
    let block = |i: u32| Prefix::<Ipv4>::from_bits_masked(i << 8 | 0x40, 26);
    let full: Rib<Ipv4> =
        (0..32_768).map(|i| Route { prefix: block(i), next_hop: hop(7) }).collect();
    let mut pair = Pair::<Ipv4, u16>::new(full);
    assert_eq!(pair.tables.groups_in_use(), 32_768);
    pair.tables.check(&pair.rib).unwrap();
    for round in 0..3 {
        let (old, new) = (block(32_768 + round - 1), block(32_768 + round));
        let before = pair.tables.clone();
        pair.rib.insert(new, hop(8)).unwrap();
        let error = pair.tables.apply(&pair.rib, &[new]).unwrap_err();
        let limit = CompileError::TooMany { engine: NAME, what: "tbl8 groups", limit: 32_768 };
        assert_eq!(error, UpdateError::Limit(limit.clone()));
        assert!(pair.tables == before, "a refused change left a trace");
        assert_eq!(Dir24_8::<Ipv4, u16>::compile(&pair.rib, &()).unwrap_err(), limit);
        pair.rib.remove(old);
        pair.tables.apply(&pair.rib, &[new, old]).unwrap();
        assert_eq!((pair.tables.groups_in_use(), pair.tables.free.len()), (32_768, 0));
    }
    pair.tables.check(&pair.rib).unwrap();
}

/// The other limit of 16-bit entries, and the choice of entries by the table.
#[test]
fn limits_are_errors_and_choose_the_entries() {
    struct Variant;
    impl<F: Family> EngineVisitor<F> for Variant {
        type Output = String;
        fn visit<E: Engine<F>>(self, engine: E) -> String {
            engine.variant()
        }
    }
    let narrow = ["entry=16".into()];
    for (id, variant) in [(32_767, "entry=16"), (32_768, "entry=32")] {
        let rib = rib::<Ipv4>(&[("10.0.0.0/8", id), ("10.0.0.0/30", id)]);
        assert_eq!(build(&[], &rib, Variant).unwrap(), variant);
        assert_eq!(build(&narrow, &rib, Variant).is_ok(), id == 32_767);
    }
    let too_large = rib::<Ipv4>(&[("10.0.0.0/8", 32_768)]);
    let limit = CompileError::NextHopTooLarge { engine: NAME, id: 32_768, limit: 32_767 };
    assert_eq!(build(&narrow, &too_large, Variant).unwrap_err(), limit);
    let error = rib::<Ipv4>(&[("10.0.0.0/8", 1 << 31)]);
    assert!(build(&[], &error, Variant).is_err(), "31 bits are not enough");
    for bad in ["entry=8", "entry", "", "s=18"] {
        assert!(build(&[bad.into()], &too_large, Variant).is_err(), "{bad}");
    }
    let mut pair = Pair::<Ipv4, u16>::new(rib(&[("10.0.0.0/8", 1)]));
    let before = pair.tables.clone();
    pair.rib.insert(prefix("10.1.0.0/16"), hop(40_000)).unwrap();
    pair.rib.remove(prefix("10.0.0.0/8"));
    let changed = [prefix("10.0.0.0/8"), prefix("10.1.0.0/16")];
    assert!(pair.tables.apply(&pair.rib, &changed).is_err());
    assert!(pair.tables == before);
}

/// D11, D12, V1: the default route first, last and withdrawn; covers over specifics.
#[test]
fn reads_of_ipv4_are_tbl24() {
    fn reads<F: Family, E: Entry>() -> Vec<usize> {
        Engine::reads(&Dir24_8::<F, E>::compile(&Rib::new(), &()).unwrap())
    }
    assert_eq!(reads::<Ipv4, u16>(), [2 << 24]);
    assert_eq!(reads::<Ipv4, u32>(), [4 << 24]);
    assert!(reads::<Ipv6, u32>().is_empty(), "they depend on the address");
}

#[test]
fn covers_spare_their_specifics() {
    let mut pair = Pair::<Ipv4, u16>::new(Rib::new());
    pair.step("0.0.0.0/0", 1);
    pair.step("10.0.0.255/32", 2);
    pair.step("10.0.0.0/8", 3);
    assert_eq!((pair.answer("10.0.0.255/32"), pair.answer("10.0.0.254/32")), (2, 3));
    pair.step("0.0.0.0/0", 0);
    pair.step("10.0.0.0/16", 4);
    pair.step("0.0.0.0/0", 5);
    pair.step("10.0.0.0/24", 6);
    assert_eq!((pair.answer("10.0.0.255/32"), pair.answer("10.0.0.254/32")), (2, 6));
    assert_eq!((pair.answer("10.1.0.0/32"), pair.answer("9.0.0.0/32")), (3, 5));
}

/// F1, R3, R1: withdrawal in a chain of covers, of all but one, of host routes at both ends.
#[test]
fn withdrawals_show_the_right_cover() {
    let mut pair = Pair::<Ipv4, u16>::new(rib(&[
        ("10.0.0.0/22", 1),
        ("10.0.0.0/23", 2),
        ("10.0.0.0/24", 3),
        ("10.0.0.0/28", 3),
        ("10.0.0.0/31", 4),
        ("0.0.0.0/32", 5),
        ("255.255.255.255/32", 6),
    ]));
    pair.step("10.0.0.0/23", 0);
    assert_eq!((pair.answer("10.0.1.0/32"), pair.answer("10.0.0.16/32")), (1, 3));
    pair.step("10.0.0.0/28", 0);
    pair.step("10.0.0.0/24", 0);
    assert_eq!((pair.answer("10.0.0.0/32"), pair.answer("10.0.0.2/32")), (4, 1));
    pair.step("0.0.0.0/32", 0);
    pair.step("255.255.255.255/32", 0);
    pair.step("10.0.0.0/31", 0);
    assert_eq!(pair.tables.groups_in_use(), 0);
    pair.step("10.0.0.0/22", 0);
    pair.step("10.9.0.0/22", 0);
}

/// D1, D3, R2: adding and deleting for ever takes no more memory, and a child with its parent's
/// next hop counts like any other.
#[test]
fn groups_are_reused() {
    let mut pair = Pair::<Ipv6, u32>::new(rib(&[("2001:db8::/32", 1)]));
    for round in 0..50u32 {
        for host in ["2001:db8::1/128", "2001:db8:fffe::/47", "2001:db8::/33"] {
            pair.change(prefix(host), 1 + round % 2);
        }
        assert_eq!(pair.tables.groups_in_use(), 1 + 12 + 1);
        for host in ["2001:db8:fffe::/47", "2001:db8::1/128", "2001:db8::/33"] {
            pair.change(prefix(host), 0);
        }
    }
    assert_eq!(pair.tables.tbl8.len(), 14 * 256);
    pair.tables.check(&pair.rib).unwrap();
    pair.step("2001:db8::/32", 0);
    assert_eq!(pair.tables.tbl8.capacity(), 0, "an empty table has given everything back");
}

/// Random announcements and withdrawals that nest and meet, at both ends and round the strides, in
/// batches of several sizes.
fn random_changes<F: Family, E: Entry>(steps: u32) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut pair = Pair::<F, E>::new(Rib::new());
    for step in 0..steps {
        let mut changed = Vec::new();
        for _ in 0..1 + random(4) * random(4) {
            let high = u128::from(random(2) * 255) << (F::WIDTH - 8);
            let bits = high | u128::from(random(4)) << (F::WIDTH - 24) | u128::from(random(4) * 85);
            let lens = [0, 8, 23, 24, 25, 30, 31, 32, 33, 48, 64, 127, 128, random(129)];
            let len = (lens[random(14) as usize] as u8).min(F::WIDTH);
            let prefix = Prefix::from_bits_masked(F::Bits::from_u128(bits), len);
            if random(2) == 0 || step > steps - steps / 8 {
                pair.rib.remove(prefix);
            } else {
                pair.rib.insert(prefix, hop(1 + random(3) as u32)).unwrap();
            }
            changed.push(prefix);
        }
        pair.tables.apply(&pair.rib, &changed).unwrap();
        pair.tables.check(&pair.rib).unwrap_or_else(|corrupt| panic!("step {step}: {corrupt}"));
    }
    let all: Vec<Prefix<F>> = pair.rib.iter().map(|route| route.prefix).collect();
    for prefix in &all {
        pair.rib.remove(*prefix);
    }
    pair.tables.apply(&pair.rib, &all).unwrap();
    pair.tables.check(&pair.rib).unwrap();
    assert!(pair.tables.tbl24.iter().all(|entry| entry.to_bits() == 0));
}

#[test]
fn random_changes_stay_true_to_the_rib() {
    random_changes::<Ipv4, u16>(120);
    random_changes::<Ipv6, u32>(120);
}

/// `check` must be able to fail, before anything is read past an array.
#[test]
fn check_finds_damage() {
    let routes = [("10.0.0.0/8", 1), ("10.0.80.128/25", 3), ("10.0.81.0/32", 2)];
    let rib = rib::<Ipv4>(&routes);
    let good = Dir24_8::<Ipv4>::compile(&rib, &()).unwrap();
    good.check(&rib).unwrap();
    let damage: [fn(&mut Dir24_8<Ipv4>); 12] = [
        |t| t.tbl24[0x0a_00_00] = 2,
        |t| t.tbl24[0] = 1,
        |t| t.tbl24[0x0a_00_50] = u16::group(2),
        |t| t.tbl24[0x0a_00_50] = u16::group(1),
        |t| t.tbl24[0x0a_00_50] = 3,
        |t| t.tbl24[0x0a_00_60] = u16::group(1),
        |t| t.tbl8[0] = 3,
        |t| t.tbl8[0] = u16::group(0),
        |t| t.tbl8.truncate(256),
        |t| t.tbl8.truncate(511),
        |t| t.free.push(1),
        |t| t.tbl8.extend([0; 256]),
    ];
    for (i, damage) in damage.into_iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad);
        assert!(bad.check(&rib).is_err(), "damage {i}");
    }
    let mut lost = good.clone();
    lost.tbl24 = lost.tbl24[1..].into();
    assert!(lost.check(&rib).is_err());
    assert!(good.check(&Rib::new()).is_err(), "another RIB");
}

/// Every kernel, at every level, on both kinds of entries, for batches of uneven sizes.
#[test]
fn levels_agree() {
    fn agree<F: Family, E: Entry>() {
        let rib: Rib<F> = (0..3000u32)
            .map(|i| {
                let high = u128::from(i.wrapping_mul(0x9e37_79b9)) << (F::WIDTH - 32);
                let bits = F::Bits::from_u128(high | u128::from(i));
                let len = 8 + (i % u32::from(F::WIDTH - 7)) as u8;
                Route { prefix: Prefix::from_bits_masked(bits, len), next_hop: hop(1 + i % 999) }
            })
            .collect();
        let tables = Dir24_8::<F, E>::compile(&rib, &()).unwrap();
        let keys: Vec<F::Bits> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
        let expected: Vec<_> = rib.ranges().flat_map(|range| [range.next_hop(); 2]).collect();
        for simd in Simd::available() {
            for start in [0, 1, 15, 100] {
                let mut out = alloc::vec![None; keys.len() - start];
                tables.lookup_batch_with(simd, &keys[start..], &mut out);
                assert!(out == expected[start..], "{} at {}", tables.variant(), simd.level());
            }
        }
    }
    agree::<Ipv4, u16>();
    agree::<Ipv4, u32>();
    agree::<Ipv6, u16>();
    agree::<Ipv6, u32>();
}
