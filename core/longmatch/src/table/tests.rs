//! Tests of tables, of their families and limits, and of compiled ones.

mod changes;
mod columns;
mod map;
mod model;
mod sets;

use core::net::{Ipv4Addr, Ipv6Addr};

use super::*;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn p(text: &str) -> IpPrefix {
    text.parse().unwrap()
}

fn sample() -> Table<&'static str> {
    let mut table = Table::new();
    let routes = [
        ("0.0.0.0/0", "world"),
        ("10.0.0.0/8", "office"),
        ("10.9.0.0/16", "lab"),
        ("::/0", "world6"),
        ("2001:db8::/32", "office"),
        ("::1/128", "self"),
    ];
    for (prefix, value) in routes {
        table.insert(p(prefix), value).unwrap();
    }
    table
}

#[test]
fn families_do_not_collide() {
    let table = sample();
    assert_eq!(table.len(), 6);
    assert_eq!(table.next_hops().len(), 5, "equal values are shared");
    assert_eq!(table.get_lpm(ip("0.0.0.1")), Some((p("0.0.0.0/0"), &"world")));
    assert_eq!(table.get_lpm(ip("::1")), Some((p("::1/128"), &"self")));
    assert_eq!(table.get_lpm(ip("::2")), Some((p("::/0"), &"world6")));
    assert_eq!(table.get(p("10.0.0.0/8")), Some(&"office"));
    assert_eq!(table.get(p("10.0.0.0/9")), None);
}

#[test]
fn mapped_addresses_mean_ipv4_by_default() {
    let mut table = sample();
    assert_eq!(table.get_lpm(ip("::ffff:10.9.0.1")), Some((p("10.9.0.0/16"), &"lab")));
    table.insert(p("::ffff:10.0.0.0/108"), "mapped").unwrap();
    assert_eq!(table.get(p("10.0.0.0/12")), Some(&"mapped"));
    table.remove(p("0.0.0.0/0"));
    assert_eq!(table.get_lpm(ip("::ffff:192.0.2.1")), None, "::/0 does not match it");

    let mut kept = Table::new().keep_mapped();
    kept.insert(p("10.0.0.0/8"), 4).unwrap();
    kept.insert(p("::/0"), 6).unwrap();
    assert_eq!(kept.get_lpm(ip("::ffff:10.0.0.1")), Some((p("::/0"), &6)));
    let frozen = kept.freeze(crate::EngineKind::Poptrie).unwrap();
    assert_eq!(frozen.lookup(ip("::ffff:10.0.0.1")), Some(&6));
}

#[test]
fn strict_and_masking_insertion() {
    let mut table = Table::new();
    assert!(table.insert_strict(ip("10.0.0.1"), 8, 1).is_err());
    assert!(table.insert_strict(ip("10.0.0.0"), 33, 1).is_err());
    assert!(table.insert_masked(ip("::1"), 129, 1).is_err());
    assert!(table.is_empty() && table.next_hops().is_empty());
    table.insert_masked(ip("10.0.0.1"), 8, 1).unwrap();
    assert_eq!(table.get(p("10.0.0.0/8")), Some(&1));
}

/// The update cases "next hop replaced" and "withdrawal of an unknown prefix".
#[test]
fn old_values_are_returned_and_their_ids_reused() {
    let mut table = Table::new();
    table.insert(p("10.0.0.0/8"), 1.to_string()).unwrap();
    let old = table.insert(p("10.0.0.0/8"), 2.to_string()).unwrap().cloned();
    assert_eq!(old.as_deref(), Some("1"));
    assert_eq!(table.remove(p("11.0.0.0/8")), None);
    assert_eq!(table.remove(p("10.0.0.0/8")).map(String::as_str), Some("2"));
    table.insert_borrowed(p("10.0.0.0/8"), "3").unwrap();
    assert_eq!(table.next_hops().len(), 1);
}

/// "An error before any write; the table unchanged; n of n usable."
#[test]
fn full_tables_are_unchanged() {
    let mut table = Table::with_limits(2, 2);
    table.insert(p("10.0.0.0/8"), 1).unwrap();
    table.insert(p("11.0.0.0/8"), 2).unwrap();
    assert!(matches!(table.insert(p("10.0.0.0/8"), 3), Err(InsertError::NextHops(_))));
    assert!(matches!(table.insert(p("12.0.0.0/8"), 1), Err(InsertError::Routes(_))));
    assert_eq!(table.len(), 2);
    assert_eq!(table.get(p("10.0.0.0/8")), Some(&1));
    table.insert(p("2001:db8::/32"), 2).unwrap();
    assert_eq!(table.remove(p("11.0.0.0/8")), Some(&2));
    table.insert(p("12.0.0.0/8"), 2).unwrap();
}

#[test]
fn covers_children_and_overlaps() {
    fn text<'t>(routes: impl Iterator<Item = (IpPrefix, &'t &'static str)>) -> Vec<String> {
        routes.map(|(prefix, _)| prefix.to_string()).collect()
    }
    let table = sample();
    let host = IpPrefix::host(ip("10.9.1.1"));
    assert_eq!(text(table.cover(host)), ["0.0.0.0/0", "10.0.0.0/8", "10.9.0.0/16"]);
    assert_eq!(text(table.cover(ip("10.9.1.1"))), text(table.cover(host)));
    assert_eq!(text(table.cover(p("2001:db8::/48"))), ["::/0", "2001:db8::/32"]);
    assert_eq!(text(table.children(p("10.0.0.0/7"))), ["10.0.0.0/8", "10.9.0.0/16"]);
    assert_eq!(text(table.children(p("10.0.0.0/7")).rev()), ["10.9.0.0/16", "10.0.0.0/8"]);
    assert!(table.overlaps_prefix(p("2001:d00::/24")) && table.overlaps_prefix(host));
    let mut small = Table::new();
    small.insert(p("10.0.0.0/8"), ()).unwrap();
    assert!(!small.overlaps_prefix(p("11.0.0.0/8")));
    assert!(!small.overlaps_prefix(p("::/0")));
}

#[test]
fn values_of_any_type() {
    let mut table = Table::new();
    table.insert_distinct(p("10.0.0.0/8"), 0.5).unwrap();
    table.insert_distinct(p("11.0.0.0/8"), f64::NAN).unwrap();
    assert_eq!(table.get_lpm(ip("10.1.1.1")).unwrap().1, &0.5);
}
