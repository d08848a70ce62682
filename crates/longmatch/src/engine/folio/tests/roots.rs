//! Roots of IPv6: the blocks that they store, and the answer outside.

use super::*;

/// Verifies every form of root for a table. The first block and the number of blocks are for 16
/// bits.
fn forms(routes: &[(&str, u32)], first: u32, blocks: usize, outside: u32) {
    let rib = rib::<Ipv6>(routes);
    for wish in [None, Some(RootForm::Dense), Some(RootForm::Sparse)] {
        for cuts in [vec![], vec![8], vec![16], vec![17, 31, 45], vec![20]] {
            let config = Config { cuts, root: wish, huge: false };
            let folio = agree::<Ipv6, Byte>(&rib, &config);
            let root = &folio.fixed.root;
            let RootLayout::Span { first: stored, sparse } = root.layout else {
                assert!(wish.is_none(), "{routes:?}");
                continue;
            };
            assert!(wish.is_none_or(|wish| sparse == (wish == RootForm::Sparse)));
            if root.bits == 16 {
                assert_eq!((stored, folio.entries.len() - 1), (first, blocks), "{routes:?}");
            }
            assert_eq!(folio.entries[root.last as usize], outside, "{routes:?}");
            // Addresses just outside, and far away.
            let all = 1u128 << root.bits;
            let end = u128::from(stored) + u128::from(root.last);
            for block in [0, u128::from(stored).wrapping_sub(1), end, all / 2, all - 1] {
                let addr = (block & (all - 1)) << (128 - root.bits) | 1 << 70;
                let right = rib.get_lpm(Ipv6::addr(addr)).map(|route| route.next_hop);
                assert_eq!(folio.lookup_bits(addr), right, "{}", Ipv6::addr(addr));
                let mut out = [None; 3];
                folio.lookup_batch_with(Simd::best(), &[addr; 3], &mut out);
                assert_eq!(out, [right; 3], "{}", Ipv6::addr(addr));
            }
        }
    }
}

#[test]
fn tables_without_a_default_route() {
    forms(&[], 0, 0, 0);
    forms(&[("fe80::/10", 1)], 0xfe80, 0x41, 0);
    forms(&[("2001:db8::/32", 1)], 0x2001, 1, 0);
    forms(&[("2000::/3", 1), ("2001:db8::/32", 2)], 0x2000, 0x2001, 0);
    forms(&[("2000::/3", 1), ("fc00::/7", 2)], 0x2000, 0xfe00 - 0x2000 + 1, 0);
    forms(&[("2001:db8::1/128", 1)], 0x2001, 1, 0);
}

#[test]
fn tables_with_a_default_route() {
    forms(&[("::/0", 3)], 0, 0, 3);
    forms(&[("::/0", 3), ("2001:db8::/32", 1)], 0x2001, 1, 3);
    forms(&[("::/0", 3), ("2001:db8::/32", 3)], 0, 0, 3);
    forms(&[("::/0", 3), ("2000::/3", 1), ("fc00::/7", 2)], 0x2000, 0xde01, 3);
}

/// D17: if the lowest and the highest address have different answers, the root stores the blocks
/// from the lowest on. The blocks after the last change have one answer.
#[test]
fn both_ends_of_the_space() {
    const HIGHEST: &str = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128";
    forms(&[("::/128", 1)], 0, 1, 0);
    forms(&[(HIGHEST, 1)], 0, 1 << 16, 1);
    forms(&[("::/128", 1), (HIGHEST, 1)], 0, 1 << 16, 1);
    forms(&[("::/128", 1), (HIGHEST, 2)], 0, 1 << 16, 2);
    forms(&[("::/0", 3), (HIGHEST, 2)], 0, 1 << 16, 2);
    forms(&[("8000::/1", 1)], 0, 0x8001, 1);
    forms(&[("::/1", 1)], 0, 0x8001, 0);
    forms(&[("::/1", 1), ("8000::/1", 1)], 0, 0, 1);
}

/// A large sparse root takes memory only around routes.
#[test]
fn large_sparse_roots() {
    let rib = rib::<Ipv6>(&[("2000::/128", 1), ("2fff:ffff::/32", 2)]);
    let folio = agree::<Ipv6, Byte>(&rib, &Config { root: Some(RootForm::Sparse), ..cuts(&[28]) });
    assert_eq!(folio.entries.len(), (1 << 24) + 2);
    assert_eq!(folio.memory_usage().parts[0].bytes, 2 * 4096);
    let dense = agree::<Ipv6, Byte>(&rib, &Config { root: Some(RootForm::Dense), ..cuts(&[20]) });
    assert_eq!(dense.memory_usage().parts[0].bytes, 4 * ((1 << 16) + 2));
}

/// Routes at both ends do not make a root of billions of entries. It can be requested.
#[test]
fn routes_at_both_ends_keep_the_root_small() {
    let rib = rib::<Ipv6>(&[("::1/128", 1), ("2001:db8::/32", 2), ("ff00::/8", 3)]);
    for root in [None, Some(RootForm::Sparse)] {
        let folio = agree::<Ipv6, Byte>(&rib, &Config { root, ..Config::default() });
        assert!(folio.entries.len() <= (1 << 27) + 1, "{}", Structure::variant(&folio));
    }
}

/// Regions are found by hashing. Other addresses that hash to the same places get the shared
/// answer.
#[test]
fn regions_are_distinguished() {
    for count in [1, 2, 7, 18] {
        let routes: Vec<_> = (0..count)
            .map(|i: u32| {
                let text = alloc::format!("{:x}:{i:x}::/{}", 0x2001 + i * 0x0a10, 24 + i);
                (
                    text.parse::<Prefix<Ipv6>>().unwrap_or_else(|_| {
                        Prefix::from_bits_masked(
                            u128::from(0x2001 + i * 0x0a10) << 112,
                            24 + i as u8,
                        )
                    }),
                    1 + i,
                )
            })
            .collect();
        let route =
            |(prefix, raw): &(Prefix<Ipv6>, u32)| Route { prefix: *prefix, next_hop: hop(*raw) };
        let rib: Rib<Ipv6> = routes.iter().map(route).collect();
        let config = Config { root: Some(RootForm::Regions), ..Config::default() };
        let folio = agree::<Ipv6, Byte>(&rib, &config);
        let RootLayout::Regions(regions) = &folio.fixed.root.layout else {
            panic!("{:?}", folio.fixed.root.layout)
        };
        let numbers = regions.numbers();
        assert_eq!(numbers.len(), count as usize);
        for region in 0..1u128 << 12 {
            let addr = region << 116 | 1 << 90;
            let right = rib.get_lpm(Ipv6::addr(addr)).map(|route| route.next_hop);
            let mut out = [None; 16];
            folio.lookup_batch_with(Simd::best(), &[addr; 16], &mut out);
            assert_eq!((folio.lookup_bits(addr), out), (right, [right; 16]), "{region:x}");
        }
    }
}

/// The empty table and one with only a default route, in every form of codes.
#[test]
fn tables_without_pages() {
    fn no_pages<F: Family, C: Code>() {
        for routes in [vec![], vec![Prefix::from_bits_masked(F::Bits::ZERO, 0)]] {
            let route = |prefix| Route { prefix, next_hop: hop(7) };
            let folio = agree::<F, C>(&routes.into_iter().map(route).collect(), &Config::default());
            assert_eq!(folio.store.pages().count(), 0);
        }
    }
    no_pages::<Ipv4, Byte>();
    no_pages::<Ipv4, Coded>();
    no_pages::<Ipv4, u16>();
    no_pages::<Ipv4, u32>();
    no_pages::<Ipv6, Byte>();
    no_pages::<Ipv6, Coded>();
    no_pages::<Ipv6, u16>();
    no_pages::<Ipv6, u32>();
}
