//! The trial: the first engines that fit look up addresses in turns, and the fastest is chosen.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hint::black_box;
use std::time::Instant;

use super::{
    Choice, Chosen, Locality, Trial, Tried, Usage, boxed, candidates, none_fits, try_wider,
};
use crate::engine::kit::{Checked, CompileError};
use crate::engine::registry::{EngineSpec, NamedEngines};
use crate::net::{Bits, Family, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

/// Number of engines: all of them would take several times the memory and time of compiling.
const ENGINES: usize = 3;
/// Number of addresses; their cache lines fill 16 MiB of a large array.
const SAMPLE: usize = 1 << 18;
/// Addresses between two looks at the clock.
const BLOCK: usize = 1024;
/// Limit on the blocks of each engine; their times are kept.
const MAX_BLOCKS: usize = 1 << 17;

/// Compiles the first engines that fit and measures them; returns the fastest.
pub(super) fn run<F: NamedEngines>(
    rib: &Rib<F>,
    memory: Option<u64>,
    trial: &Trial,
) -> Result<Chosen<F>, CompileError> {
    let (mut fits, mut refusals) = (Vec::new(), Vec::new());
    for spec in candidates::<F>(memory) {
        match try_wider(spec, &mut |spec| boxed(spec, rib)) {
            Ok(fit) => fits.push(fit),
            Err(refusal) if fits.is_empty() => refusals.push(refusal),
            Err(_) => {}
        }
        if fits.len() == ENGINES {
            break;
        }
    }
    let times = match &fits[..] {
        [] => return Err(none_fits(refusals, F::NAME)),
        [_] => Vec::new(),
        _ => measure(&fits, &sample(rib, trial.traffic), trial),
    };
    let tried = fits.iter().zip(&times);
    let tried = tried.map(|((spec, ..), time)| Tried { spec: spec.clone(), nanoseconds: *time });
    let tried = tried.collect();
    let fastest = (0..times.len()).min_by(|a, b| f64::total_cmp(&times[*a], &times[*b]));
    let (spec, bytes, engine) = fits.swap_remove(fastest.unwrap_or(0));
    Ok((Choice { tried, ..Choice::of(spec, bytes, refusals) }, engine))
}

/// A generator of pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Draws [`SAMPLE`] routed addresses, about equally many of each range; none if nothing is routed.
///
/// Few destinations are drawn from these by Zipf's law with exponent 1: of n ranks, rank `n^u` where
/// `u` is uniform.
fn sample<F: Family>(rib: &Rib<F>, traffic: Locality) -> Vec<F::Bits> {
    let routed = || rib.ranges().filter(|range| range.route.is_some());
    let count = routed().count();
    let (mut addrs, mut random) = (Vec::with_capacity(SAMPLE), Random(1));
    for (i, range) in routed().enumerate() {
        let last = range.last.to_u128() - range.first.to_u128();
        let end = |i: usize| (i as u128 * SAMPLE as u128 / count as u128) as usize;
        for _ in end(i)..end(i + 1) {
            let number = u128::from(random.next()) << 64 | u128::from(random.next());
            addrs.push(range.first.wrapping_add(number % last.saturating_add(1)));
        }
    }
    for i in 1..addrs.len() {
        addrs.swap(i, random.below(i + 1));
    }
    if traffic == Locality::Spread || addrs.is_empty() {
        return addrs;
    }
    let mut rank = || (SAMPLE as f64).powf(random.next() as f64 / 2f64.powi(64)) as usize;
    (0..SAMPLE).map(|_| addrs[(rank() - 1).min(SAMPLE - 1)]).collect()
}

/// An engine of a trial, with its bytes.
type Candidate<F> = (EngineSpec, u64, Box<dyn Checked<F>>);

/// Measures engines in turns, block by block; returns each one's median nanoseconds of a lookup.
///
/// Ends with the first block after the trial's time. The engine that begins changes from round to round.
fn measure<F: Family>(engines: &[Candidate<F>], addrs: &[F::Bits], trial: &Trial) -> Vec<f64> {
    if addrs.is_empty() {
        return Vec::new();
    }
    let simd = trial.level.and_then(|level| Simd::forced(level).ok()).unwrap_or_else(Simd::best);
    let mut times: Vec<Vec<f64>> = engines.iter().map(|_| Vec::new()).collect();
    let started = Instant::now();
    'measurement: for (round, block) in (0..MAX_BLOCKS).zip(addrs.chunks_exact(BLOCK).cycle()) {
        for turn in 0..engines.len() {
            if round > 0 && started.elapsed() >= trial.time {
                break 'measurement;
            }
            let engine = (round + turn) % engines.len();
            let before = Instant::now();
            look_up(&*engines[engine].2, trial.usage, simd, block);
            times[engine].push(before.elapsed().as_secs_f64() * 1e9 / BLOCK as f64);
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.into_iter().map(median).collect()
}

/// Looks up a block as the trial says.
fn look_up<F: Family>(engine: &dyn Checked<F>, usage: Usage, simd: Simd, block: &[F::Bits]) {
    match usage {
        Usage::Batch => {
            let mut hops = [None; BLOCK];
            engine.lookup_batch_with(simd, block, &mut hops);
            black_box(&hops);
        }
        Usage::One => {
            // Nothing, but the compiler does not know: each address depends on the answer before.
            let (nothing, mut before) = (black_box(0), F::Bits::ZERO);
            for addr in block {
                let hop = engine.lookup_one(*addr ^ before);
                before = F::Bits::from_u128(u128::from(NextHopId::to_raw(hop) & nothing));
            }
            black_box(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ipv4, Ipv6};

    fn rib<F: Family>(prefixes: &[&str]) -> Rib<F> {
        let mut rib = Rib::new();
        for prefix in prefixes {
            rib.insert(prefix.parse().unwrap(), NextHopId::new(1).unwrap()).unwrap();
        }
        rib
    }

    #[test]
    fn samples_are_routed() {
        let four = rib::<Ipv4>(&["10.0.0.0/8", "192.0.2.1/32"]);
        let six = rib::<Ipv6>(&["::/0", "2001:db8::/32"]);
        for traffic in [Locality::Spread, Locality::Few] {
            let addrs = sample(&four, traffic);
            assert_eq!(addrs.len(), SAMPLE);
            assert!(addrs.iter().all(|addr| four.lookup(Ipv4::addr(*addr)).is_some()));
            assert_eq!(sample(&six, traffic).len(), SAMPLE);
            assert!(sample(&Rib::<Ipv4>::new(), traffic).is_empty());
        }
    }

    /// The most frequent of few destinations takes `1 / H(n)`, about a twelfth, of the draws.
    #[test]
    fn few_destinations_repeat() {
        let frequent = |traffic| {
            let mut addrs = sample(&rib::<Ipv6>(&["2000::/3"]), traffic);
            addrs.sort_unstable();
            addrs.chunk_by(|a, b| a == b).map(<[u128]>::len).max().unwrap()
        };
        assert_eq!(frequent(Locality::Spread), 1);
        assert!((SAMPLE / 25..SAMPLE / 10).contains(&frequent(Locality::Few)));
    }
}
