//! Keys that a timed loop computes, instead of reading them from an array.
//!
//! The papers look up addresses like this, so that an array of keys takes no room in the caches. The time of a
//! measurement includes the generator.

use longmatch::Bits;

use crate::family::TrafficFamily;
use crate::random::{Lcg, SplitMix64, Xorshift};

/// Keys of a block in the modes that look up one by one: few enough for the first-level cache.
pub(crate) const BLOCK: usize = 16;
/// The first address of 2000::/8.
const IPV6_8: u128 = 0x20 << 120;

/// A rule by which keys are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyRule<'k> {
    /// Uniformly random addresses: see [`TrafficFamily::random_address`].
    Random,
    /// Ascending addresses: see [`TrafficFamily::sequential`].
    Sequential,
    /// Uniformly random addresses, each this many times in a row.
    Repeated(usize),
    /// Uniformly random addresses of 2000::/8.
    RandomIn8,
    /// Random addresses of the Spider paper (V-A), of a linear congruential generator.
    ///
    /// Those of IPv6 have 32 bits of this list, 32 random bits, and `::1`; without a list they are
    /// uniform.
    Spider(&'k [u32]),
}

impl KeyRule<'_> {
    /// The source of the keys.
    pub(crate) fn source(self) -> KeySource {
        match self {
            Self::Sequential => KeySource::Counter,
            Self::Spider(_) => KeySource::Lcg,
            Self::Random | Self::Repeated(_) | Self::RandomIn8 => KeySource::Xorshift,
        }
    }
}

/// The source of the keys of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeySource {
    /// An array; the time includes reading it.
    Array,
    /// A xorshift generator in the timed loop; the time includes it.
    Xorshift,
    /// A linear congruential generator in the timed loop; the time includes it.
    Lcg,
    /// A counter in the timed loop.
    Counter,
}

impl KeySource {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Xorshift => "xorshift",
            Self::Lcg => "lcg",
            Self::Counter => "counter",
        }
    }
}

/// A generator of keys. The seed determines them.
pub(crate) struct KeyGenerator<'k> {
    rule: KeyRule<'k>,
    random: Xorshift,
    spider: SpiderKeys<'k>,
    /// Keys generated so far.
    made: usize,
    /// Keys of the whole stream.
    count: usize,
    /// The address that is repeated, and how many times it still comes.
    last: u128,
    left: usize,
}

impl<'k> KeyGenerator<'k> {
    /// A generator for a stream of `count` keys.
    pub fn new(rule: KeyRule<'k>, seed: u64, count: usize) -> Self {
        let leads = if let KeyRule::Spider(leads) = rule { leads } else { &[] };
        let (random, spider) = (Xorshift::new(seed), SpiderKeys::new(leads, seed));
        Self { rule, random, spider, made: 0, count, last: 0, left: 0 }
    }

    /// Fills `keys` with the next keys.
    ///
    /// The linear congruential generator makes eight numbers at a time, as the Spider paper's does
    /// (V-B); those that exceed `keys` are lost.
    pub fn fill<F: TrafficFamily>(&mut self, keys: &mut [F::Bits]) {
        let random = &mut self.random;
        match self.rule {
            KeyRule::Random => keys.fill_with(|| F::random_address(random)),
            KeyRule::RandomIn8 => {
                keys.fill_with(|| F::Bits::from_u128(IPV6_8 | random.next_u128() >> 8));
            }
            KeyRule::Sequential => {
                for (key, i) in keys.iter_mut().zip(self.made..) {
                    *key = F::sequential(i, self.count);
                }
            }
            KeyRule::Repeated(times) => {
                for key in keys.iter_mut() {
                    if self.left == 0 {
                        (self.last, self.left) = (F::random_address(random).to_u128(), times);
                    }
                    self.left -= 1;
                    *key = F::Bits::from_u128(self.last);
                }
            }
            KeyRule::Spider(_) => {
                for keys in keys.chunks_mut(Lcg::LANES) {
                    let words = self.spider.words::<F>();
                    for (i, key) in keys.iter_mut().enumerate() {
                        let words = words[..usize::from(F::WIDTH / 32)].iter();
                        let bits = words.fold(0, |bits, word| bits << 32 | u128::from(word[i]));
                        *key = F::Bits::from_u128(bits);
                    }
                }
            }
        }
        self.made += keys.len();
    }

    /// All keys of the stream.
    pub fn all<F: TrafficFamily>(mut self) -> Vec<F::Bits> {
        let mut keys = vec![F::Bits::default(); self.count];
        self.fill::<F>(&mut keys);
        keys
    }
}

/// The generator of [`KeyRule::Spider`].
pub(crate) struct SpiderKeys<'k> {
    lanes: Lcg,
    leads: &'k [u32],
}

impl<'k> SpiderKeys<'k> {
    /// A generator that draws from these first 32 bits of routes.
    pub fn new(leads: &'k [u32], seed: u64) -> Self {
        Self { lanes: Lcg::new(&mut SplitMix64::new(seed)), leads }
    }

    /// The next eight keys, one word of each after the other, the most significant first.
    #[inline(always)]
    pub fn words<F: TrafficFamily>(&mut self) -> [[u32; Lcg::LANES]; 4] {
        let mut first = self.lanes.next_u32s();
        if F::WIDTH == 32 {
            return [first, [0; 8], [0; 8], [0; 8]];
        }
        for word in &mut first {
            let lead = (u64::from(*word) * self.leads.len() as u64) >> 32;
            *word = self.leads.get(lead as usize).copied().unwrap_or(*word >> 3 | 0x2000_0000);
        }
        [first, self.lanes.next_u32s(), [0; 8], [1; 8]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv4, Ipv6};

    fn rules() -> [KeyRule<'static>; 5] {
        let (random, leads) = (KeyRule::Random, &[0x2001_0db8, 0x2a00_0000]);
        [
            random,
            KeyRule::Sequential,
            KeyRule::Repeated(8),
            KeyRule::RandomIn8,
            KeyRule::Spider(leads),
        ]
    }

    fn in_blocks<F: TrafficFamily>(rule: KeyRule<'_>, block: usize) -> Vec<F::Bits> {
        let mut generator = KeyGenerator::new(rule, 3, 1000);
        let mut keys = vec![F::Bits::default(); 1000];
        keys.chunks_mut(block).for_each(|block| generator.fill::<F>(block));
        keys
    }

    fn blocks_do_not_change<F: TrafficFamily>(block: usize) {
        for rule in rules() {
            let all = KeyGenerator::new(rule, 3, 1000).all::<F>();
            assert_eq!(all.len(), 1000);
            assert_eq!(in_blocks::<F>(rule, block), all, "{rule:?}");
        }
    }

    #[test]
    fn blocks_do_not_change_the_keys() {
        for block in [8, 16, 40, 1000] {
            blocks_do_not_change::<Ipv4>(block);
            blocks_do_not_change::<Ipv6>(block);
        }
        for rule in &rules()[..4] {
            assert_eq!(in_blocks::<Ipv4>(*rule, 3), in_blocks::<Ipv4>(*rule, 8));
        }
    }

    /// A block of nine costs two runs of the generator; the remaining numbers are lost.
    #[test]
    fn the_spider_papers_generator_makes_eight_at_a_time() {
        let (nine, eight) = (KeyRule::Spider(&[]), KeyRule::Spider(&[]));
        let (nine, eight) = (in_blocks::<Ipv4>(nine, 9), in_blocks::<Ipv4>(eight, 8));
        assert_eq!(nine[..9], eight[..9]);
        assert_eq!(nine[9..17], eight[16..24]);
    }

    #[test]
    fn the_spider_papers_ipv6_addresses_have_its_parts() {
        let leads = [0x2001_0db8, 0x2a00_0000, 0x2001_0db8];
        let keys = KeyGenerator::new(KeyRule::Spider(&leads), 1, 6000).all::<Ipv6>();
        assert!(keys.iter().all(|key| leads.contains(&((key >> 96) as u32)) && *key as u64 == 1));
        let share = keys.iter().filter(|key| **key >> 96 == 0x2001_0db8).count();
        assert!((3900..4100).contains(&share), "{share}");
        let middles = keys.iter().fold(0, |all, key| all | key >> 64 & 0xffff_ffff);
        assert_eq!(middles, 0xffff_ffff);
        let keys = KeyGenerator::new(KeyRule::Spider(&[]), 1, 1000).all::<Ipv6>();
        assert!(keys.iter().all(|key| key >> 125 == 1));
    }

    #[test]
    fn random_in_8_covers_2000_8() {
        let keys = KeyGenerator::new(KeyRule::RandomIn8, 1, 1000).all::<Ipv6>();
        assert!(keys.iter().all(|key| key >> 120 == 0x20));
        assert_eq!(keys.iter().fold(0, |all, key| all | key) << 8 >> 8, u128::MAX >> 8);
    }
}
