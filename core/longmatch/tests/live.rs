//! Tables that change under reader threads: every answer must have been right at some moment of the
//! call. The full forms are ignored by default; `cargo xtask prove` runs them.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::thread;
use std::time::{Duration, Instant};

use longmatch::live::{Reader, Writer};
use longmatch::simd::Simd;
use longmatch::{Change, EngineSpec, Engines, Family, Ipv4, Ipv6, NextHopId, Prefix, Rib, Route};

/// The amount of work after which a race ends.
#[derive(Clone, Copy)]
struct Quota {
    updates: u32,
    lookups: u64,
    /// Calls during which the version changed.
    overlaps: u64,
    /// Number of versions with distinct next hops; then they repeat.
    ids: u32,
}

/// State shared by the threads.
#[derive(Default)]
struct Race {
    /// The last version whose commit has begun, and the last whose commit has returned.
    begun: AtomicU32,
    done: AtomicU32,
    /// Versions that were compiled again.
    recompiled: AtomicU32,
    lookups: AtomicU64,
    overlaps: AtomicU64,
    over: AtomicBool,
}

const KEYS: usize = 96;
/// Ids for keys.
///
/// With as many for inner routes and for other addresses they fit 15 bits.
const IDS_OF_15_BITS: u32 = 10_000;

/// A family of races.
trait Raced: Engines {
    /// Address `i` of [`KEYS`] that lie at equal distances in a prefix.
    fn key(prefix: Prefix<Self>, i: usize) -> Self::Bits;

    /// Prefix `i` of a table, outside of those that races change.
    fn prefix(i: u32) -> Prefix<Self>;
}

impl Raced for Ipv4 {
    fn key(prefix: Prefix<Self>, i: usize) -> u32 {
        prefix.first() + (prefix.last() - prefix.first()) / KEYS as u32 * i as u32
    }

    fn prefix(i: u32) -> Prefix<Self> {
        Prefix::from_bits_masked(0x0b00_0000 + i * 7777, 17 + (i % 12) as u8)
    }
}

impl Raced for Ipv6 {
    fn key(prefix: Prefix<Self>, i: usize) -> u128 {
        prefix.first() + (prefix.last() - prefix.first()) / KEYS as u128 * i as u128
    }

    /// Every fifth is longer than /48; some are in the /32 of the races.
    fn prefix(i: u32) -> Prefix<Self> {
        let (region, rest) = (u128::from(0x2001_0db0 + i % 16), u128::from(0x8000_0000 + i * 7777));
        let bits = region << 96 | rest << 64;
        let len = [32 + i % 17, 48, 48, 40, 49 + i % 80][i as usize % 5];
        Prefix::from_bits_masked(bits, len as u8)
    }
}

impl Race {
    /// Looks up the same addresses repeatedly with every method.
    ///
    /// Checks each answer against the versions current during the call.
    fn read<F: Raced>(&self, mut reader: Reader<F>, keys: &[F::Bits; KEYS], ids: u32) {
        let levels: Vec<Simd> = Simd::available().collect();
        let mut out = [None; KEYS];
        let mut last = [0; KEYS];
        let mut turn = 0;
        while !self.over.load(Relaxed) {
            turn += 1;
            let simd = levels[turn % levels.len()];
            let count = [KEYS, 1, 7, 16, 33][turn % 5];
            let (keys, out) = (&keys[..count], &mut out[..count]);
            let before = self.done.load(Acquire);
            match turn % 3 {
                0 => reader.pin().lookup_batch_with(simd, keys, out),
                1 => reader.pin().lookup_each(simd, keys, out),
                _ => {
                    let mut online = reader.online();
                    online.table().lookup_batch_with(simd, keys, out);
                    online.quiescent();
                    online.table().lookup_batch_with(simd, keys, out);
                }
            }
            let after = self.begun.load(Acquire);
            for (hop, last) in out.iter().zip(&mut last) {
                let id = hop.expect("every version has a route").get();
                assert!(id <= 2 * ids, "{id} is a next hop of other addresses");
                if after - before >= ids {
                    continue;
                }
                // The last version up to `after` that has this next hop.
                let version = after.checked_sub((after + ids - (id - 1) % ids) % ids);
                let version = version.expect("a version has this next hop");
                assert!(version >= before, "{version} of {before} to {after}");
                assert!(version >= *last, "{version} after {last}");
                *last = version;
            }
            self.lookups.fetch_add(count as u64, Relaxed);
            self.overlaps.fetch_add(u64::from(after > before), Relaxed);
        }
    }

    /// Commits versions until the required amount of work is done.
    fn write<F: Raced>(
        &self,
        writer: &mut Writer<F>,
        prefixes: &[Prefix<F>],
        other_prefixes: &[Prefix<F>],
        quota: Quota,
    ) {
        let deadline = Instant::now() + Duration::from_secs(600);
        for version in 1.. {
            self.begun.store(version, Release);
            for change in changes(prefixes, version % 2 == 1, 1 + version % quota.ids, quota.ids) {
                writer.apply(change).unwrap();
            }
            let recompiled = writer.commit().unwrap().recompiled;
            self.recompiled.fetch_add(u32::from(recompiled), Relaxed);
            self.done.store(version, Release);
            // Memory retired by this version is soon reused for other addresses, which no key may
            // see.
            let next_hop = 1 + 2 * quota.ids + version % quota.ids;
            for change in changes(other_prefixes, version % 3 > 0, next_hop, 0) {
                writer.apply(change).unwrap();
                writer.commit().unwrap();
            }
            let read = self.lookups.load(Relaxed) >= quota.lookups
                && self.overlaps.load(Relaxed) >= quota.overlaps;
            let failed = self.over.load(Relaxed);
            if (version >= quota.updates && read) || failed || Instant::now() > deadline {
                break;
            }
        }
        self.over.store(true, Relaxed);
    }
}

/// The changes of a version.
///
/// The first prefix gets another next hop; the others, which lie inside, get one that is `inside`
/// higher or are withdrawn, so that the table's shape changes.
fn changes<F: Family>(
    prefixes: &[Prefix<F>],
    all: bool,
    next_hop: u32,
    inside: u32,
) -> impl Iterator<Item = Change<F>> {
    prefixes.iter().enumerate().map(move |(i, prefix)| {
        let next_hop = NextHopId::new(next_hop + if i > 0 { inside } else { 0 }).unwrap();
        match all || i == 0 {
            true => Change::Announce(Route { prefix: *prefix, next_hop }),
            false => Change::Withdraw(*prefix),
        }
    })
}

/// Runs readers against a writer.
///
/// Version `v` gives all keys next hop `1 + v % ids`, or `ids` more; the keys lie in the first
/// prefix. The routes `other_prefixes` change between the versions and have next hops above those.
fn race(engine: &str, prefixes: &[&str], other_prefixes: &[&str], quota: Quota) {
    race_of::<Ipv4>(engine, prefixes, other_prefixes, quota);
}

/// [`race`] for a family.
fn race_of<F: Raced>(engine: &str, prefixes: &[&str], other_prefixes: &[&str], quota: Quota) {
    let parse = |text: &&str| text.parse().unwrap_or_else(|_| panic!("{text} is no prefix"));
    let [prefixes, other_prefixes]: [Vec<Prefix<F>>; 2] =
        [prefixes, other_prefixes].map(|list| list.iter().map(parse).collect());
    let first =
        |prefix: &Prefix<F>| Route { prefix: *prefix, next_hop: NextHopId::new(1).unwrap() };
    let mut rib: Rib<F> = prefixes.iter().map(first).collect();
    // More routes, so that pages have all sizes.
    for i in 0..2000u32 {
        rib.insert(F::prefix(i), NextHopId::new(1 + i % 200).unwrap()).unwrap();
    }
    let spec: EngineSpec = engine.parse().unwrap();
    let mut writer = Writer::new(rib, spec).unwrap();
    // Keys in every block that the prefixes cover.
    let keys: [F::Bits; KEYS] = std::array::from_fn(|i| F::key(prefixes[0], i));
    let race = Race::default();
    let readers: Vec<_> = (0..2).map(|_| writer.reader()).collect();
    thread::scope(|scope| {
        for reader in readers {
            let (race, keys) = (&race, &keys);
            scope.spawn(move || {
                // A failing thread ends the race.
                let _over = EndOnPanic(&race.over);
                race.read(reader, keys, quota.ids);
            });
        }
        let _over = EndOnPanic(&race.over);
        race.write(&mut writer, &prefixes, &other_prefixes, quota);
    });
    let (lookups, overlaps) = (race.lookups.into_inner(), race.overlaps.into_inner());
    let updates = race.done.into_inner();
    let recompiled = race.recompiled.into_inner();
    println!(
        "{engine}: {lookups} lookups, {updates} versions, {recompiled} of them compiled again, \
         {overlaps} overlaps"
    );
    assert!(updates >= quota.updates && lookups >= quota.lookups, "too slow");
    assert!(overlaps >= quota.overlaps, "readers and writer did not overlap");
    assert_eq!(writer.reclaim(), 0);
    writer.check().unwrap();
}

struct EndOnPanic<'a>(&'a AtomicBool);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

/// Next hops that every engine holds.
const IDS: u32 = 20_000;
/// A tenth under a sanitizer and in an emulator, which take many times as long. An emulator has this machine's memory
/// order: it finds code that depends on the byte order, for which longer races are not needed.
fn quick() -> Quota {
    match cfg!(longmatch_sanitize) || std::env::var_os("LONGMATCH_QUICK").is_some() {
        true => Quota { updates: 300, lookups: 10_000, overlaps: 10, ids: IDS },
        false => Quota { updates: 3000, lookups: 100_000, overlaps: 100, ids: IDS },
    }
}

/// Commits to tables of IPv6 take longer.
fn quick_ipv6() -> Quota {
    Quota { updates: quick().updates / 30, ..quick() }
}

const QUICK_SWAP: Quota = Quota { updates: 30, lookups: 20_000, overlaps: 10, ids: IDS };
const FULL: Quota = Quota { updates: 1_000_000, lookups: 100_000_000, overlaps: 100_000, ids: IDS };

const FULL_IPV6: Quota = Quota { updates: 10_000, ..FULL };

/// Lists, pages of codes, and pages of entries; codes that are stored in place.
#[test]
fn folio_of_ipv4_changes_under_readers() {
    let other_prefixes = ["12.1.2.0/24", "12.1.2.64/27", "12.1.3.4/32"];
    for engine in [
        "folio",
        "folio:s=16:codes=16:lists=0",
        "folio:s=16:codes=32:lists=none:entries=none",
        "folio:s=14:codes=24:lists=none:entries=0",
    ] {
        race(engine, &["10.1.2.0/24"], &other_prefixes, quick());
        race(engine, &["10.1.3.4/32"], &other_prefixes, quick());
        let many = ["10.1.2.0/23", "10.1.2.128/26", "10.1.3.4/32"];
        race(engine, &many, &other_prefixes, quick());
        race(engine, &["10.0.0.0/14", "10.1.0.0/25"], &["12.1.0.0/20", "12.1.7.0/26"], quick());
    }
}

/// Routes of /48, across /48, and beyond: in leaves of every kind, and below the upper 64 bits.
fn race_in_ipv6(engine: &str, quota: Quota) {
    let other_prefixes = ["2001:db8:4001::/48", "2001:db8:4002:3::/64", "2001:db8:4002:3::7/128"];
    for prefixes in [
        &["2001:db8:1::/48"][..],
        &["2001:db8:10::/44", "2001:db8:10::/46", "2001:db8:12:8000::/49"],
        &["2001:db8:1:2::/64", "2001:db8:1:2:8000::/66", "2001:db8:1:2::/80"],
        &["2001:db8:1:2:3:4::/96", "2001:db8:1:2:3:4:4000:0/98", "2001:db8:1:2:3:4:4000:0/112"],
    ] {
        race_of::<Ipv6>(engine, prefixes, &other_prefixes, quota);
    }
}

/// Lines, minis and codes; hosts in runs, and other lengths below /64.
#[test]
fn folio_of_ipv6_changes_under_readers() {
    race_in_ipv6("folio", quick_ipv6());
    race_in_ipv6("folio:codes=list:leaves=minis", quick_ipv6());
    race_in_ipv6("folio:codes=32:leaves=codes", quick_ipv6());
    let hosts = ["2001:db8:1:2::7/128", "2001:db8:1:2::/64"];
    race_of::<Ipv6>("folio", &hosts, &["2001:db8:4002:3::7/128"], quick_ipv6());
}

/// Nodes and leaves, with and without direct pointing.
#[test]
fn a_poptrie_changes_under_readers() {
    race("poptrie:s=16", &["10.1.2.0/24"], &["12.1.2.0/24"], quick());
    // A direct entry that is alternately a leaf and a node.
    race(
        "poptrie:s=16",
        &["10.1.0.0/16", "10.1.64.0/18", "10.1.64.0/26"],
        &["12.1.0.0/16", "12.1.80.0/20", "12.1.80.0/27"],
        quick(),
    );
    race("poptrie:s=0", &["10.1.2.0/23", "10.1.3.64/26"], &["12.1.2.0/24"], quick());
    race("poptrie:s=18", &["10.0.0.0/12"], &["12.1.0.0/20"], quick());
}

/// Entries of both tables and of both widths.
#[test]
fn dir24_8_changes_under_readers() {
    let other_prefixes = ["12.1.2.0/24", "12.1.3.4/32"];
    race(
        "dir24_8:entry=16",
        &["10.1.2.0/23", "10.1.3.64/26"],
        &other_prefixes,
        Quota { ids: IDS_OF_15_BITS, ..quick() },
    );
    race("dir24_8:entry=32", &["10.0.0.0/15", "10.0.7.0/25"], &other_prefixes, quick());
}

/// Another root for each version, with both strides.
#[test]
fn a_tree_bitmap_changes_under_readers() {
    let other_prefixes = ["12.1.2.0/24", "10.200.0.0/32"];
    race("tree_bitmap", &["10.1.2.0/24"], &other_prefixes, quick());
    race(
        "tree_bitmap:stride=4",
        &["10.0.0.0/12", "10.2.0.0/17"],
        &other_prefixes,
        Quota { ids: IDS_OF_15_BITS, ..quick() },
    );
}

/// Short and long chunks, shared chunks, and blocks of a second level.
#[test]
fn a_dxr_changes_under_readers() {
    // Next hops of 8 bits, as in short chunks.
    race("dxr:d=16", &["10.1.2.0/24"], &["12.1.2.0/24"], Quota { ids: 80, ..quick() });
    race("dxr:d=16:wide", &["10.1.2.0/24", "10.1.2.128/26"], &["12.1.2.0/24"], quick());
    race("dxr:d=18", &["10.0.0.0/12", "10.3.3.0/25"], &["12.1.0.0/20"], quick());
    race("dxr:d=16:search=paper", &["10.1.2.0/24", "10.1.2.128/26"], &["12.1.2.0/24"], quick());
    race("dxr:d=12:x=4", &["10.1.0.0/17", "10.1.2.0/24"], &["12.1.2.0/24"], quick());
    race("dxr:d=8:x=10:batch=gather", &["10.0.0.0/11"], &["12.1.0.0/25"], quick());
}

/// Long chunks move into gaps of each other: routes that never change have one answer throughout.
#[test]
fn chunks_of_a_dxr_move_under_readers() {
    let sizes = [300, 400, 500, 700, 1000, 1500, 2500, 4000];
    let place = |chunk: usize, i: u32| (chunk as u128) << 112 | u128::from(2 * i + 1);
    let route = |chunk, i, hop| Route {
        prefix: Prefix::<Ipv6>::from_bits_masked(place(chunk, i), 128),
        next_hop: NextHopId::new(hop).unwrap(),
    };
    let routes = sizes.iter().enumerate();
    let rib: Rib<Ipv6> =
        routes.flat_map(|(chunk, size)| (0..*size).map(move |i| route(chunk, i, 7))).collect();
    let spec: EngineSpec = "dxr:d=16:xl".parse().unwrap();
    let mut writer = Writer::new(rib, spec).unwrap();
    let over = AtomicBool::new(false);
    // While the reader has a table, chunks stay where they are: when asked to rest, it has none.
    let (rest, rests) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let (mut reader, over, rest, rests) = (writer.reader(), &over, &rest, &rests);
        let reading = scope.spawn(move || {
            while !over.load(Relaxed) {
                let table = reader.pin();
                for (chunk, size) in sizes.iter().enumerate() {
                    for i in (1..*size).step_by(14) {
                        let hop = table.lookup(Ipv6::addr(place(chunk, i)));
                        assert_eq!(hop, NextHopId::new(7), "{i} of {chunk}");
                    }
                }
                drop(table);
                while rest.load(Relaxed) && !over.load(Relaxed) {
                    rests.store(true, Relaxed);
                    thread::yield_now();
                }
                rests.store(false, Relaxed);
            }
        });
        let mut moved = 0;
        for n in 0..400_000u32 {
            if n >= 4000 && moved > 20 {
                break;
            }
            rest.store(n % 1000 >= 500, Relaxed);
            while n % 1000 == 500 && !rests.load(Relaxed) && !reading.is_finished() {
                thread::yield_now();
            }
            let chunk = (n.wrapping_mul(0x9e37_79b9) >> 29) as usize;
            let change = route(chunk, 2 * (n % (sizes[chunk] / 2)), 1 + n % 5);
            writer.apply(Change::Announce(change)).unwrap();
            // A change of one route replaces one entry.
            moved += u32::from(writer.commit().unwrap().replaced.entries > 1);
        }
        over.store(true, Relaxed);
        assert!(moved > 20, "chunks moved in {moved} commits");
    });
    writer.check().unwrap();
}

#[test]
fn tables_are_swapped_under_readers() {
    race("spider", &["10.0.0.0/12"], &[], QUICK_SWAP);
    race("sail", &["10.0.0.0/12"], &[], Quota { updates: 3, ..QUICK_SWAP });
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_race() {
    race("poptrie:s=16", &["10.1.2.0/24"], &["12.1.2.0/24"], FULL);
    race("poptrie:s=18", &["10.0.0.0/12"], &["12.1.0.0/20"], FULL);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_race_of_folio_of_ipv4() {
    let other_prefixes = ["12.1.2.0/24", "12.1.2.64/27", "12.1.3.4/32"];
    let many = ["10.1.2.0/23", "10.1.2.128/26", "10.1.3.4/32"];
    race("folio", &many, &other_prefixes, FULL);
    race("folio:s=16:codes=16:lists=0", &["10.1.2.0/24"], &other_prefixes, FULL);
    race("folio:s=14:codes=24:lists=none:entries=0", &["10.0.0.0/14"], &["12.1.0.0/20"], FULL);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_race_of_folio_of_ipv6() {
    race_in_ipv6("folio", FULL_IPV6);
    race_in_ipv6("folio:codes=32:leaves=codes", FULL_IPV6);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_race_of_dir24_8() {
    race(
        "dir24_8:entry=16",
        &["10.1.2.0/23", "10.1.3.64/26"],
        &["12.1.3.4/32"],
        Quota { ids: IDS_OF_15_BITS, ..FULL },
    );
    race("dir24_8:entry=32", &["10.1.2.0/23", "10.1.3.64/26"], &["12.1.3.4/32"], FULL);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_race_of_a_tree_bitmap() {
    race("tree_bitmap", &["10.1.2.0/23", "10.1.3.64/26"], &["12.1.3.4/32"], FULL);
    race(
        "tree_bitmap:stride=4",
        &["10.0.0.0/12"],
        &["12.1.3.4/32"],
        Quota { ids: IDS_OF_15_BITS, ..FULL },
    );
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn full_race_of_dxr() {
    race("dxr:d=16", &["10.1.2.0/24"], &["12.1.2.0/24"], FULL);
    race("dxr:d=12:x=4", &["10.1.0.0/17", "10.1.2.0/24"], &["12.1.2.0/24"], FULL);
}

/// Readers start and end while the table changes.
#[test]
fn readers_come_and_go() {
    let mut writer =
        Writer::<Ipv4>::new(Rib::new(), "folio".parse::<EngineSpec>().unwrap()).unwrap();
    let over = AtomicBool::new(false);
    let readers = [writer.reader(), writer.reader()];
    thread::scope(|scope| {
        for first in readers {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    let mut reader = first.clone();
                    let hop = reader.pin().lookup(Ipv4::addr(0x0a00_0001));
                    assert!(hop.is_none_or(|hop| hop.get() <= 200));
                }
            });
        }
        for i in 0..5000u32 {
            let prefix = Prefix::from_bits_masked(0x0a00_0000, 8 + (i % 25) as u8);
            let change = match i % 3 {
                0 => Change::Withdraw(prefix),
                _ => Change::Announce(Route {
                    prefix,
                    next_hop: NextHopId::new(1 + i % 200).unwrap(),
                }),
            };
            writer.apply(change).unwrap();
            writer.commit().unwrap();
        }
        over.store(true, Relaxed);
    });
    assert_eq!(writer.reclaim(), 0);
    writer.check().unwrap();
}
