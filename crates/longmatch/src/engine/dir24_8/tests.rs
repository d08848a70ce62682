use alloc::vec::Vec;

use super::update::Patcher;
use super::*;
use crate::engine::kit::{CannotPatch, Patch, Replaced};
use crate::engine::testing::built;
use crate::mem::Frozen;
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

/// A RIB and a live table kept equal; each change verifies the accounts.
struct Changing<F: Family, E: Entry> {
    rib: Rib<F>,
    patcher: Patcher<F, E>,
    epoch: u64,
}

impl<F: Family, E: Entry> Changing<F, E> {
    /// Builds a table with capacity for `groups` groups.
    fn new(rib: Rib<F>, groups: usize) -> Self {
        let tables = Dir24_8::<F, E>::compile(&rib, &()).unwrap();
        Self { patcher: Patcher::new(&tables, groups).unwrap(), rib, epoch: 1 }
    }

    /// Returns all entries.
    fn entries(&self) -> [Vec<E>; 2] {
        self.patcher.entries().map(<[E]>::to_vec)
    }

    /// Announces some routes in one commit; a next hop of 0 withdraws.
    fn set(&mut self, routes: &[(Prefix<F>, u32)]) -> Result<Replaced, CannotPatch> {
        let mut changed = Vec::new();
        for (prefix, raw) in routes {
            match NextHopId::new(*raw) {
                Some(next_hop) => drop(self.rib.insert(*prefix, next_hop)),
                None => drop(self.rib.remove(*prefix)),
            }
            changed.push(*prefix);
        }
        self.patcher.patch(&self.rib, &changed)
    }

    /// Verifies the accounts with removed groups in the retire list, and then free.
    fn check(&mut self) {
        self.patcher.check(&self.rib).unwrap();
        self.reclaim();
        self.patcher.check(&self.rib).unwrap();
    }

    fn reclaim(&mut self) {
        self.patcher.seal(self.epoch);
        self.epoch += 1;
        self.patcher.reclaim(self.epoch);
        assert_eq!(self.patcher.retired_bytes(), 0);
    }

    fn step(&mut self, text: &str, raw: u32) -> Replaced {
        let replaced = self.set(&[(prefix(text), raw)]).unwrap();
        self.check();
        replaced
    }

    fn answer(&self, text: &str) -> u32 {
        let addr = prefix::<F>(text).first();
        NextHopId::to_raw(self.patcher.tables.lookup(addr))
    }
}

/// The example of the README holds.
#[test]
fn the_readme_example() {
    let routes = [("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.0.80.128/25", 3)];
    let rib = rib::<Ipv4>(&routes);
    let tables = Dir24_8::<Ipv4>::compile(&rib, &()).unwrap();
    assert_eq!(tables.tbl24[0x0a_00_00], 1);
    assert_eq!(tables.tbl24[0x0a_00_40..=0x0a_00_4f], [2; 16]);
    assert_eq!(tables.tbl24[0x0a_00_50], 0x8000, "group 0");
    assert_eq!(tables.tbl24[0x0b_00_00], 0);
    assert_eq!(tables.tbl8[..128], [1; 128]);
    assert_eq!(tables.tbl8[128..], [3; 128]);
    assert_eq!(tables.lookup(0x0a00_50c8), Some(hop(3)));
    tables.check(&rib).unwrap();
}

/// D5: all 32,768 groups of 16-bit entries are usable, by compiling and by patching. One more is
/// refused and changes nothing. D1: also after many rounds.
#[test]
fn n_of_n_groups_are_usable() {
    let block = |i: u32| Prefix::<Ipv4>::from_bits_masked(i << 8 | 0x40, 26);
    let most = 32_768;
    let full = (0..most).map(|i| Route { prefix: block(i), next_hop: hop(7) }).collect();
    let mut table = Changing::<Ipv4, u16>::new(full, most as usize);
    assert_eq!(table.patcher.groups_in_use(), 32_768);
    table.check();
    let limit = CompileError::TooMany { engine: NAME, what: "tbl8 groups", limit: 32_768 };
    for round in 0..3 {
        let (old, new) = (block(most + round - 1), block(most + round));
        let before = table.entries();
        assert_eq!(table.set(&[(new, 8)]), Err(CannotPatch));
        assert!(table.entries() == before, "a refused change left a trace");
        assert_eq!(Dir24_8::<Ipv4, u16>::compile(&table.rib, &()).unwrap_err(), limit);
        // Readers may be in the old group: it is reusable once they have left it.
        assert_eq!(table.set(&[(new, 8), (old, 0)]), Err(CannotPatch));
        table.set(&[(new, 0), (old, 0)]).unwrap();
        assert_eq!(table.set(&[(new, 8)]), Err(CannotPatch));
        table.reclaim();
        table.set(&[(new, 8)]).unwrap();
        assert_eq!(table.patcher.groups_in_use(), 32_768);
    }
    table.check();
}

/// A change beyond the capacity or the entries' range has no effect.
#[test]
fn no_room_is_no_change() {
    let rib = rib::<Ipv6>(&[("2001:db8::/32", 1), ("2001:db8::/40", 2)]);
    let mut table = Changing::<Ipv6, u16>::new(rib.clone(), 5);
    for changes in [
        // The first change alone fits.
        &[("2001:db8::/48", 3), ("2001:db8:ff00::/64", 4)][..],
        &[("2001:db8::/33", 9), ("2001:db8::/41", 32_768)],
        &[("2001:db8::/80", 3)],
        &[("2000::/7", 3)],
    ] {
        let changes: Vec<_> = changes.iter().map(|(p, n)| (prefix(p), *n)).collect();
        assert_eq!(table.set(&changes), Err(CannotPatch));
        table.rib = rib.clone();
        table.check();
        assert_eq!(table.patcher.groups_in_use(), 2);
    }
    table.step("2001:db8:ff::/64", 4);
    table.step("2000::/8", 5);
    assert_eq!(table.patcher.groups_in_use(), 5);
}

/// The README's description of changes: the stores that publish each.
#[test]
fn entries_are_replaced_one_by_one() {
    let routes = [("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.0.80.128/25", 3)];
    let mut table = Changing::<Ipv4, u16>::new(rib(&routes), 8);
    let replaced = |entries, nodes, leaves| Replaced { entries, nodes, leaves };
    // A cover's entries except those of longer routes: one /20, and half of a group.
    assert_eq!(table.step("10.0.0.0/16", 4), replaced(256 - 16 - 1, 0, 128));
    assert_eq!(table.step("10.0.64.0/20", 5), replaced(16, 0, 0));
    assert_eq!(table.step("10.0.80.128/25", 6), replaced(0, 0, 128));
    // A new group, a changed group, and a removed group.
    assert_eq!(table.step("10.0.81.0/30", 7), replaced(1, 1, 0));
    assert_eq!(table.step("10.0.81.8/29", 8), replaced(0, 0, 8));
    assert_eq!(table.step("10.0.80.128/25", 0), replaced(1, 0, 0));
    // Announced with the next hop of its cover.
    assert_eq!(table.step("10.0.82.0/24", 4), replaced(0, 0, 0));
    // Several changes in a commit that meet in a group: each stores the same value.
    let changes =
        [("10.0.80.0/22", 9), ("10.0.81.0/24", 0), ("10.0.81.0/30", 0), ("10.0.83.1/32", 1)];
    let changes = changes.map(|(p, n)| (prefix(p), n));
    assert_eq!(table.set(&changes), Ok(replaced(2, 1, 248 + 248 + 4)));
    table.check();
}

/// The next-hop limit of 16-bit entries, and the choice of entries by the table.
#[test]
fn limits_are_errors_and_choose_the_entries() {
    let narrow = "dir24_8:entry=16";
    for (id, variant) in [(32_767, "entry=16"), (32_768, "entry=32")] {
        let rib = rib::<Ipv4>(&[("10.0.0.0/8", id), ("10.0.0.0/30", id)]);
        assert_eq!(built(NAME, &rib).unwrap().variant(), variant);
        assert_eq!(built(narrow, &rib).is_ok(), id == 32_767);
    }
    let too_large = rib::<Ipv4>(&[("10.0.0.0/8", 32_768)]);
    let limit = CompileError::NextHopTooLarge { engine: NAME, id: 32_768, limit: 32_767 };
    assert_eq!(built(narrow, &too_large).err(), Some(limit));
    let error = rib::<Ipv4>(&[("10.0.0.0/8", 1 << 31)]);
    assert!(built(NAME, &error).is_err(), "31 bits are not enough");
    for bad in ["entry=8", "entry", "", "s=18"] {
        assert!(built(&alloc::format!("{NAME}:{bad}"), &too_large).is_err(), "{bad}");
    }
    let mut table = Changing::<Ipv4, u16>::new(rib(&[("10.0.0.0/8", 1)]), 1);
    let changes = [(prefix("10.0.0.0/8"), 0), (prefix("10.1.0.0/16"), 40_000)];
    let before = table.entries();
    assert_eq!(table.set(&changes), Err(CannotPatch));
    assert!(table.entries() == before);
}

#[test]
fn reads_of_ipv4_are_tbl24() {
    fn reads<F: Family, E: Entry>() -> Vec<usize> {
        Engine::reads(&Dir24_8::<F, E>::compile(&Rib::new(), &()).unwrap())
    }
    assert_eq!(reads::<Ipv4, u16>(), [2 << 24]);
    assert_eq!(reads::<Ipv4, u32>(), [4 << 24]);
    assert!(reads::<Ipv6, u32>().is_empty(), "they depend on the address");
}

/// D12, V1: covers over specifics.
#[test]
fn covers_spare_their_specifics() {
    let mut table = Changing::<Ipv4, u16>::new(Rib::new(), 1);
    table.step("10.0.0.255/32", 2);
    table.step("10.0.0.0/8", 3);
    assert_eq!((table.answer("10.0.0.255/32"), table.answer("10.0.0.254/32")), (2, 3));
    table.step("10.0.0.0/16", 4);
    table.step("10.0.0.0/24", 6);
    assert_eq!((table.answer("10.0.0.255/32"), table.answer("10.0.0.254/32")), (2, 6));
    assert_eq!((table.answer("10.1.0.0/32"), table.answer("9.0.0.0/32")), (3, 0));
}

/// F1, R3, R1: withdrawals in a chain of covers, of all but one route, of host routes at both ends.
#[test]
fn withdrawals_show_the_right_cover() {
    let routes = [
        ("10.0.0.0/22", 1),
        ("10.0.0.0/23", 2),
        ("10.0.0.0/24", 3),
        ("10.0.0.0/28", 3),
        ("10.0.0.0/31", 4),
        ("0.0.0.0/32", 5),
        ("255.255.255.255/32", 6),
    ];
    let mut table = Changing::<Ipv4, u16>::new(rib(&routes), 3);
    table.step("10.0.0.0/23", 0);
    assert_eq!((table.answer("10.0.1.0/32"), table.answer("10.0.0.16/32")), (1, 3));
    table.step("10.0.0.0/28", 0);
    table.step("10.0.0.0/24", 0);
    assert_eq!((table.answer("10.0.0.0/32"), table.answer("10.0.0.2/32")), (4, 1));
    table.step("0.0.0.0/32", 0);
    table.step("255.255.255.255/32", 0);
    table.step("10.0.0.0/31", 0);
    assert_eq!(table.patcher.groups_in_use(), 0);
    table.step("10.0.0.0/22", 0);
    table.step("10.9.0.0/22", 0);
}

/// D1, D3, R2: repeated adding and deleting takes no more memory. A child with its parent's next
/// hop counts like any other.
#[test]
fn groups_are_reused() {
    let mut table = Changing::<Ipv6, u32>::new(rib(&[("2001:db8::/32", 1)]), 14);
    let hosts = ["2001:db8::1/128", "2001:db8:fffe::/47", "2001:db8::/33"].map(prefix);
    for round in 0..50u32 {
        for host in hosts {
            table.set(&[(host, 1 + round % 2)]).unwrap();
        }
        assert_eq!(table.patcher.groups_in_use(), 1 + 12 + 1);
        table.set(&hosts.map(|host| (host, 0))).unwrap();
        assert_eq!(table.patcher.groups_in_use(), 1);
        table.reclaim();
    }
    assert_eq!(table.patcher.tables.groups(), 14);
    table.step("2001:db8::/32", 0);
    assert_eq!(table.patcher.groups_in_use(), 0);
}

/// Random announcements and withdrawals that nest and meet. At both ends and around the strides, in
/// commits of several sizes; drained in the end.
fn random_changes<F: Family, E: Entry>(steps: u32) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut table = Changing::<F, E>::new(Rib::new(), 1 << 12);
    for step in 0..steps {
        let mut changes = Vec::new();
        for _ in 0..1 + random(4) * random(4) {
            let high = u128::from(random(2) * 255) << (F::WIDTH - 8);
            let bits = high | u128::from(random(4)) << (F::WIDTH - 24) | u128::from(random(4) * 85);
            let lens = [8, 13, 23, 24, 25, 30, 31, 32, 33, 48, 64, 127, 128, 8 + random(121)];
            let len = (lens[random(14) as usize] as u8).min(F::WIDTH);
            let prefix = Prefix::from_bits_masked(F::Bits::from_u128(bits), len);
            let withdrawn = random(2) == 0 || step > steps - steps / 8;
            changes.push((prefix, if withdrawn { 0 } else { 1 + random(3) as u32 }));
        }
        table.set(&changes).unwrap();
        table.check();
    }
    let all: Vec<_> = table.rib.iter().map(|route| (route.prefix, 0)).collect();
    table.set(&all).unwrap();
    table.check();
    let [tbl24, _] = table.patcher.entries();
    assert!(tbl24.iter().all(|entry| entry.to_bits() == 0) && table.patcher.groups_in_use() == 0);
}

#[test]
fn random_changes_agree_with_the_rib() {
    random_changes::<Ipv4, u16>(32);
    random_changes::<Ipv4, u32>(16);
    random_changes::<Ipv6, u16>(16);
    random_changes::<Ipv6, u32>(32);
}

/// `check` detects damage before it reads past an array.
#[test]
fn check_finds_damage() {
    let routes = [("10.0.0.0/8", 1), ("10.0.80.128/25", 3), ("10.0.81.0/32", 2)];
    let rib = rib::<Ipv4>(&routes);
    let good = Dir24_8::<Ipv4>::compile(&rib, &()).unwrap();
    good.check(&rib).unwrap();
    fn end(array: &[u16], len: usize) -> Frozen<u16> {
        array.iter().copied().chain([0; 256]).take(len).collect::<Vec<_>>().as_slice().into()
    }
    let damage: [fn(&mut Dir24_8<Ipv4>); 11] = [
        |t| t.tbl24[0x0a_00_00] = 2,
        |t| t.tbl24[0] = 1,
        |t| t.tbl24[0x0a_00_50] = u16::group(2),
        |t| t.tbl24[0x0a_00_50] = u16::group(1),
        |t| t.tbl24[0x0a_00_50] = 3,
        |t| t.tbl24[0x0a_00_60] = u16::group(1),
        |t| t.tbl8[0] = 3,
        |t| t.tbl8[0] = u16::group(0),
        |t| t.tbl8 = end(&t.tbl8, 256),
        |t| t.tbl8 = end(&t.tbl8, 511),
        |t| t.tbl8 = end(&t.tbl8, 768),
    ];
    for (i, damage) in damage.into_iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad);
        assert!(bad.check(&rib).is_err(), "damage {i}");
    }
    assert!(
        check::check([&good.tbl24, &good.tbl8], alloc::vec![1], &rib).is_err(),
        "free and in use"
    );
    let mut lost = good.clone();
    lost.tbl24 = (&lost.tbl24[1..]).into();
    assert!(lost.check(&rib).is_err());
    assert!(good.check(&Rib::new()).is_err(), "another RIB");
}

/// Every kernel at every level, for both kinds of entries and uneven batches.
#[test]
fn levels_agree() {
    fn agree<F: Family, E: Entry>() {
        let rib: Rib<F> = (0..3000u32)
            .map(|i| {
                let high = u128::from(i.wrapping_mul(0x9e37_79b9)) << (F::WIDTH - 32);
                let bits = F::Bits::from_u128(high | u128::from(i));
                let len = 8 + (i % u32::from(F::WIDTH - 7)) as u8;
                Route { prefix: Prefix::from_bits_masked(bits, len), next_hop: hop(1 + i % 999) }
            })
            .collect();
        let tables = Dir24_8::<F, E>::compile(&rib, &()).unwrap();
        let keys: Vec<F::Bits> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
        let expected: Vec<_> = rib.ranges().flat_map(|range| [range.next_hop(); 2]).collect();
        for simd in Simd::available() {
            for start in [0, 1, 15, 100] {
                let mut out = alloc::vec![None; keys.len() - start];
                tables.lookup_batch_with(simd, &keys[start..], &mut out);
                assert!(out == expected[start..], "{} at {}", tables.variant(), simd.level());
            }
        }
    }
    agree::<Ipv4, u16>();
    agree::<Ipv4, u32>();
    agree::<Ipv6, u16>();
    agree::<Ipv6, u32>();
}
