//! Zipf's distribution by the alias method.
//!
//! A draw takes two random numbers and one table entry. A search of cumulative sums would take
//! longer than the lookups of the traffic.

use crate::random::Xorshift;

/// Ranks from 0, with the probability of rank k proportional to 1 / (k + 1).
pub(crate) struct Zipf {
    slots: Vec<Slot>,
}

/// One of n equally likely slots, which gives its own rank or its alias.
#[derive(Clone, Copy)]
struct Slot {
    /// Probability of its own rank, scaled to 2^32 - 1.
    own: u32,
    alias: u32,
}

impl Zipf {
    /// The distribution over `n` ranks. O(n).
    ///
    /// # Panics
    /// If `n` is 0 or does not fit 32 bits.
    pub fn new(n: usize) -> Self {
        assert!(n > 0 && u32::try_from(n).is_ok(), "Zipf's distribution over {n} ranks");
        let total: f64 = (1..=n).map(|k| 1.0 / k as f64).sum();
        // The mean weight is 1: a slot with a lower weight takes the rest from one with a higher.
        let mut weights: Vec<f64> = (1..=n).map(|k| n as f64 / (k as f64 * total)).collect();
        let mut slots: Vec<Slot> =
            (0..n as u32).map(|rank| Slot { own: u32::MAX, alias: rank }).collect();
        let (mut less, mut more): (Vec<usize>, Vec<usize>) =
            (0..n).partition(|rank| weights[*rank] < 1.0);
        while let (Some(small), Some(&large)) = (less.pop(), more.last()) {
            slots[small] =
                Slot { own: (weights[small] * f64::from(u32::MAX)) as u32, alias: large as u32 };
            weights[large] -= 1.0 - weights[small];
            if weights[large] < 1.0 {
                more.pop();
                less.push(large);
            }
        }
        Self { slots }
    }

    /// Draws a rank. O(1).
    pub fn rank(&self, random: &mut Xorshift) -> usize {
        let rank = random.below(self.slots.len());
        let slot = self.slots[rank];
        if random.next_u32() <= slot.own { rank } else { slot.alias as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_their_probabilities() {
        let (n, draws) = (10, 200_000);
        let zipf = Zipf::new(n);
        let random = &mut Xorshift::new(11);
        let mut counts = vec![0u32; n];
        (0..draws).for_each(|_| counts[zipf.rank(random)] += 1);
        let total: f64 = (1..=n).map(|k| 1.0 / k as f64).sum();
        for (rank, count) in counts.into_iter().enumerate() {
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
