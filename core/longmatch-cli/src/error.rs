//! Outcome of a command: a status, or an error of one line on standard error.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::io;

use longmatch::file::FileError;
use longmatch::{IpPrefix, ParsePrefixError, PrefixError};
use longmatch_feed::{FeedError, Problem, printable};

use crate::name_list::list_of_names;

/// Status of a command that did its work. Scripts rely on the codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// All addresses matched, or all answers agree: code 0.
    Ok,
    /// An address has no match, or an answer differs: code 1.
    Negative,
}

impl Status {
    /// Returns [`Status::Ok`] if `good` is true.
    pub fn ok_if(good: bool) -> Self {
        if good { Self::Ok } else { Self::Negative }
    }

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Negative => 1,
        }
    }
}

/// Result of a command.
pub type Outcome = Result<Status, CliError>;

/// Error that kept a command from doing its work.
#[derive(Debug)]
pub enum CliError {
    /// Bad usage or input: code 2. One line with the problem, its place and the remedy.
    Message(String),
    /// The reader of standard output has closed it. The program ends without a message.
    BrokenPipe,
}

impl CliError {
    /// Creates an error from its message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// Reports threads that the system did not start. `subject` is the option or the command that
    /// needs them.
    pub fn threads(subject: impl Display, error: impl Display) -> Self {
        let advice = "raise the limits of processes and memory (ulimit -u, ulimit -v)";
        Self::Message(format!("{subject}: {error}; use fewer threads, or {advice}"))
    }

    /// Reports a problem with a named input, for example while reading it.
    pub fn input(name: impl Display, problem: impl Display) -> Self {
        Self::Message(format!("{}: {problem}", printable(&name.to_string())))
    }

    /// Reports an error of a table file; its message has the path.
    pub fn file(error: &FileError) -> Self {
        Self::new(printable(&error.to_string()))
    }

    /// Reports an input that could not be loaded, and the options that help.
    pub fn load(error: &FeedError, options: Advice) -> Self {
        Self::Message(format!("{error}{}", hint(error, options)))
    }
}

impl Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) => f.write_str(message),
            Self::BrokenPipe => f.write_str("standard output was closed"),
        }
    }
}

impl std::error::Error for CliError {}

impl From<io::Error> for CliError {
    /// Converts an error of *writing to standard output*, so that `?` works there. An error of
    /// reading needs the input's name: see [`CliError::input`].
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::input("cannot write to standard output", error)
    }
}

impl From<serde_json::Error> for CliError {
    /// Same as [`From<io::Error>`]: serialization itself cannot fail here, so writing failed.
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

/// The options that an error of an input may advise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Advice {
    /// `--lenient`: false if it was given.
    pub lenient: bool,
    /// `-4` and `-6`: false if the command lacks them.
    pub families: bool,
}

/// The advice for host bits.
pub const HOST_BITS: &str = " (--mask drops host bits)";

/// Returns the advice for an error of an input. The library's message cannot name options of the
/// command.
pub fn hint(error: &FeedError, advice: Advice) -> Cow<'static, str> {
    let problem = match &error.problem {
        Problem::NothingRead { first, .. } => &first.problem,
        problem => problem,
    };
    let advice = match problem {
        Problem::UnclearPair { columns, .. } => return of_pair(columns).into(),
        // Addresses of hosts beside their netmask or length, as in an inventory.
        Problem::Cell { column, .. } if has_host_bits(problem) && of_two_columns(error) => {
            let column = list_of_names([column]);
            let hosts = format!(" (--mask drops host bits, --prefix-column {column} takes hosts)");
            return hosts.into();
        }
        Problem::Open(reason) if reason.kind() == io::ErrorKind::NotFound => {
            not_a_path(error.input.as_deref().unwrap_or_default())
        }
        Problem::NoPrefixColumn { .. } | Problem::PrefixColumns { .. } => {
            " (--prefix-column NETWORK or --prefix-column 1,2)"
        }
        Problem::FixedPrefix => " (--prefix-column)",
        Problem::DefaultFamily if advice.families => ", or give -4 or -6",
        _ if has_host_bits(problem) => HOST_BITS,
        Problem::Wildcard { .. } => " (--prefix-column NAME)",
        Problem::LoneNetmask { .. } => " (--prefix-column NETWORK,NETMASK)",
        Problem::SeveralColumns { .. }
        | Problem::LoneEnd { .. }
        | Problem::TwoMembers { .. }
        | Problem::TwoPrefixes { .. } => " (--prefix-column)",
        Problem::RangeOrNextHop { .. } | Problem::LengthOrNextHop { .. } => {
            " (--prefix-column or --format routes)"
        }
        _ if error.is_damage() && advice.lenient => " (--lenient keeps the undamaged part)",
        _ => "",
    };
    advice.into()
}

fn has_host_bits(problem: &Problem) -> bool {
    use ParsePrefixError::Prefix;
    match problem {
        Problem::Prefix { error, .. } | Problem::Cell { error: Some(error), .. } => {
            matches!(error, Prefix(PrefixError::HostBits { .. }))
        }
        _ => matches!(problem, Problem::NetworkBits { .. }),
    }
}

/// Whether the prefixes of an input are in two columns.
fn of_two_columns(error: &FeedError) -> bool {
    error.read_as.as_ref().is_some_and(|format| format.contains("addresses and lengths"))
}

/// The advice for two columns, `address,mask`, that are networks, or hosts with other addresses.
fn of_pair(columns: &str) -> String {
    match columns.split_once(',') {
        Some((first, second)) if !second.contains(',') => {
            let (both, first) = (list_of_names([first, second]), list_of_names([first]));
            format!(" (--prefix-column {both} for networks, --prefix-column {first} for hosts)")
        }
        _ => " (--prefix-column)".to_owned(),
    }
}

/// The advice for the name of a file that is something else.
fn not_a_path(name: &str) -> &'static str {
    match name.split_once('=') {
        Some((list, _)) if !list.contains('/') => {
            " (NAME=FILE is for --routes of lookup, annotate and compile)"
        }
        _ if IpPrefix::parse_masked(name).is_ok() => {
            " (the name of a file is expected; '-' reads prefixes from standard input)"
        }
        _ => "",
    }
}

/// Errors whose message needs no addition.
macro_rules! from_displayed {
    ($($error:ty),*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::Message(error.to_string())
            }
        }
    )*};
}

from_displayed!(Problem);
