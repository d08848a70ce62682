//! Deterministic random numbers: the SplitMix64 generator (Steele, Lea and Flood, OOPSLA 2014).

/// Distance of the states of two successive outputs.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the first output of the generator seeded with `seed`.
pub fn splitmix64(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The generator: the same seed gives the same numbers on every machine.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let bits = splitmix64(self.0);
        self.0 = self.0.wrapping_add(STEP);
        bits
    }

    /// Returns a number below `n`. The lower numbers are more likely, by less than n / 2^64.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outputs of the authors' C program with this seed.
    #[test]
    fn the_generator_gives_the_published_outputs() {
        assert_eq!(splitmix64(0), 0xe220_a839_7b1d_cdaf);
        let mut random = Random::new(1_234_567);
        let outputs = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([random.bits(), random.bits()], outputs);
        assert!((0..100).all(|_| random.below(3) < 3));
    }
}
