//! Statistics of a compiled DXR, as the authors' implementation reports them.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;

use super::chunk::Fragment;
use super::compile::for_each_chunk;
use super::direct::FrozenDirect;
use super::layout::{Dxr, Format, MAX_K, MIN_K, Slices};
use super::lookup::Search;
use crate::net::{Bits, Family, Ipv4};
use crate::rib::Rib;

/// Chunks and the fragments (ranges) in them, by format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Chunks in short format.
    pub short_chunks: usize,
    /// Chunks in long format.
    pub long_chunks: usize,
    /// Fragments of the chunks in short format.
    pub short_fragments: usize,
    /// Fragments of the chunks in long format.
    pub long_fragments: usize,
}

impl Counts {
    fn add(&mut self, times: usize, size: usize, short: bool) {
        if short {
            self.short_chunks += times;
            self.short_fragments += times * size;
        } else {
            self.long_chunks += times;
            self.long_fragments += times * size;
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { short_chunks, long_chunks, short_fragments, long_fragments } = self;
        write!(
            f,
            "{short_chunks} short chunks of {short_fragments} fragments, \
             {long_chunks} long chunks of {long_fragments}"
        )
    }
}

/// The figures of a compiled DXR.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Statistics {
    /// Bits that the direct table resolves.
    pub k: u8,
    /// Bytes of the direct table, both levels if there are two.
    pub direct_bytes: usize,
    /// Bytes of the range table.
    pub range_bytes: usize,
    /// Chunks that the direct table resolves, of `2^k`.
    pub resolved: usize,
    /// Fragments of the longest chunk.
    pub longest: usize,
    /// Chunks as stored.
    pub physical: Counts,
    /// Chunks as referred to: a chunk that several entries of the direct table share counts once
    /// for each of them.
    pub aggregated: Counts,
}

impl<E: Format, T: FrozenDirect, S: Search> Dxr<E, T, S> {
    /// Counts the parts of the structure. O(2^K).
    #[doc(hidden)]
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let mut references: BTreeMap<u32, usize> = BTreeMap::new();
        let slices = self.slices();
        for entry in slices.entries().filter(|entry| E::size_field(*entry) != 0) {
            *references.entry(entry).or_default() += 1;
        }
        let mut statistics = Statistics {
            k: self.k,
            direct_bytes: self.direct.memory().iter().map(|part| part.bytes).sum(),
            range_bytes: self.ranges.len() * size_of::<E::Word>(),
            resolved: 1 << self.k,
            longest: 1,
            ..Statistics::default()
        };
        for (entry, times) in references {
            let chunk = slices.chunk(entry);
            statistics.physical.add(1, chunk.size, chunk.short);
            statistics.aggregated.add(times, chunk.size, chunk.short);
            statistics.resolved -= times;
            statistics.longest = statistics.longest.max(chunk.size);
        }
        statistics
    }

    /// Returns the arrays that the check reads.
    pub(super) fn slices(&self) -> Slices<'_, E> {
        let Self { direct, ranges, k, hop_bits, .. } = self;
        Slices { direct: direct.levels(), ranges, k: *k, hop_bits: *hop_bits }
    }

    /// Formats the statistics, and the table's chunk lengths for every `K`.
    pub(super) fn report(&self, rib: &Rib<E::Family>) -> Vec<String> {
        let s = self.statistics();
        let hops: BTreeSet<u32> = rib.iter().map(|route| route.next_hop.get()).collect();
        let bytes = s.direct_bytes + s.range_bytes;
        let mut lines: Vec<String> = [
            format!("{} prefixes, {} distinct next hops", rib.len(), hops.len()),
            format!(
                "{bytes} bytes, {:.2} a prefix: {} in the direct table, {} in the range table",
                bytes as f64 / rib.len().max(1) as f64,
                s.direct_bytes,
                s.range_bytes
            ),
            format!(
                "{:.2} % of the addresses end in the direct table",
                100.0 * s.resolved as f64 / (1u64 << s.k) as f64
            ),
            format!("physical: {}", s.physical),
            format!("aggregated: {}", s.aggregated),
            format!("the longest chunk has {} fragments", s.longest),
            "shares of all chunks by number of fragments:".into(),
            format!("K  {}", BUCKETS.map(|bucket| format!("{bucket:>9}")).join("")),
        ]
        .into();
        lines.extend((MIN_K..=MAX_K).map(|k| chunk_lengths(rib, k).to_string()));
        lines
    }
}

/// Counts the parts of a table's structure as the authors' Click element does, whose `rt.stat` the DXR
/// page prints. O(routes), and a copy of every different chunk.
///
/// [`Dxr::statistics`] counts a structure of this library, which differs in the short format. In the
/// authors' `DXRIPLookup` of 2014:
///
/// - A chunk is long if it contains a route longer than /24, even one that changes no answer; here
///   a chunk is long if a range begins inside a /24.
/// - A short chunk of an odd number of fragments gets a copy of its last one, which counts; so the
///   range table of the page has exactly two bytes for each short and four for each long fragment.
/// - The longest chunk is the one with the most words of four bytes. A short chunk has half as many as
///   fragments.
///
/// The limits of the formats do not apply.
///
/// # Panics
/// When `k` is less than 16 or more than 24.
#[must_use]
pub fn published_statistics(rib: &Rib<Ipv4>, k: u8) -> Statistics {
    assert!((MIN_K..=24).contains(&k), "K = {k}");
    let index = |addr: u32| addr.extract(0, k);
    let exceeds_short = |hop: u32| hop > 0xff;
    let long_routes =
        rib.iter().filter(|route| route.prefix.len() > 24 || exceeds_short(route.next_hop.get()));
    let mut long_chunks = long_routes.map(|route| index(route.prefix.bits())).peekable();
    // References to each different chunk.
    let mut chunks: BTreeMap<(bool, Vec<(u32, u32)>), usize> = BTreeMap::new();
    // The chunk after the current ones.
    let mut next = 0;
    let Ok(()) = for_each_chunk(rib, k, |count, fragments| {
        next += count;
        let mut long = fragments.iter().any(|fragment| exceeds_short(fragment.hop));
        while long_chunks.next_if(|chunk| *chunk < next).is_some() {
            long = true;
        }
        if fragments.len() > 1 {
            let content = fragments.iter().map(|Fragment { start, hop }| (*start, *hop)).collect();
            *chunks.entry((long, content)).or_default() += count;
        }
        Ok::<(), Infallible>(())
    });
    let mut statistics = Statistics {
        k,
        direct_bytes: size_of::<u32>() << k,
        resolved: 1 << k,
        longest: 1,
        ..Statistics::default()
    };
    for ((long, content), times) in chunks {
        let (size, words) = match long {
            true => (content.len(), content.len()),
            false => (content.len().next_multiple_of(2), content.len().div_ceil(2)),
        };
        statistics.physical.add(1, size, !long);
        statistics.aggregated.add(times, size, !long);
        statistics.range_bytes += words * size_of::<u32>();
        statistics.resolved -= times;
        statistics.longest = statistics.longest.max(words);
    }
    statistics
}

/// Distribution of the `2^k` chunks by number of fragments, for one `K`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkLengths {
    /// Bits that the direct table would resolve.
    pub k: u8,
    /// Chunks by the number of fragments: 1 (resolved by the direct table), 2, 3-4, 5-8, 9-16,
    /// 17-32, 33-64, 65-128, 129-256, more.
    pub chunks: [usize; 10],
    /// Fragments of the longest chunk.
    pub longest: usize,
}

const BUCKETS: [&str; 10] =
    ["1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", "65-128", "129-256", ">256"];

/// Computes a table's distribution of chunk lengths with `k` direct bits. O(routes).
///
/// The limits of the formats do not apply.
///
/// # Panics
/// When `k` is 0 or more than 32.
#[must_use]
pub fn chunk_lengths<F: Family>(rib: &Rib<F>, k: u8) -> ChunkLengths {
    assert!((1..=32).contains(&k), "K = {k}");
    let mut lengths = ChunkLengths { k, chunks: [0; 10], longest: 1 };
    let Ok(()) = for_each_chunk(rib, k, |count, fragments| {
        let len = fragments.len();
        let bucket = len.next_power_of_two().trailing_zeros() as usize;
        lengths.chunks[bucket.min(BUCKETS.len() - 1)] += count;
        lengths.longest = lengths.longest.max(len);
        Ok::<(), Infallible>(())
    });
    lengths
}

impl ChunkLengths {
    /// The shares of all chunks, in the order of [`ChunkLengths::chunks`].
    #[must_use]
    pub fn shares(&self) -> [f64; 10] {
        let all = (1u64 << self.k) as f64;
        self.chunks.map(|chunks| chunks as f64 / all)
    }
}

impl fmt::Display for ChunkLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<3}", self.k)?;
        for (chunks, share) in self.chunks.iter().zip(self.shares()) {
            match chunks {
                0 => write!(f, " {:>8}", 0)?,
                _ if share < 0.00001 => write!(f, " {share:>8.1e}")?,
                _ => write!(f, " {share:>8.5}")?,
            }
        }
        Ok(())
    }
}
