//! Noise probe: how much the machine disturbs a measurement.
//!
//! A chain of instructions of known length measures the CPU's frequency before and after each pass;
//! the thread's CPU clock measures the share of time in which it ran. Neither shows other processes
//! that use memory bandwidth or a shared cache.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Steps of the chain, each of two dependent instructions of one cycle.
const STEPS: u64 = 20_000;
/// Timings per probe; the minimum is used, since noise only adds time.
const TRIES: usize = 3;
/// Share by which an undisturbed pass may be below the highest frequency.
///
/// On an idle virtual machine the frequency varies by 5 % in both directions.
const MAX_SLOWDOWN: f64 = 0.10;
/// Share of the time in which the thread of an undisturbed pass may not be running.
const MAX_LOST: f64 = 0.03;

/// Measures the current frequency of this CPU, in GHz, in about 30 microseconds.
///
/// It assumes that a rotation and an exclusive or take one cycle each, as on all common CPUs.
pub fn gigahertz() -> f64 {
    let time = (0..TRIES).map(|_| chain()).min().unwrap_or_default();
    2.0 * STEPS as f64 / (time.as_nanos() as f64).max(1.0)
}

fn chain() -> Duration {
    let key = black_box(0x9e37_79b9_7f4a_7c15_u64);
    let mut x = black_box(1u64);
    let start = Instant::now();
    for _ in 0..STEPS {
        // Each step depends on the previous one, and the compiler cannot combine them.
        x = (x ^ key).rotate_left(7);
    }
    let time = start.elapsed();
    black_box(x);
    time
}

/// Result of the noise probe for one pass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct NoiseReport {
    /// The lower of the frequencies before and after, in GHz.
    pub ghz: f64,
    /// Share of the time in which the thread was running.
    pub running: f64,
}

impl NoiseReport {
    /// Probes the noise during `work` and returns the result of it too.
    pub fn during<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let before = gigahertz();
        let (wall, cpu) = (Instant::now(), thread_time());
        let done = work();
        let running = match (cpu, thread_time()) {
            (Some(from), Some(to)) => {
                to.saturating_sub(from).as_secs_f64() / wall.elapsed().as_secs_f64().max(1e-9)
            }
            _ => 1.0,
        };
        (done, Self { ghz: before.min(gigahertz()), running })
    }

    /// Whether the CPU was too slow, or ran something else for too long.
    pub fn is_disturbed(self, best_ghz: f64) -> bool {
        self.ghz < best_ghz * (1.0 - MAX_SLOWDOWN) || self.running < 1.0 - MAX_LOST
    }
}

/// CPU time of the calling thread; `None` if the system does not report it.
fn thread_time() -> Option<Duration> {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_plausible() {
        // The bounds also hold under emulation and without optimisation.
        assert!((0.001..20.0).contains(&gigahertz()), "{}", gigahertz());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn sleeping_disturbs_a_pass() {
        let sleep = || std::thread::sleep(Duration::from_millis(20));
        let ((), noise) = NoiseReport::during(sleep);
        assert!(noise.running < 0.5 && noise.is_disturbed(0.0), "{noise:?}");
    }

    #[test]
    fn low_frequency_or_lost_time_disturbs_a_pass() {
        let slow = NoiseReport { ghz: 3.8, running: 1.0 };
        assert!(!slow.is_disturbed(4.0) && slow.is_disturbed(4.3));
        assert!(NoiseReport { ghz: 4.0, running: 0.9 }.is_disturbed(4.0));
    }
}
