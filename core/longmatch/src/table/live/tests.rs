use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::hash::Hash;
use core::net::IpAddr;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::*;
use crate::engine::EngineKind;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn p(text: &str) -> IpPrefix {
    text.parse().unwrap()
}

/// A value that counts its live instances.
#[derive(Debug)]
struct Counted {
    name: String,
    alive: Arc<AtomicUsize>,
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.name.clear();
        self.alive.fetch_sub(1, Relaxed);
    }
}

/// Makes values for the writer of an empty table.
struct Counter {
    alive: Arc<AtomicUsize>,
}

/// The meanings of ids: each test runs with both.
const BOTH: [Answers; 2] = [Answers::Values, Answers::Routes];

/// Folio for both families.
fn folio(answers: Answers) -> TableSpec {
    TableSpec::new(EngineKind::Folio).answers(answers)
}

impl Counter {
    fn new(answers: Answers) -> (Self, TableWriter<Counted>) {
        let writer = Table::new().live(folio(answers)).unwrap();
        (Self { alive: Arc::default() }, writer)
    }

    fn value(&self, name: &str) -> Counted {
        self.alive.fetch_add(1, Relaxed);
        Counted { name: name.to_string(), alive: self.alive.clone() }
    }

    fn alive(&self) -> usize {
        self.alive.load(Relaxed)
    }
}

#[test]
fn values_of_both_families() {
    for (engine, answers) in
        ["folio", "poptrie", "spider"].map(|engine| BOTH.map(|it| (engine, it))).concat()
    {
        let mut table = Table::new();
        table.insert(p("10.0.0.0/8"), "office").unwrap();
        table.insert(p("2001:db8::/32"), "office").unwrap();
        table.insert(p("192.0.2.0/24"), "gone").unwrap();
        table.remove(p("192.0.2.0/24"));
        let spec: EngineSpec = engine.parse().unwrap();
        let mut writer = table.live(TableSpec::new(spec).answers(answers)).unwrap();
        let mut reader = writer.reader();
        assert_eq!(writer.insert(p("10.9.0.0/16"), "lab"), Ok(None));
        assert_eq!(writer.insert(p("2001:db8:9::/48"), "lab"), Ok(None));
        assert_eq!(writer.insert(p("::ffff:10.0.0.0/104"), "floor"), Ok(Some(&"office")));
        assert_eq!(writer.get(p("10.0.0.0/8")), Some(&"floor"));
        assert_eq!(reader.pin().lookup(ip("10.9.1.1")), Some(&"office"));
        writer.commit().unwrap();
        let guard = reader.pin();
        for (addr, value) in [
            ("10.9.1.1", Some("lab")),
            ("::ffff:10.9.1.1", Some("lab")),
            ("10.1.1.1", Some("floor")),
            ("192.0.2.1", None),
            ("2001:db8::1", Some("office")),
            ("2001:db8:9::1", Some("lab")),
            ("2001:db9::", None),
        ] {
            assert_eq!(guard.lookup(ip(addr)).copied(), value, "{engine}: {addr}");
        }
        let mut out = [None; 2];
        guard.lookup_ids(&["10.9.0.1", "10.0.0.1"].map(ip), &mut out);
        assert_eq!(out.map(|id| *guard.value(id.unwrap()).unwrap()), ["lab", "floor"]);
        guard.lookup_ids(&[0x2001_0db8_u128 << 96, 0], &mut out);
        assert_eq!(
            out.map(|id| id.and_then(|id| guard.value(id).copied())),
            [Some("office"), None]
        );
        drop(guard);
        // After a roll-back nothing has changed.
        assert_eq!(writer.remove(p("10.9.0.0/16")), Some(&"lab"));
        assert_eq!(writer.remove(p("10.9.0.0/16")), None);
        writer.insert(p("10.9.0.0/16"), "attic").unwrap();
        writer.roll_back();
        writer.commit().unwrap();
        assert_eq!(reader.pin().lookup(ip("10.9.1.1")), Some(&"lab"));
        assert_eq!(writer.reclaim(), 0);
        writer.check().unwrap();
        assert_eq!(writer.ids.values().len(), 3, "{engine}");
    }
}

#[test]
fn keep_mapped_applies_to_live_tables() {
    let mut table = Table::new().keep_mapped();
    table.insert(p("::/0"), 6).unwrap();
    table.insert(p("0.0.0.0/0"), 4).unwrap();
    let writer = table.live(EngineKind::Folio).unwrap();
    assert_eq!(writer.reader().pin().lookup(ip("::ffff:10.0.0.1")), Some(&6));
    assert_eq!(writer.reader().pin().lookup(ip("10.0.0.1")), Some(&4));
}

/// A value lives, and keeps its id, as long as a reader may use it.
#[test]
fn ids_are_reused_after_a_grace_period() {
    BOTH.into_iter().for_each(ids_are_reused);
}

fn ids_are_reused(answers: Answers) {
    let (counter, mut writer) = Counter::new(answers);
    writer.insert(p("10.0.0.0/8"), counter.value("a")).unwrap();
    writer.commit().unwrap();
    let mut reader = writer.reader();
    let guard = reader.pin();
    let id = guard.ipv4().lookup("10.1.1.1".parse().unwrap()).unwrap();
    for (i, name) in ["b", "c", "d"].into_iter().enumerate() {
        writer.insert(p("10.0.0.0/8"), counter.value(name)).unwrap();
        writer.commit().unwrap();
        writer.insert(p("11.0.0.0/8"), counter.value(name)).unwrap();
        writer.commit().unwrap();
        assert_eq!(guard.value(id).unwrap().name, "a");
        assert!(writer.reclaim() > 0);
        assert_eq!(counter.alive(), i + 2, "equal values are one, and none is dropped");
    }
    let mut other = writer.reader();
    assert_eq!(other.pin().lookup(ip("10.1.1.1")).unwrap().name, "d");
    // An id from before has its value until it is reused.
    assert_eq!(other.pin().value(id).unwrap().name, "a");
    drop(guard);
    assert_eq!(writer.reclaim(), 0);
    assert_eq!(counter.alive(), 1);
    assert_eq!(other.pin().value(id), None);
    writer.insert(p("12.0.0.0/8"), counter.value("e")).unwrap();
    writer.commit().unwrap();
    // One for each value, or for each announcement.
    let ids = if answers == Answers::Values { 4 } else { 7 };
    assert_eq!(writer.ipv4().max_next_hop(), ids, "no further id was needed");
    drop((writer, other));
    assert_eq!(reader.pin().lookup(ip("10.1.1.1")).unwrap().name, "d");
    drop(reader);
    assert_eq!(counter.alive(), 0);
}

/// An id lost, gained and lost again waits for the readers of the last loss.
#[test]
fn a_revived_id_waits_for_its_last_readers() {
    let (counter, mut writer) = Counter::new(Answers::Values);
    let mut readers = [writer.reader(), writer.reader()];
    let [first, second] = &mut readers;
    let set = |writer: &mut TableWriter<Counted>, name: &str| {
        writer.insert(p("10.0.0.0/8"), counter.value(name)).unwrap();
        writer.commit().unwrap();
    };
    set(&mut writer, "a");
    let early = first.pin();
    set(&mut writer, "b");
    set(&mut writer, "a");
    let late = second.pin();
    set(&mut writer, "b");
    drop(early);
    writer.reclaim();
    // `late` went online when 10/8 had "a" for the second time.
    let id = NextHopId::new(1).unwrap();
    assert_eq!(late.value(id).unwrap().name, "a");
    set(&mut writer, "c");
    assert_eq!(late.value(id).unwrap().name, "a");
    drop(late);
    assert_eq!(writer.reclaim(), 0);
    assert_eq!(counter.alive(), 1);
}

/// A reader with an id from another source always finds a live value.
#[test]
fn a_value_in_use_outlives_its_place_and_the_writer() {
    BOTH.into_iter().for_each(a_value_outlives);
}

fn a_value_outlives(answers: Answers) {
    let (counter, mut writer) = Counter::new(answers);
    let mut readers = [writer.reader(), writer.reader()];
    let [first, second] = &mut readers;
    writer.insert(p("10.0.0.0/8"), counter.value("a")).unwrap();
    writer.commit().unwrap();
    let before = first.pin();
    writer.remove(p("10.0.0.0/8"));
    writer.commit().unwrap();
    // No longer through the table, which has no route.
    let after = second.pin();
    assert_eq!(after.lookup(ip("10.0.0.1")), None);
    let value = after.value(NextHopId::new(1).unwrap()).unwrap();
    drop(before);
    assert!(writer.reclaim() > 0);
    // The place is empty, but the value lives.
    assert_eq!(after.value(NextHopId::new(1).unwrap()), None);
    assert_eq!((value.name.as_str(), counter.alive()), ("a", 1));
    drop(writer);
    assert_eq!((value.name.as_str(), counter.alive()), ("a", 1));
    drop(after);
    drop(readers);
    assert_eq!(counter.alive(), 0);
}

/// A refused commit is undone, its values included.
#[test]
fn refused_commits_are_undone() {
    BOTH.into_iter().for_each(commits_are_undone);
}

fn commits_are_undone(answers: Answers) {
    let (counter, mut writer) = Counter::new(answers);
    writer.insert(p("10.0.0.0/8"), counter.value("a")).unwrap();
    writer.insert(p("2001:db8::/32"), counter.value("a")).unwrap();
    writer.commit().unwrap();
    writer.set_retired_limit(100);
    let mut reader = writer.reader();
    let guard = reader.pin();
    let mut committed = 0;
    let refused = loop {
        let name = alloc::format!("{committed}");
        writer.insert(p("10.0.0.0/24"), counter.value(&name)).unwrap();
        match writer.commit() {
            Ok(()) => committed += 1,
            Err(refused) => break refused,
        }
        assert!(committed < 100);
    };
    let limit = UpdateError::Retired { bytes: 0, limit: 100 }.to_string();
    assert!(refused.to_string().contains(&limit[limit.len() - 30..]), "{refused}");
    let last = alloc::format!("{}", committed - 1);
    assert_eq!(writer.get(p("10.0.0.0/24")).unwrap().name, last);
    // The engine was patched under the guard, or replaced.
    let seen = &guard.lookup(ip("10.0.0.1")).unwrap().name;
    assert!(*seen == last || seen == "a", "{seen}");
    drop(guard);
    assert_eq!(writer.reclaim(), 0);
    assert_eq!(counter.alive(), 2);
    writer.check().unwrap();
    // Limits of the table: routes and values.
    let mut writer = Table::with_limits(1, 2).live(folio(answers)).unwrap();
    writer.insert(p("10.0.0.0/8"), 1).unwrap();
    assert!(matches!(writer.insert(p("11.0.0.0/8"), 2), Err(InsertError::Routes(_))));
    writer.insert(p("10.0.0.0/8"), 2).unwrap();
    assert!(matches!(writer.insert(p("10.0.0.0/8"), 3), Err(InsertError::NextHops(_))));
    writer.commit().unwrap();
    assert_eq!(writer.reader().pin().lookup(ip("10.0.0.1")), Some(&2));
    assert_eq!(writer.reclaim(), 0);
    writer.insert(p("10.0.0.0/8"), 3).unwrap();
}

#[test]
fn tables_are_replaced_with_their_values() {
    BOTH.into_iter().for_each(tables_are_replaced);
}

fn tables_are_replaced(answers: Answers) {
    let (counter, mut writer) = Counter::new(answers);
    for (prefix, name) in [("10.0.0.0/8", "a"), ("11.0.0.0/8", "b"), ("2001:db8::/32", "c")] {
        writer.insert(p(prefix), counter.value(name)).unwrap();
    }
    writer.commit().unwrap();
    writer.insert(p("12.0.0.0/8"), counter.value("never committed")).unwrap();
    let mut reader = writer.reader();
    let guard = reader.pin();
    let mut table = Table::new();
    for (prefix, name) in [("11.0.0.0/8", "c"), ("13.0.0.0/8", "d"), ("2001:db8::/32", "b")] {
        table.insert(p(prefix), counter.value(name)).unwrap();
    }
    table.insert_distinct(p("14.0.0.0/8"), counter.value("d")).unwrap();
    writer.replace(table).unwrap();
    writer.check().unwrap();
    assert_eq!(guard.lookup(ip("10.0.0.1")).unwrap().name, "a");
    drop(guard);
    let guard = reader.pin();
    for (addr, name) in
        [("11.0.0.1", "c"), ("13.0.0.1", "d"), ("14.0.0.1", "d"), ("2001:db8::", "b")]
    {
        assert_eq!(guard.lookup(ip(addr)).unwrap().name, name);
    }
    assert_eq!(guard.lookup(ip("10.0.0.1")), None);
    drop(guard);
    assert_eq!(writer.reclaim(), 0);
    assert_eq!(counter.alive(), 4);
    // At the limit of values: refused, and nothing changes.
    let mut writer = Table::with_limits(9, 2).live(folio(answers)).unwrap();
    writer.insert(p("10.0.0.0/8"), 1).unwrap();
    writer.commit().unwrap();
    let mut table = Table::new();
    for i in 0..3u8 {
        table.insert(IpPrefix::masked(IpAddr::from([i, 0, 0, 0]), 8).unwrap(), 7 + i).unwrap();
    }
    assert!(matches!(writer.replace(table), Err(UpdateError::Values(_))));
    assert_eq!(writer.reclaim(), 0);
    assert_eq!((writer.ids.values().len(), writer.ipv4().len()), (1, 1));
    writer.check().unwrap();
}

/// Reader threads look up values that are replaced and dropped.
#[test]
fn readers_find_the_values_of_their_moment() {
    BOTH.into_iter().for_each(readers_find_values);
}

fn readers_find_values(answers: Answers) {
    let mut writer = Table::new().live(folio(answers)).unwrap();
    let value = |version: usize| alloc::format!("version {version} of a value on the heap");
    writer.insert(p("10.0.0.0/8"), value(0)).unwrap();
    writer.commit().unwrap();
    const LAST: usize = 3000;
    let done = AtomicUsize::new(0);
    let readers: [_; 2] = core::array::from_fn(|_| writer.reader());
    thread::scope(|scope| {
        for (i, mut reader) in readers.into_iter().enumerate() {
            let done = &done;
            let version = |text: &str| -> usize {
                assert!(text.ends_with("of a value on the heap"), "{text}");
                text.split(' ').nth(1).unwrap().parse().unwrap()
            };
            scope.spawn(move || {
                let mut latest = 0;
                while latest < LAST {
                    let before = done.load(Relaxed);
                    let now = match i {
                        0 => version(reader.pin().lookup(ip("10.0.0.1")).unwrap()),
                        _ => {
                            let mut online = reader.online();
                            let now = version(online.table().lookup(ip("10.0.0.1")).unwrap());
                            online.quiescent();
                            now.max(version(online.table().lookup(ip("10.0.0.1")).unwrap()))
                        }
                    };
                    assert!(now >= latest.max(before), "{now} after {latest}, of {before}");
                    latest = now;
                }
            });
        }
        for version in 1..=LAST {
            writer.insert(p("10.0.0.0/8"), value(version)).unwrap();
            // Reuses the place of a value dropped a while ago.
            writer.insert(p("11.0.0.0/8"), value(version + 1_000_000)).unwrap();
            writer.commit().unwrap();
            done.store(version, Relaxed);
            if version % 64 == 0 {
                thread::yield_now();
            }
        }
    });
    assert_eq!(writer.reclaim(), 0);
    assert_eq!(writer.ids.values().len(), 2);
}

/// A route keeps its id when it is announced again with its value, and gets another with another.
#[test]
fn ids_of_routes() {
    let (counter, mut writer) = Counter::new(Answers::Routes);
    let announce = |writer: &mut TableWriter<Counted>, prefix: &str, name: &str| {
        writer.insert(p(prefix), counter.value(name)).unwrap();
        writer.current(p(prefix)).unwrap().get()
    };
    assert_eq!(announce(&mut writer, "10.0.0.0/8", "a"), 1);
    assert_eq!(announce(&mut writer, "10.9.0.0/16", "a"), 2);
    assert_eq!(announce(&mut writer, "2001:db8::/32", "a"), 3);
    writer.commit().unwrap();
    assert_eq!(announce(&mut writer, "10.0.0.0/8", "a"), 1, "the same route");
    assert_eq!(announce(&mut writer, "10.0.0.0/8", "b"), 4);
    assert_eq!(announce(&mut writer, "10.0.0.0/8", "a"), 5);
    assert_eq!(counter.alive(), 2);
    let mut reader = writer.reader();
    let guard = reader.pin();
    let found = |guard: &TableView<'_, Counted>, addr: &str| {
        let (prefix, value) = guard.get_lpm(ip(addr))?;
        Some((prefix.to_string(), value.name.clone()))
    };
    let right = |prefix: &str, name: &str| Some((prefix.to_string(), name.to_string()));
    assert_eq!(found(&guard, "10.1.1.1"), right("10.0.0.0/8", "a"));
    writer.commit().unwrap();
    writer.check().unwrap();
    assert_eq!(found(&guard, "10.9.1.1"), right("10.9.0.0/16", "a"));
    assert_eq!(found(&guard, "2001:db8::1"), right("2001:db8::/32", "a"));
    let route = |guard: &TableView<'_, Counted>, id| {
        guard.route(NextHopId::new(id).unwrap()).map(|(prefix, _)| prefix)
    };
    assert_eq!(route(&guard, 1), Some(p("10.0.0.0/8")), "a reader may hold the id");
    drop(guard);
    assert_eq!(writer.reclaim(), 0);
    let guard = reader.pin();
    assert_eq!([1, 4, 5].map(|id| route(&guard, id)), [None, None, Some(p("10.0.0.0/8"))]);
    drop(guard);
    assert_eq!(counter.alive(), 1, "equal values are one");
    writer.remove(p("10.9.0.0/16"));
    writer.roll_back();
    assert_eq!(writer.route(NextHopId::new(2).unwrap()).unwrap().0, p("10.9.0.0/16"));
    writer.check().unwrap();
    drop((writer, reader));
    assert_eq!(counter.alive(), 0);
}

/// A table's routes get ids in order, without those of values that no route has.
#[test]
fn initial_ids_of_routes() {
    let mut table = Table::new();
    for (prefix, value) in [("10.0.0.0/8", 1), ("::/0", 1), ("9.0.0.0/8", 2), ("0.0.0.0/0", 3)] {
        table.insert(p(prefix), value).unwrap();
    }
    table.remove(p("9.0.0.0/8"));
    let writer = table.live(folio(Answers::Routes)).unwrap();
    let ids = [1, 2, 3, 4].map(|id| writer.route(NextHopId::new(id).unwrap()));
    let right = [("0.0.0.0/0", &3), ("10.0.0.0/8", &1), ("::/0", &1)];
    assert_eq!(ids[..3], right.map(|(prefix, value)| Some((p(prefix), value))));
    assert_eq!((ids[3], writer.ids.values().len()), (None, 2));
    writer.check().unwrap();
}
