//! The modes of measurements.

use core::str::FromStr;

/// The loop around the lookups of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// One address after the other, the lookup inlined; the CPU may overlap lookups.
    ///
    /// The papers' tables use it (DXR's RND).
    One,
    /// One call for a batch of addresses; the answers are written to memory.
    Batch,
    /// Each address computed from the previous answer: the latency (DXR's SEQ).
    Dependent,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::One, Self::Batch, Self::Dependent];

    /// Name in the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Batch => "batch",
            Self::Dependent => "dependent",
        }
    }

    /// Keys in a batch of this many, or 1 in the modes without batches.
    pub fn batch(self, keys: usize) -> usize {
        if self == Self::Batch { keys.max(1) } else { 1 }
    }
}

impl FromStr for Mode {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, &'static str> {
        let found = Self::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or("expected one, batch or dependent")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        assert!(Mode::ALL.into_iter().all(|mode| mode.name().parse() == Ok(mode)));
        assert!("two".parse::<Mode>().is_err());
    }
}
