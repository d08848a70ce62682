//! The counts of a filter.

use std::ops::AddAssign;

use crate::policy::{Action, Cause, Mask, Policy};

/// A number of packets, and their bytes with all headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Total {
    /// The packets.
    pub packets: u64,
    /// The bytes.
    pub bytes: u64,
}

impl Total {
    /// The sum over the CPUs: two numbers at an offset of each value of `bytes` bytes.
    pub(crate) fn sum(values: &[u8], bytes: usize, offset: usize) -> Self {
        let number = |value: &[u8], at: usize| {
            let bytes = value.get(at..at + 8).and_then(|it| it.try_into().ok());
            bytes.map_or(0, u64::from_ne_bytes)
        };
        let mut total = Self::default();
        for value in values.chunks(bytes) {
            total += Self { packets: number(value, offset), bytes: number(value, offset + 8) };
        }
        total
    }
}

impl AddAssign for Total {
    fn add_assign(&mut self, other: Self) {
        self.packets = self.packets.wrapping_add(other.packets);
        self.bytes = self.bytes.wrapping_add(other.bytes);
    }
}

/// The counts of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ListCounts {
    /// Packets with an address in the list.
    pub matched: Total,
    /// Those of them that the list decided about.
    pub decided: Total,
    /// Those of them that were more than the rate of a limit.
    pub over: Total,
}

/// The counts of a filter since its start. In a dry run, packets count as dropped although they pass.
///
/// ```
/// let counts = longmatch_filter::Counts::default();
/// assert_eq!((counts.passed.packets, counts.dropped.packets), (0, 0));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// By list.
    pub lists: Vec<ListCounts>,
    /// Packets that passed because of an address that always passes.
    pub safe: Total,
    /// Packets that passed because their destination is outside the scope.
    pub outside_scope: Total,
    /// IP packets that no list decided about.
    pub default: Total,
    /// Packets of other protocols than IP, which pass.
    pub other: Total,
    /// Packets whose headers cannot be read.
    pub unknown: Total,
    /// All packets that passed.
    pub passed: Total,
    /// All packets that were dropped.
    pub dropped: Total,
}

impl Counts {
    pub(crate) fn new(lists: usize) -> Self {
        Self { lists: vec![ListCounts::default(); lists], ..Self::default() }
    }

    /// Adds the packets whose source and destination are in these lists.
    pub(crate) fn add(&mut self, policy: &Policy, [source, destination]: [Mask; 2], total: Total) {
        for (list, counts) in self.lists.iter_mut().enumerate() {
            if (source | destination) >> list & 1 == 1 {
                counts.matched += total;
            }
        }
        let decision = policy.decide(source, destination);
        match decision.cause {
            Cause::Safe => self.safe += total,
            Cause::OutsideScope => self.outside_scope += total,
            Cause::Default => self.default += total,
            Cause::List(list) => {
                if let Some(counts) = self.lists.get_mut(list) {
                    counts.decided += total;
                }
            }
        }
        match decision.action {
            Action::Drop => self.dropped += total,
            _ => self.passed += total,
        }
    }

    /// Completes the sums of passed and dropped packets.
    pub(crate) fn finish(&mut self, drop_unknown: bool) {
        self.passed += self.other;
        match drop_unknown {
            true => self.dropped += self.unknown,
            false => self.passed += self.unknown,
        }
        for ListCounts { over, .. } in &self.lists {
            self.dropped += *over;
            // They are in the counts of their cells.
            self.passed.packets = self.passed.packets.saturating_sub(over.packets);
            self.passed.bytes = self.passed.bytes.saturating_sub(over.bytes);
        }
    }
}
