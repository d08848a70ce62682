//! How a command ends: with a status, or with one line on standard error.

use std::fmt::{self, Display};
use std::io;
use std::process::ExitCode;

use longmatch::{ParsePrefixError, PrefixError};
use longmatch_feed::{FeedError, LineError, Problem, printable};
use longmatch_lab::ThreadError;

/// How a command that did its work ended. Scripts rely on the codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Everything was found or agrees: code 0.
    Ok,
    /// Something has no match, or differs: code 1.
    Negative,
}

impl Status {
    /// [`Status::Ok`] if everything was as it should be.
    pub fn ok_if(good: bool) -> Self {
        if good { Self::Ok } else { Self::Negative }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => Self::SUCCESS,
            Status::Negative => Self::from(1),
        }
    }
}

/// What a command returns.
pub type Outcome = Result<Status, CliError>;

/// Why a command could not do its work.
#[derive(Debug)]
pub enum CliError {
    /// Bad usage or input, told in one line that says where and what to do: code 2.
    Message(String),
    /// Whoever reads standard output has gone. That is no error of ours: it ends quietly.
    BrokenPipe,
}

impl CliError {
    /// An error from what should be told.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// The system did not start all threads that `whose` needs: an option, or a command.
    pub fn threads(whose: impl Display, error: &ThreadError) -> Self {
        let advice = "raise the limits of processes and memory (ulimit -u, ulimit -v)";
        Self::Message(format!("{whose}: {error}; use fewer threads, or {advice}"))
    }

    /// Something that happened to a named input, for example while reading it.
    pub fn input(name: impl Display, problem: impl Display) -> Self {
        Self::Message(format!("{}: {problem}", printable(&name.to_string())))
    }

    /// Why an input could not be loaded, with the options that help.
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
    /// An error of *writing to standard output*, so that `?` serves there. Errors of reading have a
    /// name to tell: see [`CliError::input`].
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::input("cannot write to standard output", error)
    }
}

impl From<serde_json::Error> for CliError {
    /// As [`From<io::Error>`]: our values always serialize, so it is the writing that failed.
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

/// Which options can be advised against an error of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Advice {
    /// `--lenient`: not if it was given.
    pub lenient: bool,
    /// `-4` and `-6`: not every command has them.
    pub families: bool,
}

/// The option that helps against an error of an input. The error's own words do not name any: they
/// are those of a library.
pub fn hint(error: &FeedError, advice: Advice) -> &'static str {
    let problem = match &error.problem {
        Problem::NothingRead { first, .. } => &first.problem,
        problem => problem,
    };
    match problem {
        Problem::Line(LineError::DefaultFamily) if advice.families => ", or give -4 or -6",
        Problem::Line(LineError::Prefix {
            error: ParsePrefixError::Prefix(PrefixError::HostBits { .. }),
            ..
        }) => " (--mask drops host bits)",
        _ if error.is_damage() && advice.lenient => " (--lenient keeps the undamaged part)",
        _ => "",
    }
}

/// Errors whose own words are enough.
macro_rules! from_displayed {
    ($($error:ty),*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::Message(error.to_string())
            }
        }
    )*};
}

from_displayed!(LineError);
