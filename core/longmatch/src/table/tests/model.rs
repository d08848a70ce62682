//! Random sequences of every operation against a map of the standard library.

use alloc::collections::BTreeMap;
use core::ops::{Bound, RangeBounds};

use super::changes::assert_counts;
use super::*;

/// A small generator of pseudo-random numbers (SplitMix64).
pub(super) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// A prefix of a small universe of both families, in which many prefixes cover others.
pub(super) fn prefix(random: &mut Random) -> IpPrefix {
    let bits = random.below(64) << 58;
    if random.below(2) == 0 {
        let len = [0, 1, 3, 6, 7, 12, 24, 32][random.below(8) as usize];
        IpPrefix::masked(Ipv4Addr::from_bits((bits >> 32) as u32 | 7).into(), len).unwrap()
    } else {
        let len = [0, 2, 5, 6, 8, 48, 64, 128][random.below(8) as usize];
        IpPrefix::masked(Ipv6Addr::from_bits(u128::from(bits) << 64 | 7).into(), len).unwrap()
    }
}

type Model = BTreeMap<IpPrefix, u32>;

#[allow(clippy::too_many_lines, reason = "a change of each kind")]
fn step(random: &mut Random, table: &mut Table<u32>, model: &mut Model) {
    let (key, value) = (prefix(random), random.below(5) as u32);
    match random.below(18) {
        0..3 => assert_eq!(table.insert(key, value).unwrap().copied(), model.insert(key, value)),
        3 => {
            let old = table.insert_distinct(key, value).unwrap().copied();
            assert_eq!(old, model.insert(key, value));
        }
        4..6 => assert_eq!(table.remove(key).copied(), model.remove(&key)),
        6 => {
            *table.entry(key).or_insert(value) += 1;
            *model.entry(key).or_insert(value) += 1;
        }
        7 => {
            table.entry(key).and_modify(|old| *old ^= 1).or_default();
            model.entry(key).and_modify(|old| *old ^= 1).or_default();
        }
        8 => change(random, table, model, key, value),
        9 => match table.get_mut_distinct(key) {
            Some(old) => assert_eq!(Some(core::mem::replace(old, value)), model.insert(key, value)),
            None => assert_eq!(model.get(&key), None),
        },
        10 => {
            let addr = key.last();
            let found = table.get_lpm_mut(addr).map(|(prefix, mut old)| {
                *old = value;
                prefix
            });
            let covers = model.iter_mut().rfind(|(other, _)| other.contains(addr));
            assert_eq!(found, covers.map(|(other, old)| (*old = value, *other).1));
        }
        11 if random.below(10) == 0 => {
            let removed = model.extract_if_covered(key);
            assert_eq!(table.remove_children(key), removed);
        }
        12 if random.below(10) == 0 => {
            table.retain(|prefix, old| prefix.len() % 3 != 0 || *old != value);
            model.retain(|prefix, old| prefix.len() % 3 != 0 || *old != value);
        }
        13 if random.below(50) == 0 => {
            table.clear();
            model.clear();
        }
        14 => assert_eq!(table.take(key), model.remove(&key)),
        15 => match table.try_take(key).map(|taken| taken.map_err(|shared| *shared)) {
            Some(Ok(old)) => assert_eq!(Some(old), model.remove(&key)),
            Some(Err(shared)) => {
                assert_eq!(Some(shared), model.remove(&key));
                assert!(table.values().any(|other| *other == shared), "another route has it");
            }
            None => assert_eq!(model.get(&key), None),
        },
        16 if random.below(10) == 0 => {
            let (range, most) = (bounds(random, key), random.below(4) as usize);
            let extract =
                |prefix: IpPrefix, old: u32| prefix.len().is_multiple_of(2) && old != value;
            let extracted = table.extract_if(range, |prefix, old| extract(prefix, *old));
            let expected: Vec<_> = model
                .iter()
                .map(|(prefix, old)| (*prefix, *old))
                .filter(|(prefix, old)| range.contains(prefix) && extract(*prefix, *old))
                .take(most)
                .collect();
            assert!(extracted.take(most).eq(expected.iter().copied()));
            for (prefix, _) in expected {
                model.remove(&prefix);
            }
        }
        17 if random.below(10) == 0 => {
            let routes: Vec<_> = (0..9).map(|i| (prefix(random), i)).collect();
            let mut other: Table<u32> = routes.iter().copied().collect();
            table.append(&mut other).unwrap();
            assert!(other.is_empty());
            model.extend(routes);
        }
        _ => assert_eq!(table.get(key), model.get(&key)),
    }
}

/// A range with a prefix as one bound, sometimes empty.
fn bounds(random: &mut Random, key: IpPrefix) -> (Bound<IpPrefix>, Bound<IpPrefix>) {
    let other = prefix(random);
    let mut bound = |prefix| match random.below(3) {
        0 => Bound::Unbounded,
        1 => Bound::Included(prefix),
        _ => Bound::Excluded(prefix),
    };
    (bound(key), bound(other))
}

/// Changes a value through a guard, which is sometimes leaked.
fn change(
    random: &mut Random,
    table: &mut Table<u32>,
    model: &mut Model,
    key: IpPrefix,
    value: u32,
) {
    let Some(mut guard) = table.get_mut(key) else {
        return assert_eq!(model.get(&key), None);
    };
    assert_eq!(Some(&*guard), model.get(&key));
    *guard = value;
    if random.below(4) == 0 {
        core::mem::forget(guard);
    }
    model.insert(key, value);
}

trait ExtractCovered {
    fn extract_if_covered(&mut self, by: IpPrefix) -> usize;
}

impl ExtractCovered for Model {
    fn extract_if_covered(&mut self, by: IpPrefix) -> usize {
        let before = self.len();
        self.retain(|prefix, _| !by.covers(*prefix));
        before - self.len()
    }
}

/// The operations on the region of a prefix, and on a range.
fn assert_same_region(
    table: &Table<u32>,
    model: &Model,
    key: IpPrefix,
    range: (Bound<IpPrefix>, Bound<IpPrefix>),
) {
    let routes = || model.iter().map(|(prefix, value)| (*prefix, value));
    let covers = || routes().filter(|(prefix, _)| prefix.covers(key));
    assert_eq!(table.get_lpm_prefix(key), covers().next_back());
    assert_eq!(table.get_spm(key), covers().next());
    let below = || routes().filter(|(prefix, _)| key.covers(*prefix) && *prefix != key);
    let between = |it: IpPrefix| below().any(|(prefix, _)| prefix.covers(it) && prefix != it);
    let direct = || below().filter(|(prefix, _)| !between(*prefix));
    assert!(table.direct_children(key).eq(direct()));
    let inside = || routes().filter(|(prefix, _)| range.contains(prefix));
    assert!(table.range(range).eq(inside()), "{range:?}");
    assert!(table.range(range).rev().eq(inside().rev()), "{range:?}");
    assert!(table.iter_from(key).eq(routes().filter(|(prefix, _)| *prefix >= key)));

    let frozen = table.clone().freeze(crate::EngineKind::Linear).unwrap();
    assert_eq!(frozen.get_lpm_prefix(key), covers().next_back());
    assert_eq!(frozen.get_spm(key), covers().next());
    assert!(frozen.direct_children(key).eq(direct()));
    assert!(frozen.range(range).rev().eq(inside().rev()), "{range:?}");
}

/// Whole tables made of a table.
fn assert_same_wholes(table: &Table<u32>, model: &Model, addrs: &[IpAddr]) {
    let aggregated = table.aggregated();
    assert_counts(&aggregated);
    assert!(aggregated.len() <= table.len());
    addrs.iter().for_each(|addr| assert_eq!(aggregated.lookup(*addr), table.lookup(*addr)));
    let by_value = table.clone().into_by_value();
    assert!(by_value.is_sorted_by(|a, b| a.1[0] < b.1[0]));
    assert!(by_value.iter().all(|(_, prefixes)| prefixes.is_sorted()));
    assert_eq!(by_value.len(), table.next_hops().len(), "each value once");
    let flat = by_value.iter().flat_map(|(value, all)| all.iter().map(|prefix| (*prefix, *value)));
    assert_eq!(flat.collect::<Model>(), *model);
}

fn assert_same(table: &Table<u32>, model: &Model, addr: IpAddr) {
    let routes = || model.iter().map(|(prefix, value)| (*prefix, value));
    assert!(table.iter().eq(routes()));
    assert!(table.iter().rev().eq(routes().rev()));
    assert_eq!(table.len(), model.len());
    assert_counts(table);

    let covers = || routes().filter(|(prefix, _)| prefix.contains(addr));
    assert!(table.cover(addr).eq(covers()));
    assert_eq!(table.get_lpm(addr), covers().next_back());
    assert_eq!(table.lookup(addr), covers().next_back().map(|(_, value)| value));
    let parent = IpPrefix::masked(addr, 5).unwrap();
    assert!(table.children(parent).eq(routes().filter(|(prefix, _)| parent.covers(*prefix))));
    let overlap = routes().any(|(prefix, _)| prefix.overlaps(parent));
    assert_eq!(table.overlaps_prefix(parent), overlap);
}

#[test]
fn random_changes_agree_with_a_map() {
    let steps = if cfg!(miri) { 300 } else { 30_000 };
    for seed in 0..3 {
        let mut random = Random(seed);
        let (mut table, mut model) = (Table::new(), Model::new());
        for i in 0..steps {
            step(&mut random, &mut table, &mut model);
            if i % 16 == 0 {
                let addr = prefix(&mut random).last();
                assert_same(&table, &model, addr);
                let (key, other) = (prefix(&mut random), prefix(&mut random));
                let range = bounds(&mut random, other);
                assert_same_region(&table, &model, key, range);
            }
            if i % 1024 == 0 {
                table.reclaim();
                let addrs: Vec<_> = (0..64).map(|_| prefix(&mut random).last()).collect();
                assert_same_wholes(&table, &model, &addrs);
                table = table.into_iter().collect();
            }
        }
    }
}

/// A live table and its readers against the map, with commits and roll-backs.
#[test]
fn random_changes_of_live_tables_agree_with_a_map() {
    let steps = if cfg!(miri) { 60 } else { 4_000 };
    for answers in [Answers::Values, Answers::Routes] {
        let mut random = Random(answers as u64);
        let spec = TableSpec::new(crate::EngineKind::Linear).answers(answers);
        let mut writer = Table::new().live(spec).unwrap();
        let mut reader = writer.reader();
        let (mut model, mut committed) = (Model::new(), Model::new());
        for _ in 0..steps {
            live_step(&mut random, &mut writer, &mut model);
            match random.below(8) {
                0 => {
                    writer.commit().unwrap();
                    committed = model.clone();
                    writer.check().unwrap();
                }
                1 if random.below(4) == 0 => {
                    writer.roll_back();
                    model = committed.clone();
                }
                _ => {}
            }
            assert!(writer.iter().eq(model.iter().map(|(prefix, value)| (*prefix, value))));
            let addr = prefix(&mut random).last();
            let found = committed.iter().rfind(|(prefix, _)| prefix.contains(addr));
            assert_eq!(reader.pin().lookup(addr), found.map(|(_, value)| value));
        }
    }
}

fn live_step(random: &mut Random, writer: &mut TableWriter<u32>, model: &mut Model) {
    let (key, value) = (prefix(random), random.below(5) as u32);
    match random.below(40) {
        0..16 => {
            let change = |old: Option<&u32>| old.is_none_or(|old| *old != value).then_some(value);
            let new = change(model.get(&key));
            assert_eq!(writer.update(key, change).unwrap().copied(), new);
            match new {
                Some(new) => drop(model.insert(key, new)),
                None => drop(model.remove(&key)),
            }
        }
        16..28 => assert_eq!(writer.insert(key, value).unwrap().copied(), model.insert(key, value)),
        28..34 => assert_eq!(writer.remove(key).copied(), model.remove(&key)),
        34..36 => {
            let routes: Vec<_> = (0..5).map(|i| (prefix(random), i)).collect();
            match value {
                0 => writer.extend(routes.iter().map(|(prefix, value)| (*prefix, value))),
                _ => writer.extend(routes.iter().copied()),
            }
            model.extend(routes);
        }
        36 => assert_eq!(writer.remove_children(key), model.extract_if_covered(key)),
        37 => {
            writer.retain(|prefix, old| prefix.len() % 3 != 0 || *old != value);
            model.retain(|prefix, old| prefix.len() % 3 != 0 || *old != value);
        }
        38 if value == 0 => {
            writer.clear();
            model.clear();
        }
        _ => {
            let covers = model.iter().rfind(|(prefix, _)| prefix.covers(key));
            assert_eq!(writer.get_lpm_prefix(key), covers.map(|(prefix, value)| (*prefix, value)));
        }
    }
}
