//! Measures single lookups and batches of every engine, as this program's build compiles them.
//!
//! A single lookup is compiled into its caller, with the caller's instructions; a batch chooses its
//! instructions at run time. Compare two builds, on lines of a prefix and the number of a next hop:
//!
//! ```text
//! zstd -dc data/ipv4.txt.zst > ipv4.txt
//! cargo run --release -p longmatch --example single_lookups -- ipv4.txt
//! RUSTFLAGS="-C target-cpu=x86-64-v3" cargo run --release -p longmatch --example single_lookups -- ipv4.txt
//! ```
//!
//! Rates are the medians of nine passes over addresses inside of random routes. Each pass compares
//! its answers with the routes.

use std::error::Error;
use std::time::Instant;

use longmatch::{
    Bits, Engine, EngineKind, EngineSpec, EngineVisitor, Engines, Family, Ipv4, Ipv6, NextHopId,
    Prefix, Rib,
};

/// Addresses of a batch.
const BATCH: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: single_lookups FILE")?;
    let text = std::fs::read_to_string(path)?;
    println!("{:<12} {:>14} {:>14}", "engine", "single, Mlps", "batch, Mlps");
    let all = if text.contains(':') { all::<Ipv6> } else { all::<Ipv4> };
    all(&text)
}

/// Measures every engine of a family.
fn all<F: Engines>(text: &str) -> Result<(), Box<dyn Error>> {
    let mut rib = Rib::<F>::new();
    for line in text.lines() {
        let (prefix, hop) = line.split_once(' ').ok_or("a line without a next hop")?;
        // Folded to 255 next hops, since some engines hold few.
        let hop = NextHopId::new(1 + hop.trim().parse::<u32>()? % 255);
        rib.insert(prefix.parse()?, hop.ok_or("next hop 0")?)?;
    }
    let prefixes: Vec<Prefix<F>> = rib.iter().map(|route| route.prefix).collect();
    let mut state = 1u128;
    let mut random = || {
        state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
        state >> 64
    };
    let addrs: Vec<F::Bits> = (0..1 << 20)
        .map(|_| {
            let prefix = prefixes[random() as usize % prefixes.len()];
            let (first, last) = (prefix.first().to_u128(), prefix.last().to_u128());
            F::Bits::from_u128(first | (random() << 64 | random()) & (first ^ last))
        })
        .collect();
    let expected: Vec<_> = addrs.iter().map(|addr| rib.lookup(F::addr(*addr))).collect();
    for kind in EngineKind::ALL.into_iter().filter(|kind| F::has(*kind) && !kind.is_oracle()) {
        let measure =
            |spec: &_| F::build(spec, &rib, Measure { addrs: &addrs, expected: &expected });
        let spec = EngineSpec::from(kind);
        let rates = measure(&spec).or_else(|error| {
            spec.wider().iter().find_map(|wider| measure(wider).ok()).ok_or(error)
        });
        match rates {
            Ok([single, batch]) => println!("{kind:<12} {single:>14.1} {batch:>14.1}"),
            Err(error) => println!("{error}"),
        }
    }
    Ok(())
}

/// Measures an engine as its own type, so that single lookups are inlined.
struct Measure<'a, F: Family> {
    addrs: &'a [F::Bits],
    expected: &'a [Option<NextHopId>],
}

impl<F: Family> EngineVisitor<F> for Measure<'_, F> {
    type Output = [f64; 2];

    fn visit<E: Engine<F>>(self, engine: E) -> [f64; 2] {
        let single = self.rate(|addrs, out| {
            addrs.iter().zip(out).for_each(|(addr, out)| *out = engine.lookup_bits(*addr));
        });
        [single, self.rate(|addrs, out| engine.lookup_batch(addrs, out))]
    }
}

impl<F: Family> Measure<'_, F> {
    /// Returns the median rate in millions a second.
    fn rate(&self, look_up: impl Fn(&[F::Bits], &mut [Option<NextHopId>])) -> f64 {
        let mut out = vec![None; self.addrs.len()];
        let mut pass = || {
            let start = Instant::now();
            for (addrs, out) in self.addrs.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
                look_up(addrs, out);
            }
            let seconds = start.elapsed().as_secs_f64();
            assert!(out == self.expected, "an engine disagrees with the routes");
            seconds
        };
        pass();
        let mut times: Vec<f64> = (0..9).map(|_| pass()).collect();
        times.sort_by(f64::total_cmp);
        self.addrs.len() as f64 / times[4] / 1e6
    }
}
