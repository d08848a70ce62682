//! Live tables whose answers are routes: readers get the prefix and the value of a route that the
//! table had at some moment of the call. The full form is ignored by default; `cargo xtask prove`
//! runs it.

use std::net::IpAddr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

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

/// The answer of a route, whose value names its prefix.
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
