//! Random sequences of every operation against a map of the standard library.

use alloc::collections::BTreeMap;

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

fn step(random: &mut Random, table: &mut Table<u32>, model: &mut Model) {
    let (key, value) = (prefix(random), random.below(5) as u32);
    match random.below(14) {
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
        _ => assert_eq!(table.get(key), model.get(&key)),
    }
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
            }
            if i % 1024 == 0 {
                table = table.into_iter().collect();
            }
        }
    }
}
