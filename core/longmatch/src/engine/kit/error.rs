//! Errors of engines: refused tables, refused options, failed checks.

use alloc::string::String;
use core::fmt;

use crate::mem::OutOfMemory;

/// Why an engine cannot hold a table. A limit is always an error, never a wrong answer.
///
/// ```
/// use longmatch::{CompileError, EngineKind, Fib, Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(40_000).unwrap())?;
/// let error = Fib::compile(&rib, EngineKind::Sail).unwrap_err();
/// let expected = CompileError::NextHopTooLarge { engine: "sail", id: 40_000, limit: 32_767 };
/// assert_eq!(error, expected);
/// assert!(Fib::compile(&rib, EngineKind::Folio).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// The table needs more objects than the engine's index can number.
    TooMany {
        /// The engine.
        engine: &'static str,
        /// The kind of object, in the engine's own terms.
        what: &'static str,
        /// How many objects the index can number.
        limit: u64,
    },
    /// The engine does not exist for this family.
    Family {
        /// The engine.
        engine: &'static str,
        /// The requested family.
        family: &'static str,
    },
    /// The engine is not compiled in: the crate's feature of its name is not enabled.
    NotCompiled {
        /// The engine.
        engine: &'static str,
    },
    /// No engine that [`EngineKind::Auto`](crate::EngineKind::Auto) can choose for this family is
    /// compiled in.
    NoEngine {
        /// The requested family.
        family: &'static str,
    },
    /// No engine holds the table within the memory limit.
    Memory {
        /// The limit in bytes.
        limit: u64,
        /// The engine that would take the least.
        smallest: &'static str,
        /// Upper bound on the bytes of that engine, estimated from the routes.
        bytes: u64,
    },
    /// The structure may exceed [`EngineSpec::memory`](crate::EngineSpec::memory). Detected before
    /// anything is allocated.
    TooLarge {
        /// The engine.
        engine: &'static str,
        /// Upper bound on its bytes, estimated from the routes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system did not provide the memory that the structure needs.
    Allocation {
        /// The engine.
        engine: &'static str,
        /// The bytes of the array that could not be allocated.
        bytes: u64,
    },
    /// The engine has no such option, or does not accept this value of it.
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
            Self::NotCompiled { engine } => {
                write!(f, "{engine}: this engine is not compiled in; enable the feature '")?;
                engine.split('_').enumerate().try_for_each(|(i, part)| {
                    f.write_str(if i > 0 { "-" } else { "" })?;
                    f.write_str(part)
                })?;
                f.write_str("' of the crate longmatch")
            }
            Self::NoEngine { family } => write!(
                f,
                "auto: no engine for {family} is compiled in; enable the feature of one, such as \
                 'folio', of the crate longmatch"
            ),
            Self::Memory { limit, smallest, bytes } => write!(
                f,
                "auto: no engine holds the table in {limit} bytes; \
                 the smallest, {smallest}, may take {bytes}"
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
    /// Converts an array's allocation error into the engine's error.
    pub(crate) fn memory(engine: &'static str) -> impl FnOnce(OutOfMemory) -> Self {
        move |OutOfMemory { bytes }| Self::Allocation { engine, bytes }
    }
}

/// A number of bytes, shown in the largest binary unit that is not greater.
pub(crate) struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        match units.into_iter().find(|(log2, _)| self.0 >> log2 > 0) {
            Some((log2, unit)) => {
                // In integers: printing a float would add the code for it to every program.
                let tenths = (u128::from(self.0) * 10 + (1 << (log2 - 1))) >> log2;
                write!(f, "{}.{} {unit}", tenths / 10, tenths % 10)
            }
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

/// An option, or a value of one, that an engine does not have.
///
/// ```
/// use longmatch::{CompileError, EngineKind, EngineSpec, Fib, Ipv4, Rib};
/// let engine = EngineSpec::from(EngineKind::Poptrie).option("s=99");
/// match Fib::compile(&Rib::<Ipv4>::new(), engine) {
///     Err(CompileError::Option(error)) => assert_eq!(error.option, "s=99"),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OptionError {
    /// The engine.
    pub engine: &'static str,
    /// The option as given.
    pub option: String,
    /// The options that the engine accepts.
    pub expected: &'static str,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, option, expected } = self;
        write!(f, "{engine}: no option '{option}'; expected {expected}")
    }
}

impl core::error::Error for OptionError {}

/// A compiled structure breaks one of its invariants, or disagrees with its RIB.
///
/// ```
/// use longmatch::{EngineKind, Fib, Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// let fib = Fib::compile(&rib, EngineKind::Poptrie)?;
/// // The table changes and the compiled one does not: they disagree.
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let corrupt = fib.check(&rib).unwrap_err();
/// assert_eq!(corrupt.engine, "poptrie");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Corrupt {
    /// The engine.
    pub engine: &'static str,
    /// The broken invariant, and where it is broken.
    pub what: String,
}

impl Corrupt {
    /// The broken invariant of an engine.
    #[doc(hidden)]
    pub fn new(engine: &'static str, what: impl Into<String>) -> Self {
        Self { engine, what: what.into() }
    }
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.engine, self.what)
    }
}

impl core::error::Error for Corrupt {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn sizes_are_rounded_to_tenths_of_a_unit() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1075, "1.0 KiB"),
            (1076, "1.1 KiB"),
            (33_554_432, "32.0 MiB"),
            (u64::MAX, "17179869184.0 GiB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
