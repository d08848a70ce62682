use super::*;
use crate::engine::folio::v4::update::{Patcher, patcher};
use crate::engine::testing::changes::{
    Changing, Random, TestedPatch, covers_spare_their_specifics, memory_is_used_again,
    random_changes, withdrawals_show_the_right_cover,
};

impl TestedPatch<Ipv4> for Patcher {
    fn in_use(&self) -> [usize; 2] {
        self.pieces()
    }

    fn lookup(&self, addr: u32) -> Option<NextHopId> {
        self.reader().lookup_bits(addr)
    }
}

/// Plans with pages only, with lists, and with both.
fn plans() -> impl Iterator<Item = Config> {
    let plans =
        [(12, plan::NONE, plan::NONE), (16, plan::NONE, 0), (14, 0, 4), (18, 8, 8), (20, 4, 4)];
    plans.into_iter().map(|(root, lists, entries)| Config {
        root_bits: Some(root),
        lists: Some(lists),
        entries: Some(entries),
        ..Config::default()
    })
}

fn changing(rib: Rib<Ipv4>, config: &Config) -> Changing<Ipv4, Patcher> {
    let folio = Folio4::compile(&rib, config).unwrap();
    Changing::new(rib, patcher(&folio).unwrap())
}

#[test]
fn covers_and_withdrawals() {
    for config in plans() {
        let outer = (config.root_bits <= Some(16)).then_some("0.0.0.0/0");
        covers_spare_their_specifics(changing(Rib::new(), &config), outer);
        withdrawals_show_the_right_cover(|rib| changing(rib, &config));
    }
}

#[test]
fn memory_does_not_grow() {
    for config in plans() {
        let mut table = changing(rib4(&[("10.0.0.0/8", 9)]), &config).without_checks();
        let prefix = |i: u32| {
            let len = [32, 32, 24, 27][i as usize % 4];
            Prefix::from_bits_masked(0x0a00_0000 | i.wrapping_mul(0x0001_2345) & 0xff_ffff, len)
        };
        let prefixes: Vec<_> = (0..60).map(prefix).collect();
        memory_is_used_again(&mut table, &prefixes);
        table.check();
    }
}

#[test]
fn random_changes_agree_with_the_rib() {
    let commits = if cfg!(miri) { 5 } else { 80 };
    for config in plans() {
        for code_bytes in 1..=4u8 {
            let config = Config { code_bytes: Some(code_bytes), ..config.clone() };
            let greatest = [255, 65_535, 70_000, u32::MAX][usize::from(code_bytes) - 1];
            // So that lists hold the greatest next hop.
            let rib = rib4(&[("192.0.2.0/24", greatest)]);
            let mut table = changing(rib, &config).without_checks();
            let hops = [0, 1, 2, 3, 250, greatest, 0];
            let prefixes = |random: &mut Random| {
                let bits = 0x0a00_0000 | (random.below(1 << 6) << random.below(12)) as u32;
                let len = [13, 16, 20, 22, 24, 24, 25, 27, 30, 32, 32][random.below(11) as usize];
                Prefix::from_bits_masked(bits, len)
            };
            let last: Prefix<Ipv4> = "192.0.2.0/24".parse().unwrap();
            table.set(&[(last, 0)]).unwrap();
            random_changes(&mut table, commits, &hops, prefixes, Changing::check);
        }
    }
}

/// Blocks with the same page of entries: a change of one leaves the other as it is.
#[test]
fn shared_pages_are_copied() {
    let routes: Vec<Route<Ipv4>> = [0x0a00_0000, 0x0b00_0000]
        .into_iter()
        .flat_map(|net| (0..64).map(move |i| (net | i << 9 | (i % 2) << 2, 1 + i % 3)))
        .map(|(bits, raw)| Route { prefix: Prefix::from_bits_masked(bits, 30), next_hop: hop(raw) })
        .collect();
    let config = Config {
        root_bits: Some(16),
        lists: Some(plan::NONE),
        entries: Some(0),
        ..Config::default()
    };
    let mut table = changing(routes.into_iter().collect(), &config);
    let shared = table.in_use();
    table.step("10.0.2.4/30", 3);
    assert_eq!((table.answer("10.0.2.4/30"), table.answer("11.0.2.4/30")), (3, 2));
    table.step("11.0.2.4/30", 3);
    assert_eq!((table.answer("11.0.2.4/30"), table.in_use() == shared), (3, false));
}

/// A page of codes leaves out a longer route with the next hop of its cover. When the cover gets another one, the page
/// must have the longer route.
#[test]
fn routes_longer_than_codes_come_to_light() {
    let config = Config {
        root_bits: Some(16),
        lists: Some(plan::NONE),
        entries: Some(plan::NONE),
        ..Config::default()
    };
    let blocks = (0..256).map(|i| Route {
        prefix: Prefix::from_bits_masked(0x0a00_0000 | i << 8, 24),
        next_hop: hop(1 + i % 3),
    });
    let mut table = changing(blocks.collect(), &config);
    let before = table.answer("10.0.1.200/32");
    for hidden in ["10.0.1.128/25", "10.0.4.192/26", "10.0.7.255/32"] {
        let hop = table.answer(hidden);
        table.step(hidden, hop);
    }
    for cover in ["10.0.1.0/24", "10.0.4.0/24", "10.0.7.0/24"] {
        table.step(cover, 9);
    }
    assert_eq!((table.answer("10.0.1.0/32"), table.answer("10.0.1.200/32")), (9, before));
}

/// Ids that fit neither a word of a list nor a code.
#[test]
fn great_next_hops_are_refused() {
    let config =
        Config { root_bits: Some(18), lists: Some(0), entries: Some(4), ..Config::default() };
    let mut table = changing(rib4(&[("10.0.0.0/8", 1)]), &config);
    // A code of one byte, but too great for a list.
    table.step("10.0.0.1/32", 200);
    table.refuse(&[("10.0.0.1/32", 300)]);
    table.refuse(&[("10.0.0.0/24", 200), ("10.0.1.0/24", 1 << 31)]);
    assert_eq!(table.answer("10.0.0.1/32"), 200);
}
