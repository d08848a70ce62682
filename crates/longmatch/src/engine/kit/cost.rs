//! The cost model of `auto`: memory and time of an engine, from the summary of a table.
//!
//! A lookup costs its fixed work, and for each dependent read the work of a step and an access to
//! as many bytes as the read may hit. Nothing else is modelled. `cost.rs` of an engine has its
//! costs and its reads; the README of `auto` has the source of the constants and their error.

use super::Summary;
use crate::simd::Level;

/// How lookups will be made.
///
/// ```
/// use longmatch::engine::auto::{AutoGoal, Usage};
/// assert_eq!(AutoGoal::parse(&["use=one".into()])?.usage, Usage::One);
/// assert_eq!(AutoGoal::default().usage, Usage::Batch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Usage {
    /// Many addresses a call.
    #[default]
    Batch,
    /// One address a call, each answer awaited before the next call.
    One,
}

/// A variant of an engine that `auto` may choose.
pub(crate) struct Candidate {
    /// The options of the variant.
    pub options: &'static [&'static str],
    /// The costs of the engine.
    pub costs: &'static Costs,
    /// Adds the reads of a typical lookup.
    pub lookup: fn(&Summary, &mut TypicalLookup),
}

impl Candidate {
    /// Predicts the cycles of a lookup and the bytes.
    pub fn estimate(&self, table: &Summary, usage: Usage, level: Level) -> (f64, f64) {
        let costs = self.costs;
        let ((work, step), access) = match (usage, level) {
            (Usage::One, _) => (costs.one, LATENCY),
            (Usage::Batch, Level::Portable | Level::Scalar) => (costs.scalar, THROUGHPUT),
            (Usage::Batch, Level::Avx2) => (costs.avx2, THROUGHPUT),
            (Usage::Batch, Level::Avx512) => (costs.avx512, THROUGHPUT),
        };
        let step = if table.width == 128 { step * WIDE } else { step };
        let mut lookup = TypicalLookup { step, access, cycles: work, bytes: 0.0 };
        (self.lookup)(table, &mut lookup);
        (lookup.cycles + lookup.bytes * PER_BYTE, lookup.bytes)
    }
}

/// Cycles of an engine without its memory accesses: `(of a lookup, of each step)`.
pub(crate) struct Costs {
    /// In batches, without vectors.
    pub scalar: (f64, f64),
    /// In batches, with AVX2.
    pub avx2: (f64, f64),
    /// In batches, with AVX-512.
    pub avx512: (f64, f64),
    /// One address at a time.
    pub one: (f64, f64),
}

/// Factor of a step's cost with addresses of 128 bits.
const WIDE: f64 = 1.5;
/// Cycles that each byte costs a lookup by displacing other cached data.
const PER_BYTE: f64 = 0.06 / MIB;

/// Bytes of a KiB.
pub(crate) const KIB: f64 = 1024.0;
/// Bytes of a MiB.
pub(crate) const MIB: f64 = 1024.0 * KIB;

/// Cycles of one of many independent reads, by the bytes they spread over.
const THROUGHPUT: &[(f64, f64)] = &[
    (512.0 * KIB, 1.25),
    (MIB, 1.45),
    (2.0 * MIB, 1.8),
    (8.0 * MIB, 2.0),
    (16.0 * MIB, 2.65),
    (32.0 * MIB, 12.0),
    (128.0 * MIB, 16.0),
    (1024.0 * MIB, 40.0),
];
/// Cycles of a read that the next read depends on, by the bytes it may hit.
const LATENCY: &[(f64, f64)] = &[
    (32.0 * KIB, 5.0),
    (512.0 * KIB, 14.0),
    (MIB, 16.0),
    (4.0 * MIB, 32.0),
    (8.0 * MIB, 48.0),
    (16.0 * MIB, 70.0),
    (32.0 * MIB, 130.0),
    (128.0 * MIB, 350.0),
    (1024.0 * MIB, 450.0),
];

/// Returns the cycles for a number of bytes, interpolated between two entries.
fn along(table: &[(f64, f64)], bytes: f64) -> f64 {
    let mut before = (0.0, table[0].1);
    for (limit, cycles) in table.iter().copied() {
        if bytes <= limit {
            return before.1 + (cycles - before.1) * (bytes - before.0) / (limit - before.0);
        }
        before = (limit, cycles);
    }
    before.1
}

/// Sum over the reads of a typical lookup of a routed address.
pub(crate) struct TypicalLookup {
    step: f64,
    access: &'static [(f64, f64)],
    cycles: f64,
    bytes: f64,
}

impl TypicalLookup {
    /// Adds `times` dependent reads of an array.
    pub fn reads(&mut self, times: f64, bytes: f64) {
        self.bytes += bytes;
        self.cycles += times * (self.step + along(self.access, bytes));
    }

    /// Adds steps that only read memory that was read before.
    pub fn steps(&mut self, times: f64) {
        self.cycles += times * (self.step + self.access[0].1);
    }
}

/// Number of values of so many bits.
pub(crate) fn power(bits: u8) -> f64 {
    (1u64 << bits) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn accesses_cost_more_with_more_bytes() {
        for access in [THROUGHPUT, LATENCY] {
            let sizes = (0..36).map(|log2| (1u64 << log2) as f64);
            let cycles: Vec<f64> = sizes.map(|bytes| along(access, bytes)).collect();
            assert!(cycles.is_sorted() && cycles[0] > 0.0, "{cycles:?}");
            for (bytes, cycles) in access.iter().copied() {
                assert!((along(access, bytes) - cycles).abs() < 1e-9);
            }
        }
        let between = along(THROUGHPUT, 24.0 * MIB);
        assert!((between - (2.65 + 12.0) / 2.0).abs() < 1e-9, "{between}");
    }
}
