//! How undisturbed the machine is while something is measured.
//!
//! A chain of instructions of known length tells the frequency that the CPU really has, before and
//! after each pass; the thread's own clock tells how much of the time of the pass it was running.
//! What these two do not show are neighbours who take memory bandwidth or shared cache from us.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Steps of the chain, each of two instructions of one cycle that wait for each other.
const STEPS: u64 = 20_000;
/// How often the chain is timed; the fastest time counts, since anything else only adds to it.
const TRIES: usize = 3;
/// How far the frequency may fall below the highest seen before a pass counts as disturbed. On a
/// virtual machine at rest, neighbours' power and our own measuring make 5 % either way.
const SLOWER: f64 = 0.10;
/// The share of the time for which the thread may not be running before it counts as disturbed.
const LOST: f64 = 0.03;

/// The frequency of this CPU now, in GHz, if its rotations and exclusive ors take one cycle each,
/// as they do on all common ones. Takes some 30 microseconds.
pub fn gigahertz() -> f64 {
    let time = (0..TRIES).map(|_| chain()).min().unwrap_or_default();
    2.0 * STEPS as f64 / (time.as_nanos() as f64).max(1.0)
}

fn chain() -> Duration {
    let key = black_box(0x9e37_79b9_7f4a_7c15_u64);
    let mut x = black_box(1u64);
    let start = Instant::now();
    for _ in 0..STEPS {
        // A step that waits for the one before, and that cannot be joined with it.
        x = (x ^ key).rotate_left(7);
    }
    let time = start.elapsed();
    black_box(x);
    time
}

/// What one pass met.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct NoiseReport {
    /// The lower of the frequencies before and after, in GHz.
    pub ghz: f64,
    /// The share of the time that the thread was running.
    pub ran: f64,
}

impl NoiseReport {
    /// Measures what a piece of work meets that says how long it took.
    pub fn during(work: impl FnOnce() -> Duration) -> (Duration, Self) {
        let before = gigahertz();
        let (wall, cpu) = (Instant::now(), thread_time());
        let took = work();
        let ran = match (cpu, thread_time()) {
            (Some(from), Some(to)) => {
                to.saturating_sub(from).as_secs_f64() / wall.elapsed().as_secs_f64().max(1e-9)
            }
            _ => 1.0,
        };
        (took, Self { ghz: before.min(gigahertz()), ran })
    }

    /// Whether the CPU was slower than it can be, or did something else.
    pub fn is_disturbed(self, best_ghz: f64) -> bool {
        self.ghz < best_ghz * (1.0 - SLOWER) || self.ran < 1.0 - LOST
    }
}

/// How long the calling thread has been running; nothing where the system does not say.
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
        // Emulated and unoptimised alike: not zero, and no CPU of this world.
        assert!((0.001..20.0).contains(&gigahertz()), "{}", gigahertz());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn time_slept_is_time_lost() {
        let nap = Duration::from_millis(20);
        let (took, calm) = NoiseReport::during(|| {
            std::thread::sleep(nap);
            nap
        });
        assert_eq!(took, nap);
        assert!(calm.ran < 0.5 && calm.is_disturbed(0.0), "{calm:?}");
    }

    #[test]
    fn slower_than_it_can_be_is_disturbed() {
        let calm = NoiseReport { ghz: 3.8, ran: 1.0 };
        assert!(!calm.is_disturbed(4.0) && calm.is_disturbed(4.3));
        assert!(NoiseReport { ghz: 4.0, ran: 0.9 }.is_disturbed(4.0));
    }
}
