//! Changes under readers, against a table compiled anew.

use super::super::update::tests::changing;
use super::*;
use crate::engine::kit::Replaced;
use crate::engine::testing::changes::{Random, memory_is_used_again, random_changes};

/// A table with a block in use, as only stored blocks can be patched.
fn stored() -> Rib<Ipv6> {
    rib(&[("2001:db8::/32", 1), ("2a00:1::/32", 2)])
}

/// Each path: an answer that gets a leaf, a leaf, one inner line, and several.
#[test]
fn one_change_at_a_time() {
    let mut table = changing::<Byte>(stored());
    for i in 0..500u128 {
        let prefix = Prefix::<Ipv6>::from_bits_masked(0x2001_0db8 << 96 | i << 80, 48);
        table.step(prefix, 1 + i as u32 % 2);
    }
    for (text, raw) in [
        ("2001:db8:7::/48", 300),
        ("2001:db8:7:1::/64", 4),
        ("2001:db8:7:1::5/128", 5),
        ("2001:db8:7:1::/112", 6),
        ("2001:db8:7:1::5/128", 0),
        ("2001:db8:7::/48", 0),
        ("2001:db8:10::/44", 7),
        ("2001:db8:100::/40", 8),
        ("2001:db8::/36", 9),
        ("2001:d00::/24", 3),
        ("2001:db8::/32", 0),
        ("2001::/20", 5),
        ("2001::/16", 6),
    ] {
        table.step(text, raw);
    }
    assert_eq!(table.answer("2001:db8:7:1::/128"), 6);
    for i in (0..500u128).rev() {
        let prefix = Prefix::<Ipv6>::from_bits_masked(0x2001_0db8 << 96 | i << 80, 48);
        table.step(prefix, 0);
    }
}

/// The lines that a change of a dense block replaces: no line where the keys of its leaf stay.
#[test]
fn a_change_replaces_few_lines() {
    let bits = |i: u128| 0x2001_0db8 << 96 | i << 80;
    let mut table = changing::<Byte>(routes(48, (0..20_000).map(bits), 2));
    let prefix = |i| Prefix::<Ipv6>::from_bits_masked(bits(i), 48);
    let replaced = table.step(prefix(12_345), 9);
    assert_eq!((replaced.entries, replaced.leaves, replaced.nodes), (1, 0, 0));
    // Two segments become one: other keys.
    let replaced = table.step(prefix(12_346), 9);
    assert_eq!(replaced.entries, 1);
    assert!(replaced.leaves <= 16 && replaced.nodes <= 1 + 16 + 16, "{replaced:?}");
}

/// Codes, and entries of escapes, are replaced in place; a code and an escape are not exchanged.
#[test]
fn single_stores_replace_codes() {
    fn of<C: Code>(hops: [u32; 3], escaped: u32) {
        let mut table = changing::<C>(stored());
        let in_place = |replaced: Replaced| (replaced.entries, replaced.leaves, replaced.nodes);
        table.step("2001:db8::/32", 9);
        for i in 1..4u128 {
            let prefix = Prefix::<Ipv6>::from_bits_masked(0x2001_0db8 << 96 | i << 81, 48);
            table.step(prefix, hops[0]);
        }
        let route = "2001:db8:4::/48";
        assert_eq!(in_place(table.step(route, hops[1])), (1, 0, 0));
        assert_eq!(in_place(table.step("2001:db8::/32", hops[2])), (4, 0, 0));
        // To an escape, from one to another, and back.
        assert_eq!(table.step(route, escaped).leaves, 1);
        assert_eq!(in_place(table.step(route, escaped + 1)), (1, 0, 0));
        assert_eq!(in_place(table.step("2001:db8:6::/48", hops[1])), (1, 0, 0));
        assert_eq!(table.step(route, hops[0]).leaves, 1);
        // A tree of the second stage, another one, and none.
        let longer = "2001:db8:4:1::/64";
        assert!(table.step(longer, hops[1]).leaves > 0);
        let replaced = table.step(longer, hops[2]);
        assert_eq!((replaced.entries, replaced.leaves, replaced.nodes), (1, 1, 0));
        assert!(table.step(longer, 0).leaves > 0);
    }
    of::<Byte>([1, 2, 3], 300);
    of::<u16>([1, 2, 65_534], 65_535);
}

/// Blocks that the root does not store, and next hops that entries do not hold.
#[test]
fn what_does_not_fit_is_refused() {
    let mut table = changing::<u16>(stored());
    for change in [
        ("::/0", 1),
        ("3000::/32", 1),
        ("3000::/8", 1),
        ("2001:db8:1::/48", 1 << 29),
        ("2001::/16", 1 << 29),
    ] {
        table.refuse(&[change]);
    }
    table.refuse(&[("2001:db8:1::/48", 3), ("3000::/32", 1)]);
    table.step("2001:db8:1::/48", 3);
}

#[test]
fn memory_of_replaced_lines_is_used_again() {
    let prefixes: Vec<Prefix<Ipv6>> = (0..60u128)
        .map(|i| 0x2001_0db8 << 96 | i << 81 | i << 20)
        .zip([36u8, 44, 48, 56, 64, 128].into_iter().cycle())
        .map(|(bits, len)| Prefix::from_bits_masked(bits, len))
        .collect();
    memory_is_used_again(&mut changing::<Byte>(stored()), &prefixes);
    memory_is_used_again(&mut changing::<u32>(stored()), &prefixes);
}

/// Random changes near two stems, of all lengths that the root can hold.
fn random_prefix(random: &mut Random) -> Prefix<Ipv6> {
    let stem = [0x2001_0db8u128, 0x2a00_0001][random.below(2) as usize] << 96;
    let noise = u128::from(random.below(40)) << random.below(110);
    let len = [20, 32, 40, 44, 47, 48, 48, 48, 49, 64, 80, 96, 112, 127, 128];
    let len = len[random.below(len.len() as u64) as usize];
    Prefix::from_bits_masked(stem ^ noise & u128::MAX >> 24, len)
}

#[test]
fn random_changes_agree_with_the_rib() {
    fn of<C: Code>(hops: &[u32]) {
        let mut table = changing::<C>(stored());
        // The table is empty before and after, but for its root.
        table.set(&[("2001:db8::/32", 0), ("2a00:1::/32", 0)]).unwrap();
        let most = random_changes(&mut table, 1500, hops, random_prefix, |table| table.check());
        assert!(most > 20, "{most}");
    }
    of::<Byte>(&[0, 1, 2, 3, 254, 255, 300, 0]);
    of::<Coded>(&[0, 1, 2, 3, 70_000]);
    of::<u16>(&[0, 1, 2, 65_534, 65_535, 70_000, 0]);
    of::<u32>(&[0, 1, 2, 70_000, 0]);
}

/// A dense block under changes: trees of several levels grow and shrink to nothing.
#[test]
fn a_dense_block_changes() {
    let mut table = changing::<u16>(stored()).without_checks();
    table.set(&[("2001:db8::/32", 0), ("2a00:1::/32", 0)]).unwrap();
    let mut random = Random::default();
    let mut most = 0;
    for i in 0..6000 {
        let bits = 0x2001_0db8 << 96 | u128::from(random.below(4000)) << 80;
        let prefix = Prefix::from_bits_masked(bits, if random.below(50) == 0 { 40 } else { 48 });
        let withdrawn = random.below(6000) < i;
        let raw = if withdrawn { 0 } else { 1 + random.below(4) as u32 };
        table.set(&[(prefix, raw)]).unwrap();
        table.reclaim();
        most = most.max(table.in_use()[0]);
        if i % 200 == 0 {
            table.check();
        }
    }
    assert!(most > 100, "{most}");
    let all: Vec<_> = table.rib.iter().map(|route| (route.prefix, 0)).collect();
    for change in all {
        table.set(&[change]).unwrap();
        table.reclaim();
    }
    table.check();
    assert_eq!(table.in_use(), [0, 0]);
}
