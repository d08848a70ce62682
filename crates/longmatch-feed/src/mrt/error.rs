//! Errors of MRT records.

use std::fmt;

/// Error of an MRT record.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MrtError {
    /// The file ends inside a record.
    CutOff {
        /// Bytes of the whole record.
        needed: u64,
        /// Bytes left in the input.
        have: u64,
    },
    /// A record's length is over the limit.
    RecordTooLong {
        /// The record's length in bytes.
        len: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A field is longer than the rest of its record, message or attribute.
    Short {
        /// The field.
        field: &'static str,
        /// Bytes of the field.
        needed: usize,
        /// Bytes left in the record, message or attribute.
        have: usize,
    },
    /// Bytes follow the last field.
    Trailing {
        /// Number of bytes.
        bytes: usize,
    },
    /// A RIB record without a peer index table before it.
    NoPeerIndex,
    /// The peer index of a RIB entry is beyond the peer index table.
    PeerOutOfRange {
        /// Peer index of the entry.
        index: u16,
        /// The number of peers in the table.
        peers: usize,
    },
    /// A prefix is longer than an address of its family.
    PrefixLength {
        /// The length.
        len: u8,
        /// The greatest length possible.
        max: u8,
    },
    /// An address family that is neither IPv4 nor IPv6.
    Family {
        /// The number of the family.
        afi: u16,
    },
    /// A route without a next hop.
    NoNextHop,
    /// The length of a next hop is not the length of an address.
    NextHopLength {
        /// The length in bytes.
        len: usize,
    },
    /// A BGP message does not start with its marker, 16 bytes 0xFF.
    Marker,
    /// The length of a BGP message is impossible.
    MessageLength {
        /// The length in the message.
        len: u16,
        /// Bytes left in the record.
        have: usize,
    },
}

impl MrtError {
    /// Whether the records after this one can still be read.
    pub(crate) fn is_local(&self) -> bool {
        !matches!(self, Self::CutOff { .. } | Self::RecordTooLong { .. })
    }
}

impl fmt::Display for MrtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff { needed, have } => {
                write!(f, "the file is cut off: the record needs {needed} bytes and has {have}")
            }
            Self::RecordTooLong { len, limit } => write!(
                f,
                "a record of {len} bytes is over the limit of {limit}: the file is damaged here"
            ),
            Self::Short { field, needed, have } => {
                write!(f, "{field}: needs {needed} bytes and has {have}")
            }
            Self::Trailing { bytes } => write!(f, "bytes after the last field: {bytes}"),
            Self::NoPeerIndex => f.write_str("a RIB record before any peer index table"),
            Self::PeerOutOfRange { index, peers } => {
                write!(
                    f,
                    "peer index {index} is beyond the peer index table, whose length is {peers}"
                )
            }
            Self::PrefixLength { len, max } => {
                write!(f, "prefix length {len} is greater than {max}")
            }
            Self::Family { afi } => write!(f, "address family {afi} is neither IPv4 nor IPv6"),
            Self::NoNextHop => f.write_str("the route has no next hop"),
            Self::NextHopLength { len } => write!(f, "a next hop of {len} bytes is not an address"),
            Self::Marker => f.write_str("the BGP message's marker is damaged"),
            Self::MessageLength { len, have } => {
                write!(f, "BGP message length {len} is impossible with {have} bytes left")
            }
        }
    }
}

impl std::error::Error for MrtError {}
