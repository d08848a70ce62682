use alloc::string::String;
use alloc::vec::Vec;

use super::layout::internal_bit;
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

/// A RIB and its tree, changed together; checked after each step.
struct Pair<F: Family, N, R> {
    rib: Rib<F>,
    tree: TreeBitmap<F, N, R>,
}

impl<F: Family, N: Node, R: NodeResult> Pair<F, N, R> {
    fn new(rib: Rib<F>) -> Self {
        let tree = TreeBitmap::compile(&rib, &()).unwrap();
        Self { rib, tree }
    }

    fn change(&mut self, prefix: Prefix<F>, raw: u32) {
        match NextHopId::new(raw) {
            Some(next_hop) => self.rib.insert(prefix, next_hop).map(|_| ()).unwrap(),
            None => self.rib.remove(prefix).map_or((), |_| ()),
        }
        self.tree.apply(&self.rib, &[prefix]).unwrap();
    }

    fn step(&mut self, text: &str, raw: u32) {
        self.change(prefix(text), raw);
        self.tree.check(&self.rib).unwrap_or_else(|corrupt| panic!("{text} {raw}: {corrupt}"));
    }

    fn answer(&self, text: &str) -> u32 {
        NextHopId::to_raw(self.tree.lookup(prefix::<F>(text).first()))
    }
}

const EXAMPLE: [(&str, u32); 5] = [
    ("0.0.0.0/0", 1),
    ("160.0.0.0/3", 2),
    ("164.0.0.0/6", 3),
    ("128.0.0.0/4", 4),
    ("167.0.0.0/8", 5),
];

/// The example of the README.
#[test]
fn the_readme_example() {
    let rib = rib::<Ipv4>(&EXAMPLE);
    let tree = TreeBitmap::<Ipv4, Node16, u16>::compile(&rib, &()).unwrap();
    let nodes = &tree.nodes.items;
    assert_eq!((internal_bit(3, 0b101), internal_bit(2, 0b01)), (12, 4));
    let root = Bitmaps { internal: 1 | 1 << 12, external: 1 << 8 | 1 << 10, end: false };
    assert_eq!(nodes[0], Node16::new(root, 1, 1));
    assert_eq!(nodes[1], Node16::new(Bitmaps { internal: 1, external: 0, end: true }, 0, 3));
    let end = Bitmaps { internal: 1 << 4, external: 1 << 7, end: true };
    assert_eq!(nodes[2], Node16::new(end, 0, 4));
    assert_eq!(tree.results.items, [0, 1, 2, 4, 3, 5]);
    for (addr, raw) in [(0xa7, 5), (0xa5, 3), (0xa1, 2), (0x81, 4), (0xc0, 1)] {
        assert_eq!(tree.lookup(addr << 24), NextHopId::new(raw), "{addr:#x}");
    }
    tree.check(&rib).unwrap();
}

fn variants<F: Family>(rib: &Rib<F>, each: &mut dyn FnMut(&dyn super::super::Compiled<F>)) {
    struct Each<'a, F: Family>(&'a mut dyn FnMut(&dyn super::super::Compiled<F>));
    impl<F: Family> EngineVisitor<F> for Each<'_, F> {
        type Output = ();
        fn visit<E: Engine<F>>(self, engine: E) {
            self.0(&engine);
        }
    }
    for options in [&[][..], &["stride=4"], &["result=32"], &["stride=4", "result=32"]] {
        let options: Vec<String> = options.iter().map(|o| String::from(*o)).collect();
        build(&options, rib, Each(each)).unwrap();
    }
}

/// D16, D17: routes as long as the address, which at stride 4 stand in a node past its end.
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
    struct Variant;
    impl EngineVisitor<Ipv4> for Variant {
        type Output = String;
        fn visit<E: Engine<Ipv4>>(self, engine: E) -> String {
            engine.variant()
        }
    }
    assert_eq!(build(&[], &rib_with(65_535), Variant).unwrap(), "stride=6");
    assert_eq!(build(&[], &rib_with(u32::MAX), Variant).unwrap(), "stride=6:result=32");
    for bad in ["stride=5", "stride=", "result=16", ""] {
        assert!(build(&[bad.into()], &rib_with(1), Variant).is_err(), "{bad}");
    }
}

/// A refused change leaves no trace, whichever limit refuses it.
#[test]
fn a_refused_change_leaves_no_trace() {
    let mut pair = Pair::<Ipv4, Node64, u16>::new(rib(&[("10.0.0.0/8", 1)]));
    let mut refused = |routes: &[(&str, u32)], limit: u64| {
        pair.tree.nodes.limit = limit;
        let before = pair.tree.clone();
        let mut rib = pair.rib.clone();
        rib.remove(prefix("10.0.0.0/8"));
        let mut changed = alloc::vec![prefix("10.0.0.0/8")];
        for (text, raw) in routes {
            rib.insert(prefix(text), hop(*raw)).unwrap();
            changed.push(prefix(text));
        }
        assert!(pair.tree.apply(&rib, &changed).is_err());
        assert!(pair.tree == before);
    };
    refused(&[("11.0.0.0/8", 1), ("12.0.0.0/8", 70_000)], 1 << 32);
    refused(&[("11.0.0.0/32", 1)], 3);
    pair.tree.check(&pair.rib).unwrap();
}

/// D11, D12, V1: the default route first, last and withdrawn; covers over specifics.
#[test]
fn covers_spare_their_specifics() {
    let mut pair = Pair::<Ipv4, Node16, u16>::new(Rib::new());
    pair.step("0.0.0.0/0", 1);
    pair.step("10.0.0.255/32", 2);
    pair.step("10.0.0.0/8", 3);
    assert_eq!((pair.answer("10.0.0.255/32"), pair.answer("10.0.0.254/32")), (2, 3));
    pair.step("0.0.0.0/0", 0);
    pair.step("10.0.0.0/16", 4);
    pair.step("0.0.0.0/0", 5);
    assert_eq!((pair.answer("10.0.0.255/32"), pair.answer("10.0.0.254/32")), (2, 4));
    assert_eq!((pair.answer("10.1.0.0/32"), pair.answer("9.0.0.0/32")), (3, 5));
}

/// F1, R3, R1: withdrawal in a chain of covers, of all but one, of host routes at both ends.
#[test]
fn withdrawals_show_the_right_cover() {
    let mut pair = Pair::<Ipv4, Node64, u16>::new(rib(&[
        ("10.0.0.0/22", 1),
        ("10.0.0.0/23", 2),
        ("10.0.0.0/24", 3),
        ("0.0.0.0/32", 5),
        ("255.255.255.255/32", 6),
    ]));
    pair.step("10.0.0.0/23", 0);
    assert_eq!((pair.answer("10.0.1.0/32"), pair.answer("10.0.0.0/32")), (1, 3));
    pair.step("10.0.0.0/23", 0);
    pair.step("0.0.0.0/32", 0);
    pair.step("255.255.255.255/32", 0);
    pair.step("10.0.0.0/24", 0);
    assert_eq!(pair.answer("10.0.0.0/32"), 1);
    pair.step("10.0.0.0/22", 0);
    pair.step("10.9.0.0/22", 0);
}

/// D1, D3, R2: adding and deleting for ever takes no more memory; what is drained is given back.
#[test]
fn blocks_are_reused() {
    let mut pair = Pair::<Ipv6, Node16, u32>::new(rib(&[("2001:db8::/32", 1)]));
    let mut sizes = Vec::new();
    for round in 0..40u32 {
        for i in 0..60u32 {
            let bits = 0x2001_0db8 << 96 | u128::from(i.wrapping_mul(0x9e37_79b9)) << 40;
            pair.change(Prefix::from_bits_masked(bits, 40 + (i % 89) as u8), 1 + round % 2);
        }
        let prefixes: Vec<_> = pair.rib.iter().map(|route| route.prefix).skip(1).collect();
        prefixes.iter().for_each(|prefix| pair.change(*prefix, 0));
        sizes.push((pair.tree.nodes.items.len(), pair.tree.results.items.len()));
        assert_eq!((pair.tree.nodes.in_use(), pair.tree.results.in_use()), (8, 2));
    }
    assert_eq!(sizes[1], sizes[39], "memory grows: {sizes:?}");
    pair.tree.check(&pair.rib).unwrap();
    pair.step("2001:db8::/32", 0);
    assert_eq!(pair.tree.nodes.items.capacity(), 1);
}

/// Random announcements and withdrawals that nest and meet, at both ends and round the strides.
fn random_changes<F: Family, N: Node, R: NodeResult>(steps: u32) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut pair = Pair::<F, N, R>::new(Rib::new());
    for step in 0..steps {
        let mut changed = Vec::new();
        for _ in 0..1 + random(4) * random(4) {
            let high = u128::from(random(4)) << (F::WIDTH - 2);
            let low = u128::from(random(4)) << (F::WIDTH - 24) | u128::from(random(8));
            let ends = [0, 1, 23, 24, 30, 31, 32, 127, 128, random(129)];
            let len = (ends[random(10) as usize] as u8).min(F::WIDTH);
            let prefix = Prefix::from_bits_masked(F::Bits::from_u128(high | low), len);
            if random(2) == 0 || step > steps - steps / 8 {
                pair.rib.remove(prefix);
            } else {
                pair.rib.insert(prefix, hop(1 + random(5) as u32)).unwrap();
            }
            changed.push(prefix);
        }
        pair.tree.apply(&pair.rib, &changed).unwrap();
        pair.tree.check(&pair.rib).unwrap_or_else(|corrupt| panic!("step {step}: {corrupt}"));
        let fresh = TreeBitmap::<F, N, R>::compile(&pair.rib, &()).unwrap();
        assert_eq!(fresh.nodes.in_use(), pair.tree.nodes.in_use(), "step {step}");
        assert_eq!(fresh.results.in_use(), pair.tree.results.in_use(), "step {step}");
    }
    let all: Vec<Prefix<F>> = pair.rib.iter().map(|route| route.prefix).collect();
    for prefix in &all {
        pair.rib.remove(*prefix);
    }
    pair.tree.apply(&pair.rib, &all).unwrap();
    pair.tree.check(&pair.rib).unwrap();
}

#[test]
fn random_changes_stay_true_to_the_rib() {
    random_changes::<Ipv4, Node16, u16>(1500);
    random_changes::<Ipv4, Node64, u32>(1500);
    random_changes::<Ipv6, Node16, u32>(1500);
    random_changes::<Ipv6, Node64, u16>(1500);
}

/// `check` must be able to fail, before anything is read past an array.
#[test]
fn check_finds_damage() {
    type Tree = TreeBitmap<Ipv4, Node16, u16>;
    fn node(internal: u64, external: u64, end: bool, children: u32, results: u32) -> Node16 {
        Node16::new(Bitmaps { internal, external, end }, children, results)
    }
    let rib = rib::<Ipv4>(&EXAMPLE);
    let good = Tree::compile(&rib, &()).unwrap();
    good.check(&rib).unwrap();
    let damage: [fn(&mut Tree); 14] = [
        |t| t.results.items[2] = 9,
        |t| t.results.items[0] = 1,
        |t| t.results.items[3] = 0,
        |t| t.results.items.truncate(5),
        |t| t.nodes.items.truncate(2),
        |t| t.nodes.items.clear(),
        |t| t.nodes.items[0] = node(1 | 1 << 12, 1 << 8 | 1 << 10, false, 2, 1),
        |t| t.nodes.items[0] = node(1 | 1 << 12, 1 << 8 | 1 << 10, false, 0, 1),
        |t| t.nodes.items[0] = node(1 | 1 << 12, 1 << 8 | 1 << 10, true, 0, 1),
        |t| t.nodes.items[1] = node(1, 0, true, 0, u32::MAX),
        |t| t.nodes.items[1] = node(0, 0, true, 0, 3),
        |t| t.nodes.items[2] = node(1 << 4, 1 << 7, false, 1, 4),
        |t| t.nodes.items.push(Node16::EMPTY),
        |t| t.nodes.give_back(2, 1),
    ];
    for (i, damage) in damage.into_iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad);
        assert!(bad.check(&rib).is_err(), "damage {i}");
    }
    assert!(good.check(&Rib::new()).is_err(), "another RIB");
}

/// An end node comes and goes with the longest prefix inside it, on one level and on several.
#[test]
fn end_nodes_change_their_kind() {
    let mut pair = Pair::<Ipv4, Node16, u16>::new(rib(&[("16.0.0.0/4", 1), ("32.0.0.0/4", 2)]));
    let before = pair.tree.clone();
    assert_eq!(pair.tree.nodes.in_use(), 1, "the root is an end node");
    for long in ["16.0.0.0/5", "48.0.0.0/32", "32.0.0.0/8", "16.128.0.0/9"] {
        pair.step(long, 3);
        assert!(pair.tree.nodes.in_use() > 2, "the root has children");
        pair.step(long, 0);
        assert_eq!(pair.tree.nodes.in_use(), 1, "{long}");
        assert_eq!(pair.tree.nodes.items[0].bitmaps(), before.nodes.items[0].bitmaps());
    }
}

/// A route that gives no address another answer is nonetheless there, and nonetheless missed.
#[test]
fn check_misses_a_route_that_is_hidden() {
    let hidden = [("10.0.0.0/8", 1), ("10.0.0.0/9", 2), ("10.128.0.0/9", 3)];
    let tree = TreeBitmap::<Ipv4>::compile(&rib(&hidden), &()).unwrap();
    assert!(tree.check(&rib(&hidden[1..])).is_err());
}

/// Every level compiles the same kernels.
#[test]
fn levels_agree() {
    fn agree<F: Family>() {
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
