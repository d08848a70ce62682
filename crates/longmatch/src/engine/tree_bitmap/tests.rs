use alloc::vec::Vec;

use super::layout::internal_bit;
use super::update::Patcher;
use super::*;
use crate::engine::Engines;
use crate::engine::kit::{CannotPatch, Patch, Replaced};
use crate::engine::testing::built;
use crate::mem::{Frozen, Plain, Readable, Run};
use crate::net::{Bits, Ipv4, Ipv6, Prefix, Route};

fn hop(n: u32) -> NextHopId {
    NextHopId::new(n).unwrap()
}

fn prefix<F: Family>(text: &str) -> Prefix<F> {
    text.parse().unwrap()
}

fn rib<F: Family>(routes: &[(&str, u32)]) -> Rib<F> {
    routes.iter().map(|(p, n)| Route { prefix: prefix(p), next_hop: hop(*n) }).collect()
}

/// A RIB and a live tree kept equal; each change verifies the accounts.
struct Changing<F: Family, N: Node, R: NodeResult> {
    rib: Rib<F>,
    patcher: Patcher<F, N, R>,
    epoch: u64,
}

impl<F: Family, N: Node, R: NodeResult> Changing<F, N, R> {
    /// Builds a tree with capacity for `spare` more nodes and results.
    fn new(rib: Rib<F>, spare: usize) -> Self {
        let tree = TreeBitmap::<F, N, R>::compile(&rib, &()).unwrap();
        let capacities = [tree.nodes.len() + spare, tree.results.len() + spare];
        Self { patcher: Patcher::new(&tree, capacities).unwrap(), rib, epoch: 1 }
    }

    /// Announces some routes in one commit; a next hop of 0 withdraws. Verifies the accounts with
    /// removed items in the retire list, and then free.
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
        self.patcher.check(&self.rib).unwrap();
        self.patcher.seal(self.epoch);
        self.epoch += 1;
        self.patcher.reclaim(self.epoch);
        assert_eq!(self.patcher.retired_bytes(), 0);
        self.patcher.check(&self.rib).unwrap();
        Ok(replaced)
    }

    fn step(&mut self, text: &str, raw: u32) -> Replaced {
        self.set(&[(prefix(text), raw)]).unwrap()
    }

    fn answer(&self, text: &str) -> u32 {
        NextHopId::to_raw(self.patcher.tree.lookup(prefix::<F>(text).first()))
    }

    /// Verifies that the tree has as many nodes and results as a compiled one.
    fn is_like_a_fresh_one(&self) {
        let fresh = TreeBitmap::<F, N, R>::compile(&self.rib, &()).unwrap();
        assert_eq!(self.patcher.in_use(), [fresh.nodes.len(), fresh.results.len()]);
    }
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
        assert_eq!(tree.lookup(addr << 24), NextHopId::new(raw), "{addr:#x}");
    }
    tree.check(&rib).unwrap();
}

fn variants<F: Engines>(rib: &Rib<F>, each: &mut dyn FnMut(&dyn crate::engine::Checked<F>)) {
    for options in ["", ":stride=4", ":result=32", ":stride=4:result=32"] {
        each(&*built(&alloc::format!("{NAME}{options}"), rib).unwrap());
    }
}

/// D16, D17: routes as long as the address, which at stride 4 are in a node at its end.
#[test]
fn edges_of_the_address() {
    let mut rib6 = rib::<Ipv6>(&[("::/0", 1), ("::/128", 2), ("::/127", 3), ("8000::/1", 4)]);
    rib6.insert(Prefix::from_bits_masked(u128::MAX, 128), hop(9)).unwrap();
    variants(&rib6, &mut |engine| engine.check(&rib6).unwrap());
    let ends = [("0.0.0.0/32", 1), ("255.255.255.255/32", 2), ("255.255.255.254/31", 3)];
    let rib4 = rib::<Ipv4>(&ends);
    variants(&rib4, &mut |engine| {
        engine.check(&rib4).unwrap();
        assert_eq!(engine.lookup(u32::MAX), Some(hop(2)));
        assert_eq!(engine.lookup(u32::MAX - 1), Some(hop(3)));
    });
    let empty = Rib::<Ipv4>::new();
    variants(&empty, &mut |engine| engine.check(&empty).unwrap());
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
    let mut table = Changing::<Ipv4, Node16, u16>::new(rib(&EXAMPLE), 100);
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
    assert_eq!(table.set(&changes.map(|(p, n)| (prefix(p), n))), Ok(replaced(3, 1 + 2)));
    table.is_like_a_fresh_one();
}

/// A replaced tree gives its old answers as long as readers may be in it.
#[test]
fn a_replaced_tree_keeps_its_answers() {
    let mut table = Changing::<Ipv4, Node64, u16>::new(rib(&EXAMPLE), 1000);
    let tree = table.patcher.tree.clone();
    let (before, addr) = (table.patcher.root[0], 0xa7 << 24);
    let cover = prefix("160.0.0.0/3");
    assert_eq!(table.rib.insert(cover, hop(9)), Ok(Some(hop(2))));
    table.patcher.patch(&table.rib, &[cover]).unwrap();
    for withdrawn in ["167.0.0.0/8", "164.0.0.0/6"].map(prefix) {
        assert!(table.rib.remove(withdrawn).is_some());
        table.patcher.patch(&table.rib, &[withdrawn]).unwrap();
    }
    assert_eq!(tree.lookup(addr), Some(hop(9)));
    let after = table.patcher.root[0];
    table.patcher.root.publish(0, before);
    assert_eq!(tree.lookup(addr), Some(hop(5)));
    table.patcher.root.publish(0, after);
    table.patcher.check(&table.rib).unwrap();
}

/// A change beyond the capacity or the results' range has no effect.
#[test]
fn no_room_is_no_change() {
    let rib = rib::<Ipv4>(&[("10.0.0.0/8", 1), ("10.0.0.0/24", 2)]);
    let mut table = Changing::<Ipv4, Node64, u16>::new(rib.clone(), 5);
    let before = (table.patcher.in_use(), table.patcher.root[0]);
    for changes in [
        &[("11.0.0.0/8", 1), ("12.0.0.0/8", 65_536)][..],
        // The capacity for nodes suffices for the path, but not for the root; that for results for
        // neither.
        &[("10.0.0.0/25", 3), ("11.0.0.0/24", 4)],
        &[("10.0.0.0/32", 3), ("10.0.0.0/24", 0), ("10.128.0.0/32", 5)],
        &[("10.0.0.0/19", 3), ("10.0.0.0/20", 3), ("10.0.0.0/21", 3), ("10.0.0.0/22", 3)],
    ] {
        let changes: Vec<_> = changes.iter().map(|(p, n)| (prefix(p), *n)).collect();
        assert_eq!(table.set(&changes), Err(CannotPatch), "{changes:?}");
        table.rib = rib.clone();
        table.patcher.check(&rib).unwrap();
        assert_eq!((table.patcher.in_use(), table.patcher.root[0]), before);
    }
    table.step("10.0.0.0/24", 0);
    table.step("10.0.0.0/9", 3);
}

/// D11, D12, V1: the default route first, last and withdrawn; covers over specifics.
#[test]
fn covers_spare_their_specifics() {
    let mut table = Changing::<Ipv4, Node16, u16>::new(Rib::new(), 100);
    table.step("0.0.0.0/0", 1);
    table.step("10.0.0.255/32", 2);
    table.step("10.0.0.0/8", 3);
    assert_eq!((table.answer("10.0.0.255/32"), table.answer("10.0.0.254/32")), (2, 3));
    table.step("0.0.0.0/0", 0);
    table.step("10.0.0.0/16", 4);
    table.step("0.0.0.0/0", 5);
    assert_eq!((table.answer("10.0.0.255/32"), table.answer("10.0.0.254/32")), (2, 4));
    assert_eq!((table.answer("10.1.0.0/32"), table.answer("9.0.0.0/32")), (3, 5));
}

/// F1, R3, R1: withdrawals in a chain of covers, of all but one route, of host routes at both ends.
#[test]
fn withdrawals_show_the_right_cover() {
    let routes = [
        ("10.0.0.0/22", 1),
        ("10.0.0.0/23", 2),
        ("10.0.0.0/24", 3),
        ("0.0.0.0/32", 5),
        ("255.255.255.255/32", 6),
    ];
    let mut table = Changing::<Ipv4, Node64, u16>::new(rib(&routes), 100);
    table.step("10.0.0.0/23", 0);
    assert_eq!((table.answer("10.0.1.0/32"), table.answer("10.0.0.0/32")), (1, 3));
    table.step("10.0.0.0/23", 0);
    table.step("0.0.0.0/32", 0);
    table.step("255.255.255.255/32", 0);
    table.step("10.0.0.0/24", 0);
    assert_eq!(table.answer("10.0.0.0/32"), 1);
    table.step("10.0.0.0/22", 0);
    table.step("10.9.0.0/22", 0);
}

/// D1, D3, R2: repeated adding and deleting takes no more memory; a drained tree frees everything.
#[test]
fn runs_are_used_again() {
    let mut table = Changing::<Ipv6, Node16, u32>::new(rib(&[("2001:db8::/32", 1)]), 1 << 16);
    let mut sizes = Vec::new();
    for round in 0..40u32 {
        for i in 0..60u32 {
            let bits = 0x2001_0db8 << 96 | u128::from(i.wrapping_mul(0x9e37_79b9)) << 40;
            let prefix = Prefix::from_bits_masked(bits, 40 + (i % 89) as u8);
            table.set(&[(prefix, 1 + round % 2)]).unwrap();
        }
        let prefixes: Vec<_> = table.rib.iter().map(|route| route.prefix).skip(1).collect();
        for prefix in prefixes {
            table.set(&[(prefix, 0)]).unwrap();
        }
        let tree = &table.patcher.tree;
        sizes.push((tree.nodes.count(), tree.results.count()));
        assert_eq!(table.patcher.in_use(), [8, 2]);
    }
    assert!(sizes[4] == sizes[39], "memory grows: {sizes:?}");
    table.step("2001:db8::/32", 0);
    assert_eq!(table.patcher.in_use(), [1, 1]);
}

/// Random announcements and withdrawals, at both ends and around the strides.
fn random_changes<F: Family, N: Node, R: NodeResult>(steps: u32) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut table = Changing::<F, N, R>::new(Rib::new(), 1 << 16);
    for step in 0..steps {
        let mut changes = Vec::new();
        for _ in 0..1 + random(4) * random(4) {
            let high = u128::from(random(4)) << (F::WIDTH - 2);
            let low = u128::from(random(4)) << (F::WIDTH - 24) | u128::from(random(8));
            let ends = [0, 1, 23, 24, 30, 31, 32, 127, 128, random(129)];
            let len = (ends[random(10) as usize] as u8).min(F::WIDTH);
            let prefix = Prefix::from_bits_masked(F::Bits::from_u128(high | low), len);
            let withdrawn = random(2) == 0 || step > steps - steps / 8;
            changes.push((prefix, if withdrawn { 0 } else { 1 + random(5) as u32 }));
        }
        table.set(&changes).unwrap();
        table.is_like_a_fresh_one();
    }
    let all: Vec<_> = table.rib.iter().map(|route| (route.prefix, 0)).collect();
    table.set(&all).unwrap();
    assert_eq!(table.patcher.in_use(), [1, 1]);
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
    good.check(&rib).unwrap();
    fn end<T: Plain>(array: &[T], len: usize) -> Frozen<T> {
        array[..len].into()
    }
    let damage: [fn(&mut Tree); 15] = [
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
    for (i, damage) in damage.into_iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad);
        assert!(bad.check(&rib).is_err(), "damage {i}");
    }
    let unused = Unused { nodes: alloc::vec![Run { start: 2, count: 1 }], results: Vec::new() };
    let TreeBitmap { nodes, results, root, .. } = &good;
    let slices = Slices { nodes, results, root };
    assert!(check::check(slices, unused, &rib).is_err(), "free and in use");
    assert!(good.check(&Rib::new()).is_err(), "another RIB");
}

/// An end node appears and disappears with the longest prefix inside it. On one level and on
/// several.
#[test]
fn end_nodes_change_their_kind() {
    let routes = [("16.0.0.0/4", 1), ("32.0.0.0/4", 2)];
    let mut table = Changing::<Ipv4, Node16, u16>::new(rib(&routes), 200);
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
        let rib: Rib<F> = (0..3000u32)
            .map(|i| {
                let high = u128::from(i.wrapping_mul(0x9e37_79b9)) << (F::WIDTH - 32);
                let bits = F::Bits::from_u128(high | u128::from(i));
                let len = 2 + (i % u32::from(F::WIDTH - 1)) as u8;
                Route { prefix: Prefix::from_bits_masked(bits, len), next_hop: hop(1 + i % 30) }
            })
            .collect();
        let keys: Vec<F::Bits> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
        let expected: Vec<_> = rib.ranges().flat_map(|range| [range.next_hop(); 2]).collect();
        variants(&rib, &mut |engine| {
            for simd in Simd::available() {
                let mut out = alloc::vec![None; keys.len()];
                engine.lookup_batch_with(simd, &keys, &mut out);
                assert!(out == expected, "{} at {}", engine.variant(), simd.level());
            }
        });
    }
    agree::<Ipv4>();
    agree::<Ipv6>();
}
