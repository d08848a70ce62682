//! The error of a refused change.

use core::fmt;

use crate::engine::CompileError;
use crate::net::NextHopsFull;
use crate::rib::RibFull;

/// The reason why a table was not changed; it answers exactly as before.
///
/// ```
/// use longmatch::live::{UpdateError, Writer};
/// use longmatch::{Change, EngineKind, Ipv4, NextHopId, Rib, Route};
/// let mut writer = Writer::new(Rib::<Ipv4>::new(), EngineKind::Sail)?;
/// let next_hop = NextHopId::new(40_000).unwrap(); // SAIL holds ids up to 32,767.
/// writer.apply(Change::Announce(Route { prefix: "10.0.0.0/8".parse()?, next_hop }))?;
/// assert!(matches!(writer.commit(), Err(UpdateError::Limit(_))));
/// // The refused change is undone, and the table answers as before.
/// assert!(writer.rib().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum UpdateError {
    /// The table would exceed a limit of this engine variant.
    Limit(CompileError),
    /// The table holds as many routes as its limit allows.
    Full(RibFull),
    /// Readers that neither go offline nor announce a quiescent state keep too much memory from
    /// reuse.
    Retired {
        /// Retired bytes that cannot be reused.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// Every value id is in use.
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
                "the change was not made: readers keep {bytes} retired bytes from reuse, and the \
                 limit is {limit}; drop a reader's guard, or let an online reader announce a quiescent state"
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
