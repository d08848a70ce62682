//! Why a change was refused.

use core::fmt;

use crate::engine::CompileError;
use crate::net::NextHopsFull;
use crate::rib::RibFull;

/// Why a table was not changed; it answers exactly as before.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum UpdateError {
    /// The table now exceeds a limit of this variant of the engine.
    Limit(CompileError),
    /// The routes are as many as their limit allows.
    Full(RibFull),
    /// So much memory was taken out of a table that changes under readers, and readers that neither
    /// end nor report keep it from being used again.
    Retired {
        /// As much.
        bytes: usize,
        /// More than this is refused.
        limit: usize,
    },
    /// Every id of a value is in use.
    Values(NextHopsFull),
}

impl fmt::Display for UpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(error) => write!(f, "the change was not made: {error}"),
            Self::Full(error) => write!(f, "the change was not made: {error}"),
            Self::Values(error) => write!(f, "the change was not made: {error}"),
            Self::Retired { bytes, limit } => write!(
                f,
                "the change was not made: readers keep {bytes} bytes that were taken out of the \
                 table, and the limit is {limit}; a reader's guard must be dropped, or a resident \
                 reader must report"
            ),
        }
    }
}

impl core::error::Error for UpdateError {}

impl From<NextHopsFull> for UpdateError {
    fn from(error: NextHopsFull) -> Self {
        Self::Values(error)
    }
}

impl From<RibFull> for UpdateError {
    fn from(error: RibFull) -> Self {
        Self::Full(error)
    }
}

impl From<CompileError> for UpdateError {
    fn from(error: CompileError) -> Self {
        Self::Limit(error)
    }
}
