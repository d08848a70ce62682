//! The RIB against an ordered map that answers by scanning, in every operation.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::{Bound, RangeBounds};

use proptest::prelude::*;

use super::check;
use crate::net::{Bits, Change, Family, Ipv4, Ipv6, NextHopId, Outcome, Prefix, Route};
use crate::rib::{Block, Rib};

/// The routes, in order.
type Model<F> = BTreeMap<Prefix<F>, NextHopId>;

/// A route to announce, or a prefix to withdraw.
type Operation<F> = (Prefix<F>, Option<NextHopId>);

fn routes<F: Family>(model: &Model<F>) -> impl Iterator<Item = Route<F>> {
    model.iter().map(|(prefix, next_hop)| Route { prefix: *prefix, next_hop: *next_hop })
}

/// The routes that cover a prefix, shortest first.
fn covering<F: Family>(model: &Model<F>, prefix: Prefix<F>) -> Vec<Route<F>> {
    routes(model).filter(|route| route.prefix.covers(prefix)).collect()
}

/// The routes that a prefix covers.
fn inside<F: Family>(model: &Model<F>, prefix: Prefix<F>) -> Vec<Route<F>> {
    routes(model).filter(|route| prefix.covers(route.prefix)).collect()
}

/// Applies an operation to both and compares its result.
fn apply<F: Family>(rib: &mut Rib<F>, model: &mut Model<F>, (prefix, next_hop): Operation<F>) {
    let before = model.get(&prefix).copied();
    assert_eq!(rib.get(prefix), before);
    let (change, expected) = match (before, next_hop) {
        (None, Some(_)) => (None, Outcome::New),
        (Some(old), Some(new)) if old == new => (None, Outcome::Same),
        (Some(old), Some(_)) => (None, Outcome::Replaced(old)),
        (Some(old), None) => (Some(prefix), Outcome::Withdrawn(old)),
        (None, None) => (Some(prefix), Outcome::Unknown),
    };
    let change = match (change, next_hop) {
        (None, Some(next_hop)) => Change::Announce(Route { prefix, next_hop }),
        _ => Change::Withdraw(prefix),
    };
    assert_eq!(rib.apply(change), Ok(expected));
    match next_hop {
        Some(next_hop) => model.insert(prefix, next_hop),
        None => model.remove(&prefix),
    };
    assert_eq!(rib.get(prefix), next_hop);
}

/// Compares everything that depends on the whole table.
fn agree<F: Family>(rib: &Rib<F>, model: &Model<F>) {
    check(rib);
    assert_eq!(rib.len(), model.len());
    let all: Vec<Route<F>> = routes(model).collect();
    same_from_both_ends(rib.iter(), &all);
    assert_eq!(rib.iter().size_hint(), (all.len(), Some(all.len())));
    addresses_agree(rib, model);
    ranges_agree(rib, model);
    slots_agree(rib.root_block(), model, [5, 6, 7]);
    slots_agree(rib.root_block(), model, [16, 2, 9]);
    aggregation_keeps_answers(rib);
}

/// An iterator yields the routes forwards, backwards, and taken from both ends in turn.
fn same_from_both_ends<F: Family, I>(routes: I, expected: &[Route<F>])
where
    I: DoubleEndedIterator<Item = Route<F>> + Clone,
{
    assert!(routes.clone().eq(expected.iter().copied()));
    assert!(routes.clone().rev().eq(expected.iter().rev().copied()));
    let (mut rest, mut both) = (expected, routes);
    while let [first, others @ ..] = rest {
        assert_eq!(both.next(), Some(*first));
        rest = others;
        if let [others @ .., last] = rest {
            assert_eq!(both.next_back(), Some(*last));
            rest = others;
        }
    }
    assert_eq!((both.next(), both.next_back(), both.next()), (None, None, None));
}

/// Both ends of each range, one by one and in a batch.
fn addresses_agree<F: Family>(rib: &Rib<F>, model: &Model<F>) {
    let addrs: Vec<F::Bits> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
    let expected: Vec<Option<Route<F>>> = addrs
        .iter()
        .map(|addr| covering(model, Prefix::host(F::addr(*addr))).last().copied())
        .collect();
    for (addr, expected) in addrs.iter().zip(&expected) {
        let addr = F::addr(*addr);
        assert_eq!(rib.get_lpm(addr), *expected);
        assert_eq!(rib.lookup(addr), expected.map(|route| route.next_hop));
        assert!(rib.cover(Prefix::host(addr)).eq(covering(model, Prefix::host(addr))));
    }
    let mut found = alloc::vec![None; addrs.len() + 1];
    rib.get_lpm_batch(&addrs, &mut found);
    assert_eq!(found[..addrs.len()], expected);
    let mut next_hops = alloc::vec![None; addrs.len() + 1];
    rib.lookup_batch(&addrs, &mut next_hops);
    assert!(next_hops.iter().zip(&found).all(|(a, b)| *a == b.map(|route| route.next_hop)));
}

/// The ranges are those of the sorted routes, and each has the next hop of its ends.
fn ranges_agree<F: Family>(rib: &Rib<F>, model: &Model<F>) {
    assert!(rib.ranges().eq(crate::rib::Ranges::new(routes(model))));
    let mut next = Some(F::Bits::ZERO);
    for range in rib.ranges() {
        assert_eq!(Some(range.first), next);
        next = range.last.successor();
        for bits in [range.first, range.last] {
            let best = covering(model, Prefix::host(F::addr(bits))).last().copied();
            assert_eq!(range.route, best);
        }
    }
    assert_eq!(next, None);
}

/// The operations on the region of a prefix.
fn region_agrees<F: Family>(rib: &Rib<F>, model: &Model<F>, prefix: Prefix<F>) {
    assert_eq!(rib.get(prefix), model.get(&prefix).copied());
    let (covering, inside) = (covering(model, prefix), inside(model, prefix));
    assert!(rib.cover(prefix).eq(covering.iter().copied()));
    same_from_both_ends(rib.children(prefix), &inside);
    assert_eq!(rib.get_lpm_prefix(prefix), covering.last().copied());
    assert_eq!(rib.get_spm(prefix), covering.first().copied());
    let below = || inside.iter().filter(|route| route.prefix != prefix);
    let direct = below()
        .filter(|route| !below().any(|other| other != *route && other.prefix.covers(route.prefix)));
    assert!(rib.direct_children(prefix).eq(direct.copied()));
    ranges_of_routes_agree(rib, model, prefix);
    let longer = inside.iter().any(|route| route.prefix != prefix);
    let own = covering.last().map(|route| route.next_hop);
    assert_eq!(rib.only_next_hop(prefix), (!longer).then_some(own));
    let all = rib.ranges().filter(|range| prefix.first() <= range.last);
    let clipped = all.take_while(|range| range.first <= prefix.last()).map(|mut range| {
        range.first = range.first.max(prefix.first());
        range.last = range.last.min(prefix.last());
        range
    });
    assert!(rib.ranges_in(prefix).eq(clipped));
    slots_of_agree(rib, prefix);
}

/// The ranges with a prefix as either bound, and with the prefix after it as the other.
fn ranges_of_routes_agree<F: Family>(rib: &Rib<F>, model: &Model<F>, prefix: Prefix<F>) {
    let other = prefix.halves().map_or(Prefix::DEFAULT, |halves| halves[1]);
    let bounds = |prefix| [Bound::Unbounded, Bound::Included(prefix), Bound::Excluded(prefix)];
    for (start, end) in [(prefix, prefix), (prefix, other), (other, prefix)] {
        for range in bounds(start).into_iter().flat_map(|it| bounds(end).map(|end| (it, end))) {
            let expected: Vec<Route<F>> =
                routes(model).filter(|route| range.contains(&route.prefix)).collect();
            same_from_both_ends(rib.range(range), &expected);
        }
    }
}

/// The slots that a change of `prefix` may concern are those of the block that it decides.
fn slots_of_agree<F: Family>(rib: &Rib<F>, prefix: Prefix<F>) {
    for width in [4, 6, 9, 18] {
        let mut all = alloc::vec![None; 1 << width];
        let block = rib.root_block();
        block.for_each_slots(width, |slots| {
            for slot in &mut all[slots.first..][..slots.count] {
                *slot = Some((slots.next_hop, slots.below.is_some()));
            }
        });
        let region = Prefix::<F>::from_bits_masked(prefix.bits(), prefix.len().min(width));
        let first = region.bits().extract(0, width);
        let mut expected = alloc::vec![None; 1 << width];
        for (i, slot) in
            expected.iter_mut().enumerate().skip(first).take(1 << (width - region.len()))
        {
            let bits = F::Bits::from_u128((i as u128) << (F::WIDTH - width));
            let slot_prefix = Prefix::<F>::from_bits_masked(bits, width);
            let decided = rib.cover(slot_prefix).all(|route| route.prefix.len() <= prefix.len());
            *slot = all[i].filter(|_| decided);
        }
        let mut visited = alloc::vec![None; 1 << width];
        block.for_each_slots_of(prefix, width, |slots| {
            for slot in &mut visited[slots.first..][..slots.count] {
                assert_eq!(slot.replace((slots.next_hop, slots.below.is_some())), None);
            }
        });
        assert!(visited == expected, "{prefix}, {width} bits");
    }
}

/// Every slot has the longest match that covers it, in blocks of these widths below each other.
fn slots_agree<F: Family>(root: Block<'_, F>, model: &Model<F>, widths: [u8; 3]) {
    let mut pending = alloc::vec![(root, F::Bits::ZERO, 0)];
    while let Some((block, base, level)) = pending.pop() {
        let width: u8 = widths[level % widths.len()];
        let mut at = 0;
        block.for_each_slots(width, |slots| {
            assert_eq!(slots.first, at, "runs leave no gap");
            at += slots.count;
            assert!(slots.below.is_none() || slots.count == 1);
            let Some(shift) = F::WIDTH.checked_sub(block.depth() + width) else { return };
            let bits = base | F::Bits::from_u128((slots.first as u128) << shift);
            let slot = Prefix::<F>::from_bits_masked(bits, block.depth() + width);
            assert_eq!(slots.next_hop, covering(model, slot).last().map(|route| route.next_hop));
            let longer = inside(model, slot).iter().any(|route| route.prefix != slot);
            assert_eq!(slots.below.is_some(), longer);
            pending.extend(slots.below.map(|below| (below, bits, level + 1)));
        });
        assert_eq!(at, 1 << width);
    }
}

fn aggregation_keeps_answers<F: Family>(rib: &Rib<F>) {
    let aggregated = rib.aggregated();
    assert!(aggregated.len() <= rib.len());
    assert_eq!(aggregated.trie.check(), aggregated.len());
    for range in rib.ranges() {
        for bits in [range.first, range.last] {
            assert_eq!(aggregated.lookup(F::addr(bits)), range.next_hop());
        }
    }
}

/// Prefixes of few distinct bits, so that they nest and coincide often, at both ends of the
/// address and around the borders of nodes.
fn operations<F: Family>(max: usize) -> impl Strategy<Value = Vec<Operation<F>>> {
    let bits = (0u128..16, 0u128..8, 0u128..16);
    let prefix = (bits, 0u8..=F::WIDTH).prop_map(|((high, middle, low), len)| {
        let bits = high << (F::WIDTH - 4) | middle << (F::WIDTH / 2) | low;
        Prefix::from_bits_masked(F::Bits::from_u128(bits), len)
    });
    let next_hop = prop_oneof![3 => (1u32..4).prop_map(NextHopId::new), 2 => Just(None)];
    proptest::collection::vec((prefix, next_hop), 0..max)
}

fn agrees_with_a_map<F: Family>(operations: Vec<Operation<F>>) {
    let (mut rib, mut model) = (Rib::new(), Model::new());
    for operation in &operations {
        apply(&mut rib, &mut model, *operation);
        check(&rib);
    }
    agree(&rib, &model);
    for (prefix, _) in &operations {
        region_agrees(&rib, &model, *prefix);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]

    #[test]
    fn ipv4_agrees_with_a_map(operations in operations::<Ipv4>(60)) {
        agrees_with_a_map(operations);
    }

    #[test]
    fn ipv6_agrees_with_a_map(operations in operations::<Ipv6>(60)) {
        agrees_with_a_map(operations);
    }
}

/// A long sequence of changes: the table grows to some thousand routes, shrinks, and grows again.
fn long_sequence<F: Family>(seed: u64, steps: usize) {
    let mut state = seed;
    let mut random = |limit: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let (mut rib, mut model) = (Rib::<F>::new(), Model::new());
    for step in 0..steps {
        // Clusters of 64 in 256 places, so that nodes fill up and empty again.
        let cluster = u128::from(random(256)) << (F::WIDTH - 8);
        let place = u128::from(random(16)) << (F::WIDTH - 20) | u128::from(random(64)) << 3;
        let len = [8, 12, 19, 20, F::WIDTH - 6, F::WIDTH - 3, F::WIDTH][random(7) as usize];
        let prefix = Prefix::from_bits_masked(F::Bits::from_u128(cluster | place), len);
        let growing = (step / (steps / 4).max(1)).is_multiple_of(2);
        let announce = random(10) < if growing { 8 } else { 1 };
        let next_hop = NextHopId::new(1 + random(5) as u32);
        let withdrawn = match model.range(prefix..).next() {
            Some((known, _)) if !announce => *known,
            _ => prefix,
        };
        let operation = if announce { (prefix, next_hop) } else { (withdrawn, None) };
        apply(&mut rib, &mut model, operation);
        if step % (steps / 16).max(1) == 0 {
            check(&rib);
            assert!(rib.ranges().eq(crate::rib::Ranges::new(routes(&model))));
        }
    }
    check(&rib);
    assert!(rib.iter().eq(routes(&model)));
    // Blocks of 2^18 slots take minutes in Miri.
    let regions = if cfg!(miri) { 0 } else { 8 };
    for (prefix, _) in model.iter().step_by(model.len() / 8 + 1).take(regions) {
        region_agrees(&rib, &model, *prefix);
    }
    while let Some((prefix, _)) = model.pop_last() {
        assert!(rib.remove(prefix).is_some());
    }
    assert_eq!(rib.trie.check(), 0);
}

#[test]
fn long_sequences_agree_with_a_map() {
    let (steps, seeds) = if cfg!(miri) { (40, 1) } else { (20_000, 3) };
    for seed in 1..=seeds {
        long_sequence::<Ipv4>(seed, steps);
        long_sequence::<Ipv6>(seed, steps);
    }
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_long_sequences_agree_with_a_map() {
    for seed in 100..140 {
        long_sequence::<Ipv4>(seed, 400_000);
        long_sequence::<Ipv6>(seed, 400_000);
    }
}

/// Every change of every table of a small universe, which is every sequence of changes: a table's
/// representation depends on its routes alone, as `check` verifies after each.
fn every_change<F: Family>(universe: &[Prefix<F>]) {
    let next_hop = |i: usize| NextHopId::new(1 + i as u32 % 3);
    for set in 0..1u32 << universe.len() {
        let members = (0..universe.len()).filter(|i| set >> i & 1 == 1);
        let mut model: Model<F> =
            members.filter_map(|i| Some((universe[i], next_hop(i)?))).collect();
        let rib: Rib<F> = routes(&model).collect();
        agree(&rib, &model);
        for (i, prefix) in universe.iter().enumerate() {
            region_agrees(&rib, &model, *prefix);
            let mut changed = rib.clone();
            let present = model.get(prefix).copied();
            let target = if present.is_some() { None } else { next_hop(i) };
            apply(&mut changed, &mut model, (*prefix, target));
            check(&changed);
            apply(&mut changed, &mut model, (*prefix, present));
            check(&changed);
            assert_eq!(changed.trie.shape(), rib.trie.shape());
        }
    }
}

/// Prefixes around the borders of nodes: siblings, nested ones, and ends of chains.
fn universe<F: Family>(count: usize) -> Vec<Prefix<F>> {
    let last = F::WIDTH - 2;
    let shapes: [(u128, u8); 10] = [
        (0, 0),
        (0, 6),
        (1 << (F::WIDTH - 7), 7),
        (0, last),
        (1, F::WIDTH),
        (3, F::WIDTH),
        (2, F::WIDTH - 1),
        (1 << (F::WIDTH - 13), 13),
        (1 << 13, F::WIDTH),
        (1 << (F::WIDTH - 13) | 1, F::WIDTH),
    ];
    let prefix = |(bits, len)| Prefix::from_bits_masked(F::Bits::from_u128(bits), len);
    shapes.into_iter().map(prefix).take(count).collect()
}

#[test]
fn every_change_of_small_tables() {
    let count = if cfg!(miri) { 2 } else { 7 };
    every_change::<Ipv4>(&universe(count));
    every_change::<Ipv6>(&universe(count));
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_every_change_of_small_tables() {
    every_change::<Ipv4>(&universe(10));
    every_change::<Ipv6>(&universe(10));
}
