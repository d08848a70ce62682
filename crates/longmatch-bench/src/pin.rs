//! Threads that stay on one CPU while they are measured.

use std::sync::OnceLock;

/// Keeps the calling thread on the `nth` of the CPUs that this process may use, the last one
/// first: the first one is where systems put most other work. More threads than CPUs begin again.
/// Where the system has no such thing, nothing happens.
pub fn to(nth: usize) {
    let allowed = allowed();
    if !allowed.is_empty() {
        only(&allowed[allowed.len() - 1 - nth % allowed.len()..][..1]);
    }
}

/// Lets the calling thread run on all CPUs of the process again.
pub fn free() {
    only(allowed());
}

/// The CPUs that the process could use when it was first asked.
fn allowed() -> &'static [usize] {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
    ALLOWED.get_or_init(system::allowed)
}

fn only(cpus: &[usize]) {
    if !cpus.is_empty() {
        system::only(cpus);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    pub fn allowed() -> Vec<usize> {
        let set = sched_getaffinity(None).unwrap_or_default();
        (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
    }

    /// A system that refuses leaves the thread where it is, which measures well enough.
    pub fn only(cpus: &[usize]) {
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

    pub fn only(_: &[usize]) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn threads_stay_and_are_free_again() {
        // In a thread of its own: the other tests' stay where they are.
        let seen = std::thread::spawn(|| {
            let all = allowed().to_vec();
            to(0);
            let last = system::allowed();
            to(all.len());
            let again = system::allowed();
            free();
            (all, last, again, system::allowed())
        });
        let (all, last, again, freed) = seen.join().unwrap();
        assert_eq!(last, all[all.len() - 1..]);
        assert_eq!((again, freed), (last, all));
    }
}
