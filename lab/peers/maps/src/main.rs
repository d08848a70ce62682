//! Measures `longmatch::Table` beside prefix-trie and ip_network_table, as maps.
//!
//! `longmatch-maps [--passes N] ROUTES UPDATES [ROUTES UPDATES]...`: text or zstd; routes are `prefix number` lines,
//! updates `A prefix number` and `W prefix`. Each operation runs on all maps in turn in each of N passes (default 7,
//! after one that is discarded); results are compared before a time is printed. Output: a table of medians with
//! least and greatest, in nanoseconds, and one JSON record a line on request (`--json`).

#[path = "../../rust/src/counting.rs"]
mod counting;
mod input;
mod maps;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Instant;

use input::Random;
use longmatch::Table;
use maps::{Addr, Map, Nets};
use prefix_trie::PrefixMap;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// Keys of each kind of lookup.
const LOOKUPS: usize = 1_000_000;

/// The inputs of one family.
struct Input<A> {
    routes: Vec<(A, u8, u32)>,
    /// Announcements and withdrawals in order.
    updates: Vec<(A, u8, Option<u32>)>,
    /// The routes in random order, by index.
    order: Vec<usize>,
    /// Addresses inside random routes.
    addrs: Vec<A>,
}

/// Times of one operation by map, in nanoseconds an item.
#[derive(Default)]
struct Row {
    times: BTreeMap<&'static str, Vec<f64>>,
    /// The result, which is the same for all maps.
    result: Option<u64>,
}

type Rows = Vec<(&'static str, Row)>;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let json = take_flag(&mut args, "--json");
    let passes = input::take_passes(&mut args, 7);
    assert!(!args.is_empty() && args.len() % 2 == 0, "usage: longmatch-maps ROUTES UPDATES ...");
    println!("{}, one thread; medians of {passes} passes in ns (least - greatest)", input::cpu());
    for files in args.chunks(2) {
        let (routes, updates) = (input::read(&files[0]), input::read(&files[1]));
        if routes.lines().next().is_some_and(|line| line.contains(':')) {
            family::<Ipv6Addr, PrefixMap<ipnet::Ipv6Net, u32>>(&routes, &updates, passes, json);
        } else {
            family::<Ipv4Addr, PrefixMap<ipnet::Ipv4Net, u32>>(&routes, &updates, passes, json);
        }
    }
}

fn take_flag(args: &mut Vec<String>, flag: &str) -> bool {
    let before = args.len();
    args.retain(|arg| arg != flag);
    args.len() < before
}

/// Measures the three maps with the routes of one family.
fn family<A: Addr, P: Map<A>>(routes: &str, updates: &str, passes: usize, json: bool)
where
    Table<u32>: Map<A>,
    Nets<A>: Map<A>,
{
    let input = Input::<A>::parse(routes, updates);
    println!(
        "\n{} routes of {} bits, {} updates",
        input.routes.len(),
        A::WIDTH,
        input.updates.len()
    );
    let mut rows = Rows::new();
    for pass in 0..=passes {
        // The first pass warms up caches and the allocator.
        if pass == 1 {
            rows.clear();
        }
        measure::<A, Table<u32>>(&input, &mut rows);
        measure::<A, P>(&input, &mut rows);
        measure::<A, Nets<A>>(&input, &mut rows);
    }
    let names = [<Table<u32> as Map<A>>::NAME, P::NAME, <Nets<A> as Map<A>>::NAME];
    print(&rows, names, A::WIDTH, json);
}

/// Runs every operation once on a map.
fn measure<A: Addr, M: Map<A>>(input: &Input<A>, rows: &mut Rows) {
    let n = input.routes.len();
    let keys: Vec<M::Key> = input.routes.iter().map(|(addr, len, _)| M::key(*addr, *len)).collect();
    let mixed: Vec<(M::Key, u32)> =
        input.order.iter().map(|i| (keys[*i], input.routes[*i].2)).collect();
    let updates: Vec<(M::Key, Option<u32>)> =
        input.updates.iter().map(|(addr, len, value)| (M::key(*addr, *len), *value)).collect();
    let mut run = Run { rows, map: M::NAME };

    let mut random = M::new();
    run.time("insert, random order", n, || {
        mixed.iter().for_each(|(key, value)| random.insert(*key, *value));
        random.iter()
    });
    let before = counting::held();
    let mut map = M::new();
    run.time("insert, sorted", n, || {
        keys.iter().zip(&input.routes).for_each(|(key, route)| map.insert(*key, route.2));
        map.iter()
    });
    run.note("bytes a route", (counting::held() - before) as f64 / n as f64);
    let addrs = &input.addrs;
    let lpm = |map: &M| {
        sum(addrs, |addr| map.get_lpm(*addr).map_or(0, |(len, it)| u64::from(len) + u64::from(it)))
    };
    run.time("get_lpm", addrs.len(), || lpm(&map));
    run.time("get_lpm, after random inserts", addrs.len(), || lpm(&random));
    run.time("get_lpm, each after the last", addrs.len(), || {
        // The answer decides the next index, without changing it.
        let mut at = 0;
        sum(addrs, |_| {
            let found = map.get_lpm(addrs[at]).map_or(0, |(_, value)| value);
            at = (at + 1 + (found >> 31) as usize) % addrs.len();
            u64::from(found)
        })
    });
    run.time("get", n, || sum(&mixed, |(key, _)| u64::from(map.get(*key).unwrap_or(0))));
    run.time("cover", addrs.len(), || sum(addrs, |addr| map.cover(*addr)));
    run.time("iteration", n, || map.iter());
    let mut copy = None;
    run.time("clone", n, || {
        copy = Some(map.clone());
        0
    });
    let mut day = copy.expect("cloned just now");
    run.time("a day of updates", updates.len(), || {
        sum(&updates, |(key, value)| match value {
            Some(value) => {
                day.insert(*key, *value);
                0
            }
            None => u64::from(day.remove(*key)),
        })
    });
    run.time("iteration, after the day", n, || day.iter());
    if let Some(union) = run.try_time("union with the table after the day", n, || map.union(&day)) {
        black_box(union);
    }
    run.time("remove, random order", n, || sum(&mixed, |(key, _)| u64::from(random.remove(*key))));
}

/// Sums a number over all items.
fn sum<T>(items: &[T], mut of: impl FnMut(&T) -> u64) -> u64 {
    items.iter().fold(0, |sum, item| sum.wrapping_add(of(item)))
}

/// Operations of one map.
struct Run<'r> {
    rows: &'r mut Rows,
    map: &'static str,
}

impl Run<'_> {
    fn row(&mut self, name: &'static str) -> &mut Row {
        let known = self.rows.iter().position(|(known, _)| *known == name);
        let i = known.unwrap_or_else(|| {
            self.rows.push((name, Row::default()));
            self.rows.len() - 1
        });
        &mut self.rows[i].1
    }

    fn note(&mut self, name: &'static str, value: f64) {
        let map = self.map;
        self.row(name).times.entry(map).or_default().push(value);
    }

    fn time(&mut self, name: &'static str, items: usize, work: impl FnOnce() -> u64) {
        let start = Instant::now();
        let result = black_box(work());
        let time = start.elapsed().as_nanos() as f64 / items as f64;
        let map = self.map;
        let known = *self.row(name).result.get_or_insert(result);
        assert_eq!(known, result, "{map} differs from the maps before it: {name}");
        self.note(name, time);
    }

    fn try_time(
        &mut self,
        name: &'static str,
        items: usize,
        work: impl FnOnce() -> Option<usize>,
    ) -> Option<usize> {
        let start = Instant::now();
        let result = black_box(work())?;
        let time = start.elapsed().as_nanos() as f64 / items as f64;
        let map = self.map;
        let known = *self.row(name).result.get_or_insert(result as u64);
        assert_eq!(known, result as u64, "{map} differs from the maps before it: {name}");
        self.note(name, time);
        Some(result)
    }
}

impl<A: Addr> Input<A> {
    fn parse(routes: &str, updates: &str) -> Self {
        let prefix = |text: &str| {
            let (addr, len) = text.split_once('/').expect("a prefix with a length");
            (A::parse(addr), len.parse().expect("a length"))
        };
        let routes: Vec<(A, u8, u32)> = routes
            .lines()
            .map(|line| {
                let (text, value) = line.split_once(' ').expect("a prefix and a number");
                let (addr, len) = prefix(text);
                (addr, len, value.parse().expect("a number"))
            })
            .collect();
        let update = |line: &str| {
            let mut words = line.split(' ');
            let announce = words.next() == Some("A");
            let (addr, len) = prefix(words.next()?);
            Some((addr, len, if announce { words.next()?.parse().ok() } else { None }))
        };
        let updates = updates.lines().filter_map(update).collect();
        let mut random = Random::new();
        let mut order: Vec<usize> = (0..routes.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        let addrs = (0..LOOKUPS).map(|_| {
            let (addr, len, _) = routes[random.below(routes.len())];
            addr.inside(len, random.wide())
        });
        let addrs = addrs.collect();
        Self { routes, updates, order, addrs }
    }
}

fn print(rows: &Rows, names: [&'static str; 3], width: u8, json: bool) {
    println!("{:36}{:>28}{:>28}{:>28}", "", names[0], names[1], names[2]);
    for (name, row) in rows {
        print!("{name:36}");
        for map in names {
            let Some(times) = row.times.get(map) else {
                print!("{:>28}", "-");
                continue;
            };
            let mut times = times.clone();
            times.sort_by(f64::total_cmp);
            let (least, median, greatest) =
                (times[0], times[times.len() / 2], times[times.len() - 1]);
            print!("{:>28}", format!("{median:.1} ({least:.1} - {greatest:.1})"));
            if json {
                eprintln!(
                    "{{\"operation\":\"{name}\",\"map\":\"{map}\",\"bits\":{width},\"median\":{median:.2},\
                     \"least\":{least:.2},\"greatest\":{greatest:.2},\"passes\":{}}}",
                    times.len()
                );
            }
        }
        println!();
    }
}
