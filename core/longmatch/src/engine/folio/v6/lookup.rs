//! One address: the root, some pages without a branch on their number, a leaf.

use core::hint::select_unpredictable;

use super::layout::{CODES, Entry, FORK, LINE, LOWER, MINI, PAGE, RUN, View, home, word};
use super::leaf::{FORK_ENTRIES, FORK_KEYS, HOSTS, KEYS, LINE_WORDS, MINI_WORDS, all_ones};
use super::leaf::{line_code, run_code};
use crate::mem::{Memory, Single};
use crate::net::NextHopId;
use crate::simd::lanes::Lanes;

/// Looks up one address, comparing lines with vectors.
#[inline(always)]
pub(super) fn lookup<L: Lanes, M: Memory>(
    lanes: L,
    table: View<'_, M>,
    addr: u128,
) -> Option<NextHopId> {
    let upper = word(addr, false);
    // SAFETY: the index is at most the last one (invariant 1).
    let mut entry = Entry(unsafe { table.root.load(table.fixed.index(upper)) });
    if entry.0 >= PAGE {
        entry = pages(table, entry, upper);
        if entry.0 >= CODES {
            return NextHopId::new(leaf(lanes, table, entry, upper, addr));
        }
    }
    if entry.0 >= CODES {
        return NextHopId::new(rest(lanes, table, entry, addr));
    }
    NextHopId::new(entry.0)
}

/// Makes the usual steps through pages. A step from another entry reads that entry again.
#[inline(always)]
fn pages<M: Memory>(table: View<'_, M>, mut entry: Entry, upper: u64) -> Entry {
    let mut at = entry.index(upper);
    // SAFETY: the index of a page's entry for an address that reaches it (invariant 2).
    entry = Entry(unsafe { table.pages.load(at as usize) });
    for _ in 1..table.fixed.steps {
        at = select_unpredictable(entry.0 >= PAGE, entry.index(upper), at);
        // SAFETY: an index that was read before, or that of a page's entry (invariant 2).
        entry = Entry(unsafe { table.pages.load(at as usize) });
    }
    entry
}

/// The next hop from an entry other than an answer, reached after the usual steps.
#[inline(always)]
fn leaf<L: Lanes, M: Memory>(
    lanes: L,
    table: View<'_, M>,
    entry: Entry,
    upper: u64,
    addr: u128,
) -> u32 {
    if entry.0 < MINI {
        return hop(table, code(table, entry.index(upper)));
    }
    if entry.0 >= LINE && entry.0 < RUN {
        return hop(table, line(lanes, table, entry, upper));
    }
    rest(lanes, table, entry, addr)
}

/// The next hop from an entry of any kind.
#[inline(always)]
pub(super) fn rest<L: Lanes, M: Memory>(
    lanes: L,
    table: View<'_, M>,
    entry: Entry,
    addr: u128,
) -> u32 {
    let mut at = EntryCursor { entry, is_lower: false };
    loop {
        match step(lanes, table, at, addr) {
            Step::Entry(next) => at = next,
            Step::Hop(hop) => return hop,
        }
    }
}

/// An entry that an address has reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EntryCursor {
    pub entry: Entry,
    /// Whether the entry compares the lower word.
    pub is_lower: bool,
}

/// The result of one step.
pub(super) enum Step {
    Entry(EntryCursor),
    Hop(u32),
}

/// Makes one step from an entry.
#[inline(always)]
pub(super) fn step<L: Lanes, M: Memory>(
    lanes: L,
    table: View<'_, M>,
    at: EntryCursor,
    addr: u128,
) -> Step {
    let EntryCursor { entry, is_lower } = at;
    let word = word(addr, is_lower);
    let (index, is_lower) = match entry.0 {
        PAGE.. => (entry.index(word), is_lower),
        LOWER..FORK => (entry.place(), true),
        FORK.. => {
            let next = Entry(fork(table, entry, word));
            return Step::Entry(EntryCursor { entry: next, is_lower });
        }
        RUN.. => return Step::Hop(hop(table, run(table, entry, addr as u64))),
        LINE.. => return Step::Hop(hop(table, line(lanes, table, entry, word))),
        MINI.. => return Step::Hop(hop(table, mini(table, entry, word))),
        CODES.. => return Step::Hop(hop(table, code(table, entry.index(word)))),
        _ => return Step::Hop(entry.0),
    };
    // SAFETY: the index of a page's entry for an address that reaches it, or the place of the entry
    // of a lower word (invariant 2).
    let entry = Entry(unsafe { table.pages.load(index as usize) });
    Step::Entry(EntryCursor { entry, is_lower })
}

/// The next hop of a code.
#[inline(always)]
pub(super) fn hop<M: Memory>(table: View<'_, M>, code: u32) -> u32 {
    if table.fixed.is_list {
        // SAFETY: the list has a next hop for every code (invariant 5).
        return unsafe { table.hops.load(code as usize) };
    }
    code
}

/// Reads a code of any width that no writer replaces.
///
/// # Safety
/// `at` points to a code of `1 << log2` bytes, aligned.
#[inline(always)]
unsafe fn read_code(at: *const u8, log2: u8) -> u32 {
    match log2 {
        // SAFETY: the caller guarantees a code of this width.
        0 => unsafe { at.read() }.into(),
        // SAFETY: the caller guarantees a code of this width, and its alignment.
        1 => u16::from_le(unsafe { at.cast::<u16>().read() }).into(),
        // SAFETY: the caller guarantees a code of this width, and its alignment.
        _ => u32::from_le(unsafe { at.cast::<u32>().read() }),
    }
}

/// Reads a code by its index.
#[inline(always)]
pub(super) fn code<M: Memory>(table: View<'_, M>, index: u32) -> u32 {
    let at = table.codes.as_ptr().wrapping_add((index as usize) << table.fixed.log2);
    // SAFETY: the index of a code for an address that reaches it (invariant 2), which is not written
    // while readers can reach it (invariant 6).
    unsafe { read_code(at, table.fixed.log2) }
}

/// Reads the code of a word's segment in a line.
#[inline(always)]
pub(super) fn line<L: Lanes, M: Memory>(
    lanes: L,
    table: View<'_, M>,
    entry: Entry,
    word: u64,
) -> u32 {
    line_at(lanes, table, entry.place(), (word >> entry.drop()) as u16)
}

/// Reads the code of a key's segment in a line.
#[inline(always)]
pub(super) fn line_at<L: Lanes, M: Memory>(
    lanes: L,
    table: View<'_, M>,
    place: u32,
    key: u16,
) -> u32 {
    let line = table.lines.as_ptr().wrapping_add(LINE_WORDS * place as usize);
    let log2 = table.fixed.log2;
    let rank = match log2 {
        // SAFETY: the place is that of a line (invariant 2), whose keys are not written while
        // readers can reach it (invariant 6).
        0 => unsafe { lanes.rank_u16::<{ KEYS[0] }>(line, key) },
        // SAFETY: as for 8 bits.
        1 => unsafe { lanes.rank_u16::<{ KEYS[1] }>(line, key) },
        // SAFETY: as for 8 bits.
        _ => unsafe { lanes.rank_u16::<{ KEYS[2] }>(line, key) },
    };
    let code = line.cast::<u8>().wrapping_add(line_code(log2, rank as usize));
    // SAFETY: a line has one code more than keys.
    unsafe { read_code(code, log2) }
}

/// Reads the code of a word's segment in a mini.
#[inline(always)]
pub(super) fn mini<M: Memory>(table: View<'_, M>, entry: Entry, word: u64) -> u32 {
    let mini = table.minis.as_ptr().wrapping_add(MINI_WORDS * entry.place() as usize);
    // SAFETY: the place is that of a mini (invariant 2), which is not written while readers can
    // reach it (invariant 6).
    let [first, second, low, high] = unsafe { mini.cast::<[u32; 4]>().read() }.map(u32::from_le);
    let word = (word >> entry.mini_shift()) as u32;
    let codes = u64::from(high) << 32 | u64::from(low);
    let rank = if second < word { 2 } else { u32::from(first < word) };
    (codes >> (16 * rank)) as u32 & 0xffff
}

/// Reads the entry of a word's segment in a fork.
#[inline(always)]
fn fork<M: Memory>(table: View<'_, M>, entry: Entry, word: u64) -> u32 {
    let line = table.lines.as_ptr().wrapping_add(LINE_WORDS * entry.place() as usize);
    // SAFETY: the place is that of a fork (invariant 2), whose keys are not written while readers
    // can reach it (invariant 6).
    let keys = unsafe { line.cast::<[u32; FORK_KEYS]>().read() };
    let rank: u32 = keys.into_iter().map(|key| u32::from(u32::from_le(key) < word as u32)).sum();
    // SAFETY: a fork has one entry more than keys.
    u32::from_le(unsafe { M::load(line.wrapping_add(FORK_ENTRIES + rank as usize)) })
}

/// Reads the code of a lower word in a run.
#[inline(always)]
fn run<M: Memory>(table: View<'_, M>, entry: Entry, word: u64) -> u32 {
    let log2_lines = entry.log2_lines();
    let mut at = home(log2_lines, word);
    for _ in 0..1 << log2_lines {
        let code = match table.fixed.log2 {
            0 => in_run::<u8, M, { HOSTS[0] }>(table, entry.place() + at, word),
            1 => in_run::<u16, M, { HOSTS[1] }>(table, entry.place() + at, word),
            _ => in_run::<u32, M, { HOSTS[2] }>(table, entry.place() + at, word),
        };
        if code != all_ones(table.fixed.log2) {
            return code;
        }
        at = (at + 1) & ((1 << log2_lines) - 1);
    }
    0
}

/// Reads the code of a lower word in a line of a run, or that of all others.
#[inline(always)]
fn in_run<C: Single + Into<u32>, M: Memory, const N: usize>(
    table: View<'_, M>,
    line: u32,
    word: u64,
) -> u32 {
    let log2 = table.fixed.log2;
    let line = table.lines.as_ptr().wrapping_add(LINE_WORDS * line as usize);
    // SAFETY: a line of a run (invariant 2), whose lower words are not written while readers can
    // reach it (invariant 6).
    let hosts = unsafe { line.cast::<[u64; N]>().read() };
    let mut rank = N;
    for i in (0..N).rev() {
        rank = if u64::from_le(hosts[i]) == word { i } else { rank };
    }
    let code = line.cast::<u8>().wrapping_add(run_code(log2, rank));
    // SAFETY: the line has a code for each host, and one for all others.
    let code: u32 = unsafe { M::load(code.cast::<C>()) }.into();
    // The number's bytes, which lie in the lower ones of a machine's word.
    u32::from_le(code) >> if cfg!(target_endian = "little") { 0 } else { 32 - (8 << log2) }
}
