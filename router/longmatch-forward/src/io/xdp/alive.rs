//! Signs of life of the forwarding threads.
//!
//! A thread that stands still (a signal, a debugger, a hang) receives nothing. So the programs lead packets to its
//! sockets only until a time that the thread puts off again and again; after that time the kernel forwards.

use std::sync::Arc;
use std::time::Duration;

use longmatch_bpf::sys::Map;
use rustix::time::{ClockId, clock_gettime};

/// The time that a sign of life lasts.
const LIFE: Duration = Duration::from_secs(1);
/// The time after which it is renewed.
const RENEWAL: Duration = Duration::from_millis(100);

/// One thread's sign of life.
pub(super) struct Alive {
    /// The end of each thread's sign, in nanoseconds of the monotonic clock. A thread has the number of its queues.
    map: Arc<Map>,
    thread: u32,
    renewed: Duration,
}

impl Alive {
    /// Gives the first sign.
    pub(super) fn new(map: Arc<Map>, thread: u32) -> Self {
        let mut alive = Self { map, thread, renewed: Duration::ZERO };
        alive.renew();
        alive
    }

    /// Gives a sign, unless the last one is recent.
    pub(super) fn renew(&mut self) {
        let now = now();
        let end = ((now + LIFE).as_nanos() as u64).to_ne_bytes();
        // After an error the next call tries again; without a sign, the kernel forwards.
        if now >= self.renewed + RENEWAL
            && self.map.insert(&self.thread.to_ne_bytes(), &end).is_ok()
        {
            self.renewed = now;
        }
    }
}

/// The monotonic clock at the last tick of the kernel, as the programs see it.
pub(super) fn now() -> Duration {
    clock_gettime(ClockId::MonotonicCoarse).try_into().unwrap_or_default()
}
