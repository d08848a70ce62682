//! Time of single lookups by the CPU's time stamp counter.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::noise::gigahertz;

/// Time for which the counter is compared with the clock.
const COMPARED: Duration = Duration::from_millis(20);
/// Number of empty measurements that determine the overhead.
const EMPTY: usize = 1 << 16;

/// Reads the counter at the start of a measurement, before all later instructions.
#[inline(always)]
pub fn begin() -> u64 {
    let now = read();
    fence();
    now
}

/// Reads the counter at the end of a measurement, after all earlier instructions.
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

/// On other CPUs a tick is a nanosecond of the clock.
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

/// Calibration of the time stamp counter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Counter {
    /// CPU cycles in one tick; the counter has its own frequency.
    pub cycles_per_tick: f64,
    /// Nanoseconds in one tick.
    pub ns_per_tick: f64,
    /// Median of the ticks of an empty measurement.
    pub overhead: u64,
    /// Resolution of the counter, in ticks: the smallest difference above 0.
    pub step: u64,
}

impl Counter {
    /// Calibrates the counter with the clock and the noise probe, in about 20 ms.
    pub fn here() -> Self {
        let (clock, from) = (Instant::now(), end());
        while clock.elapsed() < COMPARED {}
        let ticks = (end() - from) as f64;
        let ticks_per_ns = ticks / clock.elapsed().as_nanos() as f64;
        let mut empty: Vec<u64> = (0..EMPTY).map(|i| empty_measurement(i as u64)).collect();
        empty.sort_unstable();
        let mut steps: Vec<u64> = empty.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.retain(|step| *step > 0);
        let step = steps.into_iter().min().unwrap_or(1);
        let ns_per_tick = 1.0 / ticks_per_ns.max(1e-9);
        let cycles_per_tick = gigahertz() * ns_per_tick;
        Self { cycles_per_tick, ns_per_tick, overhead: empty[EMPTY / 2], step }
    }

    /// Converts ticks to cycles, after subtracting the overhead.
    pub fn cycles(&self, ticks: u64) -> f64 {
        ticks.saturating_sub(self.overhead) as f64 * self.cycles_per_tick
    }

    /// Converts ticks to nanoseconds, after subtracting the overhead.
    pub fn nanoseconds(&self, ticks: u64) -> f64 {
        ticks.saturating_sub(self.overhead) as f64 * self.ns_per_tick
    }
}

#[inline(always)]
fn empty_measurement(key: u64) -> u64 {
    ticks(key, |key| key)
}

/// Measures the ticks of `work` until its result is available.
#[inline(always)]
pub fn ticks<K, R>(key: K, work: impl FnOnce(K) -> R) -> u64 {
    let key = black_box(key);
    let from = begin();
    // Hides the key from the compiler, so that no part of the work moves before the start.
    let result = work(black_box(key));
    black_box(result);
    end() - from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_work_takes_more_ticks() {
        let counter = Counter::here();
        assert!(counter.cycles_per_tick > 0.0 && counter.step > 0, "{counter:?}");
        assert_eq!(counter.cycles(counter.overhead), 0.0);
        assert_eq!(counter.cycles(0), 0.0);
        let ghz = counter.cycles(counter.overhead + 9) / counter.nanoseconds(counter.overhead + 9);
        assert!((ghz * counter.ns_per_tick / counter.cycles_per_tick - 1.0).abs() < 1e-9);
        let longer = ticks(1000u64, |n| (0..n).fold(1u64, |x, i| (x ^ i).rotate_left(7)));
        assert!(longer > empty_measurement(1), "{longer} ticks for 1000 steps");
    }
}
