//! Tests of the batcher: no change is lost, refused batches are kept, threads end.

use super::*;
use crate::engine::{EngineKind, EngineSpec};
use crate::net::Ipv4;
use std::string::{String, ToString};

const HOUR: Duration = Duration::from_secs(3600);

fn hop(id: u32) -> NextHopId {
    NextHopId::new(id).unwrap()
}

fn announce(prefix: &str, id: u32) -> Change<Ipv4> {
    let prefix = prefix.parse().unwrap();
    Change::Announce(Route { prefix, next_hop: hop(id) })
}

fn batcher(engine: &str, interval: Duration) -> (Batcher<Ipv4>, crate::live::Reader<Ipv4>) {
    let spec: EngineSpec = engine.parse().unwrap();
    let mut writer = Writer::<Ipv4>::new(Rib::new(), spec).unwrap();
    writer.set_retired_limit(1 << 12);
    let reader = writer.reader();
    (Batcher::new(writer, interval).unwrap(), reader)
}

/// A thread with a stack larger than any address space is one that the system does not start.
#[test]
fn a_thread_that_is_not_started_leaves_the_writer() {
    let mut writer = Writer::<Ipv4>::new(Rib::new(), EngineKind::Folio).unwrap();
    writer.apply(announce("10.0.0.0/8", 1)).unwrap();
    writer.commit().unwrap();
    let mut reader = writer.reader();
    let thread = thread::Builder::new().stack_size(usize::MAX - (1 << 24));
    let error = Batcher::start(thread, writer, HOUR).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("the thread that commits was not started: "), "{message}");
    let mut writer = error.into_writer();
    writer.apply(announce("10.0.0.0/8", 2)).unwrap();
    writer.commit().unwrap();
    assert_eq!(reader.pin().lookup("10.0.0.1".parse().unwrap()), Some(hop(2)));
}

/// Two threads queue changes while batches are built.
///
/// The last change of a prefix wins.
#[test]
fn nothing_is_lost_during_a_rebuild() {
    let (batcher, mut reader) = batcher("spider", Duration::ZERO);
    const EACH: u32 = 20_000;
    let prefix = |i: u32| Prefix::<Ipv4>::from_bits_masked((i % 5000) << 12, 24);
    thread::scope(|scope| {
        for half in 0..2 {
            let batcher = &batcher;
            scope.spawn(move || {
                for i in (half..EACH).step_by(2) {
                    let change = match i % 7 {
                        0 if i < EACH - 5000 => Change::Withdraw(prefix(i)),
                        _ => Change::Announce(Route { prefix: prefix(i), next_hop: hop(i + 1) }),
                    };
                    batcher.apply(change).unwrap();
                    if i % 4096 == half {
                        batcher.flush().unwrap();
                    }
                }
            });
        }
    });
    batcher.flush().unwrap();
    let last = |i: u32| Some(hop(EACH - 5000 + i + 1));
    let guard = reader.pin();
    assert!((0..5000).all(|i| guard.lookup(prefix(i).addr()) == last(i)));
    drop(guard);
    let mut writer = batcher.end();
    assert_eq!(writer.rib().len(), 5000);
    assert_eq!(writer.reclaim(), 0);
    writer.check().unwrap();
}

#[test]
fn batches_begin_after_the_interval_or_on_flush() {
    for engine in ["spider", "folio"] {
        let (batcher, mut reader) = batcher(engine, HOUR);
        let addr = "10.0.0.1".parse().unwrap();
        batcher.flush().unwrap();
        batcher.apply(announce("10.0.0.0/8", 1)).unwrap();
        batcher.flush().unwrap();
        assert_eq!(reader.pin().lookup(addr), Some(hop(1)));
        batcher.apply(announce("10.0.0.0/8", 2)).unwrap();
        batcher.apply(announce("10.0.0.0/8", 3)).unwrap();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(reader.pin().lookup(addr), Some(hop(1)), "the interval has not passed");
        batcher.flush().unwrap();
        assert_eq!(reader.pin().lookup(addr), Some(hop(3)));
        // The end does not wait for the interval either, and loses nothing.
        batcher.apply(announce("10.0.0.0/8", 4)).unwrap();
        let mut writer = batcher.end();
        assert_eq!(reader.pin().lookup(addr), Some(hop(4)));
        assert_eq!(writer.reclaim(), 0);
    }
    let (batcher, mut reader) = batcher("spider", HOUR);
    batcher.apply(announce("10.0.0.0/8", 1)).unwrap();
    drop(batcher);
    assert_eq!(reader.pin().lookup("10.0.0.1".parse().unwrap()), Some(hop(1)));
}

/// A refused batch is kept until the reason for the refusal ends.
#[test]
fn refused_batches_are_kept() {
    let (batcher, mut reader) = batcher("folio:codes=16", Duration::ZERO);
    let addr = "10.0.0.1".parse().unwrap();
    batcher.apply(announce("10.0.0.0/8", 1)).unwrap();
    batcher.flush().unwrap();
    batcher.apply(announce("11.0.0.0/24", 1 << 16)).unwrap();
    assert!(matches!(batcher.flush(), Err(UpdateError::Limit(_))));
    batcher.apply(announce("10.0.0.0/8", 2)).unwrap();
    assert!(matches!(batcher.flush(), Err(UpdateError::Limit(_))));
    assert_eq!(reader.pin().lookup(addr), Some(hop(1)));
    batcher.apply(Change::Withdraw("11.0.0.0/24".parse().unwrap())).unwrap();
    batcher.flush().unwrap();
    assert_eq!(reader.pin().lookup(addr), Some(hop(2)));
    // A stalled reader, and changes that copy a page.
    batcher.apply(announce("10.0.15.0/26", 3)).unwrap();
    let guard = reader.pin();
    let mut refused = String::new();
    for i in 3..2000 {
        batcher.apply(announce("10.0.0.0/20", i)).unwrap();
        if let Err(error) = batcher.flush() {
            refused = error.to_string();
            break;
        }
    }
    assert!(refused.contains("readers keep"), "{refused}");
    drop(guard);
    batcher.flush().unwrap();
    let mut writer = batcher.end();
    let last = writer.rib().get("10.0.0.0/20".parse().unwrap());
    assert_eq!(reader.pin().lookup(addr), last);
    assert_eq!(writer.reclaim(), 0);
    writer.check().unwrap();
}

#[test]
fn changes_of_a_new_table_are_not_lost() {
    let (batcher, mut reader) = batcher("folio:codes=16", HOUR);
    batcher.apply(announce("10.0.0.0/8", 1)).unwrap();
    batcher.flush().unwrap();
    // A change to the old table, replaced with it.
    batcher.apply(announce("10.1.0.0/16", 2)).unwrap();
    let route = |prefix: &str, id| Route { prefix: prefix.parse().unwrap(), next_hop: hop(id) };
    batcher.replace([route("11.0.0.0/8", 3), route("12.0.0.0/8", 4)].into_iter().collect());
    batcher.apply(announce("11.1.0.0/16", 1 << 16)).unwrap();
    batcher.apply(Change::Withdraw("12.0.0.0/8".parse().unwrap())).unwrap();
    assert!(matches!(batcher.flush(), Err(UpdateError::Limit(_))));
    let answers = |reader: &mut crate::live::Reader<Ipv4>| {
        let guard = reader.pin();
        ["10.1.0.0", "11.0.0.0", "11.1.0.0", "12.0.0.0"]
            .map(|addr| NextHopId::to_raw(guard.lookup(addr.parse().unwrap())))
    };
    assert_eq!(answers(&mut reader), [1, 0, 0, 0]);
    batcher.apply(announce("11.1.0.0/16", 5)).unwrap();
    batcher.flush().unwrap();
    assert_eq!(answers(&mut reader), [0, 3, 5, 0]);
    let writer = batcher.end();
    assert_eq!(writer.rib().len(), 2);
    writer.check().unwrap();
}

/// Changes queued while a batch was refused apply after it.
#[test]
fn refused_batches_come_first() {
    let [a, b] = ["10.0.0.0/8", "11.0.0.0/8"].map(|p| p.parse::<Prefix<Ipv4>>().unwrap());
    let batch = |changes: &[(Prefix<Ipv4>, u32)], table: Option<Rib<Ipv4>>| Batch {
        table: table.map(Box::new),
        changes: changes.iter().map(|(p, id)| (*p, NextHopId::new(*id))).collect(),
    };
    let refused = || batch(&[(a, 1), (b, 2)], Some(Rib::new()));
    let mut since = batch(&[(a, 0)], None);
    since.merge_after(refused());
    assert_eq!(since.changes, batch(&[(a, 0), (b, 2)], None).changes);
    assert!(since.table.is_some());
    // A new table replaces the old one and all its changes.
    let mut since = batch(&[(a, 3)], Some(Rib::new()));
    since.merge_after(refused());
    assert_eq!(since.changes, batch(&[(a, 3)], None).changes);
}
