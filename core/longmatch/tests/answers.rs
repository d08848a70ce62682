//! Lookups of compiled and live tables whose answers are values or routes, against the routes
//! themselves.

mod common;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};

use longmatch::simd::Simd;
use longmatch::table::{StridedKeys, TableSet};
use longmatch::{
    Addresses, Answers, CompileError, EngineKind, EngineSpec, Engines, Family, FrozenTable,
    InsertError, IpPrefix, Ipv4, Ipv6, Keys, NextHopId, Prefix, Rib, Table, TableSpec, TableWriter,
    UpdateError,
};

fn p(text: &str) -> IpPrefix {
    text.parse().unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Every engine, with Poptrie for IPv6 where it exists for IPv4 only, and the choice among them.
fn specs() -> impl Iterator<Item = TableSpec> {
    let kinds = EngineKind::ALL.into_iter().chain([EngineKind::Auto]);
    kinds.filter(|kind| <Ipv4 as Engines>::has(*kind)).map(|kind| {
        match <Ipv6 as Engines>::has(kind) {
            true => TableSpec::new(kind),
            false => TableSpec::new(kind).ipv6(EngineKind::Poptrie),
        }
    })
}

/// A table of routes of all lengths, each with its own value: its prefix and its number.
fn distinct(routes: u32) -> Table<(IpPrefix, usize)> {
    let mut table = Table::new();
    let [ipv4, ipv6] = [
        common::spread::<Ipv4>(routes).iter().map(|route| route.prefix.into()).collect::<Vec<_>>(),
        common::spread::<Ipv6>(routes).iter().map(|route| route.prefix.into()).collect(),
    ];
    for (i, prefix) in ipv4.into_iter().chain(ipv6).enumerate() {
        table.insert(prefix, (prefix, i)).unwrap();
    }
    table
}

/// The ends of every route and their neighbours, and addresses between.
fn addresses<F: Family>(rib: &Rib<F>) -> Vec<F::Bits> {
    use longmatch::Bits;
    let ends = rib.iter().flat_map(|route| {
        let (first, last) = (route.prefix.first(), route.prefix.last());
        [first.predecessor(), Some(first), Some(last), last.successor()].into_iter().flatten()
    });
    let mut addrs: Vec<_> = ends.collect();
    // So that neighbours in a batch are far apart.
    let len = addrs.len();
    (0..len).for_each(|i| addrs.swap(i, i * 7919 % len));
    addrs
}

/// Verifies the batches of a type of addresses, at several lengths, against single lookups.
fn batches_of<A, I, T>(table: &FrozenTable<T>, addrs: &[I], slice: impl Fn(&[I]) -> A)
where
    A: Addresses<Prefix: std::fmt::Debug + PartialEq>,
    I: Copy + Into<IpAddr>,
    T: std::fmt::Debug + PartialEq,
{
    for len in [addrs.len(), 5000, 256, 33, 1, 0] {
        let addrs = &addrs[..len.min(addrs.len())];
        // One entry too many, which keeps its value.
        let first = table.iter().next().map(|(_, value)| value);
        let mut values = vec![first; addrs.len() + 1];
        let mut ids = vec![NextHopId::new(7); addrs.len() + 1];
        let mut routes = vec![None; addrs.len() + 1];
        table.lookup_batch(slice(addrs), &mut values);
        table.lookup_ids(slice(addrs), &mut ids);
        table.get_lpm_batch(slice(addrs), &mut routes);
        assert_eq!(
            (values.pop(), ids.pop(), routes.pop()),
            (Some(first), Some(NextHopId::new(7)), Some(None))
        );
        for (i, addr) in addrs.iter().enumerate() {
            let addr: IpAddr = (*addr).into();
            let lpm = table.get_lpm(addr);
            assert_eq!(values[i], lpm.map(|(_, value)| value), "{addr}");
            assert_eq!(ids[i], table.lookup_id(addr), "{addr}");
            let found = routes[i].map(|(prefix, value)| (unmapped(prefix, table), value));
            assert_eq!(found, lpm, "{addr}");
        }
    }
}

/// The prefix as the table knows it.
fn unmapped<T>(prefix: impl Into<IpPrefix>, table: &FrozenTable<T>) -> IpPrefix {
    let prefix = prefix.into();
    if table.get(prefix.unmapped()).is_some() { prefix.unmapped() } else { prefix }
}

/// Verifies every way to look up an address in a table with both families.
fn verify<T: std::fmt::Debug + PartialEq>(table: &FrozenTable<T>) {
    let what = format!("{:?} {:?}", table.answers(), table.ipv4().name());
    table.check().unwrap_or_else(|corrupt| panic!("{what}: {corrupt}"));
    let ipv4 = addresses(table.table().ipv4());
    let ipv6 = addresses(table.table().ipv6());
    each_of_family::<Ipv4, T>(table, table.table().ipv4(), &ipv4, &what);
    each_of_family::<Ipv6, T>(table, table.table().ipv6(), &ipv6, &what);
    levels::<T>(table, &ipv4, &ipv6);

    let addrs: Vec<Ipv4Addr> = ipv4.iter().map(|addr| Ipv4Addr::from(*addr)).collect();
    let octets4: Vec<[u8; 4]> = ipv4.iter().map(|addr| addr.to_be_bytes()).collect();
    batches_of(table, &addrs, |addrs| &ipv4[..addrs.len()]);
    batches_of(table, &addrs, |addrs| &octets4[..addrs.len()]);
    let addrs6: Vec<Ipv6Addr> = ipv6.iter().map(|addr| Ipv6Addr::from(*addr)).collect();
    let octets: Vec<[u8; 16]> = ipv6.iter().map(|addr| addr.to_be_bytes()).collect();
    let pairs: Vec<[u64; 2]> =
        ipv6.iter().map(|addr| [(addr >> 64) as u64, *addr as u64]).collect();
    batches_of(table, &addrs6, |addrs| &ipv6[..addrs.len()]);
    batches_of(table, &addrs6, |addrs| &octets[..addrs.len()]);
    batches_of(table, &addrs6, |addrs| &pairs[..addrs.len()]);
    let headers: Vec<u8> =
        octets4.iter().flat_map(|octets| [&[7; 3][..], octets].concat()).collect();
    let strided = |len| StridedKeys::<Ipv4>::new(&headers, 3, 7, len).unwrap();
    batches_of(table, &addrs, |addrs| strided(addrs.len()));
    let headers: Vec<u8> =
        octets.iter().flat_map(|octets| [octets, &[7; 5][..]].concat()).collect();
    let strided = |len| StridedKeys::<Ipv6>::new(&headers, 0, 21, len).unwrap();
    batches_of(table, &addrs6, |addrs| strided(addrs.len()));
    let len = headers.len();
    for (offset, stride, count) in
        [(len - 15, 0, 1), (len, 21, 1), (1, 21, len), (0, usize::MAX, 3)]
    {
        assert!(StridedKeys::<Ipv6>::new(&headers, offset, stride, count).is_none());
    }
    // A closure cannot return slices that it borrows from such references.
    let mixed: Vec<IpAddr> = addrs
        .iter()
        .zip(&addrs6)
        .enumerate()
        .flat_map(|(i, (ipv4, ipv6))| match i % 3 {
            0 => vec![IpAddr::from(*ipv4), IpAddr::from(*ipv6)],
            1 => vec![IpAddr::from(ipv4.to_ipv6_mapped())],
            _ => vec![IpAddr::from(*ipv6); 2],
        })
        .collect();
    batches_of(table, &mixed, |part| &mixed[..part.len()]);
    batches_of(table, &addrs, |part| &addrs[..part.len()]);
    batches_of(table, &addrs6, |part| &addrs6[..part.len()]);
}

/// Verifies single lookups against the routes.
fn each_of_family<F: Family, T: std::fmt::Debug + PartialEq>(
    table: &FrozenTable<T>,
    rib: &Rib<F>,
    addrs: &[F::Bits],
    what: &str,
) where
    F::Addr: Into<IpAddr>,
    Prefix<F>: Into<IpPrefix>,
{
    for addr in addrs.iter().map(|addr| F::addr(*addr)) {
        let right = rib.get_lpm(addr);
        let value = |id| table.table().value(id).unwrap();
        let right = right.map(|route| (route.prefix.into(), value(route.next_hop)));
        assert_eq!(table.get_lpm(addr), right, "{what}: {addr}");
        assert_eq!(table.lookup(addr), right.map(|(_, value)| value), "{what}: {addr}");
        let id = table.lookup_id(addr);
        assert_eq!(id.map(|id| table.value(id).unwrap()), right.map(|(_, value)| value));
        match table.answers() {
            Answers::Values => assert_eq!(id.and_then(|id| table.route(id)), None),
            Answers::Routes => assert_eq!(id.map(|id| table.route(id).unwrap()), right, "{what}"),
        }
    }
}

/// Verifies the ids at every level of the CPU. Those of values are also the table's.
fn levels<T>(table: &FrozenTable<T>, ipv4: &[u32], ipv6: &[u128]) {
    let (mut right4, mut right6) = (vec![None; ipv4.len()], vec![None; ipv6.len()]);
    if table.answers() == Answers::Values {
        table.lookup_ids(ipv4, &mut right4);
        table.lookup_ids(Keys::<Ipv6>::host(ipv6), &mut right6);
    } else {
        table.ipv4().lookup_each(Simd::best(), ipv4, &mut right4);
        table.ipv6().lookup_each(Simd::best(), ipv6, &mut right6);
    }
    for simd in common::levels() {
        let (mut out4, mut out6) = (vec![None; ipv4.len()], vec![None; ipv6.len()]);
        table.ipv4().lookup_batch_with(simd, ipv4, &mut out4);
        table.ipv6().lookup_batch_with(simd, ipv6, &mut out6);
        assert!(out4 == right4, "{} at {}", table.ipv4().name(), simd.level());
        // The table answers IPv4-mapped addresses by IPv4 routes, the engine does not.
        let mapped = |addr: u128| addr >> 32 == 0xffff;
        let same = ipv6.iter().zip(out6.iter().zip(&right6));
        assert!(same.clone().all(|(addr, (own, right))| own == right || mapped(*addr)));
    }
}

#[test]
fn every_engine_answers_with_routes_and_values() {
    let table = distinct(if common::quick() { 200 } else { 1000 });
    for spec in specs() {
        for answers in [Answers::Values, Answers::Routes] {
            verify(&table.clone().freeze(spec.clone().answers(answers)).unwrap());
        }
    }
}

/// Routes with equal values have different ids; equal values alone do not.
#[test]
fn routes_with_equal_values_have_ids_of_their_own() {
    let mut table = Table::new();
    for prefix in ["10.0.0.0/8", "10.9.0.0/16", "0.0.0.0/0", "2001:db8::/32", "::/0"] {
        table.insert(p(prefix), "one").unwrap();
    }
    let values = table.clone().freeze(EngineKind::Folio).unwrap();
    let routes = table.freeze(TableSpec::new(EngineKind::Folio).answers(Answers::Routes)).unwrap();
    for table in [&values, &routes] {
        for (addr, prefix) in [
            ("10.9.1.1", "10.9.0.0/16"),
            ("10.1.1.1", "10.0.0.0/8"),
            ("::ffff:10.1.1.1", "10.0.0.0/8"),
            ("1.1.1.1", "0.0.0.0/0"),
            ("2001:db8::1", "2001:db8::/32"),
            ("::1", "::/0"),
        ] {
            assert_eq!(table.get_lpm(ip(addr)), Some((p(prefix), &"one")));
        }
        verify(table);
    }
    let ids = |table: &FrozenTable<_>| {
        ["10.9.1.1", "10.1.1.1", "1.1.1.1", "2001:db8::1", "::1"]
            .map(|addr| table.lookup_id(ip(addr)).unwrap().get())
    };
    assert_eq!(ids(&values), [1; 5]);
    assert_eq!(ids(&routes), [3, 2, 1, 5, 4], "in the table's order, IPv4 first");
}

/// IPv4-mapped addresses follow the table's rule in every type, wherever they stand in a batch.
#[test]
fn mapped_addresses_in_batches() {
    let mapped = |addr: u32| 0xffff_0000_0000 | u128::from(addr);
    for keep in [false, true] {
        let mut table = if keep { Table::new().keep_mapped() } else { Table::new() };
        for (prefix, value) in [("10.0.0.0/8", 4), ("2001:db8::/32", 6), ("::/0", 0)] {
            table.insert(p(prefix), value).unwrap();
        }
        for answers in [Answers::Values, Answers::Routes] {
            let spec = TableSpec::new(EngineKind::Poptrie).answers(answers);
            let table = table.clone().freeze(spec).unwrap();
            let right = if keep { 0 } else { 4 };
            for at in [0, 1, 255, 256, 4095, 4096, 9000, 9999] {
                let mut addrs = vec![0x2001_0db8 << 96; 10_000];
                addrs[at] = mapped(0x0a00_0001);
                addrs[(at + 1) % 10_000] = mapped(0x0b00_0001);
                let mut values = vec![None; 10_000];
                table.lookup_batch(&addrs, &mut values);
                let others = values.iter().filter(|value| **value == Some(&6)).count();
                assert_eq!((values[at], others), (Some(&right), 9998), "at {at}");
                assert_eq!(values[(at + 1) % 10_000], keep.then_some(&0));
                let mut found = vec![None; 10_000];
                table.get_lpm_batch(&addrs, &mut found);
                let prefix = if keep { "::/0" } else { "::ffff:10.0.0.0/104" };
                assert_eq!(found[at], Some((prefix.parse::<Prefix<Ipv6>>().unwrap(), &right)));
                assert_eq!(found[(at + 9) % 10_000], Some(("2001:db8::/32".parse().unwrap(), &6)));
            }
            let mixed = ["::ffff:10.0.0.1", "10.0.0.1", "::1", "11.0.0.1"].map(ip);
            let mut found = [None; 4];
            table.get_lpm_batch(&mixed, &mut found);
            let own = if keep { ("::/0", &0) } else { ("10.0.0.0/8", &4) };
            let right = [Some(own), Some(("10.0.0.0/8", &4)), Some(("::/0", &0)), None];
            assert_eq!(found, right.map(|right| right.map(|(prefix, value)| (p(prefix), value))));
        }
    }
}

/// An engine that lacks a family is fine while the family has no routes.
#[test]
fn empty_families_need_no_engine() {
    let mut table = Table::new();
    table.insert(p("10.0.0.0/8"), 1).unwrap();
    let kinds = EngineKind::ALL.into_iter().chain([EngineKind::Auto]);
    for kind in kinds.filter(|kind| <Ipv4 as Engines>::has(*kind)) {
        for answers in [Answers::Values, Answers::Routes] {
            let spec = TableSpec::new(kind).answers(answers);
            let empty = Table::<u8>::new().freeze(spec.clone()).unwrap();
            assert_eq!((empty.lookup(ip("::1")), empty.lookup(ip("10.0.0.1"))), (None, None));
            let frozen = table.clone().freeze(spec.clone()).unwrap();
            frozen.check().unwrap();
            let mixed = ["10.0.0.1", "::1", "2001:db8::"].map(ip);
            let mut out = [Some(&9); 3];
            frozen.lookup_batch(&mixed, &mut out);
            assert_eq!(out, [Some(&1), None, None], "{kind}");
            assert_eq!(frozen.get_lpm(ip("::1")), None);

            let mut writer = table.clone().live(spec).unwrap();
            let mut reader = writer.reader();
            {
                let guard = reader.pin();
                let mut out = [Some(&9); 3];
                guard.lookup_batch(&mixed, &mut out);
                assert_eq!(out, [Some(&1), None, None], "{kind}");
            }
            let inserted = writer.insert(p("2001:db8::/32"), 6).map(drop);
            match <Ipv6 as Engines>::has(kind) {
                true => assert_eq!(inserted, Ok(())),
                false => {
                    let lacks = InsertError::Family { engine: kind.name(), family: "ipv6" };
                    assert_eq!(inserted, Err(lacks));
                    assert!(lacks.to_string().starts_with("sail: this engine does not exist"));
                    refuses_to_replace(&mut writer);
                }
            }
            writer.insert(p("11.0.0.0/8"), 2).unwrap();
            assert_eq!(writer.remove(p("2001:db8::/33")), None);
            writer.commit().unwrap();
            writer.check().unwrap();
            assert_eq!(reader.pin().lookup(ip("11.0.0.1")), Some(&2));
        }
    }
}

fn refuses_to_replace(writer: &mut TableWriter<u8>) {
    let mut other = Table::new();
    other.insert(p("2001:db8::/32"), 6).unwrap();
    let refused = writer.replace(other.clone());
    assert!(matches!(refused, Err(UpdateError::Limit(CompileError::Family { .. }))), "{refused:?}");
    assert_eq!((writer.get(p("10.0.0.0/8")), writer.len()), (Some(&1), 1));
    writer.check().unwrap();
    let frozen = other.freeze(EngineKind::Sail).map(drop);
    assert_eq!(frozen, Err(CompileError::Family { engine: "sail", family: "ipv6" }));
}

#[test]
fn short_outputs_panic() {
    let mut table = Table::new();
    table.insert(p("10.0.0.0/8"), 1).unwrap();
    let frozen = table.clone().freeze(EngineKind::Folio).unwrap();
    let addrs = [ip("10.0.0.1"), ip("::1")];
    let panics = |run: &dyn Fn()| {
        let error = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        let message = error.downcast_ref::<String>().unwrap();
        assert!(message.contains("the output holds 1 answers, but there are 2"), "{message}");
    };
    panics(&|| table.lookup_batch(&addrs, &mut [None]));
    panics(&|| table.get_lpm_batch(&addrs, &mut [None]));
    panics(&|| frozen.lookup_ids(&addrs, &mut [None]));
    panics(&|| frozen.lookup_batch(&addrs, &mut [None]));
    panics(&|| frozen.get_lpm_batch(&[0x0a00_0001_u32, 1], &mut [None]));
    panics(&|| frozen.lookup_ids(&[Ipv6Addr::LOCALHOST; 2], &mut [None]));
    panics(&|| frozen.lookup_ids(&[0u128; 2], &mut [None]));
    let mut reader = table.live(EngineKind::Folio).unwrap().reader();
    panics(&|| reader.clone().pin().lookup_batch(&addrs, &mut [None]));
    let guard = reader.pin();
    let error = catch_unwind(AssertUnwindSafe(|| guard.get_lpm(ip("10.0.0.1")).is_some()));
    let error = error.unwrap_err();
    let message = error.downcast_ref::<&str>().unwrap();
    assert!(message.contains("Answers::Routes"), "{message}");
}

#[test]
fn clones_are_independent() {
    for answers in [Answers::Values, Answers::Routes] {
        let table = distinct(50).freeze(TableSpec::new(EngineKind::Dxr).answers(answers)).unwrap();
        let clone = table.clone();
        let mut thawed = table.thaw();
        let all: Vec<IpPrefix> = thawed.iter().map(|(prefix, _)| prefix).collect();
        for prefix in all {
            assert!(thawed.remove(prefix).is_some());
        }
        verify(&clone);
        assert!(thawed.is_empty() && clone.table().len() == clone.len() && !clone.is_empty());
    }
}

/// The methods over routes are those of the table that was compiled.
#[test]
fn frozen_and_live_tables_know_their_routes() {
    let table = distinct(200);
    let frozen = table.clone().freeze(TableSpec::default().answers(Answers::Routes)).unwrap();
    let writers = [Answers::Values, Answers::Routes].map(|answers| {
        table.clone().live(TableSpec::new(EngineKind::Folio).answers(answers)).unwrap()
    });
    assert!(frozen.iter().eq(table.iter()));
    assert!(writers.iter().all(|writer| writer.iter().eq(table.iter())));
    for (prefix, value) in table.iter() {
        assert_eq!(frozen.get(prefix), Some(value));
        assert!(frozen.cover(prefix).eq(table.cover(prefix)));
        assert!(frozen.children(prefix).eq(table.children(prefix)));
        for writer in &writers {
            assert_eq!(writer.get(prefix), Some(value));
            assert!(writer.cover(prefix).eq(table.cover(prefix)));
            assert!(writer.children(prefix).eq(table.children(prefix)));
            let addr = IpPrefix::addr(prefix);
            assert_eq!(writer.get_lpm(addr), table.get_lpm(addr));
            assert_eq!(writer.lookup(addr), table.lookup(addr));
        }
    }
}

/// More routes than narrow entries have ids for: a wider variant takes them, or an error names the
/// limit.
#[test]
fn many_routes_take_wider_variants() {
    let count = if common::quick() { 40_000 } else { 70_000 };
    let mut table = Table::new();
    for i in 0..count {
        let prefix = Prefix::<Ipv4>::from_bits_masked(0x0a00_0000 + (i << 8), 24);
        table.insert(prefix, ()).unwrap();
    }
    for spec in specs() {
        let spec = spec.answers(Answers::Routes);
        match table.clone().freeze(spec.clone()) {
            Ok(frozen) => {
                for i in (0..count).step_by(997) {
                    let addr = Ipv4Addr::from(0x0a00_0001 + (i << 8));
                    let (prefix, ()) = frozen.get_lpm(addr).unwrap();
                    assert_eq!(
                        (prefix.addr(), prefix.len()),
                        (Ipv4Addr::from(0x0a00_0000 + (i << 8)).into(), 24)
                    );
                }
            }
            Err(CompileError::NextHopTooLarge { engine: "sail", id, limit }) => {
                assert!(id == count && limit == 32_767, "{limit}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    // A live table takes the wider variant when it needs it.
    for engine in ["dxr", "spider"] {
        let spec: EngineSpec = engine.parse().unwrap();
        let mut writer = Table::new().live(TableSpec::new(spec).answers(Answers::Routes)).unwrap();
        let mut reader = writer.reader();
        for (prefix, ()) in table.iter() {
            writer.insert(prefix, ()).unwrap();
        }
        writer.commit().unwrap();
        let guard = reader.pin();
        let last = Ipv4Addr::from(0x0a00_0001 + ((count - 1) << 8));
        assert_eq!(guard.get_lpm(last).map(|(prefix, ())| prefix.len()), Some(24), "{engine}");
    }
}

/// A route of a table, or of all tables.
type SetRoute = (Option<u32>, IpPrefix);

/// The value of the longest prefix of a table: its own and the shared routes, one by one.
fn of_set(routes: &BTreeMap<SetRoute, u32>, table: u32, addr: IpAddr) -> Option<u32> {
    let host = IpPrefix::host(addr).unmapped();
    let in_table = routes
        .iter()
        .filter(|((own, prefix), _)| own.is_none_or(|own| own == table) && prefix.covers(host));
    let longest = in_table.max_by_key(|((own, prefix), _)| (prefix.len(), own.is_some()));
    longest.map(|(_, value)| *value)
}

/// Sets of tables after random changes answer as the routes do, one by one and in batches.
#[test]
fn sets_of_tables_answer_for_each_table() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for (round, spec) in specs().enumerate() {
        let (mut set, mut routes) = (TableSet::<u32, u32>::new(), BTreeMap::new());
        for step in 0..if common::quick() { 2 } else { 4 } {
            for _ in 0..150 {
                // Few bits, so that prefixes cover each other.
                let bits = (random(8) << 29 | random(4) << 21 | random(4)) as u32;
                let prefix: IpPrefix = match random(2) {
                    0 => Prefix::<Ipv4>::from_bits_masked(bits, random(33) as u8).into(),
                    _ => {
                        let bits = u128::from(bits) << 96 | u128::from(random(3));
                        Prefix::<Ipv6>::from_bits_masked(bits, random(129) as u8).into()
                    }
                };
                let (table, value) = (random(6) as u32, random(9) as u32);
                let table = (table > 0).then_some(table);
                if random(3) == 0 {
                    let removed = match table {
                        Some(table) => set.remove(&table, prefix),
                        None => set.remove_shared(prefix),
                    };
                    assert_eq!(removed.copied(), routes.remove(&(table, prefix)));
                } else {
                    let old = match table {
                        Some(table) => set.insert(table, prefix, value),
                        None => set.insert_shared(prefix, value),
                    };
                    assert_eq!(old.unwrap().copied(), routes.insert((table, prefix), value));
                }
            }
            let frozen = set.freeze(spec.clone()).unwrap();
            let ends = routes.keys().flat_map(|(_, prefix)| match prefix {
                IpPrefix::V4(p) => [p.first(), p.last()].map(|a| IpAddr::from(Ipv4Addr::from(a))),
                IpPrefix::V6(p) => [p.first(), p.last()].map(|a| IpAddr::from(Ipv6Addr::from(a))),
            });
            let addrs: Vec<_> = ends.chain([ip("::ffff:10.0.0.1"), ip("10.0.0.1")]).collect();
            for table in 0..7 {
                let id = frozen.table(&table);
                let right: Vec<_> = addrs.iter().map(|a| of_set(&routes, table, *a)).collect();
                let one = addrs.iter().map(|addr| frozen.lookup(id, *addr).copied());
                assert!(one.eq(right.iter().copied()), "{spec:?} {round} {step} {table}");
                let mut found = vec![None; addrs.len()];
                frozen.lookup_batch(&vec![id; addrs.len()], &addrs, &mut found);
                assert!(found.iter().map(|value| value.copied()).eq(right.iter().copied()));
            }
            set = frozen.thaw();
        }
        for (table, prefix) in routes.into_keys() {
            let removed = match table {
                Some(table) => set.remove(&table, prefix),
                None => set.remove_shared(prefix),
            };
            assert!(removed.is_some());
        }
        assert!(set.is_empty());
    }
}

/// A router's customers have a table each.
#[test]
fn a_thousand_small_tables_are_small() {
    let mut bytes = 0;
    for customer in 0..1_000_u32 {
        let routes = (0..11_u32).map(|i| {
            let network = customer.wrapping_mul(0x9e37_79b9).wrapping_add(i << 13);
            let prefix = Prefix::<Ipv4>::from_bits_masked(network, 24 - (i % 9) as u8);
            (IpPrefix::from(prefix), i)
        });
        let table: Table<u32> = routes.collect();
        let fast = table.freeze(EngineKind::Auto).unwrap();
        fast.check().unwrap();
        bytes += fast.ipv4().memory_usage().bytes() + fast.ipv6().memory_usage().bytes();
        bytes += fast.table().ipv4().memory_bytes() + fast.table().ipv6().memory_bytes();
    }
    assert!(bytes <= 4 << 20, "1,000 tables take {bytes} bytes");
}
