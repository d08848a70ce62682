//! The settings of one run of a comparison.

use longmatch::simd::Simd;

use crate::family::TrafficFamily;
use crate::generator::{KeyRule, KeySource};
use crate::mode::Mode;
use crate::traffic::Traffic;

/// The settings of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RunConfig {
    /// The loop around the lookups.
    pub mode: Mode,
    /// Keys in a batch. Answers are checked in batches of this size in every mode.
    pub batch: usize,
    /// Threads that look up at the same time.
    pub threads: usize,
    /// The SIMD level of the lookups.
    pub simd: Simd,
    /// Approximate time to measure each engine, all passes together, in seconds.
    pub seconds: f64,
    /// Passes that count. One more pass comes first and does not count.
    pub passes: usize,
    /// Generates keys in the timed loop, if the traffic has a rule for them: see [`KeySource`].
    ///
    /// All other traffic is read from an array, and the record says so.
    pub generate: bool,
    /// In modes one and dependent, writes each answer to an array, as the element of DXR's authors
    /// does.
    ///
    /// The array has an answer of two bytes for each key of the array of keys, or of a block of
    /// generated keys.
    pub store: bool,
    /// Pins each thread to a CPU of its own.
    pub pin: bool,
    /// In mode batch with keys from an array, also measures the roofline of each engine that states
    /// its reads.
    ///
    /// It makes the same number of independent reads from tables of the same sizes.
    pub roofline: bool,
}

impl RunConfig {
    /// The default: 5 passes in 1 s, batches of 256, one thread, the best SIMD level.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            batch: 256,
            threads: 1,
            simd: Simd::best(),
            seconds: 1.0,
            passes: 5,
            generate: false,
            store: false,
            pin: false,
            roofline: false,
        }
    }

    /// The source of the keys for this traffic.
    pub fn key_source<F: TrafficFamily>(&self, traffic: &Traffic) -> KeySource {
        let rule = if self.generate { traffic.rule::<F>(&[]) } else { None };
        rule.map_or(KeySource::Array, KeyRule::source)
    }
}
