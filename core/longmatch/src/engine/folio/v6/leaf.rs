//! The bytes of leaves.
//!
//! ```text
//! mini          2 keys of 32 bits, 3 codes of 16 bits, 2 bytes unused
//! line   8 bits 21 keys of 16 bits, 22 codes
//!       16 bits 15 keys of 16 bits, 16 codes, 2 bytes unused
//!       32 bits 10 keys of 16 bits, 11 codes
//! fork          7 keys of 32 bits, 8 entries, 4 bytes unused
//! run    8 bits 7 lower words of 64 bits, their codes, the code of all others
//!       16 bits 6 lower words, their codes, the code of all others, 2 bytes unused
//!       32 bits 5 lower words, their codes, the code of all others
//! ```
//! A key is the last word of its segment: the number of keys less than a word is the number of the
//! word's segment. Keys after the last one are all ones.

use super::layout::home;
use crate::engine::folio::pieces::fill_codes;

/// Words of 32 bits in a line and in a mini.
pub(super) const LINE_WORDS: usize = 16;
pub(super) const MINI_WORDS: usize = 4;
pub(super) type Line = [u32; LINE_WORDS];
pub(super) type Mini = [u32; MINI_WORDS];

/// Keys in a line, by log2 of the bytes of a code.
pub(super) const KEYS: [usize; 3] = [21, 15, 10];
/// Lower words in a line of a run, by log2 of the bytes of a code.
pub(super) const HOSTS: [usize; 3] = [7, 6, 5];
/// Keys in a mini, and in a fork.
pub(super) const MINI_KEYS: usize = 2;
pub(super) const FORK_KEYS: usize = 7;
/// The word of a fork at which its entries begin.
pub(super) const FORK_ENTRIES: usize = FORK_KEYS;

const _: () = {
    let mut log2 = 0;
    while log2 < 3 {
        assert!(2 * KEYS[log2] + ((KEYS[log2] + 1) << log2) <= 64);
        assert!(8 * HOSTS[log2] + ((HOSTS[log2] + 1) << log2) <= 64);
        log2 += 1;
    }
};

/// All ones in the width of a code.
pub(super) const fn all_ones(log2: u8) -> u32 {
    u32::MAX >> (32 - (8 << log2))
}

/// Reads a little-endian number of `1 << log2` bytes.
pub(super) fn read(bytes: &[u8], at: usize, log2: u8) -> u32 {
    let bytes = &bytes[at..][..1 << log2];
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Writes one.
pub(super) fn write(bytes: &mut [u8], at: usize, log2: u8, number: u32) {
    bytes[at..][..1 << log2].copy_from_slice(&number.to_le_bytes()[..1 << log2]);
}

/// Writes some codes of a page.
pub(super) fn fill(codes: &mut [u8], log2: u8, range: core::ops::Range<u64>, code: u32) {
    let codes = &mut codes[(range.start as usize) << log2..(range.end as usize) << log2];
    fill_codes(codes, 1 << log2, code);
}

/// The place of code `i` of a line, in bytes.
pub(super) const fn line_code(log2: u8, i: usize) -> usize {
    2 * KEYS[log2 as usize] + (i << log2)
}

/// The place of code `i` of a run's line, in bytes. The last one is that of all other words.
pub(super) const fn run_code(log2: u8, i: usize) -> usize {
    8 * HOSTS[log2 as usize] + (i << log2)
}

fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_ne_bytes(*bytes);
    }
    words
}

/// The bytes of a line or of a mini.
pub(super) fn bytes<const B: usize>(words: &[u32]) -> [u8; B] {
    let mut bytes = [0; B];
    for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *bytes = word.to_ne_bytes();
    }
    bytes
}

/// Makes a line of segments: the first word of each, shifted, and its code.
pub(super) fn line(log2: u8, segments: &[(u16, u32)]) -> Line {
    let keys = KEYS[usize::from(log2)];
    let mut line = [0; 64];
    line[..2 * keys].fill(u8::MAX);
    for (i, (start, code)) in segments.iter().enumerate() {
        if let Some(key) = i.checked_sub(1) {
            write(&mut line, 2 * key, 1, u32::from(start.wrapping_sub(1)));
        }
        write(&mut line, line_code(log2, i), log2, *code);
    }
    words(&line)
}

/// Makes a mini of at most three segments with codes of at most 16 bits.
pub(super) fn mini(segments: &[(u32, u32)]) -> Mini {
    let mut mini = [0; 16];
    mini[..4 * MINI_KEYS].fill(u8::MAX);
    for (i, (start, code)) in segments.iter().enumerate() {
        if let Some(key) = i.checked_sub(1) {
            write(&mut mini, 4 * key, 2, start.wrapping_sub(1));
        }
        write(&mut mini, 4 * MINI_KEYS + 2 * i, 1, *code);
    }
    words(&mini)
}

/// Makes a fork of at most eight segments.
pub(super) fn fork(segments: &[(u32, u32)]) -> Line {
    let mut fork = [0; LINE_WORDS];
    fork[..FORK_KEYS].fill(u32::MAX.to_le());
    for (i, (start, entry)) in segments.iter().enumerate() {
        if let Some(key) = i.checked_sub(1) {
            fork[key] = start.wrapping_sub(1).to_le();
        }
        fork[FORK_ENTRIES + i] = entry.to_le();
    }
    fork
}

/// log2 of the lines that some hosts need, at a load of four fifths.
pub(super) fn log2_lines(log2: u8, hosts: usize) -> u32 {
    (5 * hosts).div_ceil(4 * HOSTS[usize::from(log2)]).next_power_of_two().ilog2()
}

/// Makes a run of hosts, each a lower word and its code, with the code of all other words.
pub(super) fn run(log2: u8, hosts: &[(u64, u32)], others: u32) -> alloc::vec::Vec<u32> {
    let slots = HOSTS[usize::from(log2)];
    let log2_lines = log2_lines(log2, hosts.len());
    let count = 1usize << log2_lines;
    let mut lines = alloc::vec![[0u8; 64]; count];
    let mut filled = alloc::vec![0u8; count];
    let end = run_code(log2, slots);
    for line in &mut lines {
        (0..=slots).for_each(|i| write(line, run_code(log2, i), log2, others));
    }
    for (host, code) in hosts {
        let mut at = home(log2_lines, *host) as usize;
        while usize::from(filled[at]) == slots {
            write(&mut lines[at], end, log2, all_ones(log2));
            at = (at + 1) % count;
        }
        let slot = usize::from(filled[at]);
        put_host(&mut lines[at], log2, slot, (*host, *code));
        filled[at] += 1;
    }
    for (line, filled) in lines.iter_mut().zip(&filled) {
        // Vacant slots repeat the first host, which is found first.
        let first = read_host(line, 0);
        let vacant = usize::from(*filled).max(1)..slots;
        vacant.for_each(|slot| line[8 * slot..][..8].copy_from_slice(&first.to_le_bytes()));
    }
    lines.iter().flat_map(|line| words::<LINE_WORDS>(line)).collect()
}

fn put_host(line: &mut [u8; 64], log2: u8, slot: usize, (host, code): (u64, u32)) {
    line[8 * slot..][..8].copy_from_slice(&host.to_le_bytes());
    write(line, run_code(log2, slot), log2, code);
}

/// The lower word in a slot of a run's line.
pub(super) fn read_host(line: &[u8; 64], slot: usize) -> u64 {
    line[8 * slot..][..8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Says that the search for a host goes on in the line after one of a run.
pub(super) fn set_full(line: &mut [u32], log2: u8) {
    let mut content: [u8; 64] = bytes(line);
    write(&mut content, run_code(log2, HOSTS[usize::from(log2)]), log2, all_ones(log2));
    line.copy_from_slice(&words::<LINE_WORDS>(&content));
}

/// Writes a host and its code into a slot of a run's line.
pub(super) fn set_host(line: &mut [u32], log2: u8, slot: usize, host: (u64, u32)) {
    let mut content = bytes(line);
    put_host(&mut content, log2, slot, host);
    line.copy_from_slice(&words::<LINE_WORDS>(&content));
}
