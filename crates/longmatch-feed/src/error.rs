//! The errors of this crate: each says where in the input it is, and what to do about it.

use std::fmt;
use std::io;
use std::net::IpAddr;

use longmatch::ParsePrefixError;

use crate::decompress::Codec;
use crate::options::PeerSelector;
use crate::printable::printable;
use crate::trace::TraceError;

/// What a [`crate::Sink`] may fail with.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Where in the input something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Place {
    /// The input as a whole.
    Whole,
    /// A line of text, counted from 1.
    Line(u64),
    /// A byte of the decompressed stream, counted from 0.
    Byte(u64),
}

/// Why an input could not be read, and where.
#[derive(Debug)]
#[non_exhaustive]
pub struct FeedError {
    /// The input's name, usually the path of a file.
    pub input: Option<String>,
    /// The place in the input.
    pub place: Place,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with an input.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The file could not be opened.
    Open(io::Error),
    /// Reading failed.
    Read(io::Error),
    /// The compressed data is damaged or cut off.
    Compressed {
        /// How the data is compressed.
        codec: Codec,
        /// What the decompressor says.
        error: io::Error,
    },
    /// The data is compressed in a way that is not read here.
    UnknownCodec {
        /// The format's name.
        name: &'static str,
    },
    /// The decompressed data is itself compressed.
    Nested {
        /// The outer compression.
        outer: Codec,
        /// The name of the inner one.
        inner: &'static str,
    },
    /// The data decompresses to implausibly much.
    Bomb {
        /// Bytes of output per byte of input, at least.
        ratio: u64,
    },
    /// The input cannot be read twice and is too large to keep in memory.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The input is neither text nor MRT.
    UnknownFormat,
    /// The input is neither a packet capture nor a list of addresses.
    UnknownTrace,
    /// A line of text is wrong.
    Line(LineError),
    /// An MRT record is wrong.
    Mrt(MrtError),
    /// A packet capture is wrong.
    Trace(TraceError),
    /// The peer that was asked for is not in the input.
    NoSuchPeer {
        /// The peer that was asked for.
        selector: PeerSelector,
        /// How many peers there are.
        peers: usize,
    },
    /// The receiver of the routes refused one.
    Sink(SinkError),
    /// A lenient load found damage and nothing else.
    NothingRead {
        /// Damaged lines or records.
        damaged: u64,
        /// The first damage.
        first: Box<FeedError>,
    },
}

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

/// What is wrong with an MRT record.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MrtError {
    /// The file ends inside a record.
    CutOff {
        /// Bytes that the record needs.
        needed: u64,
        /// Bytes that are there.
        have: u64,
    },
    /// A record's length is over the limit.
    RecordTooLong {
        /// The record's length in bytes.
        len: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A field reaches past the end of what holds it.
    Short {
        /// The field.
        what: &'static str,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that are there.
        have: usize,
    },
    /// Bytes follow the last field.
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// A RIB record without a peer index table before it.
    NoPeerIndex,
    /// A RIB entry of a peer that the peer index table does not have.
    PeerOutOfRange {
        /// The entry's peer index.
        index: u16,
        /// The number of peers in the table.
        peers: usize,
    },
    /// A prefix longer than its family allows.
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
    /// A next hop of a length that no address has.
    NextHopLength {
        /// The length in bytes.
        len: usize,
    },
    /// A BGP message without its marker of 16 bytes 0xFF.
    Marker,
    /// A BGP message's length is impossible.
    MessageLength {
        /// The length that the message states.
        len: u16,
        /// Bytes that are there.
        have: usize,
    },
    /// What the BGP parser says.
    Parser(String),
}

impl FeedError {
    /// An error at a place of an input whose name is not known here.
    pub(crate) fn at(place: Place, problem: Problem) -> Self {
        Self { input: None, place, problem }
    }

    pub(crate) fn line(number: u64, error: LineError) -> Self {
        Self::at(Place::Line(number), Problem::Line(error))
    }

    pub(crate) fn mrt(offset: u64, error: MrtError) -> Self {
        Self::at(Place::Byte(offset), Problem::Mrt(error))
    }

    pub(crate) fn trace(offset: u64, error: TraceError) -> Self {
        Self::at(Place::Byte(offset), Problem::Trace(error))
    }

    pub(crate) fn named(mut self, name: Option<&str>) -> Self {
        self.input = name.map(str::to_owned);
        self
    }

    /// Whether what follows the damage can still be read.
    pub(crate) fn is_local(&self) -> bool {
        match &self.problem {
            // There is no way to tell where the next route begins.
            Problem::Line(error) => !matches!(error, LineError::Json { .. }),
            Problem::Trace(error) => error.is_local(),
            Problem::Mrt(error) => {
                !matches!(error, MrtError::CutOff { .. } | MrtError::RecordTooLong { .. })
            }
            _ => false,
        }
    }

    /// Whether this is damage of the input, after which a lenient load keeps what it has.
    pub fn is_damage(&self) -> bool {
        match &self.problem {
            Problem::Trace(error) => error.is_damage(),
            Problem::Line(_)
            | Problem::Mrt(_)
            | Problem::Compressed { .. }
            | Problem::Read(_)
            | Problem::Bomb { .. } => true,
            _ => false,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("input"),
            Self::Line(number) => write!(f, "line {number}"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
        }
    }
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(input) = &self.input {
            write!(f, "{}: ", printable(input))?;
        }
        match self.place {
            Place::Whole => {}
            place => write!(f, "{place}: ")?,
        }
        self.problem.fmt(f)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => write!(f, "cannot be opened: {error}"),
            Self::Read(error) => write!(f, "cannot be read: {error}"),
            Self::Compressed { codec, error } => {
                write!(f, "the {codec} data is damaged or cut off: {error}")
            }
            Self::UnknownCodec { name } => write!(
                f,
                "{name} is not read here: decompress the file first, or use gzip, bzip2 or zstd"
            ),
            Self::Nested { outer, inner } => {
                write!(f, "{inner} data inside {outer} data: decompress the file once")
            }
            Self::Bomb { ratio } => write!(
                f,
                "the data decompresses to more than {ratio} times its size: \
                 if it is genuine, decompress the file first"
            ),
            Self::TooLarge { limit } => write!(
                f,
                "input that is no regular file is kept in memory, at most {limit} bytes: \
                 save it to a file and load that"
            ),
            Self::UnknownFormat => f.write_str(
                "neither text nor MRT: expected lines like '192.0.2.0/24 next-hop', \
                 bgpdump -m or ip route output (JSON too), or an MRT file",
            ),
            Self::UnknownTrace => f.write_str(
                "neither a packet capture (pcap or pcapng) nor a list of addresses, one a line",
            ),
            Self::Line(error) => error.fmt(f),
            Self::Mrt(error) => error.fmt(f),
            Self::Trace(error) => error.fmt(f),
            Self::NoSuchPeer { selector, peers } => {
                match peers {
                    0 => write!(f, "there are no peers, so none is '{selector}'")?,
                    1 => write!(f, "the only peer is not '{selector}'")?,
                    peers => write!(f, "none of the {peers} peers is '{selector}'")?,
                }
                f.write_str(
                    ": name one by its address, AS number (AS64500) or position in the peer \
                     index table",
                )
            }
            Self::Sink(error) => write!(f, "the route was refused: {error}"),
            Self::NothingRead { damaged, first } => {
                let FeedError { place, problem, .. } = &**first;
                match (damaged, place) {
                    (1, Place::Whole) => write!(f, "nothing could be read: {problem}"),
                    (1, place) => write!(f, "nothing could be read: {place}: {problem}"),
                    (n, place) => write!(
                        f,
                        "nothing could be read: {n} lines or records are damaged, \
                         the first at {place}: {problem}"
                    ),
                }
            }
        }
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
            Self::Short { what, needed, have } => {
                write!(f, "{what}: needs {needed} bytes and has {have}")
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
            Self::NextHopLength { len } => write!(f, "a next hop of {len} bytes is no address"),
            Self::Marker => f.write_str("the BGP message's marker is damaged"),
            Self::MessageLength { len, have } => {
                write!(f, "BGP message length {len} is impossible with {have} bytes left")
            }
            Self::Parser(text) => write!(f, "BGP attributes: {text}"),
        }
    }
}

impl std::error::Error for LineError {}
impl std::error::Error for MrtError {}

impl std::error::Error for FeedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Open(error) | Problem::Read(error) => Some(error),
            Problem::Compressed { error, .. } => Some(error),
            Problem::Line(error) => Some(error),
            Problem::Mrt(error) => Some(error),
            Problem::Trace(error) => Some(error),
            Problem::Sink(error) => Some(&**error),
            Problem::NothingRead { first, .. } => Some(&**first),
            _ => None,
        }
    }
}
