//! `check` detects damage, and no damage that `bounds` admits makes a lookup read outside of the
//! arrays or fail to end.

use super::super::bounds;
use super::super::layout::{Entry, Kind, PAGE};
use super::*;
use crate::mem::{Frozen, Plain};

/// A table with all kinds of entries.
fn table() -> Rib<Ipv6> {
    let all = shapes().into_iter().flat_map(|(_, rib)| rib.iter().step_by(9).collect::<Vec<_>>());
    let few = |route: Route<Ipv6>| Route { next_hop: hop(1 + route.next_hop.get() % 9), ..route };
    all.map(few).collect()
}

/// Returns a copy with another length; added items are zero.
fn resized<T: Plain>(items: &[T], len: usize) -> Frozen<T> {
    let mut copy = Frozen::zeroed(len).unwrap();
    copy.iter_mut().zip(items).for_each(|(to, from)| *to = *from);
    copy
}

type Damage = fn(&mut Folio6);

#[test]
fn lengths_and_parameters() {
    let rib = table();
    let damages: &[Damage] = &[
        |it| it.fixed.shift = 60,
        |it| it.fixed.shift = 3,
        |it| it.fixed.last += 1,
        |it| it.fixed.last = u32::MAX,
        |it| it.fixed.base += 1,
        |it| it.fixed.base = u64::MAX << 48,
        |it| it.fixed.steps = 0,
        |it| it.fixed.steps = 4,
        |it| it.fixed.log2 = 3,
        |it| it.fixed.is_list = true,
        |it| it.root = resized(&it.root, it.root.len() + 1),
        |it| it.root = resized(&it.root, it.root.len() - 1),
        |it| *it.root.last_mut().unwrap() = PAGE,
        |it| it.pages = resized(&it.pages, it.pages.len() / 2),
        |it| it.codes = resized(&it.codes, it.codes.len() / 2),
        |it| it.lines = resized(&it.lines, it.lines.len() / 2),
        |it| it.hops = resized(&it.hops, 256),
    ];
    let config = Config { leaves: Some("codes"), ..Config::default() };
    let good = Folio6::compile(&rib, &config).unwrap();
    for kind in [Kind::Codes, Kind::Run, Kind::Page] {
        let entries = good.root.iter().chain(good.pages.iter());
        assert!(entries.into_iter().any(|entry| Entry(*entry).kind() == kind), "{kind:?}");
    }
    for (i, damage) in damages.iter().enumerate() {
        let mut bad = Folio6::compile(&rib, &config).unwrap();
        damage(&mut bad);
        assert!(Engine::check(&bad, &rib).is_err(), "damage {i}");
        assert!(bounds::verify(bad.slices()).is_err(), "damage {i}");
    }
    for route in rib.iter().step_by(50) {
        let mut other = rib.clone();
        other.remove(route.prefix);
        if other.lookup(Ipv6::addr(route.prefix.first())) != Some(route.next_hop) {
            assert!(Engine::check(&good, &other).is_err(), "without {}", route.prefix);
        }
    }
}

/// Two blocks have equal routes, and the entry of one leads to the page of the other: all answers are right, but a
/// change in one block would change both.
#[test]
fn pages_have_one_entry() {
    let block = |net: u128| routes((0..600).map(|i| (net | (i * 7 % 1024) << 70, 58)), 300);
    let rib: Rib<Ipv6> = [STEM, STEM + (1 << 96)]
        .iter()
        .flat_map(|net| block(*net).iter().collect::<Vec<_>>())
        .collect();
    let (keys, right) = ends(&rib);
    let mut table = Folio6::compile(&rib, &Config::default()).unwrap();
    let pages: Vec<usize> =
        (0..table.root.len()).filter(|i| Entry(table.root[*i]).kind() == Kind::Page).collect();
    let mut found = 0;
    for pair in pages.windows(2) {
        let own = table.root[pair[1]];
        let entry = Entry(table.root[pair[0]]);
        let distance = (pair[1] - pair[0]) as u64 * (1 << table.fixed.shift);
        let place = entry.place().wrapping_sub((distance >> entry.drop()) as u32);
        table.root[pair[1]] = Entry::new(PAGE, entry.drop(), place).0;
        if keys.iter().zip(&right).all(|(key, hop)| table.lookup_bits(*key) == *hop) {
            found += 1;
            let corrupt = Engine::check(&table, &rib).unwrap_err();
            assert!(corrupt.what.contains("two entries to one piece"), "{corrupt}");
        }
        table.root[pair[1]] = own;
    }
    assert!(found > 0, "no two blocks have equal pages");
}

/// Bits all over the arrays, one at a time: `check` detects it, or the bit has no influence; if
/// `bounds` admits it, lookups stay inside and end.
#[test]
fn flipped_bits() {
    let rib = table();
    for leaves in ["lines", "minis"] {
        flip_bits(&rib, &Config { codes: Some("book"), leaves: Some(leaves), steps: None });
    }
}

fn flip_bits(rib: &Rib<Ipv6>, config: &Config) {
    let mut table = Folio6::compile(rib, config).unwrap();
    let (keys, right) = ends(rib);
    let mut out = vec![None; keys.len()];
    let (mut admitted, mut refused) = (0, 0);
    let mut test = |table: &Folio6, at: (usize, usize)| {
        let found = Engine::check(table, rib).is_err();
        match bounds::verify(table.slices()) {
            Err(_) => refused += 1,
            Ok(()) => {
                admitted += 1;
                table.lookup_batch(&keys, &mut out);
                assert!(found || out == right, "bit {at:?} has influence");
                let each = keys.iter().step_by(7).zip(out.iter().step_by(7));
                assert!(each.into_iter().all(|(key, hop)| table.lookup_bits(*key) == *hop));
            }
        }
    };
    macro_rules! flip {
        ($array:ident, $number:literal) => {
            let items = table.$array.len();
            for i in (0..items).step_by(1 + items / 30) {
                let before = table.$array[i];
                let bit = i * 7 % (8 * size_of_val(&before));
                table.$array[i] ^= 1 << bit;
                test(&table, ($number, i));
                table.$array[i] = before;
            }
        };
    }
    flip!(root, 0);
    flip!(pages, 1);
    flip!(codes, 2);
    flip!(lines, 3);
    flip!(minis, 4);
    flip!(hops, 5);
    assert!(admitted > 20 && refused > 2, "{admitted} {refused}");
}
