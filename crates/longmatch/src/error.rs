//! The errors of this crate. All are plain values: none allocates unless it carries text.

use alloc::string::String;
use core::fmt;

use crate::simd::Level;

/// Why an address and a length do not make a prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PrefixError {
    /// The length is greater than the family's width.
    Length {
        /// The length that was given.
        len: u16,
        /// The greatest length possible.
        max: u8,
    },
    /// A bit after the length is set.
    HostBits {
        /// The length that was given.
        len: u8,
    },
}

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { len, max } => write!(f, "prefix length {len} is greater than {max}"),
            Self::HostBits { len } => {
                write!(f, "host bits are set after /{len}: mask the prefix, or use a longer length")
            }
        }
    }
}

impl core::error::Error for PrefixError {}

/// Why a text is not a prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParsePrefixError {
    /// The part before the slash is no address of the expected family.
    Address,
    /// There is no slash.
    MissingLength,
    /// The part after the slash is no plain decimal number.
    Length,
    /// Address and length do not go together.
    Prefix(PrefixError),
}

impl fmt::Display for ParsePrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address => f.write_str("not a valid address"),
            Self::MissingLength => f.write_str("expected address/length, found no '/'"),
            Self::Length => f.write_str("the prefix length is not a plain decimal number"),
            Self::Prefix(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ParsePrefixError {}

impl From<PrefixError> for ParsePrefixError {
    fn from(error: PrefixError) -> Self {
        Self::Prefix(error)
    }
}

/// A table refused a route because it holds as many as its limit allows; it is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RibFull {
    /// The limit, in routes.
    pub limit: usize,
}

impl fmt::Display for RibFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the table is full: its limit is {} routes", self.limit)
    }
}

impl core::error::Error for RibFull {}

/// Every next-hop id that may be given out is in use; nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NextHopsFull {
    /// The limit, in distinct next hops.
    pub limit: usize,
}

impl fmt::Display for NextHopsFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no next-hop id is free: the limit is {} next hops", self.limit)
    }
}

impl core::error::Error for NextHopsFull {}

/// Why a [`crate::Table`] refused a route; the table is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InsertError {
    /// Address and length make no prefix.
    Prefix(PrefixError),
    /// The table holds as many routes as its limit allows.
    Routes(RibFull),
    /// The table holds as many distinct values as its limit allows.
    NextHops(NextHopsFull),
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(error) => error.fmt(f),
            Self::Routes(error) => error.fmt(f),
            Self::NextHops(error) => error.fmt(f),
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
            Self::Option(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for CompileError {}

impl From<OptionError> for CompileError {
    fn from(error: OptionError) -> Self {
        Self::Option(error)
    }
}

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

/// There is no engine of this name.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnknownEngine {
    /// The name as it was given.
    pub name: String,
}

impl fmt::Display for UnknownEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no engine is called '{}'; there are:", self.name)?;
        for kind in crate::engine::EngineKind::ALL {
            write!(f, " {kind}")?;
        }
        write!(f, " {}", crate::engine::EngineKind::Auto)
    }
}

impl core::error::Error for UnknownEngine {}

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

/// This CPU does not have the instructions of a [`Level`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Unsupported {
    /// The level asked for.
    pub level: Level,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this CPU has no {}", self.level)
    }
}

impl core::error::Error for Unsupported {}
