//! The error of insertion.

use core::fmt;

use crate::net::{NextHopsFull, PrefixError};
use crate::rib::RibFull;

/// The reason why a [`Table`](crate::Table) refused a route; the table is unchanged.
///
/// ```
/// use longmatch::{InsertError, Table};
/// let mut table = Table::new();
/// let refused = table.insert_strict([10, 0, 0, 1], 8, "office");
/// assert!(matches!(refused, Err(InsertError::Prefix(_))));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InsertError {
    /// The address and the length do not make a prefix.
    Prefix(PrefixError),
    /// The table holds as many routes as its limit allows.
    Routes(RibFull),
    /// The table holds as many distinct values as its limit allows.
    NextHops(NextHopsFull),
    /// The engine of a live table does not exist for the prefix's family.
    ///
    /// [`TableSpec`](crate::TableSpec) names one for each family.
    Family {
        /// The engine.
        engine: &'static str,
        /// The family.
        family: &'static str,
    },
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(error) => error.fmt(f),
            Self::Routes(error) => error.fmt(f),
            Self::NextHops(error) => error.fmt(f),
            Self::Family { engine, family } => write!(
                f,
                "{engine}: this engine does not exist for {family}; name another for this family \
                 with TableSpec"
            ),
        }
    }
}

impl core::error::Error for InsertError {}

impl From<PrefixError> for InsertError {
    fn from(error: PrefixError) -> Self {
        Self::Prefix(error)
    }
}

impl From<RibFull> for InsertError {
    fn from(error: RibFull) -> Self {
        Self::Routes(error)
    }
}

impl From<NextHopsFull> for InsertError {
    fn from(error: NextHopsFull) -> Self {
        Self::NextHops(error)
    }
}
