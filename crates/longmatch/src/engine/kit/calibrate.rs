//! The costs of reads on a CPU that the cost model does not know, measured once a process.

use alloc::vec::Vec;
use core::hint::black_box;
use std::time::{Duration, Instant};

use super::cost::CpuCosts;
use crate::simd::lanes::{Lanes, LanesWork};
use crate::simd::{Caches, Microarch, Simd};

/// Limit on the whole calibration. Only a system that takes the CPU away meanwhile makes it longer.
const BUDGET: Duration = Duration::from_millis(10);
/// Limit on each of the seven measurements.
const SLOT: Duration = Duration::from_micros(700);
/// Reads, or turns of a loop, between two looks at the clock.
const TURNS: usize = 1024;
/// Words of a cache line.
const LINE: usize = 16;
/// Limit on the largest array. Filling more memory would take most of the budget.
const MAX_BYTES: u64 = 4 << 20;

/// Measures the costs of reads. What the budget does not allow is estimated.
///
/// Memory is not read: an array that fits no cache takes longer to fill than the budget allows. Its
/// cost is that of an unknown CPU, in proportion to the cost of the L3.
pub fn costs(caches: &Caches) -> CpuCosts {
    let deadline = Instant::now() + BUDGET;
    let mut costs = CpuCosts::of(Microarch::Other);
    let usual = costs;
    let Some(cycle) = nanoseconds(deadline, || xorshifts(1)) else { return costs };
    let cycle = cycle / 6.0;
    // Half of a cache, so that little of it is evicted by other data.
    let l3 = (caches.l3 > 0).then(|| (caches.share() / 2).min(MAX_BYTES).max(caches.l2));
    for (level, bytes) in [Some(caches.l1d / 2), Some(caches.l2 / 2), l3].into_iter().enumerate() {
        let Some(chain) = bytes.and_then(|bytes| chain(bytes as usize / 64, deadline)) else {
            break;
        };
        let mut at = 0;
        let dependent = nanoseconds(deadline, || at = follow(&chain, at));
        let mut seed = 1;
        let overlapped = nanoseconds(deadline, || seed = gathered(&chain, seed));
        for (costs, usual, measured) in [
            (&mut costs.dependent, &usual.dependent, dependent),
            (&mut costs.overlapped, &usual.overlapped, overlapped),
        ] {
            // A tenth to ten times the usual: anything else is a disturbance.
            let cycles = measured.map_or(usual[level], |it| it / cycle);
            let cycles = cycles.clamp(usual[level] / 10.0, usual[level] * 10.0);
            let below = level.checked_sub(1).map_or(0.0, |below| costs[below]);
            costs[level] = cycles.max(below);
        }
    }
    for (costs, usual) in
        [(&mut costs.dependent, usual.dependent), (&mut costs.overlapped, usual.overlapped)]
    {
        costs[2] = costs[2].max(costs[1]);
        costs[3] = (usual[3] * costs[2] / usual[2]).max(costs[2]);
    }
    costs
}

/// Returns the nanoseconds of one of the [`TURNS`] of a piece of work: the least of all repetitions,
/// since other programs only add to it. `None` without time for one repetition.
fn nanoseconds(deadline: Instant, mut work: impl FnMut()) -> Option<f64> {
    let mut before = Instant::now();
    let (end, mut least) = ((before + SLOT).min(deadline), None);
    while before < end {
        work();
        let after = Instant::now();
        let took = (after - before).as_secs_f64() * 1e9 / TURNS as f64;
        least = Some(least.map_or(took, |least: f64| least.min(took)));
        before = after;
    }
    least
}

/// [`TURNS`] rounds of six dependent instructions of a cycle each.
///
/// This loop and [`follow`] have no iterator: builds without optimisation would call it.
fn xorshifts(seed: u64) {
    let (mut state, mut turn) = (black_box(seed), 0);
    while turn < TURNS {
        state = xorshift(state);
        turn += 1;
    }
    black_box(state);
}

#[inline(always)]
fn xorshift(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ state << 17
}

/// Makes lines whose first words are the numbers of other lines, in one random cycle (Sattolo).
/// `None` if the budget ends first.
fn chain(lines: usize, deadline: Instant) -> Option<Vec<u32>> {
    let mut words = alloc::vec![0; lines.max(2) * LINE];
    let lines = words.len() / LINE;
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for line in 1..lines {
        state = xorshift(state);
        let before = (state % line as u64) as usize;
        words[line * LINE] = words[before * LINE];
        words[before * LINE] = line as u32;
        if line % TURNS == 0 && Instant::now() >= deadline {
            return None;
        }
    }
    Some(words)
}

/// Makes [`TURNS`] reads, each of the line that the read before names.
fn follow(chain: &[u32], start: u32) -> u32 {
    let (mut at, mut turn) = (start, 0);
    while turn < TURNS {
        at = chain[at as usize * LINE];
        turn += 1;
    }
    black_box(at)
}

/// Makes [`TURNS`] independent reads, with gathers if this CPU has them. Returns the next seed.
fn gathered(chain: &[u32], seed: u32) -> u32 {
    let words = 1 << chain.len().ilog2();
    let chain = &chain[..words];
    if let Err(Gathered { seed, .. }) = Simd::best().run_lanes(Gathered { chain, seed }) {
        let read = |i: u32| chain[(hash(seed.wrapping_add(i)) as usize) & (words - 1)];
        black_box((0..TURNS as u32).map(read).fold(0, u32::wrapping_add));
    }
    seed.wrapping_add(TURNS as u32)
}

/// Mixes the bits of a number.
fn hash(number: u32) -> u32 {
    let mixed = number.wrapping_mul(0x9e37_79b1);
    mixed ^ mixed >> 15
}

/// Gathers from a number of words that is a power of two.
struct Gathered<'a> {
    chain: &'a [u32],
    seed: u32,
}

impl LanesWork for Gathered<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut sum = l.splat(0);
        let mask = l.splat(self.chain.len() as u32 - 1);
        for turn in 0..TURNS / L::COUNT {
            let first = self.seed.wrapping_add((turn * L::COUNT) as u32);
            let numbers: [u32; 16] = core::array::from_fn(|i| first.wrapping_add(i as u32));
            // SAFETY: a vector has at most 16 lanes, as many as there are numbers.
            let numbers = unsafe { l.load(numbers.as_ptr().cast()) };
            let mixed = l.mul(numbers, l.splat(0x9e37_79b1));
            let mixed = l.add(mixed, l.shr(mixed, l.splat(15)));
            let index = l.and(mixed, mask);
            // SAFETY: the mask keeps every index below the number of words, at most 2^20.
            sum = l.add(sum, unsafe { l.gather::<4>(self.chain.as_ptr().cast(), index) });
        }
        black_box(l.lanes(&sum)[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Cpu;

    /// Prints the costs of this CPU, which have no right value.
    #[test]
    fn a_calibration_ends_and_is_in_order() {
        let caches = Cpu::detect().caches;
        let started = Instant::now();
        let costs = costs(&caches);
        std::eprintln!("{caches:?}: {costs:?} in {:?}", started.elapsed());
        for cycles in [costs.dependent, costs.overlapped] {
            assert!(cycles.is_sorted() && cycles[0] > 0.0 && cycles[3].is_finite(), "{cycles:?}");
        }
    }

    #[test]
    fn a_chain_visits_every_line() {
        let later = Instant::now() + Duration::from_secs(60);
        let chain = chain(TURNS, later).unwrap();
        let mut at = 0;
        let visited = (0..TURNS).position(|_| {
            at = chain[at as usize * LINE];
            at == 0
        });
        assert_eq!(visited, Some(TURNS - 1));
    }

    /// Without time nothing is measured.
    #[test]
    fn the_clock_ends_a_measurement() {
        let now = Instant::now();
        assert_eq!(nanoseconds(now, || unreachable!()), None);
        assert_eq!(chain(4 * TURNS, now), None);
    }
}
