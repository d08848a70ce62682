//! Measures lookups of compiled tables that answer with the matched prefix, beside ids alone.
//!
//! `compiled [--passes N] ROUTES [ROUTES]...`: text or zstd, `prefix number` lines. Every route is compiled to an id of
//! its own, so an engine holds as many ids as routes. Each engine and kind of answer runs in turn in each of N passes
//! (default 5, after one that is discarded), on a million addresses inside random routes, in batches of 256 and one by
//! one. All answers are compared with the table's own before a rate is printed: million lookups a second, medians with
//! least and greatest.

#[path = "../input.rs"]
mod input;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Instant;

use input::Random;
use longmatch::{Addresses, Answers, EngineKind, FrozenTable, IpPrefix, Table, TableSpec};

/// Addresses that are looked up.
const LOOKUPS: usize = 1_000_000;
/// Addresses in a batch.
const BATCH: usize = 256;

/// The kinds of answers, in the order of the columns.
const KINDS: [&str; 5] = ["ids", "prefixes", "of addresses", "of mixed", "one by one"];

/// The rates of an engine, by kind of answers.
struct Row {
    engine: &'static str,
    table: Result<FrozenTable<u32>, String>,
    rates: [Vec<f64>; KINDS.len()],
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let passes = input::take_passes(&mut args, 5);
    assert!(!args.is_empty(), "usage: compiled [--passes N] ROUTES [ROUTES]...");
    println!(
        "{}, one thread; medians of {passes} passes in million lookups a second",
        input::cpu()
    );
    for file in &args {
        let text = input::read(file);
        let mut table = Table::new();
        for line in text.lines() {
            let (prefix, value) = line.split_once(' ').expect("a prefix and a number");
            let prefix: IpPrefix = prefix.parse().expect("a prefix");
            table
                .insert(prefix, value.parse::<u32>().expect("a number"))
                .expect("below every limit");
        }
        if table.ipv4().is_empty() {
            let addrs: Vec<u128> = inside(&table, |bits| bits);
            measure(&table, &addrs, Ipv6Addr::from_bits, passes);
        } else {
            let addrs: Vec<u32> = inside(&table, |bits| bits as u32);
            measure(&table, &addrs, Ipv4Addr::from_bits, passes);
        }
    }
}

/// Addresses inside random routes.
fn inside<B>(table: &Table<u32>, bits: impl Fn(u128) -> B) -> Vec<B> {
    let routes: Vec<(u128, u8)> = table
        .keys()
        .map(|prefix| match prefix {
            IpPrefix::V4(prefix) => (prefix.bits().into(), 32 - prefix.len()),
            IpPrefix::V6(prefix) => (prefix.bits(), 128 - prefix.len()),
        })
        .collect();
    let mut random = Random::new();
    let addr = |_| {
        let (first, host_bits) = routes[random.below(routes.len())];
        let host = 1_u128.checked_shl(host_bits.into()).map_or(u128::MAX, |end| end - 1);
        bits(first | random.wide() & host)
    };
    (0..LOOKUPS).map(addr).collect()
}

fn measure<B: Copy, A: Copy + Into<IpAddr>>(
    table: &Table<u32>,
    bits: &[B],
    addr: impl Fn(B) -> A,
    passes: usize,
) where
    for<'a> &'a [B]: Addresses,
    for<'a> &'a [A]: Addresses,
{
    let addrs: Vec<A> = bits.iter().map(|bits| addr(*bits)).collect();
    let mixed: Vec<IpAddr> = addrs.iter().map(|addr| (*addr).into()).collect();
    let expected: Vec<Option<(IpPrefix, u32)>> = mixed
        .iter()
        .map(|addr| table.get_lpm(*addr).map(|(prefix, value)| (prefix, *value)))
        .collect();
    println!("\n{} routes, each an id", table.len());
    let compile = |kind: EngineKind| {
        let spec = TableSpec::new(kind).answers(Answers::Routes);
        let table = table.clone().freeze(spec).map_err(|error| error.to_string());
        Row { engine: kind.name(), table, rates: Default::default() }
    };
    let kinds = EngineKind::ALL.into_iter().filter(|kind| !kind.is_oracle());
    let mut rows: Vec<Row> = kinds.map(compile).collect();
    for pass in 0..=passes {
        for row in &mut rows {
            let Ok(table) = &row.table else { continue };
            let times = [
                ids(table, bits, &expected),
                prefixes(table, bits, &expected),
                prefixes(table, &addrs, &expected),
                prefixes(table, &mixed, &expected),
                one_by_one(table, &mixed, &expected),
            ];
            // The first pass warms up.
            if pass > 0 {
                row.rates.iter_mut().zip(times).for_each(|(rates, rate)| rates.push(rate));
            }
        }
    }
    print(&mut rows);
}

/// Rate of lookups with ids as answers.
fn ids<B>(table: &FrozenTable<u32>, addrs: &[B], expected: &[Option<(IpPrefix, u32)>]) -> f64
where
    for<'a> &'a [B]: Addresses,
{
    let mut out = vec![None; addrs.len()];
    let start = Instant::now();
    for (addrs, out) in addrs.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        table.lookup_ids(addrs, out);
    }
    let rate = rate(start);
    let route = |id| table.route(id).map(|(prefix, value)| (prefix, *value));
    assert!(out.iter().zip(expected).all(|(id, expected)| id.and_then(route) == *expected));
    rate
}

/// Rate of lookups with prefixes and values as answers.
fn prefixes<B>(table: &FrozenTable<u32>, addrs: &[B], expected: &[Option<(IpPrefix, u32)>]) -> f64
where
    for<'a> &'a [B]: Addresses,
{
    let mut out = vec![None; addrs.len()];
    let start = Instant::now();
    for (addrs, out) in addrs.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        table.get_lpm_batch(addrs, out);
    }
    let rate = rate(start);
    for (found, expected) in out.into_iter().zip(expected) {
        assert!(found.map(|(prefix, value)| (prefix.into(), *value)) == *expected);
    }
    rate
}

/// Rate of single lookups with prefixes and values as answers.
fn one_by_one(
    table: &FrozenTable<u32>,
    addrs: &[IpAddr],
    expected: &[Option<(IpPrefix, u32)>],
) -> f64 {
    let mut out = vec![None; addrs.len()];
    let start = Instant::now();
    for (addr, out) in addrs.iter().zip(&mut out) {
        *out = table.get_lpm(*addr).map(|(prefix, value)| (prefix, *value));
    }
    let rate = rate(start);
    assert!(out == expected);
    rate
}

/// Million lookups a second since `start`.
fn rate(start: Instant) -> f64 {
    LOOKUPS as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn print(rows: &mut [Row]) {
    print!("{:12}", "");
    KINDS.iter().for_each(|kind| print!("{kind:>22}"));
    println!();
    for Row { engine, table, rates } in rows {
        print!("{engine:12}");
        if let Err(error) = table {
            println!("  {error}");
            continue;
        }
        for rates in rates {
            rates.sort_by(f64::total_cmp);
            let [least, .., greatest] = rates[..] else { continue };
            let median = rates[rates.len() / 2];
            print!("{:>22}", format!("{median:.1} ({least:.1} - {greatest:.1})"));
        }
        println!();
    }
}
