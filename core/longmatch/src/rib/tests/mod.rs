//! Named cases of the RIB; `model` compares it with an ordered map.

mod model;

use alloc::string::ToString;
use alloc::vec::Vec;

use super::*;
use crate::net::{Bits, Ipv4, Ipv6};

fn hop(n: u32) -> NextHopId {
    NextHopId::new(n).unwrap()
}

fn p4(text: &str) -> Prefix<Ipv4> {
    text.parse().unwrap()
}

fn rib4(routes: &[(&str, u32)]) -> Rib<Ipv4> {
    routes.iter().map(|(p, n)| Route { prefix: p4(p), next_hop: hop(*n) }).collect()
}

fn listed<F: Family>(routes: impl Iterator<Item = Route<F>>) -> Vec<(alloc::string::String, u32)> {
    routes.map(|route| (route.prefix.to_string(), route.next_hop.get())).collect()
}

/// Checks every invariant of the storage, and that the routes' order of arrival left no trace.
fn check<F: Family>(rib: &Rib<F>) {
    assert_eq!(rib.trie.check(), rib.len());
    let fresh: Rib<F> = rib.iter().collect();
    assert_eq!(rib.trie.shape(), fresh.trie.shape());
    let mut copy = rib.clone();
    copy.compact();
    assert_eq!(copy.trie.check(), rib.len());
    assert_eq!(copy.trie.shape(), rib.trie.shape());
}

/// F1 (FreeBSD 36e15b717eec): deleting the /23 between a /22 and a /24.
#[test]
fn withdrawal_in_a_chain_of_covers() {
    let mut rib = rib4(&[("10.0.0.0/22", 1), ("10.0.0.0/23", 2), ("10.0.0.0/24", 3)]);
    assert_eq!(rib.remove(p4("10.0.0.0/23")), Some(hop(2)));
    assert_eq!(rib.get_lpm("10.0.0.1".parse().unwrap()).unwrap().next_hop, hop(3));
    assert_eq!(rib.get_lpm("10.0.1.1".parse().unwrap()).unwrap().next_hop, hop(1));
    check(&rib);
}

/// R3 (py-radix #88, #52): deleting one prefix removed others.
#[test]
fn removal_leaves_the_other_routes() {
    let all = [
        "0.0.0.0/0",
        "10.0.0.0/8",
        "10.0.0.0/9",
        "10.128.0.0/9",
        "10.0.0.0/32",
        "10.0.0.1/32",
        "10.255.255.255/32",
        "255.255.255.255/32",
        "192.0.2.0/24",
    ];
    for removed in all {
        let mut rib: Rib<Ipv4> =
            (1..).zip(all).map(|(n, p)| Route { prefix: p4(p), next_hop: hop(n) }).collect();
        assert!(rib.remove(p4(removed)).is_some());
        for (n, prefix) in (1..).zip(all) {
            assert_eq!(rib.get(p4(prefix)), (prefix != removed).then(|| hop(n)), "{prefix}");
        }
    }
}

/// D16, R1 (treebitmap #13), R2: /32 and /128 inserted, iterated and removed.
#[test]
fn host_routes_at_the_edges() {
    let mut rib = Rib::<Ipv6>::new();
    let edges = ["::/128", "::1/128", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", "::/0"];
    for (n, text) in (1..).zip(edges) {
        rib.insert(text.parse().unwrap(), hop(n)).unwrap();
    }
    assert_eq!(rib.iter().count(), 4);
    for text in edges {
        assert!(rib.remove(text.parse().unwrap()).is_some());
    }
    assert!(rib.is_empty());
    check(&rib);
}

/// D4, R2: removed nodes are freed and reused.
#[test]
fn removed_nodes_are_reused() {
    let mut rib = Rib::<Ipv4>::new();
    let routes: Vec<_> = (0..1000u32)
        .map(|i| Prefix::from_bits_masked(i.wrapping_mul(0x9e37_79b9), 8 + (i % 25) as u8))
        .collect();
    let mut bytes = Vec::new();
    for _ in 0..5 {
        for prefix in &routes {
            rib.insert(*prefix, hop(1)).unwrap();
        }
        for prefix in &routes {
            rib.remove(*prefix);
        }
        check(&rib);
        bytes.push(rib.memory_bytes());
    }
    assert!(bytes.windows(2).all(|pair| pair[0] == pair[1]), "no growth from reuse: {bytes:?}");
    rib.compact();
    assert!(rib.memory_bytes() < 100);
}

/// D20: a duplicate insert.
///
/// Also the cases "same route again", "next hop replaced", "withdrawal of an unknown prefix".
#[test]
fn outcomes_of_changes() {
    let mut rib = Rib::<Ipv4>::new();
    let announce = |n| Change::Announce(Route { prefix: p4("10.0.0.0/8"), next_hop: hop(n) });
    assert_eq!(rib.apply(announce(1)), Ok(Outcome::New));
    assert_eq!(rib.apply(announce(1)), Ok(Outcome::Same));
    assert_eq!(rib.apply(announce(2)), Ok(Outcome::Replaced(hop(1))));
    let bytes = rib.memory_bytes();
    assert_eq!(rib.apply(Change::Withdraw(p4("10.0.0.0/9"))), Ok(Outcome::Unknown));
    assert_eq!(rib.apply(Change::Withdraw(p4("11.0.0.0/8"))), Ok(Outcome::Unknown));
    assert_eq!(rib.memory_bytes(), bytes);
    assert_eq!(rib.apply(Change::Withdraw(p4("10.0.0.0/8"))), Ok(Outcome::Withdrawn(hop(2))));
    assert!(rib.is_empty());
}

#[test]
fn a_full_table_refuses_and_stays() {
    let mut rib = Rib::<Ipv4>::with_route_limit(2);
    rib.insert(p4("10.0.0.0/8"), hop(1)).unwrap();
    rib.insert(p4("11.0.0.0/8"), hop(1)).unwrap();
    assert_eq!(rib.insert(p4("12.0.0.0/8"), hop(1)), Err(RibFull { limit: 2 }));
    assert_eq!(
        rib.insert(p4("10.0.0.0/8"), hop(2)),
        Ok(Some(hop(1))),
        "replacing needs no capacity"
    );
    assert_eq!(rib.len(), 2);
    rib.remove(p4("11.0.0.0/8"));
    assert_eq!(rib.insert(p4("12.0.0.0/8"), hop(1)), Ok(None));
}

#[test]
fn iteration_is_in_order_and_bounded() {
    let rib = rib4(&[("192.0.2.0/24", 4), ("10.1.0.0/16", 3), ("0.0.0.0/0", 1), ("10.0.0.0/8", 2)]);
    let all = listed(rib.iter());
    assert_eq!(
        all.iter().map(|(p, _)| p.as_str()).collect::<Vec<_>>(),
        ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24"]
    );
    assert_eq!(listed(rib.children(p4("10.0.0.0/8"))), all[1..3]);
    assert_eq!(listed(rib.children(p4("10.0.0.0/7"))), all[1..3]);
    assert_eq!(listed(rib.children(p4("10.1.2.0/24"))), []);
    assert_eq!(listed(rib.children(Prefix::DEFAULT)), all);
    assert_eq!(listed(rib.cover(p4("10.1.2.0/24"))), all[..3]);
    assert_eq!(listed(rib.cover(p4("11.0.0.0/8"))), all[..1]);
}

#[test]
fn ranges_partition_the_space() {
    let rib =
        rib4(&[("0.0.0.0/0", 1), ("10.0.0.0/8", 2), ("10.0.0.0/16", 2), ("255.255.255.255/32", 3)]);
    let ranges: Vec<_> =
        rib.ranges().map(|r| (r.first, r.last, r.next_hop().map(NextHopId::get))).collect();
    assert_eq!(
        ranges,
        [
            (0, 0x09ff_ffff, Some(1)),
            (0x0a00_0000, 0x0a00_ffff, Some(2)),
            (0x0a01_0000, 0x0aff_ffff, Some(2)),
            (0x0b00_0000, 0xffff_fffe, Some(1)),
            (0xffff_ffff, 0xffff_ffff, Some(3)),
        ]
    );
    assert_eq!(rib.ranges().coalesced().count(), 4);
    let empty = Rib::<Ipv6>::new();
    let whole: Vec<_> = empty.ranges().coalesced().collect();
    assert_eq!(whole, [Range { first: 0, last: u128::MAX, route: None }]);
}

#[test]
fn aggregation_removes_redundant_routes() {
    let rib = rib4(&[
        ("10.0.0.0/8", 1),
        ("10.1.0.0/16", 1),
        ("10.2.0.0/16", 2),
        ("11.0.0.0/9", 3),
        ("11.128.0.0/9", 3),
        ("12.0.0.0/9", 4),
        ("12.128.0.0/9", 4),
        ("12.0.0.0/8", 5),
        ("13.0.0.0/8", 6),
        ("13.5.5.5/32", 7),
    ]);
    let out = listed(rib.aggregated().iter());
    let expected = [
        ("10.0.0.0/8", 1),
        ("10.2.0.0/16", 2),
        ("11.0.0.0/8", 3),
        ("12.0.0.0/8", 4),
        ("13.0.0.0/8", 6),
        ("13.5.5.5/32", 7),
    ];
    assert_eq!(out, expected.map(|(p, n)| (p.to_string(), n)));
}

/// A chain of leaves that agree in all but their last bit needs no node for the bits between.
#[test]
fn memory_is_bounded_for_adversarial_tables() {
    fn bytes<F: Family>(prefixes: impl Iterator<Item = Prefix<F>>, bound: usize) {
        let mut rib = Rib::<F>::new();
        for prefix in prefixes {
            rib.insert(prefix, hop(1)).unwrap();
        }
        assert_eq!(rib.trie.check(), rib.len());
        let bytes = rib.memory_bytes() / rib.len();
        assert!(bytes <= bound, "{bytes} bytes a route in a table of {}", rib.len());
    }
    fn host<F: Family>(high: u32, low: u128) -> Prefix<F> {
        let high = u128::from(high.wrapping_mul(0x9e37_79b9)) << (F::WIDTH - 32);
        Prefix::from_bits_masked(F::Bits::from_u128(high ^ low), F::WIDTH)
    }
    // Pairs of neighbours far apart, routes of all lengths on one path, and random hosts.
    bytes::<Ipv4>((0..20_000).map(|i| host(i / 2, u128::from(i % 2))), 100);
    bytes::<Ipv6>((0..20_000).map(|i| host(i / 2, u128::from(i % 2))), 130);
    bytes::<Ipv6>((0..20_000).map(|i| host(i, 0)), 130);
    for far in [7, 60, 100] {
        bytes::<Ipv6>((0..20_000).map(|i| host(i / 2, u128::from(i % 2) << far)), 130);
    }
    let path =
        |i: u32| Prefix::from_bits_masked(host::<Ipv6>(i / 64, 0).bits(), 1 + (i % 64) as u8 * 2);
    bytes::<Ipv6>((0..20_000).map(path), 130);
}

/// Nodes that pass through all sizes leave free blocks of each; the table returns them.
#[test]
fn memory_follows_the_routes() {
    let nodes = 2000u32;
    let prefix = |node: u32, i: u32| Prefix::<Ipv4>::from_bits_masked(node << 14 | i << 8, 24);
    let mut rib = Rib::new();
    let mut greatest = 0;
    for i in 0..64 {
        for node in 0..nodes {
            rib.insert(prefix(node, i), hop(1)).unwrap();
        }
        greatest = greatest.max(rib.memory_bytes());
    }
    let full = rib.memory_bytes();
    for i in 1..64 {
        for node in 0..nodes {
            rib.remove(prefix(node, i));
        }
    }
    assert_eq!(rib.trie.check(), nodes as usize);
    rib.insert(prefix(0, 1), hop(1)).unwrap();
    assert_eq!(rib.trie.check(), nodes as usize + 1);
    assert!(rib.memory_bytes() < full / 4, "{} of {full}", rib.memory_bytes());
    let mut fresh = rib.clone();
    fresh.compact();
    assert!(greatest < 4 * full, "{greatest} while it grew to {full}");
}
