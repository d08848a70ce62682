//! CPU affinity of measured threads, on Linux. Errors are ignored: rates are valid without it.

pub use system::{free, to};

#[cfg(target_os = "linux")]
mod system {
    use std::sync::LazyLock;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// The CPUs that this process could use at the first call.
    static ALLOWED: LazyLock<CpuSet> = LazyLock::new(current);

    /// Pins the calling thread to the `nth` CPU from the last one of this process.
    ///
    /// Systems run most other work on the first CPU. After the first CPU the count starts
    /// again at the last one.
    pub fn to(nth: usize) {
        let mut cpus = (0..CpuSet::MAX_CPU).rev().filter(|cpu| ALLOWED.is_set(*cpu)).cycle();
        if let Some(cpu) = cpus.nth(nth) {
            let mut set = CpuSet::new();
            set.set(cpu);
            let _ = sched_setaffinity(None, &set);
        }
    }

    /// Allows the calling thread to run on all CPUs of this process again.
    pub fn free() {
        let _ = sched_setaffinity(None, &ALLOWED);
    }

    pub(super) fn current() -> CpuSet {
        sched_getaffinity(None).unwrap_or_default()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// Does nothing on this system.
    pub fn to(_: usize) {}

    /// Does nothing on this system.
    pub fn free() {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{free, system::current, to};
    use rustix::thread::CpuSet;

    #[test]
    fn threads_are_pinned_and_freed() {
        // Affinity belongs to the thread, so the other tests are not affected.
        let affinities = std::thread::spawn(|| {
            let all = current();
            to(0);
            let last = current();
            to(all.count() as usize);
            let again = current();
            free();
            [all, last, again, current()]
        });
        let [all, last, again, freed] = affinities.join().unwrap();
        let highest = |set: CpuSet| (0..CpuSet::MAX_CPU).rfind(|cpu| set.is_set(*cpu));
        assert_eq!((last.count(), highest(last)), (1, highest(all)));
        assert_eq!((again, freed), (last, all));
    }
}
