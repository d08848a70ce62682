//! [`FeedError`]: the problem of an input, and its place.
//!
//! It wraps the errors of the parsers and of the stream, which are defined beside the code that
//! raises them.

use std::fmt;
use std::io;

use crate::data::error::DataError;
use crate::decompress::StreamError;
use crate::mrt::error::MrtError;
use crate::peers::NoSuchPeer;
use crate::printable::printable;
use crate::sink::SinkError;
use crate::text::error::LineError;
use crate::trace::error::TraceError;

/// A place in an input.
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

/// Error of reading an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct FeedError {
    /// Name of the input, usually the path of a file.
    pub input: Option<String>,
    /// The place in the input.
    pub place: Place,
    /// The problem at that place.
    pub problem: Problem,
}

/// Kind of a [`FeedError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened.
    Open(io::Error),
    /// The stream cannot be read or decompressed.
    Stream(StreamError),
    /// The input is not a regular file and is too large to keep in memory.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The input is neither text nor MRT.
    UnknownFormat,
    /// The input is neither a packet capture nor a list of addresses.
    UnknownTrace,
    /// The input is of a format that is known, but not supported.
    OtherFormat {
        /// The format, and a way to a supported one.
        name: &'static str,
    },
    /// The archive has no such member, or several that may be meant, or the member cannot be read.
    Archive {
        /// The problem, and a way to read the archive.
        problem: String,
    },
    /// The input is not a packet capture.
    NoCapture,
    /// A line of text is wrong.
    Line(LineError),
    /// An MRT record is wrong.
    Mrt(MrtError),
    /// A packet capture is wrong.
    Trace(TraceError),
    /// The input does not have the requested peer.
    NoSuchPeer(NoSuchPeer),
    /// A row of prefix data is wrong, or does not fit the options.
    Data {
        /// The error.
        error: DataError,
        /// The recognised format, in words.
        read_as: Option<String>,
    },
    /// The sink refused a route.
    Sink(SinkError),
    /// A lenient load found damage and no route.
    NothingRead {
        /// Damaged lines or records.
        damaged: u64,
        /// The first damage.
        first: Box<FeedError>,
    },
}

impl FeedError {
    /// The error of an input with damage of which nothing else was read.
    pub(crate) fn nothing_read(damaged: u64, first: Self) -> Self {
        let input = first.input.clone();
        let problem = Problem::NothingRead { damaged, first: Box::new(first) };
        Self { input, place: Place::Whole, problem }
    }
}

impl Problem {
    /// An error of prefix data whose format is not known here.
    pub(crate) fn data(error: DataError) -> Self {
        Self::Data { error, read_as: None }
    }
}

impl FeedError {
    /// An error at a place of an input whose name is not known here.
    pub(crate) fn at(place: Place, problem: Problem) -> Self {
        Self { input: None, place, problem }
    }

    /// An error of the line with this number.
    pub(crate) fn line(number: u64, error: LineError) -> Self {
        Self::at(Place::Line(number), Problem::Line(error))
    }

    /// An error of the MRT record or field at this byte.
    pub(crate) fn mrt(offset: u64, error: MrtError) -> Self {
        Self::at(Place::Byte(offset), Problem::Mrt(error))
    }

    /// An error of the capture's packet or block at this byte.
    pub(crate) fn trace(offset: u64, error: TraceError) -> Self {
        Self::at(Place::Byte(offset), Problem::Trace(error))
    }

    /// An error of the stream after this many decompressed bytes.
    pub(crate) fn stream(offset: u64, error: StreamError) -> Self {
        Self::at(Place::Byte(offset), Problem::Stream(error))
    }

    /// The same error with the name of the input.
    pub(crate) fn named(mut self, name: Option<&str>) -> Self {
        // A joined file has a name of its own.
        self.input = self.input.or_else(|| name.map(str::to_owned));
        self
    }

    /// Whether the input after the damage can still be read.
    pub(crate) fn is_local(&self) -> bool {
        match &self.problem {
            Problem::Line(error) => error.is_local(),
            Problem::Mrt(error) => error.is_local(),
            Problem::Trace(error) => error.is_local(),
            Problem::Data { error, .. } => error.is_local(),
            _ => false,
        }
    }

    /// Whether the input is damaged.
    ///
    /// A lenient load keeps the routes before the damage.
    pub fn is_damage(&self) -> bool {
        match &self.problem {
            Problem::Stream(error) => error.is_damage(),
            Problem::Trace(error) => error.is_damage(),
            Problem::Data { error, .. } => error.is_damage(),
            Problem::Line(_) | Problem::Mrt(_) => true,
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
            Self::Stream(error) => error.fmt(f),
            Self::TooLarge { limit } => write!(
                f,
                "the input is not a regular file and is longer than the limit of {limit} \
                 bytes in memory: save it to a file and load that"
            ),
            Self::UnknownFormat => f.write_str(
                "not a known format: expected text, MRT, a MaxMind DB or a compiled table",
            ),
            Self::UnknownTrace => f.write_str(
                "neither a packet capture (pcap or pcapng) nor a list of addresses, one per line",
            ),
            Self::OtherFormat { name } => write!(f, "this is {name}"),
            Self::Archive { problem } => f.write_str(problem),
            Self::NoCapture => f.write_str("not a packet capture (pcap or pcapng)"),
            Self::Line(error) => error.fmt(f),
            Self::Mrt(error) => error.fmt(f),
            Self::Trace(error) => error.fmt(f),
            Self::NoSuchPeer(error) => error.fmt(f),
            Self::Data { error, read_as: Some(read_as) } => {
                write!(f, "{error} (read as {})", printable(read_as))
            }
            Self::Data { error, read_as: None } => error.fmt(f),
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

impl std::error::Error for FeedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Open(error) => Some(error),
            Problem::Stream(error) => Some(error),
            Problem::Line(error) => Some(error),
            Problem::Mrt(error) => Some(error),
            Problem::Trace(error) => Some(error),
            Problem::NoSuchPeer(error) => Some(error),
            Problem::Data { error, .. } => Some(error),
            Problem::Sink(error) => Some(&**error),
            Problem::NothingRead { first, .. } => Some(&**first),
            Problem::TooLarge { .. }
            | Problem::UnknownFormat
            | Problem::UnknownTrace
            | Problem::OtherFormat { .. }
            | Problem::Archive { .. }
            | Problem::NoCapture => None,
        }
    }
}
