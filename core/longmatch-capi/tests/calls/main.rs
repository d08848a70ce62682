//! Calls in random sequences and in threads, compared with oracles.

mod sequence;
mod threads;

/// A sequence of numbers that is the same in every run: xorshift.
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

#[test]
fn sequences_of_calls_agree_with_a_scan() {
    let sequences = if std::env::var_os("LONGMATCH_QUICK").is_some() { 20 } else { 300 };
    for seed in 0..sequences {
        let mut numbers = Numbers::new(seed);
        let length = 50 + numbers.next() % 1500;
        let bytes: Vec<u8> = (0..length).map(|_| (numbers.next() >> 32) as u8).collect();
        sequence::run(&bytes);
    }
}
