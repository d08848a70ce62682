//! What comparing answers has shown.

use longmatch::{Family, NextHopId};

use crate::verdict::Mismatch;

/// How many wrong answers are kept to be shown.
pub(crate) const EXAMPLES: usize = 5;

/// Answers that were compared, by one thread or by several.
#[derive(Clone, Debug)]
pub(crate) struct Tally<F: Family> {
    pub addresses: u64,
    pub mismatches: u64,
    /// At most [`EXAMPLES`], those with the lowest addresses of what one thread has tally first:
    /// address, expected, got.
    wrong: Vec<(F::Bits, Option<NextHopId>, Option<NextHopId>)>,
}

impl<F: Family> Tally<F> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { addresses: 0, mismatches: 0, wrong: Vec::new() }
    }

    /// Compares the answers for some addresses.
    #[inline]
    pub fn compare(
        &mut self,
        addrs: &[F::Bits],
        expected: &[Option<NextHopId>],
        got: &[Option<NextHopId>],
    ) {
        self.addresses += addrs.len() as u64;
        if got != expected {
            self.note(addrs, expected, got);
        }
    }

    #[cold]
    fn note(
        &mut self,
        addrs: &[F::Bits],
        expected: &[Option<NextHopId>],
        got: &[Option<NextHopId>],
    ) {
        for ((addr, expected), got) in addrs.iter().zip(expected).zip(got) {
            if expected != got {
                self.mismatches += 1;
                if self.wrong.len() < EXAMPLES {
                    self.wrong.push((*addr, *expected, *got));
                }
            }
        }
    }

    /// Takes in what another one has tally.
    pub fn add(&mut self, other: Self) {
        self.addresses += other.addresses;
        self.mismatches += other.mismatches;
        self.wrong.extend(other.wrong);
        self.wrong.sort_by_key(|(addr, ..)| *addr);
        self.wrong.truncate(EXAMPLES);
    }

    /// The wrong answers that were kept.
    pub fn examples(&self) -> Vec<Mismatch> {
        let mismatch = |(addr, expected, got): &(F::Bits, _, _)| Mismatch {
            address: F::addr(*addr).to_string(),
            expected: *expected,
            got: *got,
        };
        self.wrong.iter().map(mismatch).collect()
    }
}

impl<F: Family> FromIterator<Self> for Tally<F> {
    fn from_iter<I: IntoIterator<Item = Self>>(parts: I) -> Self {
        let mut all = Self::new();
        parts.into_iter().for_each(|part| all.add(part));
        all
    }
}
