//! Errors of lines of text and of JSON routes.

use std::fmt;
use std::net::IpAddr;

use longmatch::ParsePrefixError;

use crate::printable::printable;

/// What is wrong with a line of text.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LineError {
    /// The line is longer than the limit.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The line has a NUL byte.
    Nul,
    /// The line is not UTF-8.
    NotUtf8,
    /// A word that should be a prefix or an address is none.
    Prefix {
        /// The word.
        text: String,
        /// What is wrong with it.
        error: ParsePrefixError,
    },
    /// A line of a list of addresses is none.
    Address {
        /// The line, or its beginning and `...`.
        text: String,
        /// What to do about it.
        advice: Option<&'static str>,
    },
    /// There is a prefix, but no next hop.
    MissingNextHop,
    /// A word announces a prefix that does not follow.
    MissingPrefix,
    /// There is more on the line than a prefix and a next hop.
    Trailing {
        /// The first word that is too much.
        text: String,
    },
    /// A `nexthop` line that follows no route.
    StrayNextHop,
    /// An `ip route` line with `from`: the route depends on the source address.
    SourceRoute,
    /// A `default` of which nothing tells the address family.
    DefaultFamily,
    /// An `ip route` attribute whose value is missing or is none.
    Attribute {
        /// The attribute's name.
        name: &'static str,
        /// The value; empty where it is missing.
        value: String,
    },
    /// An address that stands where a netmask does, and is none.
    Netmask {
        /// The address.
        mask: IpAddr,
    },
    /// Bits of an address that its netmask does not cover.
    NetworkBits {
        /// The address.
        network: IpAddr,
        /// The netmask.
        mask: IpAddr,
    },
    /// JSON that cannot be read any further.
    Json {
        /// What the parser says, and where.
        text: String,
    },
    /// An element of the JSON array that is no route.
    JsonRoute {
        /// What is wrong with it.
        text: String,
    },
    /// A bgpdump line whose path identifier is none.
    DumpPath,
    /// A bgpdump line of an unknown kind.
    DumpKind {
        /// The kind.
        text: String,
    },
    /// A bgpdump line whose peer address or AS number is none.
    DumpPeer,
}

impl LineError {
    /// Whether the lines or routes after this one can still be read.
    pub(crate) fn is_local(&self) -> bool {
        // Damaged JSON does not show where the next route begins.
        !matches!(self, Self::Json { .. })
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { limit } => write!(f, "the line is longer than {limit} bytes"),
            Self::Nul => f.write_str("the line has a NUL byte: this is no text file"),
            Self::NotUtf8 => f.write_str("the line is not UTF-8"),
            Self::Prefix { text, error } => {
                write!(f, "'{}' is no prefix: {error}", text.escape_debug())?;
                if text.contains('%') {
                    f.write_str("; leave out the zone id")?;
                }
                Ok(())
            }
            Self::Address { text, advice } => {
                write!(f, "'{}' is not an IP address", text.escape_debug())?;
                advice.map_or(Ok(()), |advice| write!(f, ": {advice}"))
            }
            Self::MissingNextHop => f.write_str("the prefix has no next hop"),
            Self::MissingPrefix => f.write_str("expected a prefix after the first word"),
            Self::Trailing { text } => write!(
                f,
                "unexpected '{}' after the next hop; a next hop is one word",
                text.escape_debug()
            ),
            Self::StrayNextHop => f.write_str("a 'nexthop' line that follows no route"),
            Self::SourceRoute => {
                f.write_str("the route depends on the source address ('from'): remove it")
            }
            Self::DefaultFamily => f.write_str(
                "neither this 'default' nor the lines beside it say whether it is IPv4 or IPv6: \
                 write 0.0.0.0/0 or ::/0",
            ),
            Self::Attribute { name, value } if value.is_empty() => {
                write!(f, "'{name}' stands at the end of the line without a value")
            }
            Self::Attribute { name, value } => {
                write!(f, "'{}' is no value of '{name}'", value.escape_debug())
            }
            Self::Netmask { mask } => write!(
                f,
                "{mask} follows an address and is no netmask: write the prefix with its length, \
                 such as 192.0.2.0/24"
            ),
            Self::NetworkBits { network, mask } => write!(
                f,
                "{network} has host bits set under the netmask {mask}: write the prefix with its \
                 length, such as 192.0.2.0/24"
            ),
            Self::Json { text } => {
                write!(f, "the JSON cannot be read: {}", printable(text))
            }
            Self::JsonRoute { text } => write!(f, "no route of 'ip -json': {}", printable(text)),
            Self::DumpPath => f.write_str(
                "the bgpdump line has no path identifier after its prefix, as lines of this kind do",
            ),
            Self::DumpKind { text } => {
                write!(f, "unknown kind of bgpdump line: '{}'", text.escape_debug())
            }
            Self::DumpPeer => f.write_str("the bgpdump line has no valid peer address and AS"),
        }
    }
}

impl std::error::Error for LineError {}
