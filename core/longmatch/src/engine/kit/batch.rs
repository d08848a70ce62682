//! The ways in which engines look up a batch.

use super::{OptionError, Variant};

/// How a batch is looked up: the option `batch=`. All modes give the same answers.
///
/// No engine has every mode; its own documentation lists those that it has. It refuses the others
/// when it is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Batch {
    /// The fastest for the level.
    #[default]
    Auto,
    /// One address at a time, as in the papers.
    Each,
    /// Several addresses in flight, without vectors.
    Flight,
    /// Addresses in vector lanes, one gather for each step. Where the level or the family has no
    /// such kernel, as [`Batch::Flight`].
    Gather,
    /// Gathers for the first table; then a cache line of entries is compared at once. Where the
    /// level or the family has no such kernel, as [`Batch::Flight`].
    Line,
}

impl Batch {
    /// Returns the value of the option.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Each => "each",
            Self::Flight => "flight",
            Self::Gather => "gather",
            Self::Line => "line",
        }
    }

    /// Returns the mode if it is among the engine's.
    ///
    /// # Errors
    /// Names the option otherwise.
    pub(crate) fn among(
        self,
        modes: &[Self],
        engine: &'static str,
        expected: &'static str,
    ) -> Result<Self, OptionError> {
        let option = || Variant::new().batch(self).finish();
        let known = modes.contains(&self).then_some(self);
        known.ok_or_else(|| OptionError { engine, option: option(), expected })
    }
}
