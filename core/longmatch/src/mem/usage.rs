//! Memory taken by a structure, part by part.

use alloc::vec::Vec;
use core::fmt;

use super::{Plain, Readable};

/// The memory of a structure, in the terms of the engine's paper.
///
/// ```
/// use longmatch::{EngineKind, Fib, Ipv4, Rib};
/// let fib = Fib::compile(&Rib::<Ipv4>::new(), EngineKind::Poptrie)?;
/// let usage = fib.memory_usage();
/// assert!(usage.parts.iter().any(|part| part.name == "leaves"));
/// // Shows the total, then every part with its number of items and its bytes.
/// assert!(usage.to_string().starts_with(&format!("{} bytes: ", usage.bytes())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryUsage {
    /// The parts; their bytes add up to the total.
    pub parts: Vec<MemoryPart>,
}

/// Parses a number of bytes such as `4M`: K, M and G are binary units.
///
/// `None` for anything else, zero included.
///
/// ```
/// use longmatch::parse_bytes;
/// assert_eq!(parse_bytes("4M"), Some(4 << 20));
/// assert_eq!(parse_bytes("0"), None);
/// ```
#[must_use]
pub fn parse_bytes(text: &str) -> Option<u64> {
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let unit = units.into_iter().find_map(|(unit, log2)| Some((text.strip_suffix(unit)?, log2)));
    let (digits, log2) = unit.unwrap_or((text, 0));
    // A sign is not part of a size.
    let number: u64 = digits.parse().ok().filter(|_| !digits.starts_with('+'))?;
    number.checked_mul(1 << log2).filter(|bytes| *bytes > 0)
}

/// One part of a structure.
///
/// ```
/// use longmatch::{EngineKind, Fib, Ipv4, Rib};
/// let fib = Fib::compile(&Rib::<Ipv4>::new(), EngineKind::Poptrie)?;
/// let direct = fib.memory_usage().part("direct entries").unwrap();
/// assert_eq!((direct.count, direct.bytes), (1 << 18, 4 << 18));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryPart {
    /// Name of the part, in the terms of the engine's paper.
    pub name: &'static str,
    /// Number of its items.
    pub count: usize,
    /// Total bytes of its items.
    pub bytes: usize,
}

impl MemoryPart {
    /// A part that is an array.
    #[doc(hidden)]
    pub fn of_slice<T>(name: &'static str, slice: &[T]) -> Self {
        Self { name, count: slice.len(), bytes: size_of_val(slice) }
    }
}

impl MemoryPart {
    /// A part that is an array of a structure, frozen or live.
    pub(crate) fn of_array<T: Plain>(name: &'static str, array: &impl Readable<T>) -> Self {
        Self { name, count: array.count(), bytes: array.count() * size_of::<T>() }
    }
}

impl MemoryUsage {
    /// Total bytes of all parts.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// The part with this name.
    pub fn part(&self, name: &str) -> Option<MemoryPart> {
        self.parts.iter().copied().find(|part| part.name == name)
    }
}

impl<const N: usize> From<[MemoryPart; N]> for MemoryUsage {
    fn from(parts: [MemoryPart; N]) -> Self {
        Self { parts: parts.into() }
    }
}

impl fmt::Display for MemoryUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes())?;
        for (i, part) in self.parts.iter().enumerate() {
            let before = if i == 0 { ": " } else { ", " };
            write!(f, "{before}{} {} ({} bytes)", part.count, part.name, part.bytes)?;
        }
        Ok(())
    }
}
