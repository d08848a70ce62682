//! The tables of a roofline, and the words that a key reads from them.

use longmatch::{Bits, Family};

use crate::random::SplitMix64;

/// Maximum number of words of a table, because gathers take signed 32-bit indices.
const MAX_WORDS: usize = i32::MAX as usize;
/// Multiplier that mixes the first 32 bits of an IPv6 address with the next 16.
pub(super) const FOLD: u32 = 0x9e37_79b1;
/// Distance at which keys are prefetched, in bytes.
const KEYS_AHEAD: usize = 4096;
/// Distance at which words are prefetched within a batch, in keys.
pub(super) const WORDS_AHEAD: usize = 192;

/// The tables of an engine's roofline, in the order of the reads.
pub(crate) struct Roofline(Vec<Table>);

/// The table that one read of each lookup accesses.
pub(super) struct Table {
    /// At least one word and at most [`MAX_WORDS`].
    pub words: Box<[u32]>,
    /// Odd multiplier of the hash, different for each table.
    pub multiplier: u32,
    prefetched: bool,
}

impl Table {
    /// Index of the word of a key with these leading bits.
    #[inline(always)]
    pub fn index(&self, leading: u32) -> usize {
        let hash = leading.wrapping_mul(self.multiplier);
        ((u64::from(hash) * self.words.len() as u64) >> 32) as usize
    }

    #[inline(always)]
    pub fn word_ptr(&self, index: usize) -> *const u8 {
        self.words.as_ptr().wrapping_add(index).cast()
    }
}

impl Roofline {
    /// A roofline with tables of these sizes in bytes.
    ///
    /// All words are written, because the system maps unwritten pages to one cached page of zeros.
    pub(super) fn new(reads: &[usize]) -> Self {
        let mut mix = SplitMix64::new(0);
        let mut table = |bytes: &usize| {
            let count = (bytes / size_of::<u32>()).clamp(1, MAX_WORDS) as u32;
            let words = (0..count).map(|i| i.wrapping_mul(FOLD)).collect();
            Table { words, multiplier: mix.next_u64() as u32 | 1, prefetched: false }
        };
        Self(reads.iter().map(&mut table).collect())
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Table> {
        self.0.iter()
    }

    /// Enables prefetching for the tables with more than this number of bytes only.
    pub(super) fn prefetch_above(&mut self, bytes: usize) {
        for table in &mut self.0 {
            table.prefetched = size_of_val(&*table.words) > bytes;
        }
    }

    /// The tables whose words are prefetched.
    #[inline(always)]
    pub(super) fn prefetched(&self) -> impl Iterator<Item = &Table> {
        self.iter().filter(|table| table.prefetched)
    }

    /// Size of all tables, in bytes.
    pub fn bytes(&self) -> usize {
        self.iter().map(|table| size_of_val(&*table.words)).sum()
    }

    /// The sum of the words of a key, by definition.
    #[inline(always)]
    pub(super) fn answer<F: Family>(&self, key: F::Bits) -> u32 {
        let leading = leading_bits::<F>(key);
        let words = self.iter().map(|table| table.words[table.index(leading)]);
        words.fold(0, u32::wrapping_add)
    }
}

/// A mix of the leading bits of a key, 24 of IPv4 or 48 of IPv6.
#[inline(always)]
pub(super) fn leading_bits<F: Family>(key: F::Bits) -> u32 {
    match F::WIDTH {
        32 => key.extract(0, 24) as u32,
        _ => {
            (key.extract(0, 32) as u32).wrapping_mul(FOLD).wrapping_add(key.extract(32, 16) as u32)
        }
    }
}

/// Prefetches a cache line, if the CPU has an instruction for it.
#[inline(always)]
pub(super) fn prefetch(address: *const u8) {
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
pub(super) fn prefetch_keys(keys: *const u8, bytes: usize) {
    let later = keys.wrapping_add(KEYS_AHEAD);
    (0..bytes).step_by(64).for_each(|line| prefetch(later.wrapping_add(line)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv4, Ipv6};

    /// 16 times as many different keys as words read all words about equally often.
    #[test]
    fn indices_reach_the_whole_table() {
        let tables = Roofline::new(&[4 << 12, 4 << 12]);
        assert_eq!(tables.bytes(), 8 << 12);
        for table in tables.iter() {
            let mut counts = vec![0u32; 1 << 12];
            (0..1 << 16).for_each(|i| counts[table.index(leading_bits::<Ipv4>(i << 16))] += 1);
            assert!(counts.iter().all(|n| (8..=24).contains(n)), "{counts:?}");
        }
        let index = |table: &Table| table.index(leading_bits::<Ipv4>(0x0102_0300));
        assert_ne!(index(&tables.0[0]), index(&tables.0[1]), "two tables have the same hash");
    }

    #[test]
    fn only_the_leading_bits_determine_the_words() {
        let tables = Roofline::new(&[1 << 16]);
        assert_eq!(tables.answer::<Ipv4>(0x0102_0300), tables.answer::<Ipv4>(0x0102_03ff));
        let site = 0x2001_0db8_0002u128 << 80;
        assert_eq!(tables.answer::<Ipv6>(site), tables.answer::<Ipv6>(site | u128::MAX >> 48));
        assert_ne!(tables.answer::<Ipv6>(site), tables.answer::<Ipv6>(site | 1 << 80));
    }
}
