use alloc::vec::Vec;

use super::layout::{BasicNode, DIRECT_LEAF, LeafvecNode};
use super::update::Patcher;
use super::*;
use crate::engine::Engines;
use crate::engine::kit::{CannotPatch, Patch, Replaced};
use crate::engine::testing::built;
use crate::net::{Bits, Ipv4, Ipv6, Prefix, Route};
use crate::simd::Simd;

/// Named by path: with the trait in scope, `check` would be ambiguous.
type AnyEngine<F> = dyn crate::engine::Checked<F>;

fn hop(n: u32) -> NextHopId {
    NextHopId::new(n).unwrap()
}

fn rib4(routes: &[(&str, u32)]) -> Rib<Ipv4> {
    routes.iter().map(|(p, n)| Route { prefix: p.parse().unwrap(), next_hop: hop(*n) }).collect()
}

/// The README's example: one node below a direct entry, and its stored leaves.
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

fn variants<F: Engines>(rib: &Rib<F>, each: &mut dyn FnMut(&AnyEngine<F>)) {
    for s in [0, 1, 5, 6, 7, 12, 16, 18] {
        for rest in ["", ":basic", ":unaggregated", ":basic:unaggregated:leaf=32"] {
            each(&*built(&format!("{NAME}:s={s}{rest}"), rib).unwrap());
        }
    }
}

/// D17, D16: /128 and /32 at both ends of the address space, for every variant.
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

fn arrays(poptrie: &Poptrie<Ipv4>) -> (&[u32], &[LeafvecNode], &[u16]) {
    (&poptrie.direct, &poptrie.nodes, &poptrie.leaves)
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
        let other = Poptrie::<Ipv4>::compile(
            &rib.aggregated(),
            &Config { s, aggregate: false, ..Config::default() },
        )
        .unwrap();
        assert!(arrays(&collapsed) == arrays(&other), "s = {s}");
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
fn leaves_widen_for_large_next_hops() {
    for (id, variant) in [(65_535, "s=18"), (65_536, "s=18:leaf=32")] {
        let rib = rib4(&[("10.0.0.0/8", id), ("10.0.0.0/30", id)]);
        assert_eq!(built(NAME, &rib).unwrap().variant(), variant);
    }
    for bad in ["s=25", "s=", "s=-1", "leafvec=1", "leaf=16", "batch=", "batch", ""] {
        assert!(built(&format!("{NAME}:{bad}"), &rib4(&[])).is_err(), "{bad}");
    }
}

/// `check` detects damage.
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
        // `check` must detect damaged indices before it reads through them.
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

/// A live table and its routes.
struct Changing<F: Family, N: Node, L: Leaf> {
    patcher: Patcher<F, N, L>,
    rib: Rib<F>,
    epoch: u64,
}

impl<F: Family, N: Node, L: Leaf> Changing<F, N, L> {
    fn new(rib: Rib<F>, config: Config, spare: usize) -> Self {
        let poptrie = Poptrie::<F, N, L>::compile(&rib, &config).unwrap();
        let capacities = [poptrie.nodes.len() + spare, poptrie.leaves.len() + spare];
        Self { patcher: Patcher::new(&poptrie, capacities).unwrap(), rib, epoch: 1 }
    }

    /// Changes some routes in one patch, where 0 withdraws, and verifies everything.
    fn set(&mut self, routes: &[(Prefix<F>, u32)]) -> Result<Replaced, CannotPatch> {
        let mut changed = Vec::new();
        for (prefix, raw) in routes {
            match NextHopId::new(*raw) {
                Some(next_hop) => drop(self.rib.insert(*prefix, next_hop)),
                None => drop(self.rib.remove(*prefix)),
            }
            changed.push(*prefix);
        }
        let replaced = self.patcher.patch(&self.rib, &changed)?;
        // First with the old items in the retire list, then with them free.
        self.patcher.check(&self.rib).unwrap();
        self.patcher.seal(self.epoch);
        self.epoch += 1;
        self.patcher.reclaim(self.epoch);
        assert_eq!(self.patcher.retired_bytes(), 0);
        self.patcher.check(&self.rib).unwrap();
        Ok(replaced)
    }

    /// Nodes and leaves in use.
    fn used(&self) -> [usize; 2] {
        let Slices { nodes, leaves, .. } = self.patcher.slices();
        let [free_nodes, free_leaves] = self.patcher.free_items();
        [nodes.len() - free_nodes, leaves.len() - free_leaves]
    }
}

fn net(text: &str) -> Prefix<Ipv4> {
    text.parse().unwrap()
}

fn example() -> Changing<Ipv4, LeafvecNode, u16> {
    let rib = rib4(&[("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.0.80.0/24", 3)]);
    Changing::new(rib, Config { s: 16, ..Config::default() }, 1000)
}

/// The README's changes to its example each replace one word.
#[test]
fn one_word_is_replaced() {
    let mut table = example();
    let state = |table: &Changing<Ipv4, LeafvecNode, u16>| {
        let top = table.patcher.slices().direct[0x0a00];
        let node = table.patcher.slices().nodes[top as usize];
        (top, node.base0(), node.base1())
    };
    let replaced = |entries, nodes, leaves| Ok(Replaced { entries, nodes, leaves });
    let before = state(&table);
    // The upper node's vectors are unchanged: its base0.
    assert_eq!(table.set(&[(net("10.0.64.0/20"), 4)]), replaced(0, 0, 3));
    let after = state(&table);
    assert!(after.0 == before.0 && after.1 != before.1 && after.2 == before.2);
    // The lower node's vectors are unchanged: its base0, and nothing above.
    assert_eq!(table.set(&[(net("10.0.80.0/24"), 5)]), replaced(0, 0, 2));
    assert_eq!(state(&table), after);
    // The lower node's leafvec changes: the upper node's base1.
    assert_eq!(table.set(&[(net("10.0.80.64/26"), 6)]), replaced(0, 1, 4));
    let then = state(&table);
    assert!(then.0 == after.0 && then.1 == after.1 && then.2 != after.2);
    // The upper node's leafvec changes: the direct entry. The lower node is not moved.
    assert_eq!(table.set(&[(net("10.0.84.0/22"), 7)]), replaced(1, 1, 4));
    assert!(state(&table).0 != then.0 && state(&table).2 == then.2);
    // A route shorter than s; longer ones cover one of its two entries.
    assert_eq!(table.set(&[(net("10.1.0.0/16"), 8)]), replaced(1, 0, 0));
    assert_eq!(table.set(&[(net("10.0.0.0/15"), 9)]), replaced(0, 0, 8));
    // The same route again.
    assert_eq!(table.set(&[(net("10.0.0.0/15"), 9)]), replaced(0, 0, 0));
}

/// Nodes that contain only one leaf become that leaf, up to the direct entry.
#[test]
fn nodes_collapse_upwards() {
    let mut table = example();
    assert_eq!(table.used(), [2, 5]);
    table.set(&[(net("10.0.80.0/24"), 1)]).unwrap();
    assert_eq!(table.used(), [1, 3]);
    table.set(&[(net("10.0.64.0/20"), 1)]).unwrap();
    assert_eq!(table.patcher.slices().direct[0x0a00], DIRECT_LEAF | 1);
    assert_eq!(table.used(), [0, 0]);
    // Both nodes disappear at once.
    let mut table = example();
    let changes = [(net("10.0.80.0/24"), 0), (net("10.0.64.0/20"), 0)];
    let replaced = table.set(&changes).unwrap();
    assert_eq!((replaced.entries, table.used()), (1, [0, 0]));
}

/// A change beyond the capacity has no effect.
#[test]
fn no_room_is_no_change() {
    let rib = rib4(&[("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.0.80.0/24", 3)]);
    let mut table: Changing<Ipv4, LeafvecNode, u16> =
        Changing::new(rib.clone(), Config { s: 16, ..Config::default() }, 4);
    for changes in [
        // The first change alone fits.
        &[(net("10.0.80.64/26"), 6), (net("10.0.84.0/22"), 7)][..],
        &[(net("10.0.64.0/20"), 4), (net("10.0.72.0/24"), 5)],
        &[(net("0.0.0.0/0"), 4), (net("10.0.72.0/24"), 65_536)],
        &[(net("10.0.72.0/24"), 65_536)],
    ] {
        assert_eq!(table.set(changes), Err(CannotPatch));
        table.rib = rib.clone();
        table.patcher.check(&rib).unwrap();
        assert_eq!(table.used(), [2, 5]);
    }
    table.set(&[(net("10.0.80.64/26"), 6)]).unwrap();
    // More direct entries than are patched in place.
    let mut table: Changing<Ipv4, LeafvecNode, u16> = Changing::new(rib, Config::default(), 99);
    assert_eq!(table.set(&[(net("0.0.0.0/1"), 5)]), Err(CannotPatch));
    table.rib.remove(net("0.0.0.0/1"));
    table.set(&[(net("0.0.0.0/2"), 5)]).unwrap();
}

/// After many changes the table equals a compiled one. Positions may differ; drained, it is empty.
#[test]
fn accounts_are_exact() {
    fn follow<F: Family, N: Node, L: Leaf>(s: u8, aggregate: bool, base: u128) {
        let config = Config { s, aggregate, ..Config::default() };
        let mut table: Changing<F, N, L> = Changing::new(Rib::new(), config, 1 << 20);
        let empty = table.used();
        let mut seed = u64::from(s) + 1;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (seed >> 33) % below
        };
        for _ in 0..if F::WIDTH == 32 { 400 } else { 100 } {
            let changes: Vec<_> = (0..1 + random(3))
                .map(|_| {
                    let len = F::WIDTH - random(u64::from(F::WIDTH - s.max(8)) + 4) as u8;
                    let bits = u128::from(random(64)) << (F::WIDTH - 20)
                        | u128::from(random(1 << 12)) << (F::WIDTH - 32)
                        | base;
                    let raw = random(6).saturating_sub(1) as u32;
                    (Prefix::from_bits_masked(F::Bits::from_u128(bits), len), raw)
                })
                .collect();
            table.set(&changes).unwrap();
            let fresh = Poptrie::<F, N, L>::compile(&table.rib, &config).unwrap();
            assert_eq!(table.used(), [fresh.nodes.len(), fresh.leaves.len()], "s = {s}");
        }
        assert!(table.used()[0] > empty[0] + 10);
        let prefixes: Vec<_> = table.rib.iter().map(|route| (route.prefix, 0)).collect();
        for withdrawn in prefixes.chunks(3) {
            table.set(withdrawn).unwrap();
        }
        assert_eq!(table.used(), empty, "s = {s}");
    }
    for aggregate in [false, true] {
        for s in [0, 12, 13] {
            follow::<Ipv4, LeafvecNode, u16>(s, aggregate, 0x0a00_0000);
        }
        follow::<Ipv4, BasicNode, u32>(0, aggregate, 0x0a00_0000);
        follow::<Ipv6, LeafvecNode, u32>(0, aggregate, 0x2001 << 112 | 0xffff << 64);
        follow::<Ipv6, BasicNode, u16>(12, aggregate, 0x2001 << 112 | 0xffff << 64);
    }
}
