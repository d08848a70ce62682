use alloc::vec::Vec;

use super::layout::{Bitmaps, internal_bit};
use super::update::Patcher;
use super::*;
use crate::engine::Engines;
use crate::engine::kit::{Patch, Replaced};
use crate::engine::testing::changes::{self, Random, TestedPatch};
use crate::engine::testing::{
    Test, batches_agree, built, check_finds, edges_of_ipv4, edges_of_ipv6, hop, prefix, rib, spread,
};
use crate::mem::{Frozen, Plain, Run};
use crate::net::{Bits, Ipv4, Ipv6, Prefix};

type Changing<F, N, R> = changes::Changing<F, Patcher<F, N, R>>;

impl<F: Family, N: Node, R: NodeResult> TestedPatch<F> for Patcher<F, N, R> {
    /// Nodes and results.
    fn in_use(&self) -> [usize; 2] {
        Self::in_use(self)
    }

    fn lookup(&self, addr: F::Bits) -> Option<NextHopId> {
        self.tree.lookup_bits(addr)
    }
}

/// Builds a tree with capacity for `spare` more nodes and results.
fn changing<F: Family, N: Node, R: NodeResult>(rib: Rib<F>, spare: usize) -> Changing<F, N, R> {
    let tree = TreeBitmap::<F, N, R>::compile(&rib, &()).unwrap();
    let capacities = [tree.nodes.len() + spare, tree.results.len() + spare];
    Changing::new(rib, Patcher::new(&tree, capacities).unwrap())
}

/// Verifies that the tree has as many nodes and results as a compiled one.
fn is_like_a_fresh_one<F: Family, N: Node, R: NodeResult>(table: &mut Changing<F, N, R>) {
    let fresh = TreeBitmap::<F, N, R>::compile(&table.rib, &()).unwrap();
    assert_eq!(table.in_use(), [fresh.nodes.len(), fresh.results.len()]);
}

const EXAMPLE: [(&str, u32); 5] = [
    ("0.0.0.0/0", 1),
    ("160.0.0.0/3", 2),
    ("164.0.0.0/6", 3),
    ("128.0.0.0/4", 4),
    ("167.0.0.0/8", 5),
];

/// The example of the README holds.
#[test]
fn the_readme_example() {
    let rib = rib::<Ipv4>(&EXAMPLE);
    let tree = TreeBitmap::<Ipv4, Node16, u16>::compile(&rib, &()).unwrap();
    let nodes = &tree.nodes;
    assert_eq!((internal_bit(3, 0b101), internal_bit(2, 0b01)), (12, 4));
    let root = Bitmaps { internal: 1 | 1 << 12, external: 1 << 8 | 1 << 10, end: false };
    assert_eq!(nodes[0], Node16::new(root, 1, 1));
    assert_eq!(nodes[1], Node16::new(Bitmaps { internal: 1, external: 0, end: true }, 0, 3));
    let end = Bitmaps { internal: 1 << 4, external: 1 << 7, end: true };
    assert_eq!(nodes[2], Node16::new(end, 0, 4));
    assert_eq!(tree.results[..], [0, 1, 2, 4, 3, 5]);
    for (addr, raw) in [(0xa7, 5), (0xa5, 3), (0xa1, 2), (0x81, 4), (0xc0, 1)] {
        assert_eq!(tree.lookup_bits(addr << 24), NextHopId::new(raw), "{addr:#x}");
    }
    tree.check(&rib).unwrap();
}

fn variants<F: Engines>(rib: &Rib<F>, each: Test<'_, F>) {
    for options in ["", ":stride=4", ":result=32", ":stride=4:result=32"] {
        each(&*built(&alloc::format!("{NAME}{options}"), rib).unwrap());
    }
}

/// At stride 4 the routes as long as the address are in a node at its end.
#[test]
fn edges_of_the_address() {
    edges_of_ipv4(variants);
    edges_of_ipv6(variants);
}

#[test]
fn limits_are_errors() {
    let rib_with = |id| rib::<Ipv4>(&[("10.0.0.0/8", id)]);
    type Narrow = TreeBitmap<Ipv4, Node64, u16>;
    assert!(Narrow::compile(&rib_with(65_535), &()).is_ok());
    let limit = CompileError::NextHopTooLarge { engine: NAME, id: 65_536, limit: 65_535 };
    assert_eq!(Narrow::compile(&rib_with(65_536), &()).unwrap_err(), limit);
    assert_eq!(built(NAME, &rib_with(65_535)).unwrap().variant(), "stride=6");
    assert_eq!(built(NAME, &rib_with(u32::MAX)).unwrap().variant(), "stride=6:result=32");
    for bad in ["stride=5", "stride=", "result=16", ""] {
        assert!(built(&alloc::format!("{NAME}:{bad}"), &rib_with(1)).is_err(), "{bad}");
    }
}

/// The README's changes to its example: the nodes copied, and those shared by both trees.
#[test]
fn the_path_to_a_change_is_copied() {
    let mut table = changing::<Ipv4, Node16, u16>(rib(&EXAMPLE), 100);
    let replaced = |nodes, leaves| Replaced { entries: 0, nodes, leaves };
    let nodes = |table: &Changing<Ipv4, Node16, u16>| {
        let nodes = &table.patcher.nodes;
        let root = nodes[table.patcher.root[0] as usize];
        let at = root.children() as usize;
        (root, nodes[at], nodes[at + 1])
    };
    let before = nodes(&table);
    // The results of the second child, both children, and the root.
    assert_eq!(table.step("164.0.0.0/6", 6), replaced(3, 2));
    let after = nodes(&table);
    assert!(before.1 == after.1 && before.2.results() != after.2.results());
    assert!(before.0.children() != after.0.children() && before.0.results() == after.0.results());
    // A prefix of the root: no child.
    assert_eq!(table.step("0.0.0.0/0", 7), replaced(1, 2));
    assert_eq!(nodes(&table).0.children(), after.0.children());
    // A new child: an end node of one prefix, beside its siblings.
    assert_eq!(table.step("16.0.0.0/6", 8), replaced(4, 1));
    // The same route again.
    assert_eq!(table.step("16.0.0.0/6", 8), replaced(0, 0));
    // All changes of a commit in one new tree.
    let changes = [("16.0.0.0/6", 0), ("167.0.0.0/8", 9), ("160.0.0.0/3", 0), ("0.0.0.0/0", 1)];
    assert_eq!(table.set(&changes), Ok(replaced(3, 1 + 2)));
    is_like_a_fresh_one(&mut table);
}

/// A replaced tree gives its old answers as long as readers may be in it.
#[test]
fn a_replaced_tree_keeps_its_answers() {
    let mut table = changing::<Ipv4, Node64, u16>(rib(&EXAMPLE), 1000);
    let tree = table.patcher.tree.clone();
    let (before, addr) = (table.patcher.root[0], 0xa7 << 24);
    let cover = prefix("160.0.0.0/3");
    assert_eq!(table.rib.insert(cover, hop(9)), Ok(Some(hop(2))));
    table.patcher.patch(&table.rib, &[cover]).unwrap();
    for withdrawn in ["167.0.0.0/8", "164.0.0.0/6"].map(prefix) {
        assert!(table.rib.remove(withdrawn).is_some());
        table.patcher.patch(&table.rib, &[withdrawn]).unwrap();
    }
    assert_eq!(tree.lookup_bits(addr), Some(hop(9)));
    let after = table.patcher.root[0];
    table.patcher.root.publish(0, before);
    assert_eq!(tree.lookup_bits(addr), Some(hop(5)));
    table.patcher.root.publish(0, after);
    table.patcher.check(&table.rib).unwrap();
}

/// A change beyond the capacity or the results' range has no effect.
#[test]
fn no_room_is_no_change() {
    let rib = rib::<Ipv4>(&[("10.0.0.0/8", 1), ("10.0.0.0/24", 2)]);
    let mut table = changing::<Ipv4, Node64, u16>(rib, 5);
    let before = table.patcher.root[0];
    for changes in [
        &[("11.0.0.0/8", 1), ("12.0.0.0/8", 65_536)][..],
        // The capacity for nodes suffices for the path, but not for the root; that for results for
        // neither.
        &[("10.0.0.0/25", 3), ("11.0.0.0/24", 4)],
        &[("10.0.0.0/32", 3), ("10.0.0.0/24", 0), ("10.128.0.0/32", 5)],
        &[("10.0.0.0/19", 3), ("10.0.0.0/20", 3), ("10.0.0.0/21", 3), ("10.0.0.0/22", 3)],
    ] {
        table.refuse(changes);
        assert_eq!(table.patcher.root[0], before);
    }
    table.step("10.0.0.0/24", 0);
    table.step("10.0.0.0/9", 3);
}

#[test]
fn covers_spare_their_specifics() {
    let table = changing::<Ipv4, Node16, u16>(Rib::new(), 100);
    changes::covers_spare_their_specifics(table, Some("0.0.0.0/0"));
}

#[test]
fn withdrawals_show_the_right_cover() {
    changes::withdrawals_show_the_right_cover(|rib| changing::<Ipv4, Node64, u16>(rib, 100));
}

/// A drained tree frees everything.
#[test]
fn runs_are_reused() {
    let mut table = changing::<Ipv6, Node16, u32>(rib(&[("2001:db8::/32", 1)]), 1 << 16);
    let prefix = |i: u32| {
        let bits = 0x2001_0db8 << 96 | u128::from(i.wrapping_mul(0x9e37_79b9)) << 40;
        Prefix::from_bits_masked(bits, 40 + (i % 89) as u8)
    };
    changes::memory_is_used_again(&mut table, &(0..60).map(prefix).collect::<Vec<_>>());
    assert_eq!(table.in_use(), [8, 2]);
    table.step("2001:db8::/32", 0);
    assert_eq!(table.in_use(), [1, 1]);
}

/// Changes at both ends and around the strides.
fn random_changes<F: Family, N: Node, R: NodeResult>(commits: u32) {
    let mut table = changing::<F, N, R>(Rib::new(), 1 << 16);
    let prefixes = |random: &mut Random| {
        let high = u128::from(random.below(4)) << (F::WIDTH - 2);
        let low = u128::from(random.below(4)) << (F::WIDTH - 24) | u128::from(random.below(8));
        let ends = [0, 1, 23, 24, 30, 31, 32, 127, 128, random.below(129)];
        let len = (ends[random.below(10) as usize] as u8).min(F::WIDTH);
        Prefix::from_bits_masked(F::Bits::from_u128(high | low), len)
    };
    let hops = [0, 0, 0, 0, 0, 1, 2, 3, 4, 5];
    changes::random_changes(&mut table, commits, &hops, prefixes, is_like_a_fresh_one);
    assert_eq!(table.in_use(), [1, 1]);
}

#[test]
fn random_changes_agree_with_the_rib() {
    random_changes::<Ipv4, Node16, u16>(1500);
    random_changes::<Ipv4, Node64, u32>(1500);
    random_changes::<Ipv6, Node16, u32>(1500);
    random_changes::<Ipv6, Node64, u16>(1500);
}

/// `check` detects damage before it reads past an array.
#[test]
fn check_finds_damage() {
    type Tree = TreeBitmap<Ipv4, Node16, u16>;
    fn node(internal: u64, external: u64, end: bool, children: u32, results: u32) -> Node16 {
        Node16::new(Bitmaps { internal, external, end }, children, results)
    }
    let rib = rib::<Ipv4>(&EXAMPLE);
    let good = Tree::compile(&rib, &()).unwrap();
    fn end<T: Plain>(array: &[T], len: usize) -> Frozen<T> {
        array[..len].into()
    }
    let damage: &[fn(&mut Tree)] = &[
        |t| t.results[2] = 9,
        |t| t.results[0] = 1,
        |t| t.results[3] = 0,
        |t| t.results = end(&t.results, 5),
        |t| t.results = end(&t.results, 0),
        |t| t.nodes = end(&t.nodes, 2),
        |t| t.nodes = end(&t.nodes, 0),
        |t| t.root[0] = 3,
        |t| t.nodes[0] = node(1 | 1 << 12, 1 << 8 | 1 << 10, false, 2, 1),
        |t| t.nodes[0] = node(1 | 1 << 12, 1 << 8 | 1 << 10, false, 0, 1),
        |t| t.nodes[0] = node(1 | 1 << 12, 1 << 8 | 1 << 10, true, 0, 1),
        |t| t.nodes[1] = node(1, 0, true, 0, u32::MAX),
        |t| t.nodes[1] = node(0, 0, true, 0, 3),
        |t| t.nodes[2] = node(1 << 4, 1 << 7, false, 1, 4),
        |t| t.nodes = [&t.nodes[..], &[Node16::EMPTY]].concat().as_slice().into(),
    ];
    check_finds(&good, &rib, damage);
    let unused = Unused { nodes: alloc::vec![Run { start: 2, count: 1 }], results: Vec::new() };
    let TreeBitmap { nodes, results, root, .. } = &good;
    let slices = Slices { nodes, results, root };
    assert!(check::check(slices, unused, &rib).is_err(), "free and in use");
}

/// An end node appears and disappears with the longest prefix inside it. On one level and on
/// several.
#[test]
fn end_nodes_change_their_kind() {
    let routes = [("16.0.0.0/4", 1), ("32.0.0.0/4", 2)];
    let mut table = changing::<Ipv4, Node16, u16>(rib(&routes), 200);
    let root = |table: &Changing<Ipv4, Node16, u16>| {
        table.patcher.nodes[table.patcher.root[0] as usize].bitmaps()
    };
    let before = root(&table);
    assert_eq!(table.patcher.in_use(), [1, 3], "the root is an end node");
    for long in ["16.0.0.0/5", "48.0.0.0/32", "32.0.0.0/8", "16.128.0.0/9"] {
        table.step(long, 3);
        assert!(table.patcher.in_use()[0] > 2, "the root has children");
        table.step(long, 0);
        assert_eq!(table.patcher.in_use(), [1, 3], "{long}");
        assert_eq!(root(&table), before);
    }
}

/// A route that changes no answer is stored, and its absence is detected.
#[test]
fn check_detects_a_missing_hidden_route() {
    let hidden = [("10.0.0.0/8", 1), ("10.0.0.0/9", 2), ("10.128.0.0/9", 3)];
    let tree = TreeBitmap::<Ipv4>::compile(&rib(&hidden), &()).unwrap();
    assert!(tree.check(&rib(&hidden[1..])).is_err());
}

/// Every level compiles the same kernels.
#[test]
fn levels_agree() {
    fn agree<F: Engines>() {
        let rib = spread::<F>(2..=F::WIDTH, 30);
        variants(&rib, &mut |engine| batches_agree(engine, &rib));
    }
    agree::<Ipv4>();
    agree::<Ipv6>();
}
