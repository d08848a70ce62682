//! CPU affinity of measured threads.

use std::sync::OnceLock;

/// Pins the calling thread to the `nth` CPU from the last one of this process.
///
/// Systems run most other work on the first CPU. After the first CPU the count starts
/// again at the last one. Does nothing on systems other than Linux.
pub fn to(nth: usize) {
    let allowed = allowed();
    if !allowed.is_empty() {
        restrict_to(&allowed[allowed.len() - 1 - nth % allowed.len()..][..1]);
    }
}

/// Allows the calling thread to run on all CPUs of this process again.
pub fn free() {
    restrict_to(allowed());
}

/// The CPUs that this process could use at the first call.
fn allowed() -> &'static [usize] {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
    ALLOWED.get_or_init(system::allowed)
}

fn restrict_to(cpus: &[usize]) {
    if !cpus.is_empty() {
        system::restrict_to(cpus);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    pub fn allowed() -> Vec<usize> {
        let set = sched_getaffinity(None).unwrap_or_default();
        (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
    }

    /// Sets the affinity. Errors are ignored: measurements are valid without pinning.
    pub fn restrict_to(cpus: &[usize]) {
        let mut set = CpuSet::new();
        cpus.iter().for_each(|cpu| set.set(*cpu));
        let _ = sched_setaffinity(None, &set);
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn allowed() -> Vec<usize> {
        Vec::new()
    }

    pub fn restrict_to(_: &[usize]) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn threads_are_pinned_and_freed() {
        // Affinity belongs to the thread, so the other tests are not affected.
        let affinities = std::thread::spawn(|| {
            let all = allowed().to_vec();
            to(0);
            let last = system::allowed();
            to(all.len());
            let again = system::allowed();
            free();
            (all, last, again, system::allowed())
        });
        let (all, last, again, freed) = affinities.join().unwrap();
        assert_eq!(last, all[all.len() - 1..]);
        assert_eq!((again, freed), (last, all));
    }
}
