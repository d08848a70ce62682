//! Roofline: the rate of independent reads from tables of an engine's sizes.
//!
//! The reads of an engine's lookup depend on each other: each one determines the next address.
//! [`Roofline`] makes the same number of reads, of 32-bit words, from tables of the sizes that
//! [`Engine::reads`] states, but computes every index from the key alone. So the distance between
//! the two rates shows how long the engine waits and computes, not how large its tables are.
//!
//! Indices are hashes of the leading bits of the key, 24 of IPv4 and 48 of IPv6, so that frequent
//! addresses read cached words, as in an engine. An engine can be faster than its roofline, because
//! adjacent addresses may share its cache lines, but not those of the roofline, and because its
//! lookups may end before the last stated read.
//!
//! [`Engine::reads`]: longmatch::Engine::reads

mod scalar;
mod tables;
mod vectors;

use core::hint::black_box;
use core::time::Duration;

use longmatch::simd::Simd;
use longmatch::{Family, Keys};

use crate::family::TrafficFamily;
use crate::key_stream::{KeyStream, batches};
use crate::mode::Mode;
use crate::run_config::RunConfig;
use crate::target::{BenchTarget, Pass, Timed};
use crate::workload::Workload;

pub(crate) use tables::Roofline;

/// Candidates for the bytes of a table above which its words are prefetched.
///
/// The first one disables prefetching.
///
/// The best one depends on the caches: with a table of 8 MiB the rate is 1,590 Mlps without and
/// 1,150 with prefetching, with 32 MiB it is 320 and 570 (AVX-512, IPv4, batches of 4,096, Zen 5
/// with 32 MiB of L3).
const PREFETCH_ABOVE: [usize; 3] = [usize::MAX, 8 << 20, 1 << 20];
/// Lookups of one measurement of a candidate.
const TUNING_LOOKUPS: usize = 1 << 18;
/// Measurements of each candidate.
const TUNING_ROUNDS: usize = 3;

impl Roofline {
    /// The roofline of an engine that states its reads, if `config` includes it.
    pub fn of<F: TrafficFamily>(
        engine: &dyn BenchTarget<F>,
        workload: &Workload<F>,
        config: &RunConfig,
    ) -> Option<Self> {
        if !config.roofline || config.mode != Mode::Batch || config.generate {
            return None;
        }
        let reads = engine.reads();
        (!reads.is_empty()).then(|| Self::new(&reads).tuned(workload, config))
    }

    /// Measures all candidates of [`PREFETCH_ABOVE`] in turn and selects the fastest.
    fn tuned<F: TrafficFamily>(mut self, workload: &Workload<F>, config: &RunConfig) -> Self {
        let (mut best, mut chosen) = (Duration::MAX, usize::MAX);
        let round_keys = workload.keys().len() / TUNING_ROUNDS;
        for start in (0..TUNING_ROUNDS).map(|round| round_keys * round) {
            for bytes in PREFETCH_ABOVE {
                self.prefetch_above(bytes);
                let stream = workload.stream(config.mode, start, TUNING_LOOKUPS);
                let took = self.pass(config, stream).took;
                if took < best {
                    (best, chosen) = (took, bytes);
                }
            }
        }
        self.prefetch_above(chosen);
        self
    }

    /// Counts the wrong answers for the checked keys of a workload.
    pub fn mismatches<F: TrafficFamily>(&self, workload: &Workload<F>, config: &RunConfig) -> u64 {
        let (addrs, _) = workload.checked_keys();
        let keys = workload.checked_batch_keys();
        let mut out = vec![0; addrs.len()];
        let batches = batches(keys, 0, keys.len(), config.batch);
        for (keys, out) in batches.zip(out.chunks_mut(config.batch)) {
            self.read(config.simd, keys, out);
        }
        let wrong = addrs.iter().zip(out).filter(|(addr, out)| self.answer::<F>(**addr) != *out);
        wrong.count() as u64
    }

    /// Writes the answers of `keys` to `out`, which has the same length.
    fn read<F: Family>(&self, simd: Simd, keys: Keys<'_, F>, out: &mut [u32]) {
        assert_eq!(keys.len(), out.len(), "keys and answers differ in number");
        if let Err(out) = vectors::read(self, simd, keys, out) {
            scalar::read(self, simd, keys, out);
        }
    }
}

impl<F: TrafficFamily> Pass<F> for Roofline {
    fn pass(&self, config: &RunConfig, stream: KeyStream<'_, F>) -> Timed {
        let KeyStream::Array { keys, start, lookups } = stream else {
            unreachable!("a roofline reads its keys from an array")
        };
        let mut out = vec![0; config.batch];
        Timed::of(|| {
            let mut sum = 0;
            for keys in batches(keys, start, lookups, config.batch) {
                let out = &mut out[..keys.len()];
                self.read(config.simd, keys, out);
                // Prevents the compiler from removing reads of answers that the sum does not include.
                let out = black_box(out);
                sum ^= out[out.len() - 1];
            }
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoded_keys::EncodedKeys;
    use crate::random::Xorshift;
    use longmatch::{Ipv4, Ipv6, KeyLayout};

    const READS: [&[usize]; 5] = [&[], &[1], &[4096], &[1000, 70_000], &[12, 4, 8, 65_536, 20]];

    /// Compares every kernel with the definition, in every layout and at many lengths.
    fn assert_kernels_agree<F: TrafficFamily>() {
        let mut random = Xorshift::new(3);
        let addrs: Vec<_> = (0..1100).map(|_| F::random_bits(&mut random)).collect();
        let encoded = [KeyLayout::U64Pairs, KeyLayout::Network];
        let encoded = encoded.map(|layout| EncodedKeys::new::<F>(&addrs, layout));
        let encoded = encoded.iter().flatten().map(EncodedKeys::keys);
        let layouts: Vec<_> = encoded.chain([Keys::<F>::host(&addrs)]).collect();
        for mut roofline in READS.map(Roofline::new) {
            let right: Vec<_> = addrs.iter().map(|addr| roofline.answer::<F>(*addr)).collect();
            for (keys, simd) in layouts.iter().flat_map(|k| Simd::available().map(move |s| (*k, s)))
            {
                for above in [usize::MAX, 4096, 0] {
                    roofline.prefetch_above(above);
                    for size in (0..70).chain([511, 512, 513, addrs.len()]) {
                        let mut out = vec![7; size];
                        roofline.read(simd, keys.range(0..size), &mut out);
                        let case = (keys.layout(), simd.level(), above, size);
                        assert_eq!(out, right[..size], "{case:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn ipv4_kernels_agree() {
        assert_kernels_agree::<Ipv4>();
    }

    #[test]
    fn ipv6_kernels_agree() {
        assert_kernels_agree::<Ipv6>();
    }
}
