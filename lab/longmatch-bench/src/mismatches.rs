//! Counts of right and wrong answers.

use longmatch::{Family, NextHopId};

/// Maximum number of wrong answers kept as examples.
pub(crate) const EXAMPLES: usize = 5;

/// The answer that buffers hold before a lookup.
///
/// It makes an unwritten answer wrong, because practically no table has this id.
pub(crate) const UNWRITTEN: Option<NextHopId> = NextHopId::new(u32::MAX);

/// A wrong answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The address, as text.
    pub address: String,
    /// The right answer.
    pub expected: Option<NextHopId>,
    /// The answer of the engine.
    pub got: Option<NextHopId>,
}

/// The number of compared answers, of wrong ones, and examples of these.
#[derive(Clone, Debug)]
pub(crate) struct MismatchCounts<F: Family> {
    pub addresses: u64,
    pub mismatches: u64,
    /// At most [`EXAMPLES`] wrong answers: (address, expected, got).
    ///
    /// They have the lowest addresses among the first wrong answers of each thread.
    examples: Vec<(F::Bits, Option<NextHopId>, Option<NextHopId>)>,
}

impl<F: Family> MismatchCounts<F> {
    /// Counts of no answers.
    pub fn new() -> Self {
        Self { addresses: 0, mismatches: 0, examples: Vec::new() }
    }

    /// Compares and counts the answers of `addrs`.
    #[inline]
    pub fn compare(
        &mut self,
        addrs: &[F::Bits],
        expected: &[Option<NextHopId>],
        got: &[Option<NextHopId>],
    ) {
        self.addresses += addrs.len() as u64;
        if got != expected {
            self.count_wrong(addrs, expected, got);
        }
    }

    #[cold]
    fn count_wrong(
        &mut self,
        addrs: &[F::Bits],
        expected: &[Option<NextHopId>],
        got: &[Option<NextHopId>],
    ) {
        for ((addr, expected), got) in addrs.iter().zip(expected).zip(got) {
            if expected != got {
                self.mismatches += 1;
                if self.examples.len() < EXAMPLES {
                    self.examples.push((*addr, *expected, *got));
                }
            }
        }
    }

    /// Adds the counts and examples of others.
    pub fn add(&mut self, other: Self) {
        self.addresses += other.addresses;
        self.mismatches += other.mismatches;
        self.examples.extend(other.examples);
        self.examples.sort_by_key(|(addr, ..)| *addr);
        self.examples.truncate(EXAMPLES);
    }

    /// The wrong answers kept as examples.
    pub fn examples(&self) -> Vec<Mismatch> {
        let mismatch = |(addr, expected, got): &(F::Bits, _, _)| Mismatch {
            address: F::addr(*addr).to_string(),
            expected: *expected,
            got: *got,
        };
        self.examples.iter().map(mismatch).collect()
    }
}
