//! Zipf's distribution by the alias method: two random numbers and one table entry a draw, where
//! a search through cumulative sums would take longer than the lookups it is made for.

use crate::random::Xorshift;

/// Ranks from 0, where rank k is drawn in proportion to 1 / (k + 1).
pub(crate) struct Zipf {
    slots: Vec<Slot>,
}

/// One of n equally likely slots: its own rank with some probability, another one otherwise.
#[derive(Clone, Copy)]
struct Slot {
    /// The probability to stay, scaled to 2^32 - 1.
    stay: u32,
    other: u32,
}

impl Zipf {
    /// The distribution over `n` ranks. O(n).
    ///
    /// # Panics
    /// When `n` is 0 or does not fit 32 bits.
    pub fn new(n: usize) -> Self {
        assert!(n > 0 && u32::try_from(n).is_ok(), "Zipf's distribution over {n} ranks");
        let total: f64 = (1..=n).map(|k| 1.0 / k as f64).sum();
        // The weights have the mean 1: a slot of less takes the rest from one of more.
        let mut weights: Vec<f64> = (1..=n).map(|k| n as f64 / (k as f64 * total)).collect();
        let mut slots: Vec<Slot> =
            (0..n as u32).map(|rank| Slot { stay: u32::MAX, other: rank }).collect();
        let (mut less, mut more): (Vec<usize>, Vec<usize>) =
            (0..n).partition(|rank| weights[*rank] < 1.0);
        while let (Some(small), Some(&large)) = (less.pop(), more.last()) {
            slots[small] =
                Slot { stay: (weights[small] * f64::from(u32::MAX)) as u32, other: large as u32 };
            weights[large] -= 1.0 - weights[small];
            if weights[large] < 1.0 {
                more.pop();
                less.push(large);
            }
        }
        Self { slots }
    }

    /// Draws a rank.
    pub fn rank(&self, random: &mut Xorshift) -> usize {
        let at = random.below(self.slots.len());
        let slot = self.slots[at];
        if random.next_u32() <= slot.stay { at } else { slot.other as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_their_shares() {
        let (n, draws) = (10, 200_000);
        let zipf = Zipf::new(n);
        let random = &mut Xorshift::new(11);
        let mut seen = vec![0u32; n];
        (0..draws).for_each(|_| seen[zipf.rank(random)] += 1);
        let total: f64 = (1..=n).map(|k| 1.0 / k as f64).sum();
        for (rank, count) in seen.into_iter().enumerate() {
            let expected = f64::from(draws) / ((rank + 1) as f64 * total);
            assert!(
                (f64::from(count) / expected - 1.0).abs() < 0.05,
                "{rank}: {count}, {expected}"
            );
        }
    }

    #[test]
    fn one_rank_is_certain() {
        assert_eq!(Zipf::new(1).rank(&mut Xorshift::new(1)), 0);
    }
}
