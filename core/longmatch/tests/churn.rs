//! The memory of tables after many changes. The full forms are ignored by default; `cargo xtask prove`
//! runs them.

use longmatch::live::Writer;
use longmatch::{Change, EngineSpec, Ipv4, NextHopId, Prefix, Rib, Route};

/// Random changes to a large table: pages are reused, and nothing is lost.
fn churn(engine: &str, routes: u32, updates: u32) {
    let spec: EngineSpec = engine.parse().unwrap();
    let mut state = 1u64;
    let mut random = move |below: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below)) as u32
    };
    let prefix = |i: u32| {
        let length = [24, 24, 24, 22, 20, 16, 28, 32][(i % 8) as usize];
        Prefix::<Ipv4>::from_bits_masked(i.wrapping_mul(0x9e37_79b9), length)
    };
    let hop = |n: u32| NextHopId::new(1 + n).unwrap();
    let rib: Rib<Ipv4> =
        (0..routes).map(|i| Route { prefix: prefix(2 * i), next_hop: hop(random(200)) }).collect();
    let mut writer = Writer::new(rib, spec.clone()).unwrap();
    let mut recompiled = 0;
    for _ in 0..updates {
        let prefix = prefix(random(2 * routes));
        let change = match random(3) {
            0 => Change::Withdraw(prefix),
            _ => Change::Announce(Route { prefix, next_hop: hop(random(200)) }),
        };
        writer.apply(change).unwrap();
        recompiled += u32::from(writer.commit().unwrap().recompiled);
    }
    writer.check().unwrap();
    assert_eq!(writer.reclaim(), 0);
    let live = writer.memory_usage().bytes();
    let fresh = Writer::new(writer.rib().clone(), spec).unwrap();
    let fresh = fresh.memory_usage().bytes();
    println!(
        "{engine}, {updates} updates: {live} bytes, fresh {fresh}, {recompiled} times compiled again"
    );
    assert!(live * 10 <= fresh * 11 + (10 << 16), "{live} bytes, a fresh table has {fresh}");
}

#[test]
fn memory_stays_that_of_a_fresh_table() {
    churn("folio", 20_000, 60_000);
    churn("folio:s=16:lists=none:entries=0", 20_000, 60_000);
    churn("poptrie", 20_000, 60_000);
    churn("dir24_8", 20_000, 60_000);
    churn("tree_bitmap", 20_000, 60_000);
    churn("tree_bitmap:stride=4", 20_000, 60_000);
    churn("dxr", 20_000, 60_000);
    churn("dxr:d=15:x=5:wide", 20_000, 60_000);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_churn() {
    churn("folio", 500_000, 10_000_000);
    churn("poptrie", 500_000, 10_000_000);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_churn_of_dir24_8() {
    churn("dir24_8", 500_000, 10_000_000);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_churn_of_dxr() {
    // More such routes exceed the 19 bits of a chunk's base.
    churn("dxr", 100_000, 10_000_000);
    churn("dxr:d=15:x=5", 100_000, 10_000_000);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_churn_of_a_tree_bitmap() {
    churn("tree_bitmap", 500_000, 10_000_000);
}
