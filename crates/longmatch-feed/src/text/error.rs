//! Errors of lines of text and of JSON routes.

use std::fmt;
use std::net::IpAddr;

use longmatch::ParsePrefixError;

use crate::printable::printable;

/// Error of a line of text or of a JSON route.
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
    /// A word in the place of a prefix or an address is neither.
    Prefix {
        /// The word.
        text: String,
        /// The reason.
        error: ParsePrefixError,
    },
    /// A line of a list of addresses is not an address.
    Address {
        /// The line, or its beginning and `...`.
        text: String,
        /// Advice for correcting it.
        advice: Option<&'static str>,
    },
    /// A word in a list is neither a prefix nor an address nor a range.
    ListItem {
        /// The word.
        text: String,
        /// Advice for correcting it.
        advice: Option<&'static str>,
    },
    /// Two addresses are not the ends of a range.
    Range {
        /// The first address.
        first: IpAddr,
        /// The last address, of the other family or before the first.
        last: IpAddr,
    },
    /// The address after another is its netmask or the end of a range.
    MaskOrEnd {
        /// The first address.
        network: IpAddr,
        /// The second address: all bits are ones.
        mask: IpAddr,
    },
    /// The prefix has no next hop.
    MissingNextHop,
    /// The first word requires a prefix, which is missing.
    MissingPrefix,
    /// The line has a word after the next hop.
    Trailing {
        /// The first extra word.
        text: String,
    },
    /// A `nexthop` line has no route before it.
    StrayNextHop,
    /// An `ip route` line has `from`: the route depends on the source address.
    SourceRoute,
    /// Neither a `default` line nor its neighbours show its address family.
    DefaultFamily,
    /// The value of an `ip route` attribute is missing or invalid.
    Attribute {
        /// Name of the attribute.
        name: &'static str,
        /// The value; empty if it is missing.
        value: String,
    },
    /// An address in the place of a netmask is not a netmask.
    Netmask {
        /// The address.
        mask: IpAddr,
    },
    /// An address has bits outside its netmask.
    NetworkBits {
        /// The address.
        network: IpAddr,
        /// The netmask.
        mask: IpAddr,
    },
    /// The JSON is malformed; the rest of it cannot be read.
    Json {
        /// The message of the parser, with the position.
        text: String,
    },
    /// An element of the JSON array is not a route.
    JsonRoute {
        /// The reason.
        text: String,
    },
    /// The path identifier of a bgpdump line is missing or invalid.
    DumpPath,
    /// The kind of a bgpdump line is unknown.
    DumpKind {
        /// The kind.
        text: String,
    },
    /// The peer address or AS number of a bgpdump line is invalid.
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
            Self::Nul => f.write_str("the line has a NUL byte: this is not a text file"),
            Self::NotUtf8 => f.write_str("the line is not UTF-8"),
            Self::Prefix { text, error } => {
                write!(f, "'{}' is not a prefix: {error}", text.escape_debug())?;
                if text.contains('%') {
                    f.write_str("; leave out the zone id")?;
                }
                Ok(())
            }
            Self::Address { text, advice } => {
                write!(f, "'{}' is not an IP address", text.escape_debug())?;
                advice.map_or(Ok(()), |advice| write!(f, ": {advice}"))
            }
            Self::ListItem { text, advice } => {
                write!(f, "'{}' is not a prefix, an address or a range: ", text.escape_debug())?;
                f.write_str(advice.unwrap_or(
                    "expected a word like 192.0.2.0/24, 192.0.2.7 or 192.0.2.0-192.0.2.9",
                ))
            }
            Self::Range { first, last } if first.is_ipv4() != last.is_ipv4() => {
                write!(f, "{first} and {last} are not a range: they are of different families")
            }
            Self::Range { first, last } => write!(
                f,
                "the range from {first} to {last} ends before it begins: exchange the addresses"
            ),
            Self::MaskOrEnd { network, mask } => write!(
                f,
                "{mask} after {network} is a netmask or the end of a range: write {network} or \
                 {network}-{mask}"
            ),
            Self::MissingNextHop => f.write_str("the prefix has no next hop"),
            Self::MissingPrefix => f.write_str("expected a prefix after the first word"),
            Self::Trailing { text } => write!(
                f,
                "unexpected '{}' after the next hop; a next hop is one word",
                text.escape_debug()
            ),
            Self::StrayNextHop => f.write_str("the 'nexthop' line has no route before it"),
            Self::SourceRoute => {
                f.write_str("the route depends on the source address ('from'): remove it")
            }
            Self::DefaultFamily => f.write_str(
                "neither this 'default' nor its neighbouring lines show whether it is IPv4 or IPv6: \
                 write 0.0.0.0/0 or ::/0",
            ),
            Self::Attribute { name, value } if value.is_empty() => {
                write!(f, "'{name}' at the end of the line has no value")
            }
            Self::Attribute { name, value } => {
                write!(f, "'{}' is not a value of '{name}'", value.escape_debug())
            }
            Self::Netmask { mask } => write!(
                f,
                "{mask} follows an address and is not a netmask: write the prefix with its length, \
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
            Self::JsonRoute { text } => write!(f, "not a route of 'ip -json': {}", printable(text)),
            Self::DumpPath => f.write_str(
                "the bgpdump line has no valid path identifier after its prefix",
            ),
            Self::DumpKind { text } => {
                write!(f, "unknown kind of bgpdump line: '{}'", text.escape_debug())
            }
            Self::DumpPeer => f.write_str("the bgpdump line has no valid peer address and AS"),
        }
    }
}

impl std::error::Error for LineError {}
