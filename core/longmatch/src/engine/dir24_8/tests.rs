use alloc::vec::Vec;

use super::update::Patcher;
use super::*;
use crate::engine::kit::{CannotPatch, Replaced};
use crate::engine::testing::changes::{self, Random, TestedPatch};
use crate::engine::testing::{batches_agree, built, check_finds, hop, prefix, rib, spread};
use crate::mem::Frozen;
use crate::net::{Bits, Ipv4, Ipv6, Prefix, Route};

type Changing<F, E> = changes::Changing<F, Patcher<F, E>>;

impl<F: Family, E: Entry> TestedPatch<F> for Patcher<F, E> {
    /// The groups; `tbl24` has all its entries.
    fn in_use(&self) -> [usize; 2] {
        [self.groups_in_use(), 0]
    }

    fn lookup(&self, addr: F::Bits) -> Option<NextHopId> {
        self.tables.lookup_bits(addr)
    }
}

/// Builds a table with capacity for `groups` groups. A check reads 2^24 entries.
fn changing<F: Family, E: Entry>(rib: Rib<F>, groups: usize) -> Changing<F, E> {
    let tables = Dir24_8::<F, E>::compile(&rib, &()).unwrap();
    Changing::new(rib, Patcher::new(&tables, groups).unwrap()).without_checks()
}

/// Returns all entries.
fn entries<F: Family, E: Entry>(table: &Changing<F, E>) -> [Vec<E>; 2] {
    table.patcher.entries().map(<[E]>::to_vec)
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
    assert_eq!(tables.lookup_bits(0x0a00_50c8), Some(hop(3)));
    tables.check(&rib).unwrap();
}

/// D5: all 32,768 groups of 16-bit entries are usable, by compiling and by patching. One more is
/// refused and changes nothing. D1: also after many rounds.
#[test]
fn n_of_n_groups_are_usable() {
    let block = |i: u32| Prefix::<Ipv4>::from_bits_masked(i << 8 | 0x40, 26);
    let most = 32_768;
    let full = (0..most).map(|i| Route { prefix: block(i), next_hop: hop(7) }).collect();
    let mut table = changing::<Ipv4, u16>(full, most as usize);
    assert_eq!(table.patcher.groups_in_use(), 32_768);
    table.check();
    let limit = CompileError::TooMany { engine: NAME, what: "tbl8 groups", limit: 32_768 };
    for round in 0..3 {
        let (old, new) = (block(most + round - 1), block(most + round));
        let before = entries(&table);
        assert_eq!(table.set(&[(new, 8)]), Err(CannotPatch));
        assert!(entries(&table) == before, "a refused change left a trace");
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
    let mut table = changing::<Ipv6, u16>(rib, 5);
    for changes in [
        // The first change alone fits.
        &[("2001:db8::/48", 3), ("2001:db8:ff00::/64", 4)][..],
        &[("2001:db8::/33", 9), ("2001:db8::/41", 32_768)],
        &[("2001:db8::/80", 3)],
        &[("2000::/7", 3)],
    ] {
        table.refuse(changes);
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
    let mut table = changing::<Ipv4, u16>(rib(&routes), 8);
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
    let mut table = changing::<Ipv4, u16>(rib(&[("10.0.0.0/8", 1)]), 1);
    let changes = [("10.0.0.0/8", 0), ("10.1.0.0/16", 40_000)];
    let before = entries(&table);
    assert_eq!(table.set(&changes), Err(CannotPatch));
    assert!(entries(&table) == before);
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

#[test]
fn covers_spare_their_specifics() {
    // A change of the default route takes more entries than are changed in place.
    changes::covers_spare_their_specifics(changing::<Ipv4, u16>(Rib::new(), 1), None);
}

#[test]
fn withdrawals_show_the_right_cover() {
    changes::withdrawals_show_the_right_cover(|rib| changing::<Ipv4, u16>(rib, 3));
}

/// A child with its parent's next hop counts like any other.
#[test]
fn groups_are_reused() {
    let mut table = changing::<Ipv6, u32>(rib(&[("2001:db8::/32", 1)]), 14);
    let hosts = ["2001:db8::1/128", "2001:db8:fffe::/47", "2001:db8::/33"].map(prefix);
    let full = changes::memory_is_used_again(&mut table, &hosts);
    assert!(full.iter().all(|used| *used == [1 + 12 + 1, 0]), "{full:?}");
    assert_eq!((table.patcher.groups_in_use(), table.patcher.tables.groups()), (1, 14));
    table.step("2001:db8::/32", 0);
    assert_eq!(table.patcher.groups_in_use(), 0);
}

/// Changes that nest and meet, at both ends and around the strides.
fn random_changes<F: Family, E: Entry>(commits: u32) {
    let mut table = changing::<F, E>(Rib::new(), 1 << 12);
    let prefixes = |random: &mut Random| {
        let high = u128::from(random.below(2) * 255) << (F::WIDTH - 8);
        let low = u128::from(random.below(4)) << (F::WIDTH - 24);
        let bits = F::Bits::from_u128(high | low | u128::from(random.below(4) * 85));
        let any = 8 + random.below(121);
        let lens = [8, 13, 23, 24, 25, 30, 31, 32, 33, 48, 64, 127, 128, any];
        Prefix::from_bits_masked(bits, (lens[random.below(14) as usize] as u8).min(F::WIDTH))
    };
    let hops = [0, 0, 0, 1, 2, 3];
    changes::random_changes(&mut table, commits, &hops, prefixes, Changing::check);
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
    fn end(array: &[u16], len: usize) -> Frozen<u16> {
        array.iter().copied().chain([0; 256]).take(len).collect::<Vec<_>>().as_slice().into()
    }
    let damage: &[fn(&mut Dir24_8<Ipv4>)] = &[
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
    check_finds(&good, &rib, damage);
    assert!(
        check::check([&good.tbl24, &good.tbl8], alloc::vec![1], &rib).is_err(),
        "free and in use"
    );
    let mut lost = good.clone();
    lost.tbl24 = (&lost.tbl24[1..]).into();
    assert!(lost.check(&rib).is_err());
}

/// Every kernel, for both kinds of entries.
#[test]
fn levels_agree() {
    fn agree<F: Family, E: Entry>() {
        let rib = spread(8..=F::WIDTH, 999);
        batches_agree(&Dir24_8::<F, E>::compile(&rib, &()).unwrap(), &rib);
    }
    agree::<Ipv4, u16>();
    agree::<Ipv4, u32>();
    agree::<Ipv6, u16>();
    agree::<Ipv6, u32>();
}
