use alloc::string::String;
use alloc::vec::Vec;

use super::layout::{BasicNode, DIRECT_LEAF, LeafvecNode};
use super::*;
use crate::addr::{Ipv4, Ipv6};
use crate::prefix::Prefix;
use crate::route::Route;
use crate::simd::Simd;

/// Named by its path: with the trait in scope, `check` would mean two things.
type AnyEngine<F> = dyn crate::engine::Compiled<F>;

fn hop(n: u32) -> NextHopId {
    NextHopId::new(n).unwrap()
}

fn rib4(routes: &[(&str, u32)]) -> Rib<Ipv4> {
    routes.iter().map(|(p, n)| Route { prefix: p.parse().unwrap(), next_hop: hop(*n) }).collect()
}

/// The example of the README: one node below a direct entry, and what is stored for it.
#[test]
fn the_readme_example() {
    let rib = rib4(&[("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.0.80.0/24", 3)]);
    let config = Config { s: 16, aggregate: true, ..Config::default() };
    let poptrie = Poptrie::<Ipv4>::compile(&rib, &config).unwrap();
    assert_eq!(poptrie.direct[0x0a00], 1, "10.0/16 is node 1, behind its child");
    assert_eq!(poptrie.direct[0x0a01], DIRECT_LEAF | 1);
    assert_eq!(poptrie.direct[0x0b00], DIRECT_LEAF);
    let top = poptrie.nodes[1];
    assert_eq!(top.vector(), 1 << 20, "10.0.80/22 is a child");
    assert_eq!(top.stored_leaves(), 1 | 1 << 16 | 1 << 21, "1, then 2, then 1 again");
    assert_eq!((top.base0(), top.base1()), (2, 0));
    assert_eq!(&*poptrie.leaves, [3, 1, 1, 2, 1]);
    poptrie.check(&rib).unwrap();
}

fn variants<F: Family>(rib: &Rib<F>, each: &mut dyn FnMut(&AnyEngine<F>)) {
    struct Each<'a, F: Family>(&'a mut dyn FnMut(&AnyEngine<F>));
    impl<F: Family> EngineVisitor<F> for Each<'_, F> {
        type Output = ();
        fn visit<E: Engine<F>>(self, engine: E) {
            self.0(&engine);
        }
    }
    for s in [0, 1, 5, 6, 7, 12, 16, 18] {
        for rest in [&[][..], &["basic"], &["unaggregated"], &["basic", "unaggregated", "leaf=32"]]
        {
            let mut options: Vec<String> = rest.iter().map(|o| String::from(*o)).collect();
            options.push(format!("s={s}"));
            build(&options, rib, Each(each)).unwrap();
        }
    }
}

/// D17, D16: /128 and /32 at both ends of the space, for every variant.
#[test]
fn edges_of_the_address() {
    let mut rib = Rib::<Ipv6>::new();
    for (n, text) in (1..).zip(["::/0", "::/128", "::/127", "8000::/1"]) {
        rib.insert(text.parse().unwrap(), hop(n)).unwrap();
    }
    rib.insert(Prefix::from_bits_masked(u128::MAX, 128), hop(9)).unwrap();
    variants(&rib, &mut |engine| engine.check(&rib).unwrap());
    let rib = rib4(&[("0.0.0.0/32", 1), ("255.255.255.255/32", 2), ("255.255.255.254/31", 3)]);
    variants(&rib, &mut |engine| engine.check(&rib).unwrap());
    let empty = Rib::<Ipv4>::new();
    variants(&empty, &mut |engine| engine.check(&empty).unwrap());
}

/// Compiling with aggregation equals compiling the aggregated RIB: two independent ways.
#[test]
fn aggregation_is_that_of_the_rib() {
    let rib: Rib<Ipv4> = (0..4000u32)
        .map(|i| {
            let bits = i.wrapping_mul(0x9e37_79b9) & 0x0fff_ffff;
            let prefix = Prefix::from_bits_masked(bits, 8 + (i % 25) as u8);
            Route { prefix, next_hop: hop(1 + i % 3) }
        })
        .collect();
    for s in [0, 13, 18] {
        let collapsed =
            Poptrie::<Ipv4>::compile(&rib, &Config { s, aggregate: true, ..Config::default() })
                .unwrap();
        let mut other = Poptrie::<Ipv4>::compile(
            &rib.aggregated(),
            &Config { s, aggregate: false, ..Config::default() },
        )
        .unwrap();
        other.aggregate = true;
        assert!(collapsed == other, "s = {s}");
        let plain =
            Poptrie::<Ipv4>::compile(&rib, &Config { s, aggregate: false, ..Config::default() })
                .unwrap();
        assert!(plain.nodes.len() > collapsed.nodes.len());
    }
}

#[test]
fn limits_are_errors() {
    let rib = rib4(&[("10.0.0.0/8", 65_536)]);
    let config = Config::default();
    let error = Poptrie::<Ipv4, LeafvecNode, u16>::compile(&rib, &config).unwrap_err();
    let expected = CompileError::NextHopTooLarge { engine: NAME, id: 65_536, limit: 65_535 };
    assert_eq!(error, expected);
    assert!(Poptrie::<Ipv4, LeafvecNode, u32>::compile(&rib, &config).is_ok());
    let rib = rib4(&[("10.0.0.0/8", 1 << 31)]);
    assert!(Poptrie::<Ipv4, BasicNode, u32>::compile(&rib, &config).is_err());
    let undirected = Config { s: 0, aggregate: true, ..Config::default() };
    let poptrie = Poptrie::<Ipv4, BasicNode, u32>::compile(&rib, &undirected).unwrap();
    assert_eq!(poptrie.lookup(0x0a00_0001), NextHopId::new(1 << 31));
    let too_wide = Config { s: 25, aggregate: true, ..Config::default() };
    assert!(Poptrie::<Ipv4>::compile(&rib4(&[]), &too_wide).is_err());
}

/// 65,535 next hops fit 16 bits; one more takes 32.
#[test]
fn leaves_widen_when_the_table_asks() {
    struct Variant;
    impl EngineVisitor<Ipv4> for Variant {
        type Output = String;
        fn visit<E: Engine<Ipv4>>(self, engine: E) -> String {
            engine.variant()
        }
    }
    for (id, variant) in [(65_535, "s=18"), (65_536, "s=18:leaf=32")] {
        let rib = rib4(&[("10.0.0.0/8", id), ("10.0.0.0/30", id)]);
        assert_eq!(build(&[], &rib, Variant).unwrap(), variant);
    }
    for bad in ["s=25", "s=", "s=-1", "leafvec=1", "leaf=16", "batch=", "batch", ""] {
        assert!(build(&[bad.into()], &rib4(&[]), Variant).is_err(), "{bad}");
    }
}

/// `check` must be able to fail.
#[test]
fn check_finds_damage() {
    let rib = rib4(&[("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.0.80.0/24", 3)]);
    let good =
        Poptrie::<Ipv4>::compile(&rib, &Config { s: 16, aggregate: true, ..Config::default() })
            .unwrap();
    good.check(&rib).unwrap();
    let damage: [fn(&mut Poptrie<Ipv4>); 6] = [
        |p| p.leaves[0] = 9,
        |p| p.direct[0x0a00] = 7,
        |p| p.direct[0x0a01] = DIRECT_LEAF | 2,
        |p| p.direct = p.direct[1..].into(),
        |p| p.nodes[1] = LeafvecNode::new(1 << 20, 1 << 20 | 1, 2, 0),
        |p| p.nodes[1] = LeafvecNode::new(1 << 20, 1 | 1 << 16 | 1 << 21, 4, 0),
    ];
    for (i, damage) in damage.into_iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad);
        // Damaged indices must be found before anything is read through them.
        assert!(bad.check(&rib).is_err(), "damage {i}");
    }
    assert!(good.check(&rib4(&[("10.0.0.0/8", 1)])).is_err(), "another RIB");
}

/// Every level compiles the same kernels.
#[test]
fn levels_agree() {
    let rib: Rib<Ipv4> = (0..3000u32)
        .map(|i| {
            let prefix = Prefix::from_bits_masked(i.wrapping_mul(0x9e37_79b9), 8 + (i % 25) as u8);
            Route { prefix, next_hop: hop(1 + i % 30) }
        })
        .collect();
    let keys: Vec<u32> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
    let expected: Vec<_> =
        rib.ranges().flat_map(|range| [range.next_hop(), range.next_hop()]).collect();
    variants(&rib, &mut |engine| {
        for simd in Simd::available() {
            let mut out = alloc::vec![None; keys.len()];
            engine.lookup_batch_with(simd, &keys, &mut out);
            assert!(out == expected, "{} at {}", engine.variant(), simd.level());
        }
    });
}
