//! Places the allocations of a closure in huge or ordinary pages, and measures how much lies in huge pages.
//!
//! Engines allocate from the global allocator. To identify their memory, the allocator's mmap threshold is lowered
//! while the closure runs: each large block is then a new anonymous mapping. The closure runs in a new thread, because
//! the allocator would otherwise reuse blocks that the current thread has freed.

use longmatch_bench::threads;

/// The requested kind of pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pages {
    /// Ordinary pages only.
    Ordinary,
    /// Huge pages wherever the memory spans a whole one.
    Huge,
}

/// The pages that back the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Backing {
    /// Bytes in large blocks.
    pub bytes: usize,
    /// Bytes of these blocks in huge pages.
    pub huge: usize,
}

/// Runs a closure whose large blocks are to be backed by these pages, and returns the actual backing.
///
/// Only blocks that are still allocated when the closure ends count. Large blocks that other threads allocate meanwhile
/// count too. On systems other than Linux with the GNU C library, the closure runs unchanged and the backing is empty.
pub(crate) fn within<T: Send>(pages: Pages, make: impl FnOnce() -> T + Send) -> (T, Backing) {
    system::within(pages, || in_a_thread(make))
}

/// Runs a closure in a new thread, or in the current one if no thread can be started.
///
/// In the current thread, fewer of the bytes may be found.
fn in_a_thread<T: Send>(make: impl FnOnce() -> T + Send) -> T {
    let mut make = Some(make);
    let made = std::thread::scope(|scope| {
        let work = || make.take().map(|make| make());
        threads::spawn(scope, 0, 1, work).ok().and_then(threads::joined)
    });
    made.unwrap_or_else(|| make.take().expect("no thread has called it")())
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    use std::ops::Range;

    use super::{Backing, Pages};

    /// Bytes in a huge page on most Linux systems.
    const HUGE: usize = 2 << 20;
    /// Minimum size of a counted block. Smaller blocks share pages with others.
    const LARGE: usize = 256 << 10;
    /// The greatest mmap threshold that the GNU C library chooses by itself; restored afterwards.
    const MAX_MMAP_THRESHOLD: usize = 32 << 20;

    pub fn within<T>(pages: Pages, make: impl FnOnce() -> T) -> (T, Backing) {
        let before = mappings();
        set_mmap_threshold(LARGE);
        let disabled = huge_pages_disabled();
        disable_huge_pages(disabled || pages == Pages::Ordinary);
        let made = make();
        disable_huge_pages(disabled);
        set_mmap_threshold(MAX_MMAP_THRESHOLD);
        let new: Vec<_> = new_ranges(&before, &mappings());
        for range in &new {
            match pages {
                Pages::Ordinary => advise(range, libc::MADV_NOHUGEPAGE),
                Pages::Huge => collapse(range),
            }
        }
        let backing = Backing {
            bytes: new.iter().map(ExactSizeIterator::len).sum(),
            huge: mappings().iter().map(|it| it.huge_in(&new)).sum(),
        };
        (made, backing)
    }

    /// A writable anonymous mapping.
    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Mapping {
        range: Range<usize>,
        /// Bytes in huge pages.
        huge: usize,
    }

    impl Mapping {
        /// Returns the bytes in huge pages if the mapping lies within one of the ranges, else 0: a larger mapping also
        /// contains other memory.
        fn huge_in(&self, ranges: &[Range<usize>]) -> usize {
            let inside = |range: &Range<usize>| {
                range.start <= self.range.start && self.range.end <= range.end
            };
            if ranges.iter().any(inside) { self.huge } else { 0 }
        }
    }

    /// Returns the mappings of this process; empty if the system does not list them.
    fn mappings() -> Vec<Mapping> {
        parsed(&std::fs::read_to_string("/proc/self/smaps").unwrap_or_default())
    }

    /// Parses `/proc/PID/smaps`.
    fn parsed(smaps: &str) -> Vec<Mapping> {
        let mut all: Vec<Mapping> = Vec::new();
        let mut counts = false;
        for line in smaps.lines() {
            let mut fields = line.split_whitespace();
            let first = fields.next().unwrap_or_default();
            if let Some(range) = range(first) {
                // Permissions, offset, device, inode, then a path or a name in brackets.
                let permissions = fields.next().unwrap_or_default();
                let anonymous = fields.nth(2) == Some("0");
                let path = fields.next().unwrap_or_default();
                let ordinary = path.is_empty() || path == "[heap]" || path.starts_with("[anon");
                counts = permissions.starts_with("rw") && anonymous && ordinary;
                if counts {
                    all.push(Mapping { range, huge: 0 });
                }
            } else if counts && first == "AnonHugePages:" {
                let kib = fields.next().and_then(|kib| kib.parse().ok()).unwrap_or(0usize);
                if let Some(mapping) = all.last_mut() {
                    mapping.huge = kib << 10;
                }
            }
        }
        all
    }

    /// Parses a range such as `7f0012345000-7f0012346000`.
    fn range(text: &str) -> Option<Range<usize>> {
        let (start, end) = text.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        Some(address(start)?..address(end)?)
    }

    /// Returns the ranges of at least [`LARGE`] bytes that are mapped now and were not before.
    fn new_ranges(before: &[Mapping], now: &[Mapping]) -> Vec<Range<usize>> {
        let mut new = Vec::new();
        for Mapping { range, .. } in now {
            let mut start = range.start;
            // The system lists mappings in ascending order.
            for old in before.iter().map(|it| &it.range) {
                if old.end <= start || old.start >= range.end {
                    continue;
                }
                new.push(start..old.start.max(start));
                start = old.end;
            }
            new.push(start..range.end.max(start));
        }
        new.retain(|range| range.len() >= LARGE);
        new
    }

    /// Moves a range into huge pages immediately; parts that the system refuses stay in ordinary pages.
    fn collapse(range: &Range<usize>) {
        advise(range, libc::MADV_HUGEPAGE);
        let first = range.start.next_multiple_of(HUGE);
        for start in (first..range.end).step_by(HUGE).filter(|start| start + HUGE <= range.end) {
            advise(&(start..start + HUGE), libc::MADV_COLLAPSE);
        }
    }

    /// Advises the system on a range. A refusal shows in the measured backing.
    fn advise(range: &Range<usize>, advice: libc::c_int) {
        let start = std::ptr::without_provenance_mut(range.start);
        // SAFETY: callers pass MADV_NOHUGEPAGE, MADV_HUGEPAGE or MADV_COLLAPSE; these change the size of pages, never
        // their contents, so any range is allowed.
        unsafe { libc::madvise(start, range.len(), advice) };
    }

    /// Returns whether huge pages are disabled for this process.
    fn huge_pages_disabled() -> bool {
        let unused: libc::c_ulong = 0;
        // SAFETY: PR_GET_THP_DISABLE only reads a flag of the process; the unused arguments are 0, as required.
        unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, unused, unused, unused, unused) == 1 }
    }

    /// Disables or enables huge pages for this process.
    fn disable_huge_pages(disable: bool) {
        let (disable, unused): (libc::c_ulong, libc::c_ulong) = (disable.into(), 0);
        // SAFETY: PR_SET_THP_DISABLE takes the flag by value; the unused arguments are 0, as required.
        unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, disable, unused, unused, unused) };
    }

    /// Sets the size from which the allocator maps each block separately.
    fn set_mmap_threshold(bytes: usize) {
        // SAFETY: mallopt sets a parameter of the allocator under the allocator's lock.
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, bytes as libc::c_int) };
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const SMAPS: &str = "\
00400000-00452000 rw-p 00000000 08:02 173521 /usr/bin/program
AnonHugePages:      4096 kB
01000000-01400000 rw-p 00000000 00:00 0      [heap]
Rss:                  16 kB
AnonHugePages:      2048 kB
VmFlags: rd wr mr mw me ac
7f0000000000-7f0000800000 rw-p 00000000 00:00 0
AnonHugePages:         0 kB
7f0000800000-7f0000900000 r--p 00000000 00:00 0
AnonHugePages:         0 kB
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0      [stack]
AnonHugePages:         0 kB
";

        #[test]
        fn anonymous_mappings_are_read() {
            let heap = Mapping { range: 0x100_0000..0x140_0000, huge: 2 << 20 };
            let block = Mapping { range: 0x7f00_0000_0000..0x7f00_0080_0000, huge: 0 };
            assert_eq!(parsed(SMAPS), [heap.clone(), block]);
            assert_eq!(heap.huge_in(std::slice::from_ref(&heap.range)), 2 << 20);
            assert_eq!(heap.huge_in(&[0..0x120_0000, 0x120_0000..0x140_0000]), 0);
            assert!(parsed("nonsense\n\n-\n12-zz rw-p\n").is_empty());
        }

        #[test]
        fn new_ranges_were_not_mapped_before() {
            let of = |range| Mapping { range, huge: 0 };
            let [a, b, c] = [LARGE, 2 * LARGE, 3 * LARGE];
            let before = [of(a..b)];
            assert!(new_ranges(&before, &[of(a..b)]).is_empty());
            let whole = [of(a..c), of(c + LARGE..c + 2 * LARGE)];
            assert_eq!(new_ranges(&before, &whole), [b..c, c + LARGE..c + 2 * LARGE]);
            assert_eq!(new_ranges(&before, &[of(0..c)]), [0..a, b..c]);
            assert_eq!(new_ranges(&before, &[of(0..a), of(c..c + LARGE)]), [0..a, c..c + LARGE]);
            assert!(new_ranges(&[], &[of(0..LARGE - 1)]).is_empty());
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod system {
    use super::{Backing, Pages};

    pub fn within<T>(_: Pages, make: impl FnOnce() -> T) -> (T, Backing) {
        (make(), Backing::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_thread_the_closure_runs_here() {
        let here = std::thread::current().id();
        let id = || std::thread::current().id();
        assert_ne!(in_a_thread(id), here);
        assert_eq!(threads::testing::refusing(0, || in_a_thread(id)), here);
    }

    /// Other tests share the allocator, its threshold and the freed memory that a block may take, so the check has a
    /// process of its own.
    #[test]
    fn contents_stay() {
        let this = std::env::current_exe().expect("tests know their program");
        let check =
            ["--exact", "--ignored", "--test-threads=1", "huge::tests::contents_stay_alone"];
        let run = std::process::Command::new(this).args(check).output().expect("it starts");
        let printed = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && printed.contains("1 passed"), "{printed}");
    }

    /// The contents stay, and the bytes in huge pages do not exceed the total.
    #[test]
    #[ignore = "contents_stay runs it in a process of its own"]
    fn contents_stay_alone() {
        for pages in [Pages::Ordinary, Pages::Huge] {
            let (made, backing) = within(pages, || (0..3 << 20).collect::<Vec<u32>>());
            assert!(made.iter().copied().eq(0..3 << 20));
            assert!(backing.huge <= backing.bytes, "{pages:?} {backing:?}");
            let least =
                if cfg!(all(target_os = "linux", target_env = "gnu")) { 12 << 20 } else { 0 };
            assert!(backing.bytes >= least, "{pages:?} {backing:?}");
        }
    }
}
