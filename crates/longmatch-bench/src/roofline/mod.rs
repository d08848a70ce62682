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
mod vectors;

use core::hint::black_box;
use std::time::Instant;

use longmatch::simd::Simd;
use longmatch::{Bits, Family, Keys};

use crate::comparison::RunConfig;
use crate::family::BenchFamily;
use crate::key_stream::{KeyStream, batches};
use crate::random::SplitMix64;
use crate::target::{BenchTarget, Mode, Pass};
use crate::workload::Workload;

/// Maximum number of words of a table, because gathers take signed 32-bit indices.
const MAX_WORDS: usize = i32::MAX as usize;
/// Multiplier that mixes the first 32 bits of an IPv6 address with the next 16.
const FOLD: u32 = 0x9e37_79b1;
/// Distance at which keys are prefetched, in bytes.
const KEYS_AHEAD: usize = 4096;
/// Distance at which words are prefetched within a batch, in keys.
const WORDS_AHEAD: usize = 192;
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

/// The tables of an engine's roofline.
pub(crate) struct Roofline {
    tables: Vec<Table>,
}

/// The table that one read of each lookup accesses.
struct Table {
    /// At least one word and at most [`MAX_WORDS`].
    words: Box<[u32]>,
    /// Odd multiplier of the hash, different for each table.
    multiplier: u32,
    /// Whether words are prefetched.
    prefetched: bool,
}

impl Table {
    /// Index of the word of a key with these leading bits.
    #[inline(always)]
    fn index(&self, leading: u32) -> usize {
        let hash = leading.wrapping_mul(self.multiplier);
        ((u64::from(hash) * self.words.len() as u64) >> 32) as usize
    }

    #[inline(always)]
    fn word_ptr(&self, index: usize) -> *const u8 {
        self.words.as_ptr().wrapping_add(index).cast()
    }
}

/// A mix of the leading bits of a key, 24 of IPv4 or 48 of IPv6.
#[inline(always)]
fn leading_bits<F: Family>(key: F::Bits) -> u32 {
    match F::WIDTH {
        32 => key.extract(0, 24) as u32,
        _ => {
            (key.extract(0, 32) as u32).wrapping_mul(FOLD).wrapping_add(key.extract(32, 16) as u32)
        }
    }
}

/// Prefetches a cache line, if the CPU has an instruction for it.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: a prefetch of any address is a hint that cannot fault.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    let _ = address;
}

/// Prefetches `bytes` bytes of later keys. They may be beyond the end of the keys.
#[inline(always)]
fn prefetch_keys(keys: *const u8, bytes: usize) {
    let later = keys.wrapping_add(KEYS_AHEAD);
    (0..bytes).step_by(64).for_each(|line| prefetch(later.wrapping_add(line)));
}

impl Roofline {
    /// The roofline of an engine that states its reads, if `config` includes it.
    pub fn of<F: BenchFamily>(
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

    /// A roofline with tables of these sizes in bytes.
    ///
    /// All words are written, because the system maps unwritten pages to one cached page of zeros.
    pub fn new(reads: &[usize]) -> Self {
        let mut mix = SplitMix64::new(0);
        let mut table = |bytes: &usize| {
            let count = (bytes / size_of::<u32>()).clamp(1, MAX_WORDS) as u32;
            let words = (0..count).map(|i| i.wrapping_mul(FOLD)).collect();
            Table { words, multiplier: mix.next_u64() as u32 | 1, prefetched: false }
        };
        Self { tables: reads.iter().map(&mut table).collect() }
    }

    /// Measures all candidates of [`PREFETCH_ABOVE`] in turn and selects the fastest.
    fn tuned<F: BenchFamily>(mut self, workload: &Workload<F>, config: &RunConfig) -> Self {
        let (mut best, mut chosen) = (f64::INFINITY, usize::MAX);
        let round_keys = workload.keys().len() / TUNING_ROUNDS;
        for start in (0..TUNING_ROUNDS).map(|round| round_keys * round) {
            for bytes in PREFETCH_ABOVE {
                self.prefetch_above(bytes);
                let stream = workload.stream(config.mode, start, TUNING_LOOKUPS);
                let started = Instant::now();
                black_box(self.pass(config.mode, config.simd, config.batch, stream));
                let took = started.elapsed().as_secs_f64();
                if took < best {
                    (best, chosen) = (took, bytes);
                }
            }
        }
        self.prefetch_above(chosen);
        self
    }

    /// Enables prefetching for the tables with more than this number of bytes only.
    fn prefetch_above(&mut self, bytes: usize) {
        for table in &mut self.tables {
            table.prefetched = size_of_val(&*table.words) > bytes;
        }
    }

    /// The tables whose words are prefetched.
    #[inline(always)]
    fn prefetched_tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(|table| table.prefetched)
    }

    /// Counts the wrong answers for the checked keys of a workload.
    pub fn mismatches<F: BenchFamily>(&self, workload: &Workload<F>, config: &RunConfig) -> u64 {
        let (addrs, _) = workload.checked_keys();
        let keys = workload.encoded_checked_keys().unwrap_or(Keys::host(addrs));
        let mut out = vec![0; addrs.len()];
        let batches = batches(keys, 0, keys.len(), config.batch);
        for (keys, out) in batches.zip(out.chunks_mut(config.batch)) {
            self.read(config.simd, keys, out);
        }
        let wrong = addrs.iter().zip(out).filter(|(addr, out)| self.answer::<F>(**addr) != *out);
        wrong.count() as u64
    }

    /// Size of all tables, in bytes.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(|table| size_of_val(&*table.words)).sum()
    }

    /// The sum of the words of a key, by definition.
    #[inline(always)]
    pub fn answer<F: Family>(&self, key: F::Bits) -> u32 {
        let leading = leading_bits::<F>(key);
        let words = self.tables.iter().map(|table| table.words[table.index(leading)]);
        words.fold(0, u32::wrapping_add)
    }

    /// Writes the answers of `keys` to `out`, which has the same length.
    fn read<F: Family>(&self, simd: Simd, keys: Keys<'_, F>, out: &mut [u32]) {
        assert_eq!(keys.len(), out.len(), "keys and answers differ in number");
        if let Err(out) = vectors::read(self, simd, keys, out) {
            scalar::read(self, simd, keys, out);
        }
    }
}

impl<F: BenchFamily> Pass<F> for Roofline {
    fn pass(&self, _: Mode, simd: Simd, batch: usize, stream: KeyStream<'_, F>) -> u32 {
        let (keys, start, lookups) = match stream {
            KeyStream::Array { keys, start, lookups } => (Keys::host(keys), start, lookups),
            KeyStream::EncodedKeys { keys, start, lookups } => (keys, start, lookups),
            KeyStream::Generated { .. } => unreachable!("a batch needs its keys in advance"),
        };
        let mut out = vec![0; batch];
        let mut sum = 0;
        for keys in batches(keys, start, lookups, batch) {
            let out = &mut out[..keys.len()];
            self.read(simd, keys, out);
            // Prevents the compiler from removing reads of answers that the sum does not include.
            let out = black_box(out);
            sum ^= out[out.len() - 1];
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::BenchFamily;
    use crate::random::Xorshift;
    use longmatch::{Ipv4, Ipv6};

    const READS: [&[usize]; 5] = [&[], &[1], &[4096], &[1000, 70_000], &[12, 4, 8, 65_536, 20]];

    fn addrs<F: BenchFamily>(count: usize) -> Vec<F::Bits> {
        let mut random = Xorshift::new(3);
        (0..count).map(|_| F::random_bits(&mut random)).collect()
    }

    /// Compares every kernel with the definition, in every layout and at many lengths.
    fn assert_kernels_agree<F: BenchFamily>(addrs: &[F::Bits], layouts: &[Keys<'_, F>]) {
        for mut roofline in READS.map(Roofline::new) {
            let right: Vec<u32> = addrs.iter().map(|addr| roofline.answer::<F>(*addr)).collect();
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
        let addrs = addrs::<Ipv4>(1100);
        let network: Vec<_> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
        assert_kernels_agree(&addrs, &[addrs.as_slice().into(), network.as_slice().into()]);
    }

    #[test]
    fn ipv6_kernels_agree() {
        let addrs = addrs::<Ipv6>(1100);
        let pairs: Vec<_> = addrs.iter().map(|addr| [(addr >> 64) as u64, *addr as u64]).collect();
        let network: Vec<_> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
        let layouts = [addrs.as_slice().into(), pairs.as_slice().into(), network.as_slice().into()];
        assert_kernels_agree(&addrs, &layouts);
    }

    /// 16 times as many different keys as words read all words about equally often.
    #[test]
    fn indices_reach_the_whole_table() {
        let roofline = Roofline::new(&[4 << 12, 4 << 12]);
        assert_eq!(roofline.bytes(), 8 << 12);
        for table in &roofline.tables {
            let mut counts = vec![0u32; 1 << 12];
            (0..1 << 16).for_each(|i| counts[table.index(leading_bits::<Ipv4>(i << 16))] += 1);
            assert!(counts.iter().all(|n| (8..=24).contains(n)), "{counts:?}");
        }
        let index = |table: &Table| table.index(leading_bits::<Ipv4>(0x0102_0300));
        assert_ne!(
            index(&roofline.tables[0]),
            index(&roofline.tables[1]),
            "two tables have the same hash"
        );
    }

    #[test]
    fn only_the_leading_bits_determine_the_words() {
        let roofline = Roofline::new(&[1 << 16]);
        assert_eq!(roofline.answer::<Ipv4>(0x0102_0300), roofline.answer::<Ipv4>(0x0102_03ff));
        let site = 0x2001_0db8_0002u128 << 80;
        assert_eq!(roofline.answer::<Ipv6>(site), roofline.answer::<Ipv6>(site | u128::MAX >> 48));
        assert_ne!(roofline.answer::<Ipv6>(site), roofline.answer::<Ipv6>(site | 1 << 80));
    }
}
