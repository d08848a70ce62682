//! Changes agree with the RIB, and with the accounts.

use super::super::update::tests::changing;
use super::*;
use crate::engine::testing::changes::{Random, random_changes};

/// Random changes of a table of each shape, with `check` after each commit.
#[test]
fn random_changes_of_all_shapes() {
    for (name, rib) in shapes() {
        let known: Vec<Prefix<Ipv6>> = rib.iter().map(|route| route.prefix).collect();
        let stems: Vec<Prefix<Ipv6>> = known.iter().step_by(7).copied().take(300).collect();
        let rib: Rib<Ipv6> = rib.iter().step_by(3).take(400).collect();
        for codes in ["8", "list", "32"] {
            let config = Config { codes: Some(codes), ..Config::default() };
            let mut table = changing(rib.clone(), config.clone()).without_checks();
            let mut random = Random::default();
            let mut refused = 0;
            for i in 0..300 {
                let known = stems[random.below(stems.len() as u64) as usize];
                let longer = known.len().max(24) + random.below(9) as u8;
                let bits = known.bits() ^ u128::from(random.below(4)) << random.below(60);
                let prefix = match i % 3 {
                    0 => known,
                    1 => Prefix::from_bits_masked(bits, longer.min(128)),
                    _ => Prefix::from_bits_masked(bits, known.len()),
                };
                let raw = [0, 1, 2, 3, 200, 300, 70_000][random.below(7) as usize];
                let before = table.rib.clone();
                if table.set(&[(prefix, raw)]).is_err() {
                    // Longer than the root, or shorter than all of its blocks.
                    table.rib = before;
                    refused += 1;
                }
                if i % 10 == 0 {
                    table.check();
                }
            }
            table.check();
            assert!(refused < 200, "{name} {codes}: {refused}");
        }
    }
}

/// Two routes that the root stores; all else is inside.
fn stored() -> Rib<Ipv6> {
    rib(&[("2001:db8::/32", 1), ("2a00:1::/32", 2)])
}

/// Random changes near two stems, of all lengths that the root can hold.
fn random_prefix(random: &mut Random) -> Prefix<Ipv6> {
    let stem = [0x2001_0db8u128, 0x2a00_0001][random.below(2) as usize] << 96;
    let noise = u128::from(random.below(40)) << random.below(110);
    let len = [20, 32, 40, 44, 47, 48, 48, 48, 49, 64, 80, 96, 112, 127, 128, 128];
    let len = len[random.below(len.len() as u64) as usize];
    Prefix::from_bits_masked(stem ^ noise & u128::MAX >> 24, len)
}

/// The table is empty before and after, but for its root.
#[test]
fn changes_leave_nothing_behind() {
    for (codes, hops) in [
        ("8", &[0, 1, 2, 3, 254, 255, 300, 0][..]),
        ("book", &[0, 1, 2, 3, 70_000]),
        ("16", &[0, 1, 2, 65_534, 65_535, 70_000, 0]),
        ("32", &[0, 1, 2, 70_000, 0]),
    ] {
        let mut table = changing(stored(), Config { codes: Some(codes), ..Config::default() });
        table.set(&[("2001:db8::/32", 0), ("2a00:1::/32", 0)]).unwrap();
        assert_eq!(table.in_use(), [0, 0]);
        let most = random_changes(&mut table, 400, hops, random_prefix, |table| table.check());
        assert!(most > 1000, "{most}");
    }
}

/// Hosts of one block: codes in place, new hosts, runs that grow, other lengths beside them.
#[test]
fn hosts_come_and_go() {
    let mut table = changing(stored(), Config::default()).without_checks();
    for i in 0..600 {
        let host = Prefix::from_bits_masked(STEM | noise(i % 300) >> 64, 128);
        let raw = if i % 5 == 4 { 0 } else { 1 + (i % 4) as u32 };
        table.set(&[(host, raw)]).unwrap();
        if i % 20 == 0 {
            table.check();
        }
    }
    table.step("2001:db8::/64", 7);
    table.step("2001:db8::8000:0:0:0/65", 8);
    table.step("2001:db8::8000:0:0:0/65", 0);
    table.step("2001:db8::/32", 0);
    assert_eq!(table.answer("2001:db8::/128"), 7);
}

/// Prefixes that the root does not store, and next hops that entries do not hold.
#[test]
fn what_does_not_fit_is_refused() {
    let mut table = changing(stored(), Config::default());
    for change in [("::/0", 1), ("3000::/32", 1), ("2001:db8:1::/48", 1 << 30)] {
        table.refuse(&[change]);
    }
    table.refuse(&[("2001:db8:1::/48", 3), ("2001:db8:2::/64", 4), ("3000::/32", 1)]);
    table.step("2001:db8:1::/48", 3);
}
