//! The cost model of a plan: cycles of lookups from counts of reads and bytes.

use super::layout::Single;
use crate::engine::folio::cost::CpuCosts;
use crate::engine::folio::numbers::{exp_minus, log2, power};
use crate::mem::LINE;
use crate::simd::{Cpu, Level, Microarch, Simd};

/// The share of a miss of the root that a lookup waits for: nothing comes before these reads, so they overlap most.
const ROOT_OVERLAP: f64 = 0.3;

/// What the model knows of a machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Machine {
    /// Lines of the first and the second cache that a table may use: the second has keys, answers and
    /// translations of addresses too.
    lines: [f64; 2],
    /// Cycles of a read that hits the first, the second or no cache: in a batch, and one by one.
    batch: [f64; 3],
    one: [f64; 3],
    /// Cycles of a list in a batch, in the first cache.
    list: f64,
    /// Cycles of a mispredicted branch.
    branch: f64,
}

impl Machine {
    /// The machine that this program runs on.
    pub fn here() -> Self {
        Self::of(Cpu::detect(), Simd::best().level())
    }

    /// A machine in the middle, for structures that other machines read.
    pub fn any() -> Self {
        Self::of(Cpu::typical(Microarch::Zen4), Level::Avx2)
    }

    /// A machine with these instructions.
    pub fn of(cpu: Cpu, level: Level) -> Self {
        let CpuCosts { overlapped, dependent, .. } = CpuCosts::of(cpu.microarch);
        // Gathers of AVX2 consist of many operations, so a core overlaps few of them (Zen 3).
        let least = if level >= Level::Avx512 { 1.5 * overlapped[1] } else { 12.0 };
        let far = overlapped[2].max(least);
        let batch = [overlapped[0], overlapped[1], far];
        let one = [overlapped[0], dependent[1] / 5.0, far.max(dependent[2] / 4.0)];
        let list = if level >= Level::Avx512 {
            8.0
        } else if level >= Level::Avx2 {
            10.0
        } else {
            25.0
        };
        let lines = [(cpu.caches.l1d, 1.0), (cpu.caches.l2, 0.75)];
        let lines = lines.map(|(bytes, share)| bytes as f64 / LINE as f64 * share);
        Self { lines, batch, one, list, branch: 20.0 }
    }
}

/// Counts of what lookups of routed addresses read, and of what a table takes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct ReadCounts {
    /// Bytes of the root, of pages of entries, of lists and of pages of codes.
    pub root: f64,
    pub entries: f64,
    pub lists: f64,
    pub codes: f64,
    /// Cache lines of them that lookups read; every line of lists.
    pub root_lines: f64,
    pub entry_lines: f64,
    pub code_lines: f64,
    /// Lookups, in units of one for each range, and those of them that read each kind.
    pub lookups: f64,
    pub entry_lookups: f64,
    pub list_lookups: f64,
    pub code_lookups: f64,
}

/// What the model says of a plan.
pub(super) struct Cost {
    /// Cycles of a lookup in a batch, and one by one.
    pub batch: f64,
    pub one: f64,
    /// Cycles of the root's read for random addresses.
    pub random: f64,
    pub single: Single,
    pub ahead: bool,
}

/// An array: the cache lines that are read, and the reads a lookup.
type Read = (f64, f64);

impl ReadCounts {
    pub fn bytes(&self) -> f64 {
        self.root + self.entries + self.lists + self.codes
    }

    pub fn cost(&self, machine: &Machine) -> Cost {
        let lookups = self.lookups.max(1.0);
        let [entries, lists, codes] =
            [self.entry_lookups, self.list_lookups, self.code_lookups].map(|it| it / lookups);
        let line = LINE as f64;
        let reads = [
            (self.root_lines.max(1.0), 1.0),
            (self.entry_lines.max(1.0), entries),
            ((self.lists / line).max(1.0), lists),
            (self.code_lines.max(1.0), codes),
        ];
        let [first, second] = machine.lines.map(|lines| misses(&reads, lines));
        let all: f64 = reads.iter().map(|(lines, _)| lines * line).sum();
        // Beyond a few MiB reads miss the third cache and the translations of addresses too.
        let far = 1.0 + 0.45 * (log2(all / f64::from(4 << 20))).max(0.0);
        let sum = |cycles: &[f64; 3]| -> f64 {
            // The misses of pages of entries overlap more than the last ones.
            let overlap = [ROOT_OVERLAP, 0.7, 1.0, 1.0];
            let of = |i: usize| {
                let between = (first[i] - second[i]).max(0.0);
                let hits = (1.0 - first[i]) * cycles[0] + between * cycles[1];
                reads[i].1 * (hits + second[i] * cycles[2] * far * overlap[i])
            };
            (0..reads.len()).map(of).sum()
        };
        // A group of a batch makes a step for all of its addresses if one needs it.
        let some = |share: f64| 1.0 - power(1.0 - share, 5);
        let batch = 1.0
            + sum(&machine.batch)
            + 0.6 * some(entries)
            + 0.5 * some(lists)
            + lists * machine.list
            - machine.batch[0] * entries / 2.0;
        let mispredicted = |share: f64| share.min(1.0 - share).min(0.4);
        let waits = second[0].max(second[1]);
        let of_entries = mispredicted(entries) * (machine.branch + 25.0 * second[0]);
        let of_lists = mispredicted(lists) * (machine.branch + 25.0 * waits);
        let flat =
            (0.1..=0.9).contains(&entries) && lists < 0.1 && all < 2.0 * machine.lines[1] * line;
        let one =
            3.0 + sum(&machine.one) + of_entries.min(6.0) + of_lists + 3.0 * lists + 1.5 * entries;
        let single = match (entries + lists == 0.0, flat) {
            (true, _) => Single::Plain,
            (_, true) => Single::Flat,
            _ => Single::Branches,
        };
        let alone = [(self.root / line, 1.0), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0)];
        let [first, second] = machine.lines.map(|lines| misses(&alone, lines)[0]);
        let random = 1.0
            + (1.0 - first) * machine.batch[0]
            + (first - second).max(0.0) * machine.batch[1]
            + second * machine.batch[2] * ROOT_OVERLAP;
        let ahead = self.lists > machine.lines[1] * line;
        Cost { batch, one, random, single, ahead }
    }
}

/// The shares of the reads of arrays that miss a cache of `lines` lines: Che's approximation of a
/// cache that replaces the least recently used line.
///
/// A line that is read `r` times a lookup is still there with a chance of `1 - exp_minus(-r t)`, where `t`
/// is the time in lookups in which as many lines are read as the cache has.
fn misses(reads: &[Read; 4], lines: f64) -> [f64; 4] {
    let used = reads.iter().filter(|(_, rate)| *rate > 0.0);
    if used.clone().map(|(lines, _)| lines).sum::<f64>() <= lines {
        return [0.0; 4];
    }
    let (mut low, mut high) = (0.0f64, 4e9f64);
    for _ in 0..40 {
        let time = (low + high) / 2.0;
        let cached: f64 =
            used.clone().map(|(all, rate)| all * (1.0 - exp_minus(rate / all * time))).sum();
        if cached < lines {
            low = time
        } else {
            high = time
        }
        if high - low < low / 64.0 {
            break;
        }
    }
    reads.map(|(all, rate)| if rate > 0.0 { exp_minus(rate / all * low) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_keeps_the_array_that_is_read_most_per_line() {
        let reads = [(100.0, 1.0), (10_000.0, 1.0), (1.0, 0.0), (1.0, 0.0)];
        let [dense, sparse, none, _] = misses(&reads, 1_000.0);
        assert!(dense < 0.01 && (0.8..1.0).contains(&sparse) && none == 0.0);
        assert_eq!(misses(&reads, 10_100.0), [0.0; 4]);
    }
}
