//! What this machine can do at best for a structure: as many reads, none of which waits for
//! another, from memory of the same size.
//!
//! A lookup of an engine reads a chain: each read says where the next one is. [`Roofline`] reads a
//! 32-bit word for each of them as well, from tables of the sizes that [`Engine::reads`] states,
//! but finds every index by arithmetic from the key alone. What an engine takes longer than this,
//! it spends on waiting and on work, not on the sizes of its tables.
//!
//! Indices are hashes of the leading bits of the key, 24 of IPv4 and 48 of IPv6, so that addresses
//! that come often read words that were read before, as in an engine. Neighbours are scattered,
//! though, where an engine that indexes by them finds them in one cache line; and where many lookups
//! of an engine end before the last read it states, its roofline makes all of them. So an engine can be
//! faster than its roofline.
//!
//! [`Engine::reads`]: longmatch::Engine::reads

mod scalar;
mod vectors;

use core::hint::black_box;
use std::time::Instant;

use longmatch::simd::Simd;
use longmatch::{Bits, Family, Keys};

use crate::comparison::Setup;
use crate::family::BenchFamily;
use crate::key_stream::{KeyStream, batches};
use crate::random::SplitMix64;
use crate::target::{BenchTarget, Mode, Pass};
use crate::workload::Workload;

/// The most words of a table: gathers take signed 32-bit indices.
const MOST_WORDS: usize = i32::MAX as usize;
/// Spreads the first 32 bits of an IPv6 address over all 32 before the next 16 are added.
const FOLD: u32 = 0x9e37_79b1;
/// How far ahead of its use a key is asked for, in bytes.
const KEYS_AHEAD: usize = 4096;
/// How many keys ahead of their use words are asked for, inside of a batch.
const WORDS_AHEAD: usize = 192;
/// Words of tables larger than this are asked for ahead: the choices, none of them first. Which is
/// faster depends on the caches: with one table of 8 MiB 1,590 Mlps at once and 1,150 ahead, with
/// one of 32 MiB 320 and 570 (AVX-512, IPv4, batches of 4,096, Zen 5 with 32 MiB of L3).
const AHEAD_BEYOND: [usize; 3] = [usize::MAX, 8 << 20, 1 << 20];
/// Keys and rounds of the trial that chooses among them.
const TRIAL: usize = 1 << 18;
const ROUNDS: usize = 3;

/// Reads that do not depend on each other, in place of an engine's.
pub(crate) struct Roofline {
    tables: Vec<Table>,
}

/// What one read of each lookup reads from.
struct Table {
    /// At least one word and at most [`MOST_WORDS`].
    words: Box<[u32]>,
    /// Odd, and another one for each table: an index is a hash of the key.
    multiplier: u32,
    /// Whether words are prefetched some keys earlier.
    ahead: bool,
}

impl Table {
    /// Where a key's word is.
    #[inline(always)]
    fn index(&self, lead: u32) -> usize {
        let hash = lead.wrapping_mul(self.multiplier);
        ((u64::from(hash) * self.words.len() as u64) >> 32) as usize
    }

    /// The address of a word.
    #[inline(always)]
    fn at(&self, index: usize) -> *const u8 {
        self.words.as_ptr().wrapping_add(index).cast()
    }
}

/// The leading bits of a key.
#[inline(always)]
fn lead<F: Family>(key: F::Bits) -> u32 {
    match F::WIDTH {
        32 => key.extract(0, 24) as u32,
        _ => {
            (key.extract(0, 32) as u32).wrapping_mul(FOLD).wrapping_add(key.extract(32, 16) as u32)
        }
    }
}

/// Asks for a cache line, where there is an instruction for it.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: a prefetch of any address is a hint without effect on the program.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    let _ = address;
}

/// Asks for keys that come later, whether there are any or not: as many bytes as are read now.
#[inline(always)]
fn prefetch_keys(keys: *const u8, bytes: usize) {
    let later = keys.wrapping_add(KEYS_AHEAD);
    (0..bytes).step_by(64).for_each(|line| prefetch(later.wrapping_add(line)));
}

impl Roofline {
    /// The roofline of an engine, if it is asked for and the engine states its reads.
    pub fn of<F: BenchFamily>(
        engine: &dyn BenchTarget<F>,
        workload: &Workload<F>,
        setup: &Setup,
    ) -> Option<Self> {
        if !setup.roofline || setup.mode != Mode::Batch {
            return None;
        }
        let reads = engine.reads();
        (!reads.is_empty()).then(|| Self::new(&reads).tuned(workload, setup))
    }

    /// Tables of these sizes in bytes, written all over: pages that were never written are all the
    /// same one, and cached.
    pub fn new(reads: &[usize]) -> Self {
        let mut mix = SplitMix64::new(0);
        let mut table = |bytes: &usize| {
            let count = (bytes / size_of::<u32>()).clamp(1, MOST_WORDS) as u32;
            let words = (0..count).map(|i| i.wrapping_mul(FOLD)).collect();
            Table { words, multiplier: mix.next_u64() as u32 | 1, ahead: false }
        };
        Self { tables: reads.iter().map(&mut table).collect() }
    }

    /// Tries the choices of what to ask for ahead, in turn, and stays with the one that had the
    /// fastest round.
    fn tuned<F: BenchFamily>(mut self, workload: &Workload<F>, setup: &Setup) -> Self {
        let (mut best, mut chosen) = (f64::INFINITY, usize::MAX);
        for start in (0..ROUNDS).map(|round| workload.keys().len() / ROUNDS * round) {
            for beyond in AHEAD_BEYOND {
                self.ask_beyond(beyond);
                let stream = workload.stream(setup.mode, start, TRIAL);
                let started = Instant::now();
                black_box(self.pass(setup.mode, setup.simd, setup.batch, stream));
                let took = started.elapsed().as_secs_f64();
                if took < best {
                    (best, chosen) = (took, beyond);
                }
            }
        }
        self.ask_beyond(chosen);
        self
    }

    /// From now on asks ahead for the words of tables of more than so many bytes.
    fn ask_beyond(&mut self, bytes: usize) {
        for table in &mut self.tables {
            table.ahead = size_of_val(&*table.words) > bytes;
        }
    }

    /// The tables whose words are asked for ahead.
    #[inline(always)]
    fn asked(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(|table| table.ahead)
    }

    /// Answers that are not what they have to be.
    pub fn mismatches<F: BenchFamily>(&self, workload: &Workload<F>, setup: &Setup) -> u64 {
        let (addrs, _) = workload.cases();
        let keys = workload.encoded_cases().unwrap_or(Keys::host(addrs));
        let mut out = vec![0; addrs.len()];
        let batches = batches(keys, 0, keys.len(), setup.batch);
        for (keys, out) in batches.zip(out.chunks_mut(setup.batch)) {
            self.read(setup.simd, keys, out);
        }
        let wrong = addrs.iter().zip(out).filter(|(addr, out)| self.answer::<F>(**addr) != *out);
        wrong.count() as u64
    }

    /// Bytes of all tables.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(|table| size_of_val(&*table.words)).sum()
    }

    /// All words of one key, added up: what the loops are compared with.
    #[inline(always)]
    pub fn answer<F: Family>(&self, key: F::Bits) -> u32 {
        let lead = lead::<F>(key);
        let words = self.tables.iter().map(|table| table.words[table.index(lead)]);
        words.fold(0, u32::wrapping_add)
    }

    /// Answers keys into `out`, which has as many places.
    fn read<F: Family>(&self, simd: Simd, keys: Keys<'_, F>, out: &mut [u32]) {
        assert_eq!(keys.len(), out.len(), "as many answers as keys");
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
            KeyStream::Generated { .. } => unreachable!("a batch is made beforehand"),
        };
        let mut out = vec![0; batch];
        let mut sum = 0;
        for keys in batches(keys, start, lookups, batch) {
            let out = &mut out[..keys.len()];
            self.read(simd, keys, out);
            // The answers count as read, so that none may be left out.
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

    /// Every kernel reads what the definition says, in every form and at every length.
    fn kernels_agree<F: BenchFamily>(addrs: &[F::Bits], forms: &[Keys<'_, F>]) {
        for mut roofline in READS.map(Roofline::new) {
            let right: Vec<u32> = addrs.iter().map(|addr| roofline.answer::<F>(*addr)).collect();
            for (keys, simd) in forms.iter().flat_map(|k| Simd::available().map(move |s| (*k, s))) {
                for beyond in [usize::MAX, 4096, 0] {
                    roofline.ask_beyond(beyond);
                    for size in (0..70).chain([511, 512, 513, addrs.len()]) {
                        let mut out = vec![7; size];
                        roofline.read(simd, keys.range(0..size), &mut out);
                        let about = (keys.layout(), simd.level(), beyond, size);
                        assert_eq!(out, right[..size], "{about:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn ipv4_kernels_agree() {
        let addrs = addrs::<Ipv4>(1100);
        let network: Vec<_> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
        kernels_agree(&addrs, &[addrs.as_slice().into(), network.as_slice().into()]);
    }

    #[test]
    fn ipv6_kernels_agree() {
        let addrs = addrs::<Ipv6>(1100);
        let halves: Vec<_> = addrs.iter().map(|addr| [(addr >> 64) as u64, *addr as u64]).collect();
        let network: Vec<_> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
        let forms = [addrs.as_slice().into(), halves.as_slice().into(), network.as_slice().into()];
        kernels_agree(&addrs, &forms);
    }

    /// Sixteen times as many different keys as words reach nearly all of them, evenly.
    #[test]
    fn indices_reach_the_whole_table() {
        let roofline = Roofline::new(&[4 << 12, 4 << 12]);
        assert_eq!(roofline.bytes(), 8 << 12);
        for table in &roofline.tables {
            let mut reached = vec![0u32; 1 << 12];
            (0..1 << 16).for_each(|i| reached[table.index(lead::<Ipv4>(i << 16))] += 1);
            assert!(reached.iter().all(|n| (8..=24).contains(n)), "{reached:?}");
        }
        let index = |table: &Table| table.index(lead::<Ipv4>(0x0102_0300));
        assert_ne!(
            index(&roofline.tables[0]),
            index(&roofline.tables[1]),
            "each table has its own hash"
        );
    }

    /// Keys that an engine finds at the same place are read from the same place.
    #[test]
    fn the_last_bits_of_a_key_do_not_matter() {
        let roofline = Roofline::new(&[1 << 16]);
        assert_eq!(roofline.answer::<Ipv4>(0x0102_0300), roofline.answer::<Ipv4>(0x0102_03ff));
        let site = 0x2001_0db8_0002u128 << 80;
        assert_eq!(roofline.answer::<Ipv6>(site), roofline.answer::<Ipv6>(site | u128::MAX >> 48));
        assert_ne!(roofline.answer::<Ipv6>(site), roofline.answer::<Ipv6>(site | 1 << 80));
    }
}
