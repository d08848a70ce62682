//! Tests of the table as a map: arguments, iterators and the traits of collections.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::hash::{BuildHasher, Hash};
use core::iter::FusedIterator;

use super::*;

#[test]
fn prefixes_and_addresses_of_every_type_are_arguments() {
    let mut table = Table::new();
    let v4: Prefix<Ipv4> = "10.0.0.0/8".parse().unwrap();
    let v6: Prefix<Ipv6> = "2001:db8::/32".parse().unwrap();
    table.insert(v4, 4).unwrap();
    table.insert(v6, 6).unwrap();
    table.insert(Ipv4Addr::LOCALHOST, 1).unwrap();
    assert_eq!((table.get(v4), table.get(v6)), (Some(&4), Some(&6)));
    assert_eq!(table.get(ip("127.0.0.1")), Some(&1));
    assert!(table.contains(Ipv4Addr::LOCALHOST) && !table.contains(Ipv6Addr::LOCALHOST));

    assert_eq!(table.lookup(Ipv4Addr::new(10, 9, 1, 1)), Some(&4));
    assert_eq!(table.lookup([10, 9, 1, 1]), Some(&4));
    assert_eq!(table.lookup("2001:db8::1".parse::<Ipv6Addr>().unwrap()), Some(&6));
    assert_eq!(table.lookup(ip("::ffff:10.9.1.1")), Some(&4));
    assert_eq!(table.get_lpm(Ipv4Addr::new(10, 9, 1, 1)), Some((v4.into(), &4)));
    assert_eq!(table.cover(Ipv4Addr::LOCALHOST).count(), 1);
    assert_eq!(table.children(v6).count(), 1);
    assert_eq!(table.remove(v6), Some(&6));
    assert_eq!(table.remove_children(v4), 1);
}

#[test]
fn mapped_arguments_mean_ipv4_in_every_method() {
    let mapped = p("::ffff:10.0.0.0/104");
    let mut table = Table::from([(mapped, 1)]);
    assert!(table.keys().eq([p("10.0.0.0/8")]));
    assert!(table.contains(mapped) && table.overlaps_prefix(mapped));
    assert_eq!(table.cover(mapped).count() + table.children(mapped).count(), 2);
    *table.get_mut(mapped).unwrap() += 1;
    *table.entry(mapped).or_insert(0) += 1;
    *table.get_lpm_mut(ip("::ffff:10.0.0.1")).unwrap().1 += 1;
    *table.get_mut_distinct(mapped).unwrap() += 1;
    assert_eq!(table.get(p("10.0.0.0/8")), Some(&5));
    assert_eq!(table.remove_children(mapped), 1);

    let mut kept = Table::new().keep_mapped();
    kept.extend([(mapped, 6)]);
    assert_eq!(kept.lookup(ip("::ffff:10.0.0.1")), Some(&6));
    assert_eq!(kept.lookup([10, 0, 0, 1]), None);
    assert!(kept.entry(mapped).insert(7).is_ok_and(|entry| entry.key() == mapped));
    kept.clear();
    assert_eq!(kept.lookup(ip("::ffff:10.0.0.1")), None);
    kept.extend([(mapped, 6)]);
    assert!(kept.keys().eq([mapped]), "clear keeps the option");
}

#[test]
fn collections_make_tables_and_tables_make_collections() {
    let routes = [(p("10.0.0.0/8"), "a"), (p("::/0"), "b"), (p("10.0.0.0/8"), "c")];
    let table = Table::from(routes);
    assert_eq!(table, routes.into_iter().collect());
    assert_eq!(table.get(p("10.0.0.0/8")), Some(&"c"), "the last one wins");
    let mut other = Table::default();
    other.extend(routes);
    assert_eq!(other, table);
    let mut borrowed = Table::new();
    borrowed.extend(&table);
    assert_eq!(borrowed, table);
    let of_family: Table<u8> = [("10.0.0.0/8".parse::<Prefix<Ipv4>>().unwrap(), 1)].into();
    assert_eq!(of_family.len(), 1);

    let mut seen = Vec::new();
    for (prefix, value) in &table {
        seen.push((prefix, *value));
    }
    assert_eq!(seen, [(p("10.0.0.0/8"), "c"), (p("::/0"), "b")]);
    assert_eq!(table.into_iter().collect::<Vec<_>>(), seen);
}

#[test]
#[should_panic(expected = "its limit is 1 routes")]
fn extending_past_a_limit_panics() {
    let mut table = Table::with_limits(1, 9);
    table.extend([(p("10.0.0.0/8"), 1), (p("11.0.0.0/8"), 1)]);
}

#[test]
fn equality_is_that_of_routes() {
    let table = sample();
    let mut other = Table::with_limits(100, 100).keep_mapped();
    other.extend(table.iter().rev().map(|(prefix, value)| (prefix, *value)));
    assert_eq!(table, other, "order, limits and options do not count");
    let state = hashbrown::DefaultHashBuilder::default();
    assert_eq!(state.hash_one(&table), state.hash_one(&other));
    assert_eq!(table.clone(), table);
    other.insert(p("::/0"), "other").unwrap();
    assert_ne!(table, other);
    other.remove(p("::/0"));
    assert_ne!(table, other);
    assert_eq!(Table::from([(p("::/0"), 1)]), Table::from([(p("::/0"), 1)]));
    assert_ne!(Table::from([(p("::/0"), 1)]), Table::from([(p("::/1"), 1)]));
    let text = format!("{:?}", Table::from([(p("10.0.0.0/8"), 1)]));
    assert_eq!(text, "{10.0.0.0/8: 1}");
}

/// The order of [`IpPrefix`] is the order of iteration.
#[test]
fn iterators_run_from_both_ends() {
    fn check<I>(iter: I, expected: Vec<I::Item>)
    where
        I: DoubleEndedIterator<Item: PartialEq + core::fmt::Debug + Clone> + FusedIterator + Clone,
    {
        assert!(iter.clone().eq(expected.iter().cloned()));
        assert!(iter.clone().rev().eq(expected.iter().rev().cloned()));
        for front in 0..=expected.len() {
            let mut rest = iter.clone();
            assert_eq!(rest.by_ref().take(front).count(), front);
            let (least, most) = rest.size_hint();
            let left = expected.len() - front;
            assert!(least <= left && most.is_none_or(|most| most >= left));
            assert!(rest.clone().rev().eq(expected[front..].iter().rev().cloned()));
            rest.by_ref().rev().for_each(drop);
            assert!(rest.next().is_none() && rest.next_back().is_none());
        }
    }
    let table = sample();
    let mut routes: Vec<_> = table.iter().collect();
    check(table.iter(), routes.clone());
    check(table.keys(), routes.iter().map(|(prefix, _)| *prefix).collect());
    check(table.values(), routes.iter().map(|(_, value)| *value).collect());
    check(table.children(p("0.0.0.0/0")), routes[..3].to_vec());
    check(table.children(p("::/0")), routes[3..].to_vec());
    check(table.children(p("11.0.0.0/8")), vec![]);
    check(table.clone().into_iter(), routes.iter().map(|(p, v)| (*p, **v)).collect());
    assert_eq!((table.first(), table.last()), (Some(routes[0]), Some(routes[5])));
    assert_eq!(Table::<u8>::new().first(), None);
    let sorted = routes.clone();
    routes.sort();
    assert_eq!(routes, sorted);
}

#[test]
fn whole_tables_know_how_many_routes_are_left() {
    let table = sample();
    let mut iter = table.iter();
    let mut owned = table.clone().into_iter();
    for left in (0..6).rev() {
        assert!(if left % 2 == 0 { iter.next() } else { iter.next_back() }.is_some());
        assert!(if left % 2 == 0 { owned.next() } else { owned.next_back() }.is_some());
        assert_eq!((iter.len(), owned.len()), (left, left));
    }
    assert_eq!((table.keys().len(), table.values().len()), (6, 6));
    assert_eq!(
        format!("{:?}", Table::from([(p("10.9.0.0/16"), "lab")]).iter()),
        "[(10.9.0.0/16, \"lab\")]"
    );
    assert_eq!(format!("{:?}", table.clone().into_iter()), "IntoIter { left: 6 }");
}

/// An owned value moves out with the last of its routes, and is cloned for the others.
#[test]
fn owned_iteration_clones_shared_values_only() {
    struct Counted<'c>(u8, &'c core::cell::Cell<usize>);

    impl Clone for Counted<'_> {
        fn clone(&self) -> Self {
            self.1.set(self.1.get() + 1);
            Self(self.0, self.1)
        }
    }

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }

    impl Eq for Counted<'_> {}

    impl Hash for Counted<'_> {
        fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    let clones = core::cell::Cell::new(0);
    let prefixes = ["10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8", "::/0"].map(p);
    let values = [1, 2, 1, 1].map(|number| Counted(number, &clones));
    let table: Table<_> = prefixes.into_iter().zip(values).collect();
    assert_eq!(clones.get(), 0);
    let values: Vec<u8> = table.into_iter().map(|(_, value)| value.0).collect();
    assert_eq!((values, clones.get()), (vec![1, 2, 1, 1], 2));
}

#[test]
fn retained_and_cleared_tables() {
    let mut table = sample();
    let mut seen = Vec::new();
    table.retain(|prefix, value| {
        seen.push(prefix);
        *value == "office" || prefix.len() == 0
    });
    assert!(sample().keys().eq(seen));
    let left: Vec<String> = table.keys().map(|prefix| prefix.to_string()).collect();
    assert_eq!(left, ["0.0.0.0/0", "10.0.0.0/8", "::/0", "2001:db8::/32"]);
    assert_eq!(table.next_hops().len(), 3, "values of removed routes are dropped");

    assert_eq!(table.remove_children(p("10.0.0.0/7")), 1);
    assert_eq!(table.remove_children(p("10.0.0.0/7")), 0);
    assert_eq!(table.remove_children(p("::/0")), 2);
    assert_eq!((table.len(), table.next_hops().len()), (1, 1));

    let mut limited = Table::with_limits(1, 1);
    limited.extend([(p("::/0"), 1)]);
    limited.clear();
    assert!(limited.is_empty() && limited.next_hops().is_empty());
    limited.reserve_values(10);
    limited.insert(p("::/0"), 2).unwrap();
    assert!(matches!(limited.insert(p("::/1"), 2), Err(InsertError::Routes(_))));
    assert!(matches!(limited.insert(p("::/0"), 3), Err(InsertError::NextHops(_))));
}

/// A panic of the function leaves the table as it was.
#[test]
fn a_panic_in_retain_removes_nothing() {
    let mut table = sample();
    let result = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
        table.retain(|prefix, _| prefix.len() < 16 || panic!("on purpose"));
    }));
    assert!(result.is_err());
    assert_eq!(table, sample());
}

/// Types that can be neither cloned nor compared nor hashed.
#[test]
fn values_of_any_type_are_returned() {
    struct Opaque(u8);
    let mut table = Table::new();
    for (prefix, number) in [("10.0.0.0/8", 1), ("11.0.0.0/8", 2), ("::/0", 3)] {
        assert!(table.insert_distinct(p(prefix), Opaque(number)).unwrap().is_none());
    }
    let taken = table.try_take(p("11.0.0.0/8")).map(|value| value.map_or(0, |value| value.0));
    assert_eq!(taken, Some(2));
    assert!(table.try_take(p("11.0.0.0/8")).is_none());
    let rest = table.into_by_value().into_iter().map(|(value, prefixes)| (value.0, prefixes));
    assert!(rest.eq([(1, vec![p("10.0.0.0/8")]), (3, vec![p("::/0")])]));
    let mut table = sample();
    let entry = table.entry(p("::/0")).insert("new").unwrap();
    assert_eq!(entry.take(), "new");
}

/// Routes that a refused `append` has not moved are still in the other table.
#[test]
fn appending_past_a_limit_loses_nothing() {
    let mut table = Table::with_limits(2, 9);
    table.extend([(p("10.0.0.0/8"), 1)]);
    let [a, b, c] = ["10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8"].map(p);
    let mut other = Table::from([(a, 7), (b, 8), (c, 9), (p("::/0"), 7)]);
    assert!(matches!(table.append(&mut other), Err(InsertError::Routes(_))));
    assert_eq!(table, Table::from([(a, 7), (b, 8)]));
    assert_eq!(other, Table::from([(c, 9), (p("::/0"), 7)]));
    assert!(table.remove(a).is_some());
    table.append(&mut other).unwrap();
    assert!(table.keys().eq([b, c, p("::/0")]) && other.is_empty());
}

#[test]
fn mapped_bounds_mean_ipv4() {
    let table = sample();
    let mapped = p("::ffff:10.0.0.0/104");
    assert!(table.iter_from(mapped).eq(table.iter_from(p("10.0.0.0/8"))));
    assert_eq!(table.iter_from(mapped).count(), 5);
    assert_eq!(table.range(p("::/0")..=mapped).count(), 0, "the end is before the start");
    assert_eq!(table.get_lpm_prefix(p("::ffff:10.8.0.0/111")), Some((p("10.0.0.0/8"), &"office")));
    assert_eq!(table.get_spm(p("::ffff:10.8.0.0/111")), Some((p("0.0.0.0/0"), &"world")));
    assert!(table.direct_children(p("::ffff:0.0.0.0/97")).map(|it| it.0).eq([p("10.0.0.0/8")]));
}
