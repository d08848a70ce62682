use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use std::panic::AssertUnwindSafe;
use std::thread;

use proptest::prelude::*;

use super::reclaim::{Domain, HasDomain, ReaderSlot};
use super::*;
use crate::engine::{EngineKind, Engines};
use crate::live::UpdateError;
use crate::mem::RetireList;
use crate::net::{Bits, Change, Ipv4, Ipv6, NextHopId, Outcome, Prefix, Route};
use crate::rib::Rib;
use crate::simd::Simd;

fn hop(n: u32) -> NextHopId {
    NextHopId::new(n).unwrap()
}

fn writer<F: Engines>(routes: &[(&str, u32)], engine: &str) -> Writer<F> {
    let route = |(p, n): &(&str, u32)| Route { prefix: p.parse().unwrap(), next_hop: hop(*n) };
    let engine: crate::EngineSpec = engine.parse().unwrap();
    Writer::new(routes.iter().map(route).collect(), engine).unwrap()
}

fn announce<F: Engines>(prefix: &str, n: u32) -> Change<F> {
    Change::Announce(Route { prefix: prefix.parse().unwrap(), next_hop: hop(n) })
}

fn withdraw<F: Engines>(prefix: &str) -> Change<F> {
    Change::Withdraw(prefix.parse().unwrap())
}

/// Both ends of each of the RIB's ranges, and the answers.
fn ends<F: Engines>(rib: &Rib<F>) -> (Vec<F::Bits>, Vec<Option<NextHopId>>) {
    let ends = |first, last, hop| [(first, hop), (last, hop)];
    rib.ranges().flat_map(|range| ends(range.first, range.last, range.next_hop())).unzip()
}

/// Checks that lookups agree with the routes, singly and in batches at every level.
#[track_caller]
fn agree<F: Engines>(writer: &Writer<F>) {
    writer.check().unwrap();
    let (keys, right) = ends(writer.rib());
    let mut reader = writer.reader();
    let guard = reader.pin();
    for (key, right) in keys.iter().zip(&right) {
        assert_eq!(guard.lookup(F::addr(*key)), *right, "{}", F::addr(*key));
    }
    for simd in Simd::available() {
        let mut out = vec![None; keys.len()];
        guard.lookup_batch_with(simd, &keys, &mut out);
        assert!(out == right, "{}", simd.level());
    }
}

/// Every patched engine with the variants that its descriptor lists, and one that is compiled again;
/// a few of them if the environment asks for few.
fn engines<F: Engines>() -> Vec<String> {
    let mut engines = vec![String::from(if F::WIDTH == 32 { "sail" } else { "spider" })];
    for kind in EngineKind::ALL {
        let engine = kind.descriptor().unwrap();
        if engine.is_patched() {
            let [both, ipv4, ipv6] = engine.variants;
            engines.push(kind.name().into());
            let variants = both.iter().chain(if F::WIDTH == 32 { ipv4 } else { ipv6 });
            // The structure is the same however batches are looked up, and `agree` tries every level.
            let variants = variants.filter(|variant| !variant.contains("batch="));
            engines.extend(variants.map(|variant| alloc::format!("{kind}:{variant}")));
        }
    }
    tested(engines).collect()
}

/// Whether the engine's tables are large even without routes: too large for many cases.
fn is_large<F: Engines>(engine: &str) -> bool {
    let engine: crate::EngineSpec = engine.parse().unwrap();
    crate::Fib::compile(&Rib::<F>::new(), engine).unwrap().memory_usage().bytes() > 16 << 20
}

fn is_slow(engine: &str) -> bool {
    let engine: crate::EngineSpec = engine.parse().unwrap();
    engine.kind.descriptor().unwrap().slow
}

/// The engines, or a few of them if the environment asks for few: mutation tests do, as without
/// optimisation the slow engines take minutes.
fn tested<E: AsRef<str>>(engines: impl IntoIterator<Item = E>) -> impl Iterator<Item = E> {
    let few = std::env::var_os("LONGMATCH_FEW_ENGINES").is_some();
    engines.into_iter().filter(move |engine| !few || !is_slow(engine.as_ref()))
}

#[test]
fn a_table_by_hand() {
    for engine in &engines::<Ipv4>() {
        let mut writer = writer::<Ipv4>(&[("10.0.0.0/8", 1), ("10.1.0.0/16", 2)], engine);
        agree(&writer);
        // No effective change, so nothing to commit.
        assert_eq!(writer.apply(announce("10.1.0.0/16", 2)), Ok(Outcome::Same));
        assert_eq!(writer.apply(withdraw("10.2.0.0/16")), Ok(Outcome::Unknown));
        assert_eq!(writer.commit(), Ok(Commit::default()));
        // Changes are visible after the commit, not before.
        let mut reader = writer.reader();
        let addr = "10.1.2.3".parse().unwrap();
        assert_eq!(writer.apply(announce("10.1.2.0/24", 3)), Ok(Outcome::New));
        assert_eq!(reader.pin().lookup(addr), Some(hop(2)));
        writer.commit().unwrap();
        assert_eq!(reader.pin().lookup(addr), Some(hop(3)));
        agree(&writer);
        for (change, outcome) in [
            // The middle of a chain of covers: specifics remain, the cover becomes visible.
            (withdraw("10.1.0.0/16"), Outcome::Withdrawn(hop(2))),
            // A cover after its specifics.
            (announce("10.0.0.0/9", 4), Outcome::New),
            (announce("0.0.0.0/0", 5), Outcome::New),
            (announce("0.0.0.0/0", 6), Outcome::Replaced(hop(5))),
            (announce("10.1.2.3/32", 7), Outcome::New),
            (announce("255.255.255.255/32", 8), Outcome::New),
            (announce("0.0.0.0/32", 9), Outcome::New),
            (withdraw("10.1.2.3/32"), Outcome::Withdrawn(hop(7))),
            (withdraw("0.0.0.0/0"), Outcome::Withdrawn(hop(6))),
        ] {
            assert_eq!(writer.apply(change), Ok(outcome), "{engine}: {change:?}");
            writer.commit().unwrap();
            agree(&writer);
        }
        assert_eq!(writer.reclaim(), 0);
    }
}

/// A commit of several changes is one version.
///
/// A part that changes twice is built once.
#[test]
fn changes_are_committed_together() {
    for engine in &engines::<Ipv4>() {
        let mut writer = writer::<Ipv4>(&[("10.0.0.0/8", 1)], engine);
        for change in [
            announce("10.64.0.0/10", 2),
            announce("10.64.0.0/24", 3),
            announce("10.64.0.128/25", 4),
            withdraw("10.64.0.0/24"),
            announce("10.0.0.0/8", 5),
        ] {
            writer.apply(change).unwrap();
        }
        writer.commit().unwrap();
        agree(&writer);
        for change in [withdraw("10.0.0.0/8"), withdraw("10.64.0.0/10"), announce("10.0.0.0/8", 5)]
        {
            writer.apply(change).unwrap();
        }
        writer.roll_back();
        agree(&writer);
        assert_eq!(writer.rib().len(), 3);
        assert_eq!(writer.commit(), Ok(Commit::default()));
    }
}

/// A page with two parents is copied for one of them.
///
/// Its children then have two parents.
#[test]
fn shared_pages_are_copied() {
    for engine in ["folio:s=16:lists=none:entries=0", "folio:s=16:codes=32:lists=0", "poptrie:s=0"]
    {
        let mut writer = writer::<Ipv4>(&[], engine);
        // Equal subtrees below two blocks, in two slots each.
        for prefix in ["10.1.2.4/30", "10.16.2.4/30", "11.1.2.4/30", "11.16.2.4/30"] {
            writer.apply(announce(prefix, 1)).unwrap();
        }
        writer.commit().unwrap();
        agree(&writer);
        for change in [
            announce("10.1.2.4/30", 2),
            announce("11.16.2.4/30", 3),
            withdraw("10.16.2.4/30"),
            withdraw("11.1.2.4/30"),
            withdraw("11.16.2.4/30"),
        ] {
            writer.apply(change).unwrap();
            assert_eq!(writer.commit().map(|commit| commit.recompiled), Ok(false));
            agree(&writer);
        }
        assert_eq!(writer.reclaim(), 0);
    }
}

/// A failed commit changes nothing.
#[test]
fn failed_commits_are_undone() {
    let mut writer = writer::<Ipv4>(&[("10.0.0.0/8", 1)], "folio:codes=16");
    writer.apply(announce("11.0.0.0/8", 2)).unwrap();
    writer.apply(withdraw("10.0.0.0/8")).unwrap();
    writer.apply(announce("10.0.0.0/24", 1 << 16)).unwrap();
    assert!(matches!(writer.commit(), Err(UpdateError::Limit(_))));
    assert_eq!(writer.rib().len(), 1);
    agree(&writer);
    // The default variant widens.
    let mut writer = self::writer::<Ipv4>(&[("10.0.0.0/8", 1)], "folio");
    for id in [255, 256, 65_535, 65_536, 1 << 30] {
        writer.apply(announce("10.0.0.0/24", id)).unwrap();
        writer.commit().unwrap();
        agree(&writer);
    }
    // A full RIB refuses a change.
    let mut writer =
        Writer::<Ipv4>::new(Rib::with_route_limit(1), crate::EngineKind::Folio).unwrap();
    writer.apply(announce("10.0.0.0/8", 1)).unwrap();
    assert!(matches!(writer.apply(announce("11.0.0.0/8", 1)), Err(UpdateError::Full(_))));
    writer.commit().unwrap();
    agree(&writer);
}

/// Under a stalled reader the writer continues until the retired limit.
///
/// Then it is refused, and continues when the reader does.
#[test]
fn retired_memory_waits_for_stalled_readers() {
    let engines =
        ["folio", "poptrie:s=16", "dxr", "dxr:d=15:x=5", "tree_bitmap", "dir24_8", "sail"];
    for engine in tested(engines) {
        let mut writer = writer::<Ipv4>(&[("10.0.0.0/8", 1)], engine);
        writer.set_retired_limit(100_000);
        let mut reader = writer.reader();
        let guard = reader.pin();
        let addr = "10.1.2.3".parse().unwrap();
        let mut committed = 0;
        let refused = loop {
            let length = 24 - committed % 8;
            let change = announce(&alloc::format!("10.1.0.0/{length}"), 2 + committed);
            writer.apply(change).unwrap();
            let before = writer.rib().len();
            match writer.commit() {
                Ok(_) => committed += 1,
                Err(error) => break (error, before),
            }
            assert!(committed < 100_000, "{engine}");
        };
        assert!(matches!(refused.0, UpdateError::Retired { limit: 100_000, .. }), "{refused:?}");
        assert!(writer.retired_bytes() > 100_000 && writer.rib().len() <= refused.1);
        assert!(guard.lookup(addr).is_some());
        drop(guard);
        agree(&writer);
        writer.apply(announce("10.1.0.0/24", 1000)).unwrap();
        writer.commit().unwrap();
        assert_eq!(writer.reclaim(), 0, "{engine}");
        agree(&writer);
    }
}

/// A new table replaces all routes.
#[test]
fn tables_are_replaced() {
    for engine in &engines::<Ipv6>() {
        let mut writer = writer::<Ipv6>(&[("2001:db8::/32", 1)], engine);
        let mut reader = writer.reader();
        writer.apply(announce("2001:db9::/32", 2)).unwrap();
        let rib = [("2a00::/12", 3), ("2a00:1::/48", 4)];
        let rib = rib.map(|(p, n)| Route { prefix: p.parse().unwrap(), next_hop: hop(n) });
        writer.replace(rib.into_iter().collect()).unwrap();
        let answers = ["2001:db8::1", "2001:db9::1", "2a00::", "2a00:1::1"]
            .map(|addr| reader.pin().lookup(addr.parse().unwrap()));
        assert_eq!(answers, [None, None, Some(hop(3)), Some(hop(4))], "{engine}");
        assert_eq!(writer.commit(), Ok(Commit::default()));
        agree(&writer);
        assert_eq!(writer.reclaim(), 0);
    }
}

/// Readers that panic, leak their guard or outlive the writer do no harm.
#[test]
fn readers_may_panic_leak_or_outlive_the_writer() {
    let mut writer = writer::<Ipv4>(&[("10.0.0.0/8", 1)], "folio");
    let addr = "10.1.2.3".parse().unwrap();
    let mut outliving = writer.reader();
    let mut panicking = writer.reader();
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let guard = panicking.pin();
        assert_eq!(guard.lookup(addr), None, "this panic is intended");
    }));
    assert!(panicked.is_err());
    let mut leaking = writer.reader();
    core::mem::forget(leaking.pin());
    writer.apply(announce("10.1.0.0/16", 2)).unwrap();
    writer.commit().unwrap();
    writer.apply(announce("10.1.0.0/16", 3)).unwrap();
    writer.commit().unwrap();
    assert!(writer.reclaim() > 0);
    // The next guard replaces the leaked one in the reader's slot.
    assert_eq!(leaking.pin().lookup(addr), Some(hop(3)));
    assert_eq!(writer.reclaim(), 0);
    core::mem::forget(leaking.online());
    drop(leaking);
    assert_eq!(writer.reclaim(), 0);
    drop(writer);
    assert_eq!(outliving.pin().lookup(addr), Some(hop(3)));
    let mut online = outliving.online();
    online.quiescent();
    assert_eq!(online.table().lookup(addr), Some(hop(3)));
}

/// A replaced table lives as long as a reader uses it, even after the writer's end.
#[test]
fn a_retired_table_outlives_the_writer() {
    // Small enough for Miri.
    for engine in ["radix", "poptrie:s=0"] {
        let mut writer = writer::<Ipv4>(&[("10.0.0.0/8", 1)], engine);
        let mut reader = writer.reader();
        let guard = reader.pin();
        let old = guard.watch();
        writer.replace(Rib::new()).unwrap();
        drop(writer);
        assert!(old.upgrade().is_some(), "{engine}");
        assert_eq!(guard.lookup("10.1.2.3".parse().unwrap()), Some(hop(1)));
        drop(guard);
        assert_eq!(reader.pin().lookup("10.1.2.3".parse().unwrap()), None);
        drop(reader);
        assert!(old.upgrade().is_none(), "{engine}");
    }
}

/// The memory of a table whose routes are withdrawn is used again.
#[test]
fn a_drained_table_has_nothing() {
    let mut writer = writer::<Ipv4>(&[], "folio:s=16:lists=none:entries=0");
    let mut prefixes = Vec::new();
    for i in 0..600u32 {
        let length = [17, 20, 24, 25, 30, 32][i as usize % 6];
        let bits = 10 << 24 | i.wrapping_mul(0x9e37_79b9) >> 12;
        prefixes.push(Prefix::<Ipv4>::from_bits_masked(bits, length));
    }
    let mut first = 0;
    for round in 0..4 {
        for (i, prefix) in prefixes.iter().enumerate() {
            let next_hop = hop(1 + (i as u32 * 7 + round) % 300);
            writer.apply(Change::Announce(Route { prefix: *prefix, next_hop })).unwrap();
            writer.commit().unwrap();
        }
        agree(&writer);
        let used = writer.memory_usage().bytes();
        first = if round == 0 { used } else { first };
        assert!(used <= first + first / 8, "{used} bytes in round {round}, {first} at first");
        for prefix in &prefixes {
            writer.apply(Change::Withdraw(*prefix)).unwrap();
            writer.commit().unwrap();
        }
        agree(&writer);
        assert_eq!(writer.reclaim(), 0);
    }
}

/// Reader threads of both kinds look up the addresses that the writer changes.
#[test]
#[allow(clippy::too_many_lines, reason = "a list of engines, and the threads around one writer")]
fn readers_see_only_versions() {
    let all = [
        "folio",
        "folio:codes=32:lists=none:entries=none",
        "poptrie:s=16",
        "poptrie:s=0",
        "tree_bitmap",
        "tree_bitmap:stride=4",
        "dir24_8",
        "dxr",
        "dxr:d=12:x=4:wide",
        "spider",
    ];
    // Miri takes a thousand times as long.
    let (engines, last) = if cfg!(miri) {
        (&["poptrie:s=0", "folio:s=8:lists=none:entries=0"][..], 6)
    } else {
        (&all[..], 250)
    };
    for &engine in tested(engines) {
        let mut writer = writer::<Ipv4>(&[("10.0.0.0/8", 1)], engine);
        let readers: [_; 2] = core::array::from_fn(|_| writer.reader());
        let [mut pinning, mut online_reader] = readers;
        let keys: Vec<u32> = (0..64).map(|i| 0x0a01_0000 + i * 5).collect();
        // Next hops number the versions and only rise.
        let rises = |latest: &mut u32, out: &[Option<NextHopId>]| {
            for hop in out {
                let hop = hop.expect("every version has a route").get();
                assert!(hop >= *latest, "{hop} after {latest}");
            }
            *latest = out.iter().map(|hop| hop.unwrap().get()).min().unwrap();
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut latest, mut out) = (1, [None; 64]);
                while latest < last {
                    let guard = pinning.pin();
                    guard.lookup_batch(&keys, &mut out);
                    rises(&mut latest, &out);
                    guard.lookup_each(Simd::best(), &keys, &mut out);
                    rises(&mut latest, &out);
                }
            });
            scope.spawn(|| {
                let (mut latest, mut out) = (1, [None; 64]);
                let mut online = online_reader.online();
                while latest < last {
                    online.table().lookup_batch(&keys, &mut out);
                    rises(&mut latest, &out);
                    online.quiescent();
                }
            });
            for version in 2..=last {
                // All keys, by either route.
                for prefix in [["10.1.0.0/16", "10.1.0.0/20"], ["10.1.0.0/23", "10.0.0.0/8"]] {
                    for prefix in prefix {
                        writer.apply(announce(prefix, version)).unwrap();
                    }
                }
                writer.commit().unwrap();
                thread::yield_now();
            }
        });
        assert_eq!(writer.reclaim(), 0);
        agree(&writer);
    }
}

/// A change in a small universe: a prefix and a next hop, 0 to withdraw.
fn changes() -> impl Strategy<Value = Vec<Vec<(u8, u8, u16)>>> {
    let change = (any::<u8>(), 0..=12u8, prop_oneof![Just(0), 1..4u16, 250..260u16]);
    prop::collection::vec(prop::collection::vec(change, 1..4), 1..40)
}

/// Prefixes close to each other, with lengths around the cuts.
fn prefix<F: Engines>(place: u8, length: u8) -> Prefix<F> {
    let lengths4 = [0, 4, 8, 12, 13, 16, 19, 20, 23, 24, 25, 30, 32];
    let lengths6 = [0, 3, 12, 16, 20, 29, 30, 33, 40, 48, 64, 80, 128];
    let (base, spread, lengths) = match F::WIDTH {
        32 => (0x0a00_0000, u128::from(place) << 20 | u128::from(place) << 8 | 0xf0, lengths4),
        _ => (0x2001 << 112, u128::from(place) << 96 | u128::from(place) << 70 | 0xf, lengths6),
    };
    Prefix::from_bits_masked(F::Bits::from_u128(base ^ spread), lengths[usize::from(length)])
}

/// Engines that are slow to compare, but not large.
fn slow<F: Engines>() -> impl Iterator<Item = String> {
    engines::<F>().into_iter().filter(|engine| is_slow(engine) && !is_large::<F>(engine))
}

fn large<F: Engines>() -> impl Iterator<Item = String> {
    engines::<F>().into_iter().filter(|engine| is_large::<F>(engine))
}

fn follow<F: Engines>(engines: impl Iterator<Item = String>, commits: &[Vec<(u8, u8, u16)>]) {
    for engine in &engines.collect::<Vec<_>>() {
        let mut writer = writer::<F>(&[], engine);
        let mut failures = String::new();
        for commit in commits {
            for (place, length, id) in commit {
                let prefix = prefix::<F>(*place, *length);
                let change = match NextHopId::new((*id).into()) {
                    Some(next_hop) => Change::Announce(Route { prefix, next_hop }),
                    None => Change::Withdraw(prefix),
                };
                writer.apply(change).unwrap();
            }
            if let Err(error) = writer.commit() {
                failures += &alloc::format!("{error}; ");
            }
            agree(&writer);
        }
        assert_eq!(failures, "", "{engine}");
        assert_eq!(writer.reclaim(), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn ipv4_follows_its_routes(commits in changes()) {
        follow::<Ipv4>(engines::<Ipv4>().into_iter().filter(|it| !is_slow(it)), &commits);
    }

    #[test]
    fn ipv6_follows_its_routes(commits in changes()) {
        follow::<Ipv6>(engines::<Ipv6>().into_iter().filter(|it| !is_slow(it)), &commits);
    }

    // A third of the variants each: comparing these engines' answers after each commit takes most of the time of all tests.
    #[test]
    fn slow_engines_follow_ipv4_routes(commits in changes(), first in 0..3_usize) {
        follow::<Ipv4>(slow::<Ipv4>().skip(first).step_by(3), &commits);
    }

    #[test]
    fn slow_engines_follow_ipv6_routes(commits in changes(), first in 0..3_usize) {
        follow::<Ipv6>(slow::<Ipv6>().skip(first).step_by(3), &commits);
    }

    #[test]
    #[ignore = "takes minutes without optimisation"]
    fn all_slow_engines_follow_routes(commits in changes()) {
        follow::<Ipv4>(slow::<Ipv4>(), &commits);
        follow::<Ipv6>(slow::<Ipv6>(), &commits);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1, ..ProptestConfig::default() })]

    #[test]
    fn large_ipv4_tables_follow_their_routes(commits in changes()) {
        follow::<Ipv4>(large::<Ipv4>(), &commits);
    }

    #[test]
    fn large_ipv6_tables_follow_their_routes(commits in changes()) {
        follow::<Ipv6>(large::<Ipv6>(), &commits);
    }
}

impl HasDomain for Domain {
    fn domain(&self) -> &Domain {
        self
    }
}

#[test]
fn epochs_wait_for_online_readers() {
    let domain = Arc::new(Domain::new());
    let [a, b] = [(); 2].map(|()| ReaderSlot::new(domain.clone()));
    let first = domain.advance();
    assert_eq!(domain.oldest(), first + 1);
    a.enter();
    let second = domain.advance();
    b.enter();
    assert_eq!((second, domain.oldest()), (first + 1, second));
    a.quiescent();
    assert_eq!(domain.oldest(), second + 1);
    let third = domain.advance();
    assert_eq!((third, domain.oldest()), (second + 1, third));
    a.leave();
    assert_eq!(domain.oldest(), third);
    drop(b);
    assert_eq!(domain.oldest(), third + 1);
}

/// A dropped reader's slot is reused and blocks no reclamation.
#[test]
fn slots_are_reused() {
    let domain = Arc::new(Domain::new());
    for _ in 0..3 {
        let some: [_; 4] = core::array::from_fn(|_| ReaderSlot::new(domain.clone()));
        some.iter().for_each(ReaderSlot::enter);
        let epoch = domain.advance();
        assert_eq!((domain.oldest(), domain.slot_count()), (epoch, 4));
    }
    let epoch = domain.advance();
    assert_eq!(domain.oldest(), epoch + 1);
}

#[test]
fn the_last_epoch_stays() {
    let domain = Domain::before_the_last();
    let mut list = RetireList::default();
    for removed in ["before the last epoch", "in it", "in it, later"] {
        list.push(removed, 1);
        list.seal(domain.advance());
    }
    assert_eq!(list.pop(domain.oldest()), Some("before the last epoch"));
    assert_eq!(list.pop(domain.oldest()), None);
}
