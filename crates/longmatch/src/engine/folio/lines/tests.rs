use alloc::vec;
use alloc::vec::Vec;

use super::layout::{Entry, SEPARATORS};
use super::*;
use crate::engine::testing::{built, ends, hop, rib};
use crate::net::{Bits, Family, Ipv4, Prefix, Route};

mod changes;
mod damage;
mod random;

/// Compiles, checks, and looks up both ends of each of the RIB's ranges.
///
/// One by one and in batches, at every level and in every layout. `check` has compared all
/// addresses, but reads lines in its own way.
fn agree<C: Code>(rib: &Rib<Ipv6>) -> Lines<C> {
    let lines = Lines::<C>::compile(rib, &()).unwrap();
    let variant = Structure::variant(&lines);
    Engine::check(&lines, rib).unwrap_or_else(|corrupt| panic!("{variant}: {corrupt}"));
    let (keys, right) = ends(rib);
    for (key, hop) in keys.iter().zip(&right) {
        assert_eq!(lines.lookup_bits(*key), *hop, "{variant}: {}", Ipv6::addr(*key));
    }
    let pairs: Vec<[u64; 2]> = keys.iter().map(|key| [key.half(0), key.half(1)]).collect();
    let network: Vec<[u8; 16]> = keys.iter().map(|key| key.to_be_bytes()).collect();
    for simd in Simd::available() {
        let mut out = vec![None; keys.len()];
        lines.lookup_each(simd, &keys, &mut out);
        assert!(out == right, "{variant} one by one at {}", simd.level());
        for size in [1, 8, 21, 32, 33, 150, keys.len()] {
            for (keys, right) in keys.chunks(size).zip(right.chunks(size)) {
                let mut out = vec![None; keys.len()];
                lines.lookup_batch_with(simd, keys, &mut out);
                assert!(out == right, "{variant} at {}, {size}", simd.level());
            }
        }
        for keys in [Keys::from(&pairs[..]), Keys::from(&network[..])] {
            out.fill(None);
            lines.lookup_keys(simd, keys, &mut out);
            assert!(out == right, "{variant} at {}, {:?}", simd.level(), keys.layout());
        }
    }
    lines
}

fn all_codes_agree(rib: &Rib<Ipv6>) {
    agree::<Byte>(rib);
    agree::<Coded>(rib);
    agree::<u16>(rib);
    agree::<u32>(rib);
}

/// Routes of a length at these bits, with next hops that repeat after `hops`.
fn routes(len: u8, bits: impl Iterator<Item = u128>, hops: u32) -> Rib<Ipv6> {
    let route = |(bits, i): (u128, u32)| Route {
        prefix: Prefix::from_bits_masked(bits, len),
        next_hop: hop(1 + i % hops),
    };
    bits.zip(0..).map(route).collect()
}

/// Pseudo-random bits.
fn noise(i: u128) -> u128 {
    let bits = i.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(i << 64 | 1);
    (bits ^ bits >> 67).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

/// The example of the README.
#[test]
fn a_small_table_by_hand() {
    let routes = [
        ("2001:db8::/32", 1),
        ("2001:db8:2::/48", 2),
        ("2001:db8:3:4::/64", 3),
        ("2a00::/16", 300),
    ];
    let lines = agree::<Byte>(&rib(&routes));
    let entry = |word: u32| Entry(lines.entries[lines.fixed.root.index(word) as usize]);
    // The /20 blocks: 2001:0000, which has routes, and two of those that have one answer.
    assert_eq!(entry(0x2001_0db8), Entry::line(1, 1));
    assert_eq!((entry(0x2001_1000), entry(0x2a00_1000)), (Entry(0), Entry::answer(300)));
    assert_eq!(lines.lines.len(), 3);
    let leaf = lines.lines[1];
    let keys = [0x0db7_ffff, 0x0db8_0001, 0x0db8_0002, 0x0db8_0003, 0x0db8_ffff];
    assert_eq!((&leaf.0[..5], leaf.0[5]), (&keys[..], u32::MAX));
    let codes: Vec<u32> = (0..7).map(|i| leaf.code(0, i)).collect();
    assert_eq!((codes, leaf.distance(0)), (vec![0, 1, 2, 255, 1, 0, 0], 1));
    // The escape leads to the leaf of bits 48 to 79.
    assert_eq!(Entry(lines.lines[2].0[3]), Entry::line(1, 0));
}

/// D16, D17, P3: nested routes of every length, at both ends and elsewhere.
#[test]
fn chains_of_routes() {
    for stem in [0, u128::MAX, u128::MAX / 3, 0x2001_0db8 << 96 | 0x0a01] {
        let of = |len: u8| {
            let prefix = Prefix::from_bits_masked(stem, len);
            Route { prefix, next_hop: hop(1 + u32::from(len)) }
        };
        all_codes_agree(&(0..=128).map(of).collect());
        all_codes_agree(&(65..=128).map(of).collect());
        all_codes_agree(&(21..=48).map(of).collect());
    }
}

#[test]
fn tables_without_lines() {
    for routes in [&[][..], &[("::/0", 7)], &[("2000::/3", 1)], &[("2001::/16", 5)]] {
        assert_eq!(agree::<Byte>(&rib(routes)).lines.len(), 0);
        all_codes_agree(&rib(routes));
    }
}

/// Trees of each depth: consecutive /48 with alternating next hops inside of one block.
#[test]
fn dense_blocks_make_deep_trees() {
    for (count, depth) in [(5, 1), (100, 2), (3000, 3), (20_000, 4), (65_536, 5)] {
        let rib = routes(48, (0..count).map(|i| 0x2001_0db8 << 96 | i << 80), 2);
        let lines = agree::<Byte>(&rib);
        let deepest = lines.entries.iter().map(|entry| Entry(*entry).depth()).max();
        assert_eq!(deepest, Some(depth), "{count}");
        agree::<u32>(&rib);
    }
}

/// Deep trees of every stage, and of many blocks.
#[test]
fn dense_clusters_of_every_length() {
    for below in [80, 64, 48, 40, 16, 8, 0] {
        let stem = 0x2a00_1450_4001_0807_0003_0000_0000_0000;
        let bits = (0..400).map(|i| stem ^ i << below ^ (i % 7) << 100);
        all_codes_agree(&routes(128 - below, bits, 300));
    }
}

/// Few routes in each of many blocks: more regions than can be hashed, under a default route.
#[test]
fn random_prefixes_with_a_default_route() {
    for len in [20, 32, 48, 64, 128] {
        let bits = (0..3000).map(|i| 1 << 125 | noise(i) >> 3);
        let mut rib = routes(len, bits, 250);
        agree::<Byte>(&rib);
        rib.insert("::/0".parse().unwrap(), hop(9)).unwrap();
        all_codes_agree(&rib);
    }
}

/// D17: roots from the lowest to the highest address have fewer bits.
#[test]
fn both_ends_of_the_space() {
    const HIGHEST: &str = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128";
    for routes in [
        &[("::/128", 1), (HIGHEST, 2)][..],
        &[("::/0", 3), (HIGHEST, 2)],
        &[("::/1", 1), ("8000::/1", 2)],
        &[("::1/128", 1), ("2001:db8::/32", 2), ("ff00::/8", 3)],
        &[("8000::/1", 3)],
    ] {
        let lines = agree::<u16>(&rib(routes));
        assert!(lines.entries.len() <= 1 << 17, "{routes:?}");
        for block in 0..1 << 12 {
            let addr = block << 116 | 1 << 70;
            let right = rib::<Ipv6>(routes).get_lpm(Ipv6::addr(addr)).map(|route| route.next_hop);
            assert_eq!(lines.lookup_bits(addr), right);
        }
    }
}

/// Next hops without a code escape: one address after the other, and whole prefixes.
#[test]
fn next_hops_around_the_ends_of_codes() {
    let ends = [1, 253, 254, 255, 256, 65_533, 65_534, 65_535, 65_536, (1 << 29) - 1];
    for len in [32, 44, 48, 64, 128] {
        let route = |i: u128| Route {
            prefix: Prefix::from_bits_masked(0x2001_0db8 << 96 | i << 87 | i << 60 | i, len),
            next_hop: hop(ends[i as usize % ends.len()]),
        };
        all_codes_agree(&(0..200).map(route).collect());
    }
    let next_hop = hop(1 << 29);
    let above = Route { prefix: "2001:db8::/32".parse().unwrap(), next_hop };
    let refused = Lines::<u32>::compile(&[above].into_iter().collect(), &()).map(drop);
    let (id, limit) = (1 << 29, (1 << 29) - 1);
    assert_eq!(refused, Err(CompileError::NextHopTooLarge { engine: NAME, id, limit }));
}

/// The narrowest codes with which escapes are rare.
#[test]
fn codes_fit_the_table() {
    let with = |ids: &dyn Fn(u128) -> u32| -> Rib<Ipv6> {
        let prefix = |i: u128| Prefix::from_bits_masked(0x2001 << 112 | i << 92, 36);
        let route = |i| Route { prefix: prefix(i), next_hop: hop(ids(i)) };
        (0..3000).map(route).collect()
    };
    for (table, expected) in [
        (with(&|i| 1 + i as u32 % 254), "8"),
        (with(&|i| if i == 7 { 1 << 20 } else { 1 + i as u32 % 254 }), "8"),
        (with(&|i| 60_000 + i as u32 % 200), "book"),
        (with(&|i| 1 + i as u32 % 2000), "16"),
        (with(&|i| 70_000 + i as u32 % 200), "32"),
    ] {
        let fib = built("folio:lines", &table).unwrap();
        assert_eq!(fib.variant(), alloc::format!("lines:codes={expected}"));
        fib.check(&table).unwrap();
    }
}

/// The form is the default of IPv6; options of pages are refused with it.
#[test]
fn options() {
    let refused = |spec: &str| match built::<Ipv6>(spec, &Rib::new()).map(drop) {
        Err(CompileError::Option(error)) => error.option,
        other => panic!("{spec}: {other:?}"),
    };
    assert_eq!(refused("folio:lines:s=16"), "s=16");
    assert_eq!(refused("folio:huge:lines"), "huge");
    assert_eq!(refused("folio:lines:codes=7"), "codes=7");
    let variant = |spec| built::<Ipv6>(spec, &Rib::new()).unwrap().variant();
    assert_eq!(variant("folio:lines"), "lines:codes=8");
    assert_eq!(variant("folio:lines:codes=book"), "lines:codes=book");
    assert_eq!(variant("folio:lines"), variant("folio"));
    assert_eq!(variant("folio:lines:pages:s=16"), variant("folio:pages:s=16"));
    assert!(matches!(
        built::<Ipv4>("folio:lines", &Rib::new()).map(drop),
        Err(CompileError::Option(error)) if error.option == "lines"
    ));
    built::<Ipv4>("folio:pages", &Rib::new()).unwrap();
}

/// The estimate of a limit is the size itself.
#[test]
fn a_limit_on_memory_is_exact() {
    let table = routes(48, (0..5000).map(|i| 0x2001 << 112 | noise(i) >> 16), 9);
    let bytes = agree::<Byte>(&table).memory_usage().bytes() as u64;
    let spec: crate::EngineSpec = "folio:lines".parse().unwrap();
    assert!(crate::Fib::compile(&table, spec.clone().with_memory(bytes)).is_ok());
    let refused = crate::Fib::compile(&table, spec.with_memory(bytes - 1)).map(drop);
    let (engine, limit) = (NAME, bytes - 1);
    assert_eq!(refused, Err(CompileError::TooLarge { engine, bytes, limit }));
}

/// Inner lines are full at most.
#[test]
fn inner_lines_have_up_to_sixteen_children() {
    let rib = routes(48, (0..60_000).map(|i| 0x2001_0db8 << 96 | i << 80), 3);
    let lines = agree::<u16>(&rib);
    let inner = lines.entries.iter().map(|entry| Entry(*entry)).find(|entry| entry.depth() > 1);
    let top = lines.lines[inner.unwrap().number() as usize];
    assert!((2..=16).contains(&(top.used(SEPARATORS) + 1)));
}
