use alloc::format;
use alloc::vec::Vec;

use super::super::Radix;
use super::layout::{LEAF, Leaf, NONE, Node};
use super::*;
use crate::engine::Engines;
use crate::engine::testing::{
    Test, batches_agree, built, check_finds, edges_of_ipv4, edges_of_ipv6, ends, hop, prefix, rib,
    rib4, spread,
};
use crate::net::{Bits, Ipv4, Ipv6, Route};

fn tree<F: Family>(rib: &Rib<F>) -> PathCompressed<F> {
    let tree = PathCompressed::compile(rib, &()).unwrap();
    tree.check(rib).unwrap();
    tree
}

fn v4(text: &str) -> u32 {
    Ipv4::bits(text.parse().unwrap())
}

fn v6(text: &str) -> u128 {
    Ipv6::bits(text.parse().unwrap())
}

/// The leaves of the chain that begins with a leaf.
fn chain<F: Family>(tree: &PathCompressed<F>, first: usize) -> &[Leaf<F::Bits>] {
    let others = tree.leaves[first..].iter().take_while(|leaf| leaf.more).count();
    &tree.leaves[first..=first + others]
}

/// The nodes that lead from a link down, and the leaf where the way ends.
fn down<F: Family>(tree: &PathCompressed<F>, mut link: u32, addr: F::Bits) -> (Vec<u32>, usize) {
    let mut nodes = Vec::new();
    while link & LEAF == 0 {
        nodes.push(link);
        let node = tree.nodes[link as usize];
        link = node.children[addr.bit(node.bit)];
    }
    (nodes, (link & !LEAF) as usize)
}

/// The way of a lookup: the nodes down, the leaf, the nodes up, and the next hop.
type Way = (Vec<u32>, usize, Vec<u32>, u32);

/// Follows a lookup; its answer must be the same. Masks are compared in full.
fn way<F: Family>(tree: &PathCompressed<F>, addr: F::Bits) -> Way {
    let covers = |leaf: &&Leaf<F::Bits>| addr & F::Bits::mask(leaf.len) == leaf.key;
    let (nodes, leaf) = down(tree, tree.root(), addr);
    let mut found = chain(tree, leaf).iter().find(covers);
    let mut up = Vec::new();
    let mut at = tree.leaves[leaf].parent;
    while found.is_none() && at != NONE {
        up.push(at);
        let node = &tree.nodes[at as usize];
        found = tree.list(node).iter().find(covers);
        at = node.parent;
    }
    let next_hop = found.map(|leaf| leaf.next_hop);
    assert_eq!(tree.lookup_bits(addr), next_hop, "{}", F::addr(addr));
    (nodes, leaf, up, NextHopId::to_raw(next_hop))
}

const EXAMPLE: [(&str, u32); 5] = [
    ("0.0.0.0/0", 1),
    ("128.0.0.0/1", 2),
    ("160.0.0.0/3", 3),
    ("160.0.0.0/8", 4),
    ("172.0.0.0/8", 5),
];

/// The README's example: the arrays, and the way of each lookup.
#[test]
fn the_readme_example() {
    let rib = rib4(&EXAMPLE);
    let tree = tree(&rib);
    let node = |children, parent, bit, list| Node { children, parent, list, bit, list_len: 1 };
    let nodes = [
        node([LEAF, 1], NONE, 0, 0),
        node([LEAF | 1, 2], 0, 2, 1),
        node([LEAF | 2, LEAF | 4], 1, 4, 3),
    ];
    assert_eq!(tree.nodes, nodes);
    let leaf = |text, parent, next_hop, more| {
        let prefix = prefix::<Ipv4>(text);
        Leaf { key: prefix.bits(), parent, next_hop: hop(next_hop), len: prefix.len(), more }
    };
    let leaves = [
        leaf("0.0.0.0/0", 0, 1, false),
        leaf("128.0.0.0/1", 1, 2, false),
        leaf("160.0.0.0/8", 2, 4, true),
        leaf("160.0.0.0/3", 2, 3, false),
        leaf("172.0.0.0/8", 2, 5, false),
    ];
    assert_eq!(tree.leaves, leaves);
    for (addr, expected) in [
        ("172.0.0.1", (alloc::vec![0, 1, 2], 4, alloc::vec![], 5)),
        ("161.0.0.1", (alloc::vec![0, 1, 2], 2, alloc::vec![], 3)),
        ("232.0.0.1", (alloc::vec![0, 1, 2], 4, alloc::vec![2, 1], 2)),
        ("144.0.0.1", (alloc::vec![0, 1], 1, alloc::vec![], 2)),
        ("64.0.0.1", (alloc::vec![0], 0, alloc::vec![], 1)),
    ] {
        assert_eq!(way(&tree, v4(addr)), expected, "{addr}");
    }
    assert_eq!(tree.memory_usage().bytes(), 3 * 20 + 5 * 16);
    assert_eq!(Radix::compile(&rib, &()).unwrap().nodes.len(), 13, "with one bit a level");
}

/// The way up leads past several nodes without a mask that is short enough, to the default route.
#[test]
fn several_levels_up() {
    let routes = [
        ("0.0.0.0/0", 1),
        ("10.0.0.0/32", 2),
        ("10.0.0.1/32", 3),
        ("10.0.1.0/32", 4),
        ("10.1.0.0/32", 5),
        ("11.0.0.0/32", 6),
    ];
    let bits = |tree: &PathCompressed<Ipv4>| -> Vec<u8> {
        tree.nodes.iter().map(|node| node.bit).collect()
    };
    let with_default = tree(&rib4(&routes));
    assert_eq!(bits(&with_default), [4, 7, 15, 23, 31]);
    // 138 is 10 with the first bit set, which no node tests.
    let expected = (alloc::vec![0, 1, 2, 3, 4], 2, alloc::vec![4, 3, 2, 1, 0], 1);
    assert_eq!(way(&with_default, v4("138.0.0.1")), expected);
    let without = tree(&rib4(&routes[1..]));
    assert_eq!(bits(&without), [7, 15, 23, 31]);
    let expected = (alloc::vec![0, 1, 2, 3], 1, alloc::vec![3, 2, 1, 0], 0);
    assert_eq!(way(&without, v4("138.0.0.1")), expected);
}

/// The same with 128 bits, where a list in the middle ends one way up.
#[test]
fn several_levels_up_in_ipv6() {
    let tree = tree(&rib::<Ipv6>(&[
        ("::/0", 1),
        ("2001:db8::/32", 2),
        ("2001:db8::1/128", 3),
        ("2001:db8:0:1::/64", 4),
        ("2001:db8:1::/48", 5),
    ]));
    let nodes: Vec<_> =
        tree.nodes.iter().map(|node| (node.bit, node.list, node.list_len)).collect();
    assert_eq!(nodes, [(2, 0, 1), (47, 1, 1), (63, 0, 0), (127, 0, 0)]);
    let all = alloc::vec![0, 1, 2, 3];
    let expected = (all.clone(), 2, alloc::vec![3, 2, 1], 2);
    assert_eq!(way(&tree, v6("2001:db8::3")), expected);
    let expected = (all.clone(), 2, alloc::vec![3, 2, 1, 0], 1);
    assert_eq!(way(&tree, v6("3001:db8::1")), expected);
    assert_eq!(way(&tree, v6("2001:db8::1")), (all, 2, alloc::vec![], 3));
}

/// One key with every mask: one chain, of which each node lists the part between its parent's bit
/// and its own.
#[test]
fn one_key_with_every_mask() {
    let prefixes: Vec<_> = (0..=32).map(|len| format!("0.0.0.0/{len}")).collect();
    let mut routes: Vec<_> = prefixes.iter().map(|text| &**text).zip(1..).collect();
    routes.extend([("0.0.0.1/32", 40), ("0.1.0.0/32", 41), ("128.0.0.0/32", 42)]);
    let tree = tree(&rib4(&routes));
    let nodes: Vec<_> =
        tree.nodes.iter().map(|node| (node.bit, node.list, node.list_len)).collect();
    assert_eq!(nodes, [(0, 32, 1), (15, 17, 15), (31, 1, 16)]);
    assert_eq!((chain(&tree, 0).len(), tree.leaves.len()), (33, 36));
    for (at, leaf) in chain(&tree, 0).iter().enumerate() {
        assert_eq!((usize::from(leaf.len), leaf.more), (32 - at, at < 32));
    }
    for len in 0..31 {
        // The first bit that is set is the one after the mask.
        let addr = 1 << (31 - len) | 2;
        assert_eq!(way(&tree, addr).3, len + 1);
    }
    assert_eq!([0, 1].map(|addr| way(&tree, addr).3), [33, 40]);
}

/// The longest list that there is.
#[test]
fn a_list_of_128_masks() {
    let prefixes: Vec<_> = (0..=128).map(|len| format!("::/{len}")).collect();
    let mut routes: Vec<_> = prefixes.iter().map(|text| &**text).zip(1..).collect();
    routes.push(("::1/128", 200));
    let tree = tree(&rib::<Ipv6>(&routes));
    let [node] = tree.nodes[..] else { panic!("{} nodes", tree.nodes.len()) };
    assert_eq!((node.bit, node.list, node.list_len), (127, 1, 128));
    assert_eq!(way(&tree, 1 << 127 | 1), (alloc::vec![0], 129, alloc::vec![0], 1));
    assert_eq!(way(&tree, 3), (alloc::vec![0], 129, alloc::vec![0], 127));
    assert_eq!([way(&tree, 0).3, way(&tree, 1).3], [129, 200]);
}

/// Trees without an internal node.
#[test]
fn no_key_and_one_key() {
    let empty = tree(&Rib::<Ipv4>::new());
    assert_eq!((empty.lookup_bits(0), empty.memory_usage().bytes()), (None, 0));
    let default = tree(&rib4(&[("0.0.0.0/0", 1)]));
    assert_eq!([0, u32::MAX].map(|addr| way(&default, addr).3), [1, 1]);
    assert!(default.nodes.is_empty());
    let host = tree(&rib::<Ipv6>(&[("::7/128", 1), ("::7/128", 2)]));
    assert_eq!([6, 7, 8].map(|addr| way(&host, addr).3), [0, 2, 0]);
    assert_eq!((host.nodes.len(), host.leaves.len()), (0, 1));
    // One key with several masks.
    let chain = tree(&rib4(&[("0.0.0.0/0", 1), ("0.0.0.0/8", 2), ("0.0.0.0/32", 3)]));
    assert_eq!(
        [0, 1, v4("0.255.255.255"), v4("1.0.0.0")].map(|addr| way(&chain, addr).3),
        [3, 2, 2, 1]
    );
    assert_eq!((chain.nodes.len(), chain.leaves.len()), (0, 3));
}

/// The lookup of earlier versions of BSD's `radix.c`: at each mask on the way up it searches again,
/// from that node, with the masked address.
fn by_second_searches<F: Family>(tree: &PathCompressed<F>, addr: F::Bits) -> Option<NextHopId> {
    let (_, leaf) = down(tree, tree.root(), addr);
    let covers = |leaf: &&Leaf<F::Bits>| addr & F::Bits::mask(leaf.len) == leaf.key;
    if let Some(leaf) = chain(tree, leaf).iter().find(covers) {
        return Some(leaf.next_hop);
    }
    let mut at = tree.leaves[leaf].parent;
    while at != NONE {
        for len in tree.list(&tree.nodes[at as usize]).iter().map(|route| route.len) {
            let masked = addr & F::Bits::mask(len);
            let (_, leaf) = down(tree, at, masked);
            let found = |leaf: &&Leaf<F::Bits>| (leaf.key, leaf.len) == (masked, len);
            if let Some(leaf) = chain(tree, leaf).iter().find(found) {
                return Some(leaf.next_hop);
            }
        }
        at = tree.nodes[at as usize].parent;
    }
    None
}

/// A mask list has what a second search would find.
#[test]
fn lists_spare_second_searches() {
    fn agree<F: Family>(rib: &Rib<F>) -> usize {
        let tree = tree(rib);
        let (keys, right) = ends(rib);
        for (addr, right) in keys.iter().zip(&right) {
            assert_eq!(by_second_searches(&tree, *addr), *right, "{}", F::addr(*addr));
            assert_eq!(tree.lookup_bits(*addr), *right, "{}", F::addr(*addr));
        }
        keys.iter().filter(|addr| !way(&tree, **addr).2.is_empty()).count()
    }
    assert!(agree(&spread::<Ipv4>(2..=32, 30)) > 1000, "ways up");
    assert!(agree(&spread::<Ipv6>(3..=128, 30)) > 1000, "ways up");
}

/// Both trees of the engine.
fn variants<F: Engines>(rib: &Rib<F>, each: Test<'_, F>) {
    for spec in ["radix", "radix:path-compressed"] {
        each(&*built(spec, rib).unwrap());
    }
}

#[test]
fn edges_of_the_address() {
    edges_of_ipv4(variants);
    edges_of_ipv6(variants);
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

#[test]
fn the_option_selects_the_tree() {
    let rib = rib4(&EXAMPLE);
    let variant = |spec: &str| built(spec, &rib).map(|engine| engine.variant());
    assert_eq!(variant("radix").as_deref(), Ok(""));
    assert_eq!(variant("radix:path-compressed").as_deref(), Ok("path-compressed"));
    for bad in ["path-compressed=1", "compressed", "bits=1", ""] {
        assert!(variant(&format!("radix:{bad}")).is_err(), "{bad}");
    }
}

/// The estimate is exact but for keys that several routes have.
#[test]
fn estimates() {
    let bytes = |rib: &Rib<Ipv4>| tree(rib).memory_usage().bytes() as u64;
    let routes = [("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("11.0.0.0/8", 3)];
    let (distinct, example) = (rib4(&routes), rib4(&EXAMPLE));
    assert_eq!((estimate(&distinct), bytes(&distinct)), (3 * 16 + 2 * 20, 3 * 16 + 2 * 20));
    assert_eq!((estimate(&example), bytes(&example)), (5 * 16 + 4 * 20, 5 * 16 + 3 * 20));
    let host = Route { prefix: prefix::<Ipv6>("::1/128"), next_hop: hop(1) };
    assert_eq!(estimate(&[host].into_iter().collect::<Rib<Ipv6>>()), 32);
    assert_eq!(estimate(&Rib::<Ipv6>::new()), 0);
}

/// `check` detects damage, also before it reads past an array or without end.
#[test]
fn check_finds_damage() {
    let rib = rib4(&EXAMPLE);
    let damage: &[fn(&mut PathCompressed<Ipv4>)] = &[
        // Leaves.
        |t| t.leaves[0].next_hop = hop(9),
        |t| t.leaves[2].len = 9,
        |t| t.leaves[2].key |= 1,
        |t| t.leaves[2].more = false,
        |t| t.leaves[3].more = true,
        |t| t.leaves[4].more = true,
        |t| t.leaves[3].parent = 1,
        |t| t.leaves[0].parent = NONE,
        |t| t.leaves.truncate(4),
        |t| t.leaves.clear(),
        |t| {
            t.leaves.swap(2, 3);
            (t.leaves[2].more, t.leaves[3].more) = (true, false);
        },
        // Links.
        |t| t.nodes[0].children.swap(0, 1),
        |t| t.nodes[2].children[1] = LEAF | 2,
        |t| t.nodes[2].children[1] = LEAF | 3,
        |t| t.nodes[2].children[1] = LEAF | 5,
        |t| t.nodes[2].children[1] = NONE,
        |t| t.nodes[2].children[1] = 0,
        |t| t.nodes[2].children[1] = 3,
        |t| t.nodes[0].children[1] = 2,
        |t| t.nodes.truncate(2),
        |t| t.nodes.clear(),
        |t| t.nodes.push(t.nodes[2]),
        |t| t.nodes[0].parent = 0,
        |t| t.nodes[2].parent = 0,
        // Tested bits.
        |t| t.nodes[0].bit = 1,
        |t| t.nodes[1].bit = 0,
        |t| t.nodes[1].bit = 1,
        |t| t.nodes[1].bit = 3,
        |t| t.nodes[2].bit = 5,
        |t| t.nodes[2].bit = 32,
        // Mask lists.
        |t| t.nodes[1].list_len = 0,
        |t| t.nodes[1].list = 0,
        |t| t.nodes[0].list_len = 2,
        |t| t.nodes[2].list_len = 200,
        |t| t.nodes[2].list = 2,
        |t| (t.nodes[2].list, t.nodes[2].list_len) = (2, 2),
    ];
    check_finds(&tree(&rib), &rib, damage);
}
