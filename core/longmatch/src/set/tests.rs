//! Sets against a naive model: which of 16 addresses are members.
//!
//! The 16 addresses are a block of each family, at the beginning, inside and at the end of its
//! address space. A set is an integer with a bit for each address.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::*;
use crate::net::{Bits, Ipv4, Ipv6, NextHopId};
use crate::rib::Rib;

/// Addresses in the model.
const WIDTH: u32 = 16;

/// The first addresses of the blocks.
fn blocks<F: Family>() -> [F::Bits; 3] {
    let inside = F::Bits::from_u128(0x2001_0db8_0a00_0010);
    [F::Bits::ZERO, inside, F::Bits::MAX & F::Bits::mask(F::WIDTH - 4)]
}

/// The set of a model's members, from one range for each address, in an order that `order` chooses.
fn set_of<F: Family>(block: F::Bits, members: u16, order: u32) -> AddressSet<F> {
    let place = |i: u32| (i * (2 * order + 1) + order) % WIDTH;
    let members = (0..WIDTH).map(place).filter(|i| members >> i & 1 == 1);
    let host = |i| Prefix::<F>::from_bits_masked(block.wrapping_add(u128::from(i)), F::WIDTH);
    members.map(host).collect()
}

/// The members of a set.
fn members<F: Family>(block: F::Bits, set: &AddressSet<F>) -> u16 {
    let has = |i: u32| set.contains_bits(block.wrapping_add(u128::from(i)));
    (0..WIDTH).map(|i| u16::from(has(i)) << i).sum()
}

/// The ranges of a model: runs of members.
fn runs(members: u16) -> usize {
    (members & !(members << 1)).count_ones() as usize
}

/// The fewest prefixes of a block: one if all its addresses are members, else those of its halves.
fn fewest(members: u16, width: u32) -> Vec<(u32, u32)> {
    let all = ((1u32 << width) - 1) as u16;
    match members & all {
        0 => Vec::new(),
        found if found == all => [(0, width)].into(),
        _ => {
            let half = width / 2;
            let upper = fewest(members >> half, half);
            let upper = upper.into_iter().map(|(at, width)| (at + half, width));
            fewest(members, half).into_iter().chain(upper).collect()
        }
    }
}

/// Every prefix of an iterator as its place and width in the block.
fn places<F: Family>(block: F::Bits, prefixes: impl Iterator<Item = Prefix<F>>) -> Vec<(u32, u32)> {
    let place = |prefix: Prefix<F>| {
        let at = prefix.first().to_u128() - block.to_u128();
        (at as u32, 1 << (F::WIDTH - prefix.len()))
    };
    prefixes.map(place).collect()
}

fn each_set<F: Family>() {
    for block in blocks::<F>() {
        for model in 0..=u16::MAX {
            let set = set_of::<F>(block, model, u32::from(model) % 8);
            assert_eq!(members(block, &set), model, "{set:?}");
            assert_eq!(set.ranges().len(), runs(model), "{set:?}");
            assert_eq!(set.count().get(), Some(u128::from(model.count_ones())));
            assert_eq!(set.is_empty(), model == 0);
            assert_eq!(places(block, set.prefixes()), fewest(model, WIDTH), "{set:?}");
            assert_eq!(set.prefixes().collect::<AddressSet<F>>(), set, "the cover is exact");
        }
    }
}

#[test]
fn every_set_of_16_ipv4_addresses() {
    each_set::<Ipv4>();
}

#[test]
fn every_set_of_16_ipv6_addresses() {
    each_set::<Ipv6>();
}

/// Two models of a deterministic sequence in which dense, sparse and ragged ones occur.
fn pairs(count: u64) -> impl Iterator<Item = (u16, u16)> {
    let mut state = 7u64;
    (0..count).map(move |_| {
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let mut one = || match next() % 4 {
            0 => next() as u16,
            1 => (next() & next()) as u16,
            2 => (next() | next()) as u16,
            _ => (0xffff_u32 << (next() % 17)) as u16,
        };
        (one(), one())
    })
}

fn each_pair<F: Family>(count: u64) {
    for (i, (a, b)) in pairs(count).enumerate() {
        let block = blocks::<F>()[i % 3];
        let (left, right) = (set_of::<F>(block, a, 1), set_of::<F>(block, b, 2));
        let equal = |set: AddressSet<F>, model: u16, what: &str| {
            assert_eq!(set, set_of(block, model, 0), "{left:?} {what} {right:?}");
        };
        equal(left.union(&right), a | b, "or");
        equal(left.intersection(&right), a & b, "and");
        equal(left.difference(&right), a & !b, "without");
        assert_eq!(left.is_subset(&right), a & !b == 0, "{left:?} in {right:?}");
        let within = Prefix::<F>::from_bits_masked(block, F::WIDTH - 4);
        equal(left.complement(within), !a, "complement");
        let without = left.difference(&right);
        assert_eq!(without.union(&left.intersection(&right)), left);
        for range in right.ranges() {
            assert_eq!(left.overlaps(*range), !left.intersection(&(*range).into()).is_empty());
            assert_eq!(left.covers(*range), AddressSet::from(*range).is_subset(&left));
        }
        let mut extended = left.clone();
        extended.extend(right.prefixes());
        assert_eq!(extended, left.union(&right));
    }
}

#[test]
fn operations_on_ipv4_sets() {
    each_pair::<Ipv4>(if cfg!(miri) { 20 } else { 20_000 });
}

#[test]
fn operations_on_ipv6_sets() {
    each_pair::<Ipv6>(if cfg!(miri) { 20 } else { 20_000 });
}

/// The blocks of `width` addresses with a member, or without `rounded` the members.
fn each_length<F: Family>() {
    for (i, (model, _)) in pairs(3_000).enumerate() {
        let block = blocks::<F>()[i % 3];
        let set = set_of::<F>(block, model, 3);
        for host in 0..=4 {
            let (len, width) = (F::WIDTH - host, 1u32 << host);
            let blocks_with_members = (0..WIDTH).filter(|i| {
                let whole = (((1u32 << width) - 1) << (i / width * width)) as u16;
                model & whole != 0
            });
            let wanted = blocks_with_members.map(|i| 1u16 << i).sum();
            let rounded = set.rounded_out(len);
            assert_eq!(rounded, set_of(block, wanted, 0), "{set:?} to /{len}");
            assert!(rounded.prefixes().all(|prefix| prefix.len() <= len));

            let split = set.split(len);
            let parts = places(block, split.clone());
            let wanted: Vec<_> = fewest(model, WIDTH)
                .into_iter()
                .flat_map(|(at, wide)| {
                    let part = wide.min(width);
                    (at..at + wide).step_by(part as usize).map(move |at| (at, part))
                })
                .collect();
            assert_eq!(parts, wanted, "{set:?} in /{len}");
            let mut split = split;
            for left in (0..=parts.len()).rev() {
                assert_eq!(split.remaining().get(), Some(left as u128), "{set:?} in /{len}");
                split.next();
            }
        }
    }
}

#[test]
fn lengths_of_ipv4_sets() {
    each_length::<Ipv4>();
}

#[test]
fn lengths_of_ipv6_sets() {
    each_length::<Ipv6>();
}

/// The RIB's aggregation of routes with one next hop is another way to the fewest prefixes.
#[test]
fn the_fewest_prefixes_are_those_of_route_aggregation() {
    let next_hop = NextHopId::new(1).unwrap();
    let mut state = 1u64;
    for _ in 0..300 {
        let mut rib = Rib::<Ipv4>::new();
        for _ in 0..40 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(11);
            let (bits, len) = ((state >> 32) as u32, (state >> 20) as u8 % 9);
            // Prefixes of /16 to /24 inside two /12s, so that many touch or nest.
            let bits = 0x0a00_0000 | bits & 0x001f_ff00;
            rib.insert(Prefix::from_bits_masked(bits, 16 + len), next_hop).unwrap();
        }
        let set: AddressSet<_> = rib.iter().map(|route| route.prefix).collect();
        let aggregated = rib.aggregated();
        assert!(set.prefixes().eq(aggregated.iter().map(|route| route.prefix)));
    }
}

#[test]
fn whole_families_and_their_ends() {
    fn check<F: Family>() {
        let all = AddressSet::<F>::from(Prefix::DEFAULT);
        let none = AddressSet::<F>::new();
        assert!(all.prefixes().eq([Prefix::DEFAULT]) && none.prefixes().next().is_none());
        assert_eq!(
            (all.complement(Prefix::DEFAULT), none.complement(Prefix::DEFAULT)),
            (none.clone(), all.clone())
        );
        assert_eq!(
            (all.union(&none), all.intersection(&none), none.difference(&all)),
            (all.clone(), none.clone(), none.clone())
        );
        assert!(none.is_subset(&all) && !all.is_subset(&none) && none.is_subset(&none));
        for end in [F::Bits::ZERO, F::Bits::MAX] {
            let end = Prefix::<F>::from_bits_masked(end, F::WIDTH);
            let rest = AddressSet::from(end).complement(Prefix::DEFAULT);
            assert_eq!(rest.prefixes().count(), usize::from(F::WIDTH));
            assert_eq!(rest.count().checked_sub(all.count()), None);
            assert_eq!(all.count().checked_sub(rest.count()).unwrap().get(), Some(1));
            assert_eq!(rest.union(&end.into()), all);
            assert!(!rest.contains_bits(end.first()) && all.covers(end) && !rest.overlaps(end));
            assert_eq!(rest.rounded_out(0), all);
            assert_eq!(AddressSet::from(end).rounded_out(200), end.into());
        }
        let inner = AddressRange::<F>::from_bits(
            F::Bits::ZERO.wrapping_add(1),
            F::Bits::MAX.predecessor().unwrap(),
        );
        assert_eq!(inner.unwrap().prefixes().count(), 2 * usize::from(F::WIDTH) - 2);
        let empty: AddressSet<F> = Vec::<AddressRange<F>>::new().into();
        assert_eq!((empty.count().get(), empty), (Some(0), none));
        assert_eq!(all.split(1).count(), 2);
        assert_eq!(all.split(0).count(), 1);
    }
    check::<Ipv4>();
    check::<Ipv6>();
}

#[test]
fn counts_reach_all_of_ipv6() {
    let all = AddressSet::<Ipv6>::from(Prefix::DEFAULT).count();
    assert_eq!(all.to_string(), "340282366920938463463374607431768211456");
    assert_eq!((all.get(), all), (None, AddressCount::MAX));
    let most = all.checked_sub(1.into()).unwrap();
    assert_eq!(most.to_string(), u128::MAX.to_string());
    assert_eq!(all.checked_sub(all).unwrap().get(), Some(0));
    assert_eq!(all.checked_sub(0.into()), Some(all));
    assert_eq!([most, 1.into()].into_iter().sum::<AddressCount>(), all);
    assert_eq!([all, 1.into()].into_iter().sum::<AddressCount>(), all, "the sum saturates");
    assert_eq!(all.to_f64(), 340_282_366_920_938_463_463_374_607_431_768_211_456.0);
    assert_eq!(alloc::format!("{:>41}|{:<4}|", all, AddressCount::from(7)).len(), 41 + 6);
}
