//! Errors of packet captures.

use std::fmt;

use super::link;

/// Error of a packet capture.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The file ends inside a header, a packet or a block.
    CutOff {
        /// Bytes of the header, packet or block.
        needed: u64,
        /// Bytes left in the input.
        have: u64,
    },
    /// The length of a packet or block is over the limit.
    TooLong {
        /// The length in bytes.
        len: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The version of the format is not supported.
    Version {
        /// The format's name.
        format: &'static str,
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    },
    /// The link type of a packet is not supported.
    LinkType {
        /// Number of the link type.
        number: u32,
        /// The interface with this link type, for formats with several interfaces.
        interface: Option<u32>,
    },
    /// Packets are not Ethernet frames, and whole frames are read.
    NotEthernet,
    /// The byte-order magic of a pcapng section is invalid.
    ByteOrder,
    /// The length of a pcapng block is impossible.
    BlockLength {
        /// The length in bytes.
        len: u32,
    },
    /// The two lengths of a pcapng block differ.
    BlockEnd {
        /// The length at the beginning.
        first: u32,
        /// The length at the end.
        last: u32,
    },
    /// A field of a pcapng block is longer than the block.
    Block {
        /// Type of the block.
        kind: u32,
    },
    /// The pcapng section does not describe the interface of a packet.
    NoInterface {
        /// The interface.
        index: u32,
        /// Number of interfaces described so far.
        interfaces: usize,
    },
    /// A pcapng section has implausibly many interfaces.
    Interfaces {
        /// The greatest supported number.
        limit: usize,
    },
}

impl TraceError {
    /// Whether the packets or blocks after this one can still be read.
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

    /// Whether a lenient load keeps the destinations before the error.
    pub(crate) fn is_damage(&self) -> bool {
        // If no packet has a supported link type, there are no destinations to keep.
        !matches!(self, Self::LinkType { interface: None, .. } | Self::NotEthernet)
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff { needed, have } => {
                write!(f, "the capture is cut off: it needs {needed} bytes here and has {have}")
            }
            Self::TooLong { len, limit } => write!(
                f,
                "a packet or block of {len} bytes is over the limit of {limit}: \
                 the file is damaged here"
            ),
            Self::Version { format, major, minor } => {
                write!(f, "version {major}.{minor} of {format} is not supported")
            }
            Self::LinkType { number, interface } => {
                if let Some(interface) = interface {
                    write!(f, "interface {interface}: ")?;
                }
                write!(f, "packets of link type {number}")?;
                if let Some(name) = link::foreign_name(*number) {
                    write!(f, " ({name})")?;
                }
                write!(f, " are not supported: expected {}", link::EXPECTED)
            }
            Self::NotEthernet => {
                f.write_str("the packets have no Ethernet header, which forwarding needs")
            }
            Self::ByteOrder => {
                f.write_str("the section's byte order is neither big-endian nor little-endian")
            }
            Self::BlockLength { len } => {
                write!(f, "a block of {len} bytes is impossible: the file is damaged here")
            }
            Self::BlockEnd { first, last } => {
                write!(f, "the two lengths of a block differ: {first} and {last} bytes")
            }
            Self::Block { kind } => {
                write!(f, "a field of the block of type {kind} is longer than the block")
            }
            Self::NoInterface { index, interfaces } => {
                write!(
                    f,
                    "a packet has interface {index}, but the number of interfaces before it is {interfaces}"
                )
            }
            Self::Interfaces { limit } => {
                write!(f, "more than {limit} interfaces: the file is damaged here")
            }
        }
    }
}

impl std::error::Error for TraceError {}
