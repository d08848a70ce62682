//! The cost model of `auto`: memory and time of an engine, from the summary of a table.
//!
//! A lookup costs its fixed work, and for each dependent read the work of a step and an access to
//! as many bytes as the read may hit. What an access costs depends on the CPU's caches and on how
//! often destinations repeat. Nothing else is modelled. `cost.rs` of an engine has its costs and its
//! reads; the README of `auto` has the source of the constants and their error.

use super::Summary;
use crate::simd::{Caches, Cpu, Level, Microarch};

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

/// How often destinations repeat.
///
/// ```
/// use longmatch::engine::auto::{AutoGoal, Locality};
/// assert_eq!(AutoGoal::parse(&["traffic=few".into()])?.traffic, Locality::Few);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Locality {
    /// Destinations are spread over the routes.
    #[default]
    Spread,
    /// Few destinations take most of the traffic, as by Zipf's law.
    Few,
}

/// Bytes of a cache line.
const LINE: f64 = 64.0;
/// Number of different destinations of [`Locality::Few`].
const DESTINATIONS: f64 = 500_000.0;

impl Locality {
    /// Share of the reads of an array that hit a cache of so many bytes.
    ///
    /// With spread destinations the share of the array that fits. By Zipf's law with exponent 1,
    /// the k most frequent of n destinations take `H(k) / H(n)` of the traffic, where `H` are the
    /// harmonic numbers. A cache of k lines keeps theirs; the other reads are spread over the array.
    /// It is as if the array were smaller.
    fn hits(self, cached: f64, bytes: f64) -> f64 {
        if cached >= bytes {
            return 1.0;
        }
        let frequent = match self {
            Self::Spread => 0.0,
            Self::Few => (harmonic(cached / LINE) / harmonic(DESTINATIONS)).min(1.0),
        };
        frequent + (1.0 - frequent) * cached / bytes
    }

    /// Bytes of a table that lookups read.
    fn touched(self, bytes: f64) -> f64 {
        match self {
            Self::Spread => bytes,
            Self::Few => bytes.min(DESTINATIONS * LINE),
        }
    }
}

/// Approximates a harmonic number within a tenth. Logarithms of floats need the standard library.
fn harmonic(n: f64) -> f64 {
    let log2 = (n as u64).max(1).ilog2();
    let fraction = n / (1u64 << log2) as f64 - 1.0;
    (f64::from(log2) + fraction) * core::f64::consts::LN_2 + 0.577
}

/// The cycles of reads and instructions on a CPU.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct CpuCosts {
    /// Of a read that the next read depends on, where it hits L1d, L2, L3 or memory.
    pub dependent: [f64; 4],
    /// Of one of many independent reads, gathered if the CPU can.
    pub overlapped: [f64; 4],
    /// Factors of the engines' costs, which are those of Zen 5: without vectors, with AVX2, with
    /// AVX-512.
    pub instructions: [f64; 3],
}

impl CpuCosts {
    /// The README of `auto` names the sources.
    pub const fn of(microarch: Microarch) -> Self {
        let (dependent, overlapped, instructions) = match microarch {
            Microarch::Zen3 => ([5.0, 13.0, 47.0, 370.0], [1.4, 2.2, 4.0, 40.0], [1.3, 1.3, 2.6]),
            Microarch::Zen4 => {
                ([5.0, 15.0, 51.0, 420.0], [1.25, 2.0, 3.5, 40.0], [1.15, 1.15, 2.0])
            }
            Microarch::Zen5 => ([5.0, 15.0, 48.0, 430.0], [1.25, 1.45, 2.2, 22.0], [1.0, 1.0, 1.0]),
            Microarch::IntelServer => {
                ([6.0, 16.0, 90.0, 420.0], [0.9, 2.0, 6.0, 35.0], [1.3, 1.3, 1.5])
            }
            Microarch::Other => ([6.0, 16.0, 60.0, 400.0], [1.5, 2.5, 5.0, 40.0], [1.4, 1.4, 2.0]),
        };
        Self { dependent, overlapped, instructions }
    }
}

/// A CPU as the model sees it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct CpuModel {
    /// Sizes of the caches.
    pub caches: Caches,
    /// What reads and instructions cost.
    pub costs: CpuCosts,
}

impl CpuModel {
    /// The usual CPU of a microarchitecture.
    pub const fn typical(microarch: Microarch) -> Self {
        let Cpu { microarch, caches } = Cpu::typical(microarch);
        Self { caches, costs: CpuCosts::of(microarch) }
    }

    /// This CPU. If its microarchitecture is unknown, its reads are measured, once a process.
    #[cfg(feature = "std")]
    pub fn here(calibrate: bool) -> Self {
        use std::sync::OnceLock;
        static DETECTED: OnceLock<Cpu> = OnceLock::new();
        static CALIBRATED: OnceLock<CpuCosts> = OnceLock::new();
        let Cpu { microarch, caches } = *DETECTED.get_or_init(Cpu::detect);
        let costs = match microarch {
            Microarch::Other if calibrate => {
                *CALIBRATED.get_or_init(|| super::calibrate::costs(&caches))
            }
            _ => CpuCosts::of(microarch),
        };
        Self { caches, costs }
    }

    /// This CPU. Without a clock, nothing is measured.
    #[cfg(not(feature = "std"))]
    pub fn here(_: bool) -> Self {
        let Cpu { microarch, caches } = Cpu::detect();
        Self { caches, costs: CpuCosts::of(microarch) }
    }

    /// Bytes of each level: L1d, L2, and the share of the L3.
    fn levels(&self) -> [f64; 3] {
        [self.caches.l1d, self.caches.l2, self.caches.share()].map(|bytes| bytes as f64)
    }
}

/// How the table will be used, and by which CPU.
#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    pub usage: Usage,
    pub level: Level,
    pub traffic: Locality,
    pub cpu: CpuModel,
}

impl Conditions {
    /// Cycles of a read that may hit any of so many bytes.
    fn access(&self, bytes: f64) -> f64 {
        let cycles = match self.usage {
            Usage::Batch => self.cpu.costs.overlapped,
            Usage::One => self.cpu.costs.dependent,
        };
        let (mut sum, mut hits) = (0.0, 0.0);
        for (level, cycles) in self.cpu.levels().into_iter().zip(cycles) {
            let reached = self.traffic.hits(level, bytes);
            sum += (reached - hits) * cycles;
            hits = reached;
        }
        sum + (1.0 - hits) * cycles[3]
    }
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
    pub fn estimate(&self, table: &Summary, conditions: &Conditions) -> (f64, f64) {
        let (costs, [scalar, avx2, avx512]) = (self.costs, conditions.cpu.costs.instructions);
        let ((work, step), factor) = match (conditions.usage, conditions.level) {
            (Usage::One, _) => (costs.one, scalar),
            (Usage::Batch, Level::Portable | Level::Scalar) => (costs.scalar, scalar),
            (Usage::Batch, Level::Avx2) => (costs.avx2, avx2),
            (Usage::Batch, Level::Avx512) => (costs.avx512, avx512),
        };
        let step = factor * if table.width == 128 { step * WIDE } else { step };
        let (cycles, bytes) = (work * factor, 0.0);
        let mut lookup = TypicalLookup { step, conditions: *conditions, cycles, bytes };
        (self.lookup)(table, &mut lookup);
        let TypicalLookup { cycles, bytes, .. } = lookup;
        let displaced = conditions.traffic.touched(bytes) / conditions.cpu.caches.share() as f64;
        (cycles + displaced * DISPLACED, bytes)
    }
}

/// Cycles of an engine on Zen 5 without its memory accesses: `(of a lookup, of each step)`.
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
/// Cycles that a table as large as its share of the caches costs a lookup by displacing other data.
const DISPLACED: f64 = 1.0;

/// Bytes of a KiB.
pub(crate) const KIB: f64 = 1024.0;

/// Sum over the reads of a typical lookup of a routed address.
pub(crate) struct TypicalLookup {
    step: f64,
    conditions: Conditions,
    cycles: f64,
    bytes: f64,
}

impl TypicalLookup {
    /// Adds `times` dependent reads of an array.
    pub fn reads(&mut self, times: f64, bytes: f64) {
        self.bytes += bytes;
        self.cycles += times * (self.step + self.conditions.access(bytes));
    }

    /// Adds steps that only read memory that was read before.
    pub fn steps(&mut self, times: f64) {
        self.cycles += times * (self.step + self.conditions.access(0.0));
    }
}

/// Number of values of so many bits.
pub(crate) fn power(bits: u8) -> f64 {
    (1u64 << bits) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    const MIB: f64 = 1024.0 * KIB;

    fn conditions(microarch: Microarch, usage: Usage, traffic: Locality) -> Conditions {
        Conditions { usage, traffic, level: Level::Avx512, cpu: CpuModel::typical(microarch) }
    }

    #[test]
    fn accesses_cost_more_with_more_bytes() {
        for microarch in Microarch::ALL {
            for usage in [Usage::Batch, Usage::One] {
                let spread = conditions(microarch, usage, Locality::Spread);
                let few = conditions(microarch, usage, Locality::Few);
                let sizes: Vec<_> = (0..36).map(|log2| (1u64 << log2) as f64).collect();
                for it in [spread, few] {
                    let cycles: Vec<_> = sizes.iter().map(|bytes| it.access(*bytes)).collect();
                    assert!(cycles.is_sorted() && cycles[0] > 0.0, "{cycles:?}");
                }
                // A third of Zipf's draws at least hit what 1/1000 of uniform draws hit.
                assert!(few.access(1e9) < 0.7 * spread.access(1e9), "{microarch:?}, {usage:?}");
            }
        }
    }

    #[test]
    fn an_access_is_the_mean_of_its_hits() {
        let it = conditions(Microarch::Zen5, Usage::One, Locality::Spread);
        let [l1, l2, l3, memory] = it.cpu.costs.dependent;
        assert_eq!(it.access(0.0), l1);
        assert_eq!(it.access(96.0 * KIB), (l1 + l2) / 2.0);
        let shares = [48.0 / 32768.0, (1024.0 - 48.0) / 32768.0, 15.0 / 32.0, 0.5];
        let mean: f64 = shares.iter().zip([l1, l2, l3, memory]).map(|(share, it)| share * it).sum();
        assert!((it.access(32.0 * MIB) - mean).abs() < 1e-9);
    }

    /// Zipf's law over destinations whose lines are hashed: the share of the draws that hit the most
    /// frequent lines is the model's.
    #[test]
    fn hits_of_few_destinations_are_those_of_zipf() {
        let total: f64 = (1..=DESTINATIONS as usize).map(|rank| 1.0 / rank as f64).sum();
        for (cached, bytes) in [(KIB, MIB), (32.0 * KIB, MIB), (MIB, 64.0 * MIB), (KIB, 64.0 * MIB)]
        {
            let mut lines = vec![0.0; (bytes / LINE) as usize];
            for rank in 1..=DESTINATIONS as usize {
                let hash = (rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                let line = hash as usize % lines.len();
                lines[line] += 1.0 / rank as f64;
            }
            lines.sort_by(|a, b| f64::total_cmp(b, a));
            let hits = lines[..(cached / LINE) as usize].iter().sum::<f64>() / total;
            let modelled = Locality::Few.hits(cached, bytes);
            assert!((hits - modelled).abs() < 0.05, "{cached} of {bytes}: {hits}, {modelled}");
        }
    }

    /// Half of the first table is cached on a CPU with a large L3, a tenth of it on another.
    #[test]
    fn a_smaller_cache_makes_large_tables_dearer() {
        let large = conditions(Microarch::Zen4, Usage::Batch, Locality::Spread);
        let mut small = large;
        (small.cpu.caches.l3, small.cpu.caches.l3_cpus) = (4 << 20, 2);
        assert!(small.access(32.0 * MIB) > 1.5 * large.access(32.0 * MIB));
        assert_eq!(small.access(512.0 * KIB), large.access(512.0 * KIB));
    }
}
