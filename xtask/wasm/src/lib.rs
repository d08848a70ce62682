//! Lookups in WebAssembly without a system: no clock, no threads, no files. `run.mjs` calls them.

use longmatch::live::Writer;
use longmatch::{Bits, Change, EngineKind, EngineSpec, Engines, Fib, Ipv4, Ipv6, NextHopId};
use longmatch::{Prefix, Rib, Route, Table};

/// Addresses that each table looks up, beside both ends of its ranges.
const ADDRESSES: u32 = 1_000;

/// A generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bits<F: Engines>(&mut self) -> F::Bits {
        F::Bits::from_u128(u128::from(self.next()) << 64 | u128::from(self.next()))
    }

    /// A route that often covers others or lies in others.
    fn route<F: Engines>(&mut self) -> Route<F> {
        let near = self.bits::<F>().to_u128() >> (self.next() % 40) << 16;
        let len = (self.next() % (u64::from(F::WIDTH) + 1)) as u8;
        let prefix = Prefix::from_bits_masked(F::Bits::from_u128(near), len);
        let next_hop = NextHopId::new(1 + (self.next() % 100) as u32);
        Route { prefix, next_hop: next_hop.expect("not 0") }
    }
}

/// Counts the wrong answers of every engine, of `auto`, and of a table that changes, on both families, for tables of this
/// many routes. A panic ends in a trap.
#[unsafe(no_mangle)]
pub extern "C" fn wrong_answers(routes: u32) -> u32 {
    let mut random = Random(u64::from(routes) + 1);
    // Measured by a clock: an error, as there is none.
    let spec = EngineSpec::from(EngineKind::Auto).option("try=1ms");
    let timed = "auto:try=1ms".parse::<EngineSpec>().is_ok();
    let timed = u32::from(timed || Table::<u32>::new().freeze(spec).is_ok());
    timed + of_family::<Ipv4>(&mut random, routes) + of_family::<Ipv6>(&mut random, routes)
}

fn of_family<F: Engines>(random: &mut Random, routes: u32) -> u32 {
    let mut rib: Rib<F> = (0..routes).map(|_| random.route()).collect();
    let mut keys: Vec<F::Bits> = (0..ADDRESSES).map(|_| random.bits::<F>()).collect();
    keys.extend(rib.ranges().flat_map(|range| [range.first, range.last]));
    let mut wrong = 0;
    let oracle = answers(&rib, EngineKind::Linear, &keys);
    for kind in EngineKind::ALL.into_iter().chain([EngineKind::Auto]) {
        if F::has(kind) {
            wrong += differences(&oracle, &answers(&rib, kind, &keys));
        }
    }
    let mut writer = Writer::new(rib.clone(), EngineKind::Auto).expect("any engine will do");
    let mut reader = writer.reader();
    for _ in 0..routes / 4 + 1 {
        let route = random.route();
        rib.insert(route.prefix, route.next_hop).expect("few routes");
        writer.apply(Change::Announce(route)).expect("few routes");
    }
    writer.commit().expect("few routes");
    let guard = reader.pin();
    let found: Vec<_> = keys.iter().map(|key| guard.lookup(F::addr(*key))).collect();
    wrong + differences(&answers(&rib, EngineKind::Linear, &keys), &found)
}

type Answers = Vec<Option<NextHopId>>;

/// The answers of an engine, in a batch; panics if it answers otherwise one by one.
fn answers<F: Engines>(rib: &Rib<F>, engine: EngineKind, keys: &[F::Bits]) -> Answers {
    let fib = Fib::compile(rib, engine).expect("a small table");
    let mut found = vec![None; keys.len()];
    fib.lookup_batch(keys, &mut found);
    assert!(keys.iter().zip(&found).all(|(key, found)| fib.lookup(F::addr(*key)) == *found));
    found
}

fn differences(right: &[Option<NextHopId>], found: &[Option<NextHopId>]) -> u32 {
    right.iter().zip(found).map(|(right, found)| u32::from(right != found)).sum()
}
