use super::layout::{BasicNode, DIRECT_LEAF, LeafvecNode};
use super::update::Patcher;
use super::*;
use crate::engine::Engines;
use crate::engine::kit::Replaced;
use crate::engine::testing::changes::{self, Random, TestedPatch};
use crate::engine::testing::{
    Test, batches_agree, built, check_finds, edges_of_ipv4, edges_of_ipv6, hop, rib4, spread,
};
use crate::net::{Bits, Ipv4, Ipv6, Prefix, Route};

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

fn variants<F: Engines>(rib: &Rib<F>, each: Test<'_, F>) {
    for s in [0, 1, 5, 6, 7, 12, 16, 18] {
        for rest in ["", ":basic", ":unaggregated", ":basic:unaggregated:leaf=32"] {
            each(&*built(&format!("{NAME}:s={s}{rest}"), rib).unwrap());
        }
    }
}

#[test]
fn edges_of_the_address() {
    edges_of_ipv4(variants);
    edges_of_ipv6(variants);
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
    assert_eq!(poptrie.lookup_bits(0x0a00_0001), NextHopId::new(1 << 31));
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
    let damage: &[fn(&mut Poptrie<Ipv4>)] = &[
        |p| p.leaves[0] = 9,
        |p| p.direct[0x0a00] = 7,
        |p| p.direct[0x0a01] = DIRECT_LEAF | 2,
        |p| p.direct = p.direct[1..].into(),
        |p| p.nodes[1] = LeafvecNode::new(1 << 20, 1 << 20 | 1, 2, 0),
        |p| p.nodes[1] = LeafvecNode::new(1 << 20, 1 | 1 << 16 | 1 << 21, 4, 0),
    ];
    check_finds(&good, &rib, damage);
    assert!(good.check(&rib4(&[("10.0.0.0/8", 1)])).is_err(), "another RIB");
}

/// Every level compiles the same kernels.
#[test]
fn levels_agree() {
    let rib = spread::<Ipv4>(8..=32, 30);
    variants(&rib, &mut |engine| batches_agree(engine, &rib));
}

type Changing<F, N, L> = changes::Changing<F, Patcher<F, N, L>>;

impl<F: Family, N: Node, L: Leaf> TestedPatch<F> for Patcher<F, N, L> {
    /// Nodes and leaves.
    fn in_use(&self) -> [usize; 2] {
        let Slices { nodes, leaves, .. } = self.slices();
        let [free_nodes, free_leaves] = self.free_items();
        [nodes.len() - free_nodes, leaves.len() - free_leaves]
    }

    fn lookup(&self, addr: F::Bits) -> Option<NextHopId> {
        self.poptrie.lookup_bits(addr)
    }
}

/// Builds a table with capacity for `spare` more nodes and leaves.
fn changing<F: Family, N: Node, L: Leaf>(
    rib: Rib<F>,
    config: Config,
    spare: usize,
) -> Changing<F, N, L> {
    let poptrie = Poptrie::<F, N, L>::compile(&rib, &config).unwrap();
    let capacities = [poptrie.nodes.len() + spare, poptrie.leaves.len() + spare];
    Changing::new(rib, Patcher::new(&poptrie, capacities).unwrap())
}

fn example() -> Changing<Ipv4, LeafvecNode, u16> {
    let rib = rib4(&[("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.0.80.0/24", 3)]);
    changing(rib, Config { s: 16, ..Config::default() }, 1000)
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
    assert_eq!(table.set(&[("10.0.64.0/20", 4)]), replaced(0, 0, 3));
    let after = state(&table);
    assert!(after.0 == before.0 && after.1 != before.1 && after.2 == before.2);
    // The lower node's vectors are unchanged: its base0, and nothing above.
    assert_eq!(table.set(&[("10.0.80.0/24", 5)]), replaced(0, 0, 2));
    assert_eq!(state(&table), after);
    // The lower node's leafvec changes: the upper node's base1.
    assert_eq!(table.set(&[("10.0.80.64/26", 6)]), replaced(0, 1, 4));
    let then = state(&table);
    assert!(then.0 == after.0 && then.1 == after.1 && then.2 != after.2);
    // The upper node's leafvec changes: the direct entry. The lower node is not moved.
    assert_eq!(table.set(&[("10.0.84.0/22", 7)]), replaced(1, 1, 4));
    assert!(state(&table).0 != then.0 && state(&table).2 == then.2);
    // A route shorter than s; longer ones cover one of its two entries.
    assert_eq!(table.set(&[("10.1.0.0/16", 8)]), replaced(1, 0, 0));
    assert_eq!(table.set(&[("10.0.0.0/15", 9)]), replaced(0, 0, 8));
    // The same route again.
    assert_eq!(table.set(&[("10.0.0.0/15", 9)]), replaced(0, 0, 0));
}

/// Nodes that contain only one leaf become that leaf, up to the direct entry.
#[test]
fn nodes_collapse_upwards() {
    let mut table = example();
    assert_eq!(table.in_use(), [2, 5]);
    table.set(&[("10.0.80.0/24", 1)]).unwrap();
    assert_eq!(table.in_use(), [1, 3]);
    table.set(&[("10.0.64.0/20", 1)]).unwrap();
    assert_eq!(table.patcher.slices().direct[0x0a00], DIRECT_LEAF | 1);
    assert_eq!(table.in_use(), [0, 0]);
    // Both nodes disappear at once.
    let mut table = example();
    let changes = [("10.0.80.0/24", 0), ("10.0.64.0/20", 0)];
    let replaced = table.set(&changes).unwrap();
    assert_eq!((replaced.entries, table.in_use()), (1, [0, 0]));
}

/// A change beyond the capacity has no effect.
#[test]
fn no_room_is_no_change() {
    let rib = rib4(&[("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.0.80.0/24", 3)]);
    let mut table: Changing<Ipv4, LeafvecNode, u16> =
        changing(rib.clone(), Config { s: 16, ..Config::default() }, 4);
    for changes in [
        // The first change alone fits.
        &[("10.0.80.64/26", 6), ("10.0.84.0/22", 7)][..],
        &[("10.0.64.0/20", 4), ("10.0.72.0/24", 5)],
        &[("0.0.0.0/0", 4), ("10.0.72.0/24", 65_536)],
        &[("10.0.72.0/24", 65_536)],
    ] {
        table.refuse(changes);
        assert_eq!(table.in_use(), [2, 5]);
    }
    table.set(&[("10.0.80.64/26", 6)]).unwrap();
    // More direct entries than are patched in place.
    let mut table: Changing<Ipv4, LeafvecNode, u16> = changing(rib, Config::default(), 99);
    table.refuse(&[("0.0.0.0/1", 5)]);
    table.set(&[("0.0.0.0/2", 5)]).unwrap();
}

/// After many changes the table equals a compiled one. Positions may differ; drained, it is empty.
#[test]
fn accounts_are_exact() {
    fn follow<F: Family, N: Node, L: Leaf>(s: u8, aggregate: bool, base: u128) {
        let config = Config { s, aggregate, ..Config::default() };
        let mut table: Changing<F, N, L> = changing(Rib::new(), config, 1 << 20);
        let empty = table.in_use()[0];
        let prefixes = |random: &mut Random| {
            let len = F::WIDTH - random.below(u64::from(F::WIDTH - s.max(8)) + 4) as u8;
            let high = u128::from(random.below(64)) << (F::WIDTH - 20);
            let low = u128::from(random.below(1 << 12)) << (F::WIDTH - 32);
            Prefix::from_bits_masked(F::Bits::from_u128(high | low | base), len)
        };
        let is_like_a_fresh_one = |table: &mut Changing<F, N, L>| {
            let fresh = Poptrie::<F, N, L>::compile(&table.rib, &config).unwrap();
            assert_eq!(table.in_use(), [fresh.nodes.len(), fresh.leaves.len()], "s = {s}");
        };
        let (commits, hops) = (if F::WIDTH == 32 { 400 } else { 100 }, [0, 0, 1, 2, 3, 4]);
        let most =
            changes::random_changes(&mut table, commits, &hops, prefixes, is_like_a_fresh_one);
        assert!(most > empty + 10, "s = {s}");
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

#[test]
fn covers_spare_their_specifics() {
    let config = Config { s: 16, ..Config::default() };
    let table: Changing<Ipv4, LeafvecNode, u16> = changing(Rib::new(), config, 100);
    changes::covers_spare_their_specifics(table, Some("0.0.0.0/0"));
}

#[test]
fn withdrawals_show_the_right_cover() {
    changes::withdrawals_show_the_right_cover(|rib| {
        changing::<Ipv4, BasicNode, u16>(rib, Config::default(), 1000)
    });
}
