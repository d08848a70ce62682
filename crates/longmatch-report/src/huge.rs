//! Has what a piece of code allocates lie in huge pages, or in ordinary ones, and finds out how
//! much of it really does.
//!
//! Engines take their memory from the allocator. So that it can be told from everything else,
//! large blocks are made to come straight from the system meanwhile: they are then the large
//! anonymous mappings that are there afterwards and were not there before. The work is done in a
//! thread of its own, as the allocator would first fill holes that earlier work of a thread has
//! left.

use longmatch_bench::threads;

/// How memory is to be divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pages {
    /// Into the smallest pages only.
    Ordinary,
    /// Into huge pages, as far as it reaches over whole ones.
    Huge,
}

/// What has become of the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Backing {
    /// Bytes in large blocks.
    pub bytes: usize,
    /// Those of them that lie in huge pages.
    pub huge: usize,
}

/// Does something whose large blocks of memory are to lie in such pages. They have to be kept for
/// that: what is given back before the end does not count. Other threads should not allocate large
/// blocks meanwhile, or they are counted as well.
///
/// Where the system is not Linux with the GNU library, nothing is asked for, and no bytes are
/// found.
pub(crate) fn within<T: Send>(pages: Pages, make: impl FnOnce() -> T + Send) -> (T, Backing) {
    system::within(pages, || in_a_thread(make))
}

/// Does something in a thread of its own, or in this one where the system starts none: less of the
/// memory may be told from other memory then, which the bytes that are found say.
fn in_a_thread<T: Send>(make: impl FnOnce() -> T + Send) -> T {
    let mut make = Some(make);
    let made = std::thread::scope(|scope| {
        let work = || make.take().map(|make| make());
        threads::spawn(scope, 0, 1, work).ok().and_then(threads::joined)
    });
    made.unwrap_or_else(|| make.take().expect("it was not called without a thread")())
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    use std::ops::Range;

    use super::{Backing, Pages};

    /// Bytes in a huge page of most Linux systems.
    const HUGE: usize = 2 << 20;
    /// Smaller blocks share pages with others, so that they cannot be told apart.
    const LARGE: usize = 256 << 10;
    /// From this size on the GNU library asks the system for each block in any case; the limit
    /// that it comes to by itself in a program that frees large blocks.
    const LARGEST_SHARED: usize = 32 << 20;

    pub fn within<T>(pages: Pages, make: impl FnOnce() -> T) -> (T, Backing) {
        let before = mappings();
        blocks_apart_from(LARGE);
        let disabled = huge_pages_disabled();
        disable_huge_pages(disabled || pages == Pages::Ordinary);
        let made = make();
        disable_huge_pages(disabled);
        blocks_apart_from(LARGEST_SHARED);
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

    /// Memory that belongs to no file, may be written, and is mapped in one piece.
    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Mapping {
        range: Range<usize>,
        /// Bytes in huge pages.
        huge: usize,
    }

    impl Mapping {
        /// Bytes in huge pages, if it is one of these ranges or a part of one. One that reaches
        /// beyond has other things in it.
        fn huge_in(&self, ranges: &[Range<usize>]) -> usize {
            let inside = |range: &Range<usize>| {
                range.start <= self.range.start && self.range.end <= range.end
            };
            if ranges.iter().any(inside) { self.huge } else { 0 }
        }
    }

    /// Those of this process; none when the system does not say.
    fn mappings() -> Vec<Mapping> {
        parsed(&std::fs::read_to_string("/proc/self/smaps").unwrap_or_default())
    }

    /// Reads `/proc/PID/smaps`.
    fn parsed(smaps: &str) -> Vec<Mapping> {
        let mut all: Vec<Mapping> = Vec::new();
        let mut counts = false;
        for line in smaps.lines() {
            let mut fields = line.split_whitespace();
            let first = fields.next().unwrap_or_default();
            if let Some(range) = range(first) {
                // Permissions, offset, device, inode, and a path or a name in brackets.
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

    /// `7f0012345000-7f0012346000`.
    fn range(text: &str) -> Option<Range<usize>> {
        let (start, end) = text.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        Some(address(start)?..address(end)?)
    }

    /// What is mapped now and was not before, in pieces of at least [`LARGE`].
    fn new_ranges(before: &[Mapping], now: &[Mapping]) -> Vec<Range<usize>> {
        let mut new = Vec::new();
        for Mapping { range, .. } in now {
            let mut start = range.start;
            // Sorted, as the system lists them.
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

    /// Moves what lies in a range into huge pages now, not when the system comes to it. A part that
    /// the system refuses stays as it is.
    fn collapse(range: &Range<usize>) {
        advise(range, libc::MADV_HUGEPAGE);
        let first = range.start.next_multiple_of(HUGE);
        for start in (first..range.end).step_by(HUGE).filter(|start| start + HUGE <= range.end) {
            advise(&(start..start + HUGE), libc::MADV_COLLAPSE);
        }
    }

    /// Advises the system on a range of memory. It may refuse, which shows in what there is after.
    fn advise(range: &Range<usize>, advice: libc::c_int) {
        let start = std::ptr::without_provenance_mut(range.start);
        // SAFETY: the three kinds of advice that come here change how memory is divided into
        // pages, never what it holds, whoever it belongs to by now.
        unsafe { libc::madvise(start, range.len(), advice) };
    }

    /// Whether this process gets no huge pages, whatever it asks for.
    fn huge_pages_disabled() -> bool {
        let unused: libc::c_ulong = 0;
        // SAFETY: reads a flag of the process.
        unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, unused, unused, unused, unused) == 1 }
    }

    /// Whether it is to be so from now on.
    fn disable_huge_pages(disable: bool) {
        let (disable, unused): (libc::c_ulong, libc::c_ulong) = (disable.into(), 0);
        // SAFETY: sets a flag of the process, which it takes by value.
        unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, disable, unused, unused, unused) };
    }

    /// From which size on a block comes from the system by itself.
    fn blocks_apart_from(bytes: usize) {
        // SAFETY: sets a parameter of the allocator, under its own lock.
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
        fn what_is_new_is_what_was_not_there() {
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
    fn without_a_thread_it_is_made_here() {
        let here = std::thread::current().id();
        let id = || std::thread::current().id();
        assert_ne!(in_a_thread(id), here);
        assert_eq!(threads::testing::refusing(0, || in_a_thread(id)), here);
    }

    /// Whatever the system does, the contents stay, and there is no more in huge pages than there
    /// is. Other tests may allocate meanwhile, so that there may be more than was asked for.
    #[test]
    fn contents_stay() {
        for pages in [Pages::Ordinary, Pages::Huge] {
            let (made, backing) = within(pages, || (0..3 << 20).collect::<Vec<u32>>());
            assert!(made.iter().copied().eq(0..3 << 20));
            assert!(backing.huge <= backing.bytes, "{pages:?} {backing:?}");
            if cfg!(all(target_os = "linux", target_env = "gnu")) {
                assert!(backing.bytes >= 12 << 20, "{pages:?} {backing:?}");
            }
        }
    }
}
