//! Live tables whose answers are routes: readers get the prefix and the value of a route that the
//! table had at some moment of the call. The full form is ignored by default; `cargo xtask prove`
//! runs it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use longmatch::table::{TableId, TableSet, TableSetReader};
use longmatch::{
    Answers, EngineSpec, IpPrefix, NextHopId, Table, TableReader, TableSpec, TableWriter,
};

/// Nested prefixes of both families that are announced, withdrawn and given other values.
///
/// None is so short that a patch of all its entries takes long.
const PREFIXES: [&str; 16] = [
    "8.0.0.0/6",
    "10.0.0.0/8",
    "10.128.0.0/9",
    "10.1.0.0/16",
    "10.1.2.0/23",
    "10.1.2.0/24",
    "10.1.2.128/25",
    "10.1.2.3/32",
    "192.0.2.0/24",
    "2001::/16",
    "2001:db8::/32",
    "2001:db8::/33",
    "2001:db8:1::/48",
    "2001:db8:1:2::/64",
    "2001:db8:1:2::3/128",
    "::1/128",
];

const ADDRS: [&str; 12] = [
    "10.1.2.3",
    "10.1.2.4",
    "10.1.2.200",
    "::ffff:10.1.3.1",
    "10.1.9.9",
    "10.200.0.1",
    "192.0.2.9",
    "2001:db8:1:2::3",
    "2001:db8:1:2::4",
    "2001:db8:1:3::1",
    "2001:db8:9::1",
    "::1",
];

/// A value: the number of its prefix and the version that gave it, with memory on the heap.
type Value = Box<(usize, usize)>;

/// The answer to an address: the number of a prefix and the version of its value.
type Answer = Option<(usize, usize)>;

/// A commit's changes: numbers of prefixes, announced or withdrawn.
type Changes = Vec<(usize, bool)>;

/// The versions of a table that is changed by a fixed plan.
struct History {
    changes: Vec<Changes>,
    /// The right answers of each version.
    answers: Vec<[Answer; ADDRS.len()]>,
}

impl History {
    /// Versions made from a seed; some commits change a prefix several times.
    fn new(versions: usize, mut seed: u64) -> Self {
        let prefixes = PREFIXES.map(|prefix| prefix.parse::<IpPrefix>().unwrap());
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (seed >> 33) as usize % below
        };
        let mut current: [Option<usize>; PREFIXES.len()] = [None; PREFIXES.len()];
        let (mut changes, mut answers) = (vec![Vec::new()], vec![[None; ADDRS.len()]]);
        for version in 1..versions {
            let these: Changes =
                (0..1 + random(6)).map(|_| (random(PREFIXES.len()), random(3) > 0)).collect();
            for (prefix, announced) in &these {
                current[*prefix] = announced.then_some(version);
            }
            answers.push(ADDRS.map(|addr| {
                let addr = IpPrefix::host(addr.parse().unwrap()).unmapped().addr();
                let known = (0..PREFIXES.len()).filter_map(|i| Some((i, current[i]?)));
                let covering = known.filter(|(i, _)| prefixes[*i].contains(addr));
                covering.max_by_key(|(i, _)| prefixes[*i].len())
            }));
            changes.push(these);
        }
        Self { changes, answers }
    }
}

/// State shared by the threads.
#[derive(Default)]
struct Race {
    /// The last version whose commit has begun, and the last whose commit has returned.
    begun: AtomicUsize,
    done: AtomicUsize,
    lookups: AtomicU64,
    overlaps: AtomicU64,
    over: AtomicBool,
}

impl Race {
    /// Looks up all addresses repeatedly in every way; checks each answer against the versions
    /// current during the call.
    fn read(&self, mut reader: TableReader<Value>, history: &History) {
        let prefixes = PREFIXES.map(|prefix| prefix.parse::<IpPrefix>().unwrap());
        let addrs = ADDRS.map(|addr| addr.parse::<IpAddr>().unwrap());
        let mut turn = 0;
        while !self.over.load(Relaxed) {
            turn += 1;
            let before = self.done.load(Acquire);
            let answers = look_up(&mut reader, turn, &addrs, &prefixes);
            let after = self.begun.load(Acquire);
            for (i, answer) in answers.iter().flat_map(|answers| answers.iter().enumerate()) {
                let mut versions = history.answers[before..=after].iter();
                assert!(
                    versions.any(|right| right[i] == *answer),
                    "{}: {answer:?} was right in no version of {before} to {after}",
                    ADDRS[i]
                );
            }
            self.lookups.fetch_add(ADDRS.len() as u64, Relaxed);
            self.overlaps.fetch_add(u64::from(after > before), Relaxed);
        }
    }

    /// Commits the versions of the history; ends at the last.
    fn write(&self, writer: &mut TableWriter<Value>, history: &History, least: u64) {
        let prefixes = PREFIXES.map(|prefix| prefix.parse::<IpPrefix>().unwrap());
        let deadline = Instant::now() + Duration::from_secs(600);
        for (version, changes) in history.changes.iter().enumerate() {
            self.begun.store(version, Release);
            for (i, announced) in changes {
                match announced {
                    true => drop(writer.insert(prefixes[*i], Box::new((*i, version))).unwrap()),
                    false => drop(writer.remove(prefixes[*i])),
                }
            }
            writer.commit().unwrap();
            self.done.store(version, Release);
            // Readers must see some versions, on a machine with one CPU too.
            if version % 64 == 0 {
                thread::yield_now();
            }
            if self.over.load(Relaxed) {
                return;
            }
        }
        let enough = || self.lookups.load(Relaxed) >= least || self.over.load(Relaxed);
        while !enough() && Instant::now() < deadline {
            thread::yield_now();
        }
        self.over.store(true, Relaxed);
    }
}

/// Looks up every address in one or two ways.
fn look_up(
    reader: &mut TableReader<Value>,
    turn: usize,
    addrs: &[IpAddr; ADDRS.len()],
    prefixes: &[IpPrefix],
) -> Vec<[Answer; ADDRS.len()]> {
    if turn.is_multiple_of(2) {
        let mut online = reader.online();
        online.quiescent();
        let mut values = [None; ADDRS.len()];
        online.lookup_batch(addrs, &mut values);
        return vec![values.map(|value: Option<&Value>| value.map(|value| **value))];
    }
    let guard = reader.pin();
    let mut ids = [None; ADDRS.len()];
    guard.lookup_ids(addrs, &mut ids);
    let mut found = [None; ADDRS.len()];
    match turn % 4 {
        1 => guard.get_lpm_batch(addrs, &mut found),
        _ => found = addrs.map(|addr| guard.get_lpm(addr)),
    }
    let by_id = ids.map(|id: Option<NextHopId>| Some(guard.route(id?).unwrap()));
    [found, by_id].map(|routes| routes.map(|route| Some(answer(prefixes, route?)))).into()
}

/// The answer of a route; its value names its prefix.
fn answer(prefixes: &[IpPrefix], (prefix, value): (IpPrefix, &Value)) -> (usize, usize) {
    assert_eq!(prefixes[value.0], prefix, "the value of another route");
    **value
}

struct EndOnPanic<'a>(&'a AtomicBool);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

/// Runs two readers against a writer.
fn race(engine: &str, versions: usize, lookups: u64) {
    let history = History::new(versions, engine.len() as u64);
    let spec = TableSpec::new(engine.parse::<EngineSpec>().unwrap()).answers(Answers::Routes);
    let mut writer = Table::new().live(spec).unwrap();
    let race = Race::default();
    let readers = [writer.reader(), writer.reader()];
    thread::scope(|scope| {
        for reader in readers {
            let (race, history) = (&race, &history);
            scope.spawn(move || {
                let _over = EndOnPanic(&race.over);
                race.read(reader, history);
            });
        }
        let _over = EndOnPanic(&race.over);
        race.write(&mut writer, &history, lookups);
    });
    let (lookups, overlaps) = (race.lookups.into_inner(), race.overlaps.into_inner());
    println!("{engine}: {lookups} lookups, {versions} versions, {overlaps} overlaps");
    assert!(overlaps > 0, "readers and writer did not overlap");
    assert_eq!(writer.reclaim(), 0);
    writer.check().unwrap();
    let last = history.answers.last().unwrap();
    for (addr, right) in ADDRS.iter().zip(last) {
        let found = writer.get_lpm(addr.parse::<IpAddr>().unwrap());
        assert_eq!(found.map(|(_, value)| **value), *right, "{addr}");
    }
}

/// A tenth under a sanitizer, which is fifty times slower.
const QUICK: usize = if cfg!(longmatch_sanitize) { 300 } else { 3000 };

#[test]
fn routes_of_patched_tables_change_under_readers() {
    race("folio", QUICK, 10_000);
    race("poptrie:s=16", QUICK, 10_000);
    race("tree_bitmap", QUICK, 10_000);
}

#[test]
fn routes_of_swapped_tables_change_under_readers() {
    race("radix", QUICK, 10_000);
    race("linear", QUICK, 10_000);
}

/// The table, or none for all tables, and the number of the prefix of a route.
type SetRoute = (Option<u32>, usize);

/// The routes of a set by their versions: the longest of one table.
fn of_set(routes: &BTreeMap<SetRoute, u64>, table: u32, addr: IpAddr) -> Option<(SetRoute, u64)> {
    let host = IpPrefix::host(addr).unmapped();
    let prefix = |i: usize| PREFIXES[i].parse::<IpPrefix>().unwrap();
    let in_table = routes
        .iter()
        .filter(|((own, i), _)| own.is_none_or(|own| own == table) && prefix(*i).covers(host));
    let longest = in_table.max_by_key(|((own, i), _)| (prefix(*i).len(), own.is_some()));
    longest.map(|(route, version)| (*route, *version))
}

/// Looks up in all tables until it is over: each answer is a route of the table that covers the
/// address.
fn read_set(mut reader: TableSetReader<Box<(SetRoute, u64)>>, ids: &[TableId], over: &AtomicBool) {
    let addrs = ADDRS.map(|addr| addr.parse::<IpAddr>().unwrap());
    while !over.load(Relaxed) {
        let guard = reader.pin();
        for (table, id) in ids.iter().enumerate() {
            let mut found = [None; ADDRS.len()];
            guard.lookup_batch(&[*id; ADDRS.len()], &addrs, &mut found);
            for (found, addr) in found.iter().zip(addrs) {
                let Some(((own, i), _)) = found.map(|value| **value) else { continue };
                assert!(own.is_none_or(|own| own as usize == table), "{own:?} for {table}");
                let prefix: IpPrefix = PREFIXES[i].parse().unwrap();
                assert!(prefix.covers(IpPrefix::host(addr).unmapped()), "{addr}: {prefix}");
            }
        }
    }
}

/// Changes a set of tables under a reader. After each commit every table answers as its routes do.
fn change_set(engine: &str, versions: u64) {
    let mut state = versions;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let addrs = ADDRS.map(|addr| addr.parse::<IpAddr>().unwrap());
    let prefix = |i: usize| PREFIXES[i].parse::<IpPrefix>().unwrap();
    let (mut set, mut routes) = (TableSet::new(), BTreeMap::new());
    for i in 0..12 {
        let own = (i % 3 != 0).then_some(i as u32 % 5);
        // Shared routes with the same value have one node: let some name the prefix that covers them.
        let named = if own.is_none() && i < 9 { 0 } else { i };
        let value = Box::new(((own, named), 0));
        match own {
            Some(table) => set.insert(table, prefix(i), value).map(drop).unwrap(),
            None => set.insert_shared(prefix(i), value).map(drop).unwrap(),
        }
        routes.insert((own, i), 0);
    }
    let mut writer = set.live(engine.parse::<EngineSpec>().unwrap()).unwrap();
    let (reader, mut own_reader) = (writer.reader(), writer.reader());
    let ids: Vec<TableId> = (0..5).map(|table| writer.table(&table)).collect();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _over = EndOnPanic(&over);
            read_set(reader, &ids, &over);
        });
        let _over = EndOnPanic(&over);
        for version in 1..=versions {
            // In the end nothing but removals.
            let kinds = if version + 200 > versions { 1 } else { 3 };
            for _ in 0..=random(6) {
                let (own, i) = (random(6) as u32, random(PREFIXES.len() as u64) as usize);
                let own = (own < 5).then_some(own);
                let value = (random(kinds) > 0).then(|| Box::new(((own, i), version)));
                match value {
                    Some(_) => drop(routes.insert((own, i), version)),
                    None => drop(routes.remove(&(own, i))),
                }
                match (own, value) {
                    (Some(own), Some(it)) => drop(writer.insert(own, prefix(i), it).unwrap()),
                    (None, Some(it)) => writer.insert_shared(prefix(i), it).unwrap(),
                    (Some(own), None) => writer.remove(&own, prefix(i)),
                    (None, None) => writer.remove_shared(prefix(i)),
                }
            }
            writer.commit().unwrap();
            let guard = own_reader.pin();
            for (table, addr) in (0..6).flat_map(|table| addrs.map(|addr| (table, addr))) {
                let found = guard.lookup(writer.table(&table), addr).map(|value| **value);
                let [found, right] = [found, of_set(&routes, table, addr)]
                    .map(|it| it.map(|(route, version)| ((version > 0).then_some(route), version)));
                assert_eq!(found, right, "{engine} {version} {table}");
            }
        }
        over.store(true, Relaxed);
    });
    drop(writer);
    let left = own_reader.pin().lookup(TableId::SHARED, addrs[0]).map(|value| **value);
    assert_eq!(left, of_set(&routes, 9, addrs[0]));
}

#[test]
fn sets_of_tables_change_under_readers() {
    change_set("folio", QUICK as u64 / 2);
    change_set("poptrie:s=16", QUICK as u64 / 2);
    change_set("radix", QUICK as u64 / 2);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_routes_change_under_readers() {
    for engine in ["folio", "folio:codes=32", "poptrie", "tree_bitmap", "radix"] {
        race(engine, 100_000, 1_000_000);
    }
    for engine in ["dxr", "dir24_8"] {
        race(engine, 20_000, 100_000);
    }
}
