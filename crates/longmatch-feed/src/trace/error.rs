//! What may be wrong with a packet capture.

use std::fmt;

use super::link;

/// What is wrong with a packet capture.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The file ends inside a header, a packet or a block.
    CutOff {
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that are there.
        have: u64,
    },
    /// A packet's or block's length is over the limit.
    TooLong {
        /// The length in bytes.
        len: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A version of the format that is not read here.
    Version {
        /// The format's name.
        format: &'static str,
        /// Its major version.
        major: u16,
        /// Its minor version.
        minor: u16,
    },
    /// Packets of a link type that is not read here.
    LinkType {
        /// The link type's number.
        number: u32,
        /// The interface with this link type, where a capture may have several.
        interface: Option<u32>,
    },
    /// A section of a pcapng file does not say its byte order.
    ByteOrder,
    /// A pcapng block's length is impossible.
    BlockLength {
        /// The length in bytes.
        len: u32,
    },
    /// The two lengths that a pcapng block states differ.
    BlockEnd {
        /// The length at the beginning.
        first: u32,
        /// The length at the end.
        last: u32,
    },
    /// What is in a pcapng block does not fit into it.
    Block {
        /// The block's type.
        kind: u32,
    },
    /// A packet of an interface that the pcapng section does not describe.
    NoInterface {
        /// The interface.
        index: u32,
        /// How many there are.
        interfaces: usize,
    },
    /// A pcapng section with implausibly many interfaces.
    Interfaces {
        /// The greatest number that is read.
        limit: usize,
    },
}

impl TraceError {
    /// Whether what follows the damage can still be read.
    pub(crate) fn is_local(&self) -> bool {
        matches!(
            self,
            Self::BlockEnd { .. }
                | Self::Block { .. }
                | Self::NoInterface { .. }
                | Self::Interfaces { .. }
                | Self::LinkType { interface: Some(_), .. }
        )
    }

    /// Whether a lenient load keeps what it has.
    pub(crate) fn is_damage(&self) -> bool {
        // Where all packets have a link type that is not read, nothing is left to keep.
        !matches!(self, Self::LinkType { interface: None, .. })
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff { needed, have } => {
                write!(f, "the capture is cut off: {needed} bytes are needed, {have} are there")
            }
            Self::TooLong { len, limit } => write!(
                f,
                "a packet or block of {len} bytes is over the limit of {limit}: \
                 the file is damaged here"
            ),
            Self::Version { format, major, minor } => {
                write!(f, "version {major}.{minor} of {format} is not read here")
            }
            Self::LinkType { number, interface } => {
                if let Some(interface) = interface {
                    write!(f, "interface {interface}: ")?;
                }
                write!(f, "packets of link type {number}")?;
                if let Some(name) = link::foreign_name(*number) {
                    write!(f, " ({name})")?;
                }
                write!(f, " are not read here: expected {}", link::EXPECTED)
            }
            Self::ByteOrder => f.write_str("the section's byte order is neither of the two"),
            Self::BlockLength { len } => {
                write!(f, "a block of {len} bytes is impossible: the file is damaged here")
            }
            Self::BlockEnd { first, last } => {
                write!(f, "a block of {first} bytes ends as one of {last} bytes")
            }
            Self::Block { kind } => {
                write!(f, "what is in the block of type {kind} does not fit into it")
            }
            Self::NoInterface { index, interfaces } => {
                write!(f, "a packet of interface {index}, but {interfaces} are described before it")
            }
            Self::Interfaces { limit } => {
                write!(f, "more than {limit} interfaces: the file is damaged here")
            }
        }
    }
}

impl std::error::Error for TraceError {}
