//! Tests of guards and entries: a change affects one route, and equal values share one id.

use alloc::string::{String, ToString};
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use super::*;

/// Two routes of the value `a` and one of `b`.
fn shared() -> Table<String> {
    let routes = [("10.0.0.0/8", "a"), ("11.0.0.0/8", "a"), ("::/0", "b")];
    routes.into_iter().map(|(prefix, value)| (p(prefix), value.to_string())).collect()
}

fn texts(table: &Table<String>) -> Vec<&str> {
    table.values().map(String::as_str).collect()
}

fn id<T>(table: &Table<T>, prefix: &str) -> NextHopId {
    table.id(p(prefix)).unwrap()
}

/// Every id has as many references as routes, and equal shared values have one id.
pub(super) fn assert_counts<T: Eq + core::hash::Hash + core::fmt::Debug>(table: &Table<T>) {
    let mut references = alloc::collections::BTreeMap::new();
    let v4 = table.ipv4.iter().map(|route| route.next_hop);
    for id in v4.chain(table.ipv6.iter().map(|route| route.next_hop)) {
        *references.entry(id).or_insert(0) += 1;
    }
    for (id, value) in table.values.iter() {
        let expected = references.get(&id).copied().unwrap_or(0);
        assert_eq!(table.values.references(id), expected, "{id:?} {value:?}");
        if table.values.is_shared(id) {
            assert_eq!(table.values.find(value), Some(id));
        } else {
            assert!(expected <= 1, "a distinct value has one route");
        }
    }
    assert!(references.keys().all(|id| table.values.get(*id).is_some()));
}

#[test]
fn a_change_affects_one_route() {
    let mut table = shared();
    table.get_mut(p("10.0.0.0/8")).unwrap().push('x');
    assert_eq!(texts(&table), ["ax", "a", "b"]);
    table.get_lpm_mut([11, 0, 0, 1]).unwrap().1.push('y');
    assert_eq!(texts(&table), ["ax", "ay", "b"]);
    assert!(table.get_mut(p("10.0.0.0/9")).is_none());
    assert!(table.get_lpm_mut([12, 0, 0, 1]).is_none());
    table.for_each_mut(|prefix, value| value.push_str(&prefix.len().to_string()));
    assert_eq!(texts(&table), ["ax8", "ay8", "b0"]);
    assert_counts(&table);
}

#[test]
fn changed_values_are_shared_again() {
    let mut table = shared();
    *table.get_mut(p("10.0.0.0/8")).unwrap() = "b".into();
    assert_eq!(id(&table, "10.0.0.0/8"), id(&table, "::/0"));
    *table.get_mut(p("11.0.0.0/8")).unwrap() = "b".into();
    assert_counts(&table);
    table.remove(p("1.0.0.0/8"));
    assert_eq!(table.next_hops().len(), 1, "the value without routes is dropped");
    *table.get_mut(p("11.0.0.0/8")).unwrap() = "c".into();
    table.insert(p("12.0.0.0/8"), "c".into()).unwrap();
    assert_eq!(id(&table, "11.0.0.0/8"), id(&table, "12.0.0.0/8"), "a changed value is found");
    assert_counts(&table);
}

#[test]
fn guards_that_are_only_read_change_nothing() {
    let mut table = shared();
    let before = id(&table, "10.0.0.0/8");
    assert_eq!(table.get_mut(p("10.0.0.0/8")).unwrap().len(), 1);
    assert_eq!(id(&table, "10.0.0.0/8"), before);
    assert_eq!(id(&table, "11.0.0.0/8"), before);
    assert_eq!(alloc::format!("{:?}", table.get_mut(p("::/0")).unwrap()), "\"b\"");
    // A change back to the old value gives back the old id.
    let mut guard = table.get_mut(p("10.0.0.0/8")).unwrap();
    guard.push('x');
    guard.pop();
    drop(guard);
    assert_eq!(id(&table, "10.0.0.0/8"), before);
    assert_counts(&table);
}

#[test]
fn leaked_guards_leave_the_table_consistent() {
    let mut table = shared();
    let mut guard = table.get_mut(p("10.0.0.0/8")).unwrap();
    guard.push('x');
    core::mem::forget(guard);
    let mut guard = table.get_mut(p("::/0")).unwrap();
    *guard = "a".into();
    core::mem::forget(guard);
    assert_eq!(texts(&table), ["ax", "a", "a"]);
    assert_ne!(id(&table, "11.0.0.0/8"), id(&table, "::/0"), "leaked values are distinct");
    assert_counts(&table);
    table.insert(p("12.0.0.0/8"), "ax".into()).unwrap();
    table.get_mut(p("10.0.0.0/8")).unwrap().pop();
    assert_eq!(texts(&table), ["a", "a", "ax", "a"]);
    assert_counts(&table);
    table.clear();
    assert!(table.next_hops().is_empty());
}

#[test]
fn distinct_values_stay_distinct() {
    let mut loads = Table::new();
    loads.insert_distinct(p("10.0.0.0/8"), 0.5).unwrap();
    loads.insert_distinct(p("11.0.0.0/8"), 0.5).unwrap();
    *loads.get_mut_distinct(p("10.0.0.0/8")).unwrap() += 1.0;
    assert!(loads.get_mut_distinct(p("12.0.0.0/8")).is_none());
    assert!(loads.values().eq(&[1.5, 0.5]));

    let mut table = shared();
    table.insert_distinct(p("12.0.0.0/8"), "a".into()).unwrap();
    let before = id(&table, "12.0.0.0/8");
    table.get_mut(p("12.0.0.0/8")).unwrap().push('x');
    table.get_mut(p("12.0.0.0/8")).unwrap().pop();
    assert_eq!(id(&table, "12.0.0.0/8"), before);
    assert_ne!(id(&table, "11.0.0.0/8"), before);
    *table.get_mut_distinct(p("11.0.0.0/8")).unwrap() = "b".into();
    assert_ne!(id(&table, "11.0.0.0/8"), id(&table, "::/0"));
    assert_counts(&table);
}

/// A copy that would exceed the limit of values is refused before any change.
#[test]
fn changes_at_the_limit_of_values() {
    let mut table = Table::with_limits(9, 2);
    table.extend([(p("10.0.0.0/8"), 1), (p("11.0.0.0/8"), 1), (p("::/0"), 2)]);
    let before = table.clone();
    let refused = catch_unwind(AssertUnwindSafe(|| *table.get_mut(p("10.0.0.0/8")).unwrap() = 2));
    assert!(refused.is_err());
    let refused =
        catch_unwind(AssertUnwindSafe(|| drop(table.entry(p("12.0.0.0/8")).or_insert(3))));
    assert!(refused.is_err());
    let Entry::Vacant(vacant) = table.entry(p("12.0.0.0/8")) else { panic!("no such route") };
    assert!(matches!(vacant.insert(3), Err(InsertError::NextHops(_))));
    assert_eq!(table, before);
    assert_counts(&table);
    *table.get_mut(p("::/0")).unwrap() = 3;
    assert_eq!(table.get(p("::/0")), Some(&3), "a value of one route needs no copy");
}

#[test]
fn entries_of_either_kind() {
    let mut table = shared();
    let new = p("12.0.0.0/8");
    assert_eq!(table.entry(new).key(), new);
    assert_eq!(*table.entry(new).or_insert("a".into()), "a");
    assert_eq!(id(&table, "12.0.0.0/8"), id(&table, "11.0.0.0/8"));
    table.entry(new).or_insert_with(|| unreachable!("the entry is occupied")).push('x');
    table.entry(new).and_modify(|value| value.push('y')).or_default();
    assert_eq!(table.get(new).unwrap(), "axy");
    table.entry(p("13.0.0.0/8")).and_modify(|_| unreachable!("the entry is vacant")).or_default();
    table.entry(p("14.0.0.0/8")).or_insert_with_key(|prefix| prefix.to_string());
    assert_eq!(texts(&table), ["a", "a", "axy", "", "14.0.0.0/8", "b"]);

    let Entry::Occupied(mut entry) = table.entry(new) else { panic!("the route exists") };
    assert_eq!(entry.insert("a".into()).unwrap(), "axy");
    assert_eq!((entry.key(), entry.get().as_str()), (new, "a"));
    assert_eq!(entry.insert("z".into()).unwrap(), "a");
    assert_eq!(entry.remove(), "z");
    assert!(!table.contains(new));
    assert_eq!(table.entry(new).insert("b".into()).unwrap().get(), "b");
    assert_eq!(table.entry(new).insert("c".into()).unwrap().get(), "c");
    assert_counts(&table);
}

#[test]
fn entries_of_values_that_cannot_be_hashed() {
    let mut loads = Table::new();
    loads.insert_distinct(p("::/0"), 0.5).unwrap();
    let Entry::Occupied(entry) = loads.entry(p("::/0")) else { panic!("the route exists") };
    assert_eq!(alloc::format!("{entry:?}"), "OccupiedEntry { key: ::/0, value: 0.5 }");
    assert_eq!(entry.remove(), &0.5);
    assert_eq!(alloc::format!("{:?}", loads.entry(p("::/0"))), "Entry(VacantEntry(::/0))");
}
