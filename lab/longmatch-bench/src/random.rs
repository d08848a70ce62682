//! Random number generators: a seed gives the same traffic on every machine.

/// Marsaglia's xorshift with four 32-bit variables, as in the Poptrie paper (4.2).
///
/// Its state fits in registers, so a key can be generated just before its lookup without access to
/// memory. Its output is predictable.
#[derive(Clone, Debug)]
pub struct Xorshift {
    x: u32,
    y: u32,
    z: u32,
    w: u32,
}

impl Xorshift {
    /// A generator seeded with `seed`, which may have any value.
    pub fn new(seed: u64) -> Self {
        let mut mix = SplitMix64::new(seed);
        let (low, high) = (mix.next_u64(), mix.next_u64());
        // A state of zeros would generate only zeros.
        Self { x: low as u32 | 1, y: (low >> 32) as u32, z: high as u32, w: (high >> 32) as u32 }
    }

    /// 32 random bits.
    #[inline(always)]
    pub fn next_u32(&mut self) -> u32 {
        let t = self.x ^ (self.x << 11);
        (self.x, self.y, self.z) = (self.y, self.z, self.w);
        self.w = self.w ^ (self.w >> 19) ^ t ^ (t >> 8);
        self.w
    }

    /// 128 random bits of four steps, the most significant bits first.
    #[inline(always)]
    pub fn next_u128(&mut self) -> u128 {
        (0..4).fold(0, |bits, _| bits << 32 | u128::from(self.next_u32()))
    }

    /// A number below `n`, uniform up to a relative error of `n` / 2^32.
    ///
    /// # Panics
    /// If `n` is 0 or does not fit 32 bits.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0 && u32::try_from(n).is_ok(), "no random number below {n}");
        ((u64::from(self.next_u32()) * n as u64) >> 32) as usize
    }
}

/// SplitMix64 of Steele, Lea and Flood, which gives random words for any seed.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator with `seed` as its state.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// Eight linear congruential generators of 32 bits side by side, for the Spider paper's traffic.
///
/// The paper (V-A) names the kind, not the constants; these are those of Numerical Recipes (7.1.4
/// of the third edition): full period, fit only for traffic.
#[derive(Clone, Debug)]
pub(crate) struct Lcg {
    states: [u32; Self::LANES],
}

impl Lcg {
    /// Numbers of one step.
    pub const LANES: usize = 8;

    /// Generators with states of `mix`.
    pub fn new(mix: &mut SplitMix64) -> Self {
        Self { states: core::array::from_fn(|_| mix.next_u64() as u32) }
    }

    /// The next number of each.
    #[inline(always)]
    pub fn next_u32s(&mut self) -> [u32; Self::LANES] {
        self.states = self.states.map(|x| x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        self.states
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published first outputs for seed 1234567.
    #[test]
    fn splitmix_gives_the_published_outputs() {
        let mut mix = SplitMix64::new(1_234_567);
        assert_eq!(mix.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(mix.next_u64(), 3_203_168_211_198_807_973);
    }

    /// The published first output for Marsaglia's own starting values.
    #[test]
    fn xorshift_gives_the_published_output() {
        let mut random = Xorshift { x: 123_456_789, y: 362_436_069, z: 521_288_629, w: 88_675_123 };
        assert_eq!(random.next_u32(), 3_701_687_786);
    }

    /// The first outputs after 0, which the book prints in hexadecimal.
    #[test]
    fn the_linear_congruential_generator_gives_the_published_outputs() {
        let mut lanes = Lcg { states: [0; Lcg::LANES] };
        for wanted in [0x3c6e_f35f, 0x4750_2932, 0xd1cc_f6e9, 0xaaf9_5334] {
            assert_eq!(lanes.next_u32s(), [wanted; Lcg::LANES]);
        }
    }

    #[test]
    fn a_seed_determines_the_numbers() {
        let first = |seed| Xorshift::new(seed).next_u128();
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
        assert_ne!(first(0), 0);
    }

    #[test]
    fn below_reaches_every_number_evenly() {
        let mut random = Xorshift::new(1);
        let mut counts = [0u32; 10];
        (0..10_000).for_each(|_| counts[random.below(10)] += 1);
        assert!(counts.iter().all(|n| (800..1200).contains(n)), "{counts:?}");
    }
}
