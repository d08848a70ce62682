use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::layout::{Entry, Level};
use super::store::Kind;
use super::*;
use crate::engine::Engines;
use crate::engine::testing::{built, ends, hop, rib};
use crate::net::{Bits, Ipv4, Ipv6, Prefix, Route};

mod codes;
mod cuts;
mod damage;
mod random;
mod roots;

fn cuts(cuts: &[u8]) -> Config {
    Config { cuts: cuts.into(), ..Config::default() }
}

/// Compiles, checks, and looks up both ends of each of the RIB's ranges.
///
/// One by one and in batches at every level. `check` has compared all addresses, but reads pages in
/// its own way.
fn agree<F: Family, C: Code>(rib: &Rib<F>, config: &Config) -> Folio<F, C> {
    let folio = Folio::<F, C>::compile(rib, config).unwrap_or_else(|e| panic!("{config:?}: {e}"));
    let variant = Structure::variant(&folio);
    Engine::check(&folio, rib).unwrap_or_else(|corrupt| panic!("{variant}: {corrupt}"));
    let (keys, right) = ends(rib);
    for (key, hop) in keys.iter().zip(&right) {
        assert_eq!(folio.lookup_bits(*key), *hop, "{variant}: {}", F::addr(*key));
    }
    // A group of addresses descends as deep as its deepest one: test neighbours alone, and all
    // together.
    for simd in Simd::available() {
        for size in [1, 16, keys.len()] {
            for (keys, right) in keys.chunks(size).zip(right.chunks(size)) {
                let mut out = vec![None; keys.len()];
                folio.lookup_batch_with(simd, keys, &mut out);
                assert!(out == right, "{variant} at {}, {size}", simd.level());
            }
        }
    }
    folio
}

/// Number of pages of codes, and of branch pages by level.
fn kinds<F: Family, C: Code>(folio: &Folio<F, C>) -> (usize, Vec<usize>) {
    let of = |kind: Kind| folio.store.pages().filter(|page| page.kind == kind).count();
    let levels = 0..folio.fixed.levels.len() as u8;
    (of(Kind::Codes), levels.map(|level| of(Kind::Branch(level))).collect())
}

/// References of all pages, in the order of insertion.
fn references<F: Family, C: Code>(folio: &Folio<F, C>) -> Vec<u32> {
    folio.store.pages().map(|page| page.references).collect()
}

fn root_entry<C: Code>(folio: &Folio<Ipv4, C>, block: usize) -> Entry {
    Entry(folio.entries[block])
}

/// One page of each kind, with the entries that lead to them.
#[test]
fn a_small_table_by_hand() {
    let routes = [("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.1.1.128/25", 3), ("11.0.0.0/16", 4)];
    let folio = agree::<Ipv4, Byte>(&rib(&routes), &cuts(&[16, 24, 32]));
    assert_eq!(folio.entries.len(), (1 << 16) + 1);
    assert_eq!(root_entry(&folio, 0x0900), Entry::answer(0));
    assert_eq!(root_entry(&folio, 0x0a02), Entry::answer(1));
    assert_eq!(root_entry(&folio, 0x0b00), Entry::answer(4));
    // 16 codes for the 8 bits below /16: 4 bits are dropped, and the 2 of a slot of a branch page.
    let page = root_entry(&folio, 0x0a00);
    assert_eq!(page, Entry::page_of_codes(0, 6));
    let bytes = &folio.pages[..];
    assert_eq!(bytes[..16], [1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    // 2 codes below /24, in a page of the least size.
    let branch = root_entry(&folio, 0x0a01);
    assert!(branch.is_page() && branch.is_branch());
    let slots = bytes[branch.place() as usize..].as_chunks::<4>().0;
    let slots = [slots[0], slots[1]].map(|slot| Entry(u32::from_le_bytes(slot)));
    assert_eq!(slots, [Entry::answer(1), Entry::page_of_codes(16, 7 + 2)]);
    assert_eq!(bytes[16..32], [1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(kinds(&folio), (2, vec![1, 0]));
    assert_eq!(folio.memory_usage().parts[1].count, 3);
}

/// Equal chunks are stored once, at every level.
#[test]
fn equal_pages_are_shared() {
    let routes = [
        ("10.0.1.0/24", 1),
        ("10.1.1.0/24", 1),
        ("10.2.1.0/24", 2),
        ("20.0.0.1/32", 1),
        ("20.1.0.1/32", 1),
        ("20.2.1.1/32", 1),
    ];
    let folio = agree::<Ipv4, Byte>(&rib(&routes), &cuts(&[16, 24]));
    assert_eq!(root_entry(&folio, 0x0a00), root_entry(&folio, 0x0a01));
    assert_eq!(root_entry(&folio, 0x1400), root_entry(&folio, 0x1401));
    // The page of /32 equals that of /24 at another level. Each branch page has a slot that leads
    // to it, and the slots of a shared branch page count once.
    assert_eq!(references(&folio), [2 + 2, 1, 2, 1]);
    assert_eq!(kinds(&folio), (2, vec![2, 0]));
}

/// Pages of two grains with equal bytes after padding are one page.
#[test]
fn grains_share_pages() {
    let routes = [("10.0.0.0/17", 1), ("11.0.0.0/18", 1), ("12.0.0.0/19", 1)];
    let folio = agree::<Ipv4, u16>(&rib(&routes), &cuts(&[16, 24]));
    assert_eq!(references(&folio), [3]);
    let drops = [0x0a00, 0x0b00, 0x0c00].map(|block| root_entry(&folio, block).drop());
    assert_eq!(drops, [7 + 1, 6 + 1, 5 + 1]);
}

/// Branch pages of two levels are two pages, even with the same bytes.
#[test]
fn levels_do_not_share_branch_pages() {
    let routes = [("10.0.0.1/32", 1), ("20.0.1.0/24", 1)];
    let folio = agree::<Ipv4, Byte>(&rib(&routes), &cuts(&[8, 16, 24]));
    assert_eq!(kinds(&folio), (1, vec![2, 1, 0]));
    let content = |kind: Kind, at: usize| {
        let mut pages = folio.store.pages().filter(|page| page.kind == kind);
        let page = pages.nth(at).unwrap();
        &folio.pages[page.start as usize..][..page.bytes()]
    };
    assert_eq!(content(Kind::Branch(0), 1), content(Kind::Branch(1), 0));
    assert_eq!(references(&folio)[0], 2);
}

/// D16, D17, P3: nested routes of every length, at both ends and elsewhere.
fn chains<F: Family, C: Code>(configs: &[Config]) {
    for stem in [0, u128::MAX, u128::MAX / 3, 0x2001_0db8 << 96 | 0x0a01] {
        let of = |len: u8| {
            let prefix = Prefix::from_bits_masked(F::Bits::from_u128(stem), len);
            Route { prefix, next_hop: hop(1 + u32::from(len)) }
        };
        let whole: Rib<F> = (0..=F::WIDTH).map(of).collect();
        let deep: Rib<F> = (F::WIDTH / 2 + 1..=F::WIDTH).map(of).collect();
        for config in configs {
            agree::<F, C>(&whole, config);
            agree::<F, C>(&deep, config);
        }
    }
}

#[test]
fn chains_of_routes() {
    let ipv4 = [Config::default(), cuts(&[8]), cuts(&[18, 25]), cuts(&[24]), cuts(&[12, 13, 14])];
    chains::<Ipv4, Byte>(&ipv4);
    chains::<Ipv4, Coded>(&ipv4);
    chains::<Ipv4, u16>(&ipv4);
    chains::<Ipv4, u32>(&ipv4);
    let ipv6 =
        [Config::default(), cuts(&[8]), cuts(&[16, 30, 44, 58, 64, 78]), cuts(&[23, 24, 25])];
    chains::<Ipv6, Byte>(&ipv6);
    chains::<Ipv6, Coded>(&ipv6);
    chains::<Ipv6, u16>(&ipv6);
    chains::<Ipv6, u32>(&ipv6);
}

/// D9: the last slot of the last page of each kind; a load beyond it stays within the array.
#[test]
fn the_last_slot_of_every_array() {
    let routes = [("255.255.0.0/16", 1), ("255.255.255.254/31", 2), ("255.255.255.255/32", 3)];
    fn last<C: Code>(routes: &[(&str, u32)]) {
        for config in [cuts(&[16, 24]), cuts(&[16, 30]), cuts(&[18]), cuts(&[24])] {
            let folio = agree::<Ipv4, C>(&rib(routes), &config);
            assert_eq!(folio.lookup_bits(u32::MAX), Some(hop(3)));
            let end = folio.store.pages().map(|page| page.start as usize + page.bytes());
            assert_eq!(end.max(), Some(folio.pages.len()));
            // Filled up, the pages end with the last slots.
            assert_eq!(folio.fixed.root.last as usize, 1 << folio.fixed.root.bits);
        }
    }
    last::<Byte>(&routes);
    last::<Coded>(&routes);
    last::<u16>(&routes);
    last::<u32>(&routes);
}

/// D19: more than 256 pages, all different.
#[test]
fn many_pages() {
    fn many<F: Family, C: Code>() {
        let block = |i: u32| {
            let bits = u128::from(0x2000_0000 | i << 12 | (i & 0x3ff)) << (F::WIDTH - 32);
            let prefix = Prefix::from_bits_masked(F::Bits::from_u128(bits), 32);
            Route { prefix, next_hop: hop(1 + i % 211) }
        };
        let rib: Rib<F> = (0..1000).map(block).collect();
        let folio = agree::<F, C>(&rib, &cuts(&[20]));
        assert!(folio.store.pages().count() > 900, "{}", folio.store.pages().count());
    }
    many::<Ipv4, Byte>();
    many::<Ipv4, u32>();
    many::<Ipv6, Coded>();
    many::<Ipv6, u16>();
}

/// Huge pages and a forced root change only positions.
#[test]
fn huge_pages() {
    let config = Config { huge: true, ..cuts(&[16]) };
    agree::<Ipv4, Byte>(&rib(&[("10.0.0.0/8", 1), ("10.0.0.7/32", 2)]), &config);
    agree::<Ipv6, Byte>(&rib(&[("2001:db8::/32", 1), ("2001:db8::7/128", 2)]), &config);
}
