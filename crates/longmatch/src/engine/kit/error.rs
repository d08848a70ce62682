//! Why an engine refuses a table or an option, and what its check found.

use alloc::string::String;
use core::fmt;

use crate::mem::OutOfMemory;

/// Why an engine cannot hold a table. A limit is always an error, never a wrong answer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CompileError {
    /// A next-hop id does not fit the engine's entries. Ids that [`crate::NextHops`] gives out are
    /// dense, so that the greatest is small; [`crate::EngineSpec::wider`] lists wider entries.
    NextHopTooLarge {
        /// The engine.
        engine: &'static str,
        /// The greatest id in the table.
        id: u32,
        /// The greatest id that fits.
        limit: u32,
    },
    /// The engine's index does not reach as many objects as the table needs.
    TooMany {
        /// The engine.
        engine: &'static str,
        /// What there are too many of, in the engine's own terms.
        what: &'static str,
        /// How many the index reaches.
        limit: u64,
    },
    /// The engine does not exist for this family.
    Family {
        /// The engine.
        engine: &'static str,
        /// The family asked for.
        family: &'static str,
    },
    /// No engine can hold the table in the memory that it may take.
    Memory {
        /// The bytes that an engine may take.
        limit: u64,
        /// The engine that would take the least.
        smallest: &'static str,
        /// How many bytes that is, about.
        bytes: u64,
    },
    /// The structure might take more memory than [`EngineSpec::memory`](crate::EngineSpec::memory)
    /// allows. Known before anything is allocated.
    TooLarge {
        /// The engine.
        engine: &'static str,
        /// The bytes that it takes at most, estimated from the routes.
        bytes: u64,
        /// The bytes that it may take.
        limit: u64,
    },
    /// The system did not provide the memory that the structure needs.
    Allocation {
        /// The engine.
        engine: &'static str,
        /// The bytes of the array that could not be allocated.
        bytes: u64,
    },
    /// The engine has no such option, or not with this value.
    Option(OptionError),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NextHopTooLarge { engine, id, limit } => write!(
                f,
                "{engine}: next-hop id {id} does not fit, the greatest possible is {limit}"
            ),
            Self::TooMany { engine, what, limit } => {
                write!(f, "{engine}: the table needs more than {limit} {what}")
            }
            Self::Family { engine, family } => {
                write!(f, "{engine}: this engine does not exist for {family}")
            }
            Self::Memory { limit, smallest, bytes } => write!(
                f,
                "auto: no engine holds the table in {limit} bytes; \
                 the smallest, {smallest}, takes about {bytes}"
            ),
            Self::TooLarge { engine, bytes, limit } => write!(
                f,
                "{engine}: the table may take {}, and the memory limit is {}",
                Size(*bytes),
                Size(*limit)
            ),
            Self::Allocation { engine, bytes } => {
                write!(f, "{engine}: the system has no memory for an array of {}", Size(*bytes))
            }
            Self::Option(error) => error.fmt(f),
        }
    }
}

impl CompileError {
    /// Converts the error of an array into that of an engine.
    pub(crate) fn memory(engine: &'static str) -> impl FnOnce(OutOfMemory) -> Self {
        move |OutOfMemory { bytes }| Self::Allocation { engine, bytes }
    }
}

/// A number of bytes in the largest binary unit of which it has at least one.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        match units.into_iter().find(|(log2, _)| self.0 >> log2 > 0) {
            Some((log2, unit)) => write!(f, "{:.1} {unit}", self.0 as f64 / (1u64 << log2) as f64),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

impl core::error::Error for CompileError {}

impl From<OptionError> for CompileError {
    fn from(error: OptionError) -> Self {
        Self::Option(error)
    }
}

/// An option that an engine does not have, or not with this value.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OptionError {
    /// The engine.
    pub engine: &'static str,
    /// The option as it was given.
    pub option: String,
    /// What the engine accepts.
    pub expected: &'static str,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, option, expected } = self;
        write!(f, "{engine}: no option '{option}'; expected {expected}")
    }
}

impl core::error::Error for OptionError {}

/// A compiled structure breaks one of its own invariants, or disagrees with its RIB.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Corrupt {
    /// The engine.
    pub engine: &'static str,
    /// Which invariant is broken, and where.
    pub what: String,
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.engine, self.what)
    }
}

impl core::error::Error for Corrupt {}
