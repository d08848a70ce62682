//! The CPU's time stamp counter around single lookups, where it has one.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::noise::gigahertz;

/// How long the counter is compared with the clock.
const COMPARED: Duration = Duration::from_millis(20);
/// Readings without anything between them, to find the overhead.
const EMPTY: usize = 1 << 16;

/// Reads the counter before what is measured. Nothing that follows begins earlier.
#[inline(always)]
pub fn begin() -> u64 {
    let now = read();
    fence();
    now
}

/// Reads the counter after what is measured, which has ended by then.
#[inline(always)]
pub fn end() -> u64 {
    fence();
    let now = read();
    fence();
    now
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
fn read() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction, and it touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
fn fence() {
    // SAFETY: part of SSE2; it only waits for the instructions before it.
    unsafe { core::arch::x86_64::_mm_lfence() }
}

/// Elsewhere nanoseconds stand in for ticks.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
fn read() -> u64 {
    use std::sync::OnceLock;
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
fn fence() {
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

/// What has to be known of the counter to make cycles of its ticks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Counter {
    /// Cycles of the CPU in one tick: the counter has a frequency of its own.
    pub cycles_per_tick: f64,
    /// Ticks that a measurement of nothing takes: the median.
    pub overhead: u64,
    /// The smallest difference between two readings that is not zero, in ticks: how fine the
    /// counter is.
    pub step: u64,
}

impl Counter {
    /// Compares the counter of this CPU with the clock and with a chain of instructions. Takes some
    /// 20 milliseconds.
    pub fn here() -> Self {
        let (clock, from) = (Instant::now(), end());
        while clock.elapsed() < COMPARED {}
        let ticks = (end() - from) as f64;
        let ticks_per_ns = ticks / clock.elapsed().as_nanos() as f64;
        let mut empty: Vec<u64> = (0..EMPTY).map(|i| nothing(i as u64)).collect();
        empty.sort_unstable();
        let mut steps: Vec<u64> = empty.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.retain(|step| *step > 0);
        let step = steps.into_iter().min().unwrap_or(1);
        let cycles_per_tick = gigahertz() / ticks_per_ns.max(1e-9);
        Self { cycles_per_tick, overhead: empty[EMPTY / 2], step }
    }

    /// Ticks less the overhead, as cycles.
    pub fn cycles(&self, ticks: u64) -> f64 {
        ticks.saturating_sub(self.overhead) as f64 * self.cycles_per_tick
    }
}

/// Measures as lookups are measured, without one.
#[inline(always)]
fn nothing(key: u64) -> u64 {
    ticks(key, |key| key)
}

/// The ticks that `work` takes with a key that nobody can know before, until its result is there.
#[inline(always)]
pub fn ticks<K, R>(key: K, work: impl FnOnce(K) -> R) -> u64 {
    let key = black_box(key);
    let from = begin();
    // Not known before, so that no part of the work is done earlier.
    let result = work(black_box(key));
    black_box(result);
    end() - from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_counts() {
        let counter = Counter::here();
        assert!(counter.cycles_per_tick > 0.0 && counter.step > 0, "{counter:?}");
        assert_eq!(counter.cycles(counter.overhead), 0.0);
        assert_eq!(counter.cycles(0), 0.0);
        let longer = ticks(1000u64, |n| (0..n).fold(1u64, |x, i| (x ^ i).rotate_left(7)));
        assert!(longer > nothing(1), "a thousand steps take time");
    }
}
