//! Why tables cannot be laid out.

use std::fmt;

/// Tables exceed a limit of the layout, or of the shape.
///
/// ```
/// use longmatch::{Ipv4, Ipv6, NextHopId, Rib};
/// use longmatch_bpf::{BuildError, KernelTable, Shape};
///
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(300).unwrap())?;
/// let shape = Shape::new(1, 1, 1 << 20)?;
/// let error = KernelTable::build_for(shape, &[(&rib, &Rib::<Ipv6>::new())]).unwrap_err();
/// assert_eq!(error, BuildError::Value { value: 300, max: 255 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// Pages and lines need more bytes.
    Full {
        /// The bytes of the shape.
        capacity: usize,
    },
    /// A value needs more bytes than values of the shape have.
    Value {
        /// The value.
        value: u32,
        /// The greatest value of the shape.
        max: u32,
    },
    /// One part of the address space has more ranges than a search of bounded length can tell apart.
    Ranges {
        /// The ranges.
        ranges: usize,
    },
    /// There are no tables, more than fit, or another number than the shape has.
    Tables {
        /// The tables.
        tables: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { capacity } => {
                write!(f, "the tables need more than the {capacity} bytes of their map")
            }
            Self::Value { value, max } => {
                write!(f, "the value {value} is greater than {max}, the greatest of this map")
            }
            Self::Ranges { ranges } => write!(
                f,
                "a block of addresses has {ranges} ranges, more than a program may search; use fewer prefixes there"
            ),
            Self::Tables { tables } => {
                write!(
                    f,
                    "{tables} tables: there are none, too many, or another number than before"
                )
            }
        }
    }
}

impl std::error::Error for BuildError {}
