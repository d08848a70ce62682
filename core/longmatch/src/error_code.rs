//! Stable numbers of all errors, for bindings to other languages.

#[cfg(test)]
mod tests;

use core::fmt;

use crate::engine::{CompileError, Corrupt, OptionError, ParseSpecError, UnknownEngine};
use crate::live::UpdateError;
use crate::net::{NextHopsFull, ParsePrefixError, PrefixError, PrefixTextError};
use crate::rib::RibFull;
use crate::rov::MaxLengthError;
use crate::simd::{UnknownLevel, Unsupported};
#[cfg(feature = "file")]
use crate::table::file::{FileError, FileErrorKind};
use crate::table::{ColumnError, InsertError, Refused};
#[cfg(feature = "file")]
use std::io::ErrorKind;

/// Makes the enum with its table.
macro_rules! error_codes {
    ($($number:literal $code:ident $name:literal $meaning:literal)*) => {
        /// The number and the name of an error, for programs that cannot match on the error's type.
        ///
        /// A binding to another language passes numbers on: each error type of this crate has a method
        /// `code`. An error that holds another one has the code of that one. Numbers and names never
        /// change their meaning; later versions add some. no error has the number 0.
        ///
        /// ```
        /// use longmatch::{ErrorCode, IpPrefix};
        /// let error = "10.0.0.1/8".parse::<IpPrefix>().unwrap_err();
        /// assert_eq!(error.code(), ErrorCode::HostBits);
        /// assert_eq!((error.code().number(), error.code().as_str()), (102, "host_bits"));
        /// assert_eq!(ErrorCode::from_number(102), Some(ErrorCode::HostBits));
        /// ```
        ///
        /// | number | name | meaning |
        /// |---|---|---|
        $(#[doc = concat!("| ", $number, " | `", $name, "` | ", $meaning, " |")])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum ErrorCode {
            $(#[doc = concat!($meaning, ".")] $code = $number,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the numbers.
            pub const ALL: &[Self] = &[$(Self::$code),*];

            /// The name: words in lower case with `_` between them.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }
        }
    };
}

error_codes! {
    101 PrefixLength "prefix_length" "a prefix is longer than an address"
    102 HostBits "host_bits" "a bit of a prefix is set after its length"
    103 NotAnAddress "not_an_address" "a text is not an address of the family"
    104 MissingLength "missing_length" "a text has no prefix length"
    105 LengthNotANumber "length_not_a_number" "a prefix length is not a decimal number"
    106 MaxLength "max_length" "a maximum length is below that of a prefix, or longer than an address"
    201 RoutesFull "routes_full" "a table holds as many routes as its limit allows"
    202 NextHopsFull "next_hops_full" "a table holds as many next hops or values as its limit allows"
    203 ColumnName "column_name" "two columns have the same name"
    204 RowWidth "row_width" "a row has another number of cells than there are columns"
    205 CellType "cell_type" "a cell is not of its column's type"
    206 MissingRow "missing_row" "a route's next hop has no row"
    301 UnknownEngine "unknown_engine" "no engine has the name"
    302 EngineOption "engine_option" "an engine lacks an option, or does not accept its value"
    303 NextHopTooLarge "next_hop_too_large" "a next-hop id does not fit an engine's entries"
    304 TooMany "too_many" "a table needs more objects than an engine can number"
    305 EngineFamily "engine_family" "an engine does not exist for a family"
    306 NotCompiled "not_compiled" "an engine is not compiled in"
    307 NoEngine "no_engine" "no engine that can be chosen for a family is compiled in"
    308 NoEngineInMemory "no_engine_in_memory" "no engine holds a table within the memory limit"
    309 MemoryLimit "memory_limit" "an engine may exceed the memory limit"
    310 OutOfMemory "out_of_memory" "the system did not provide memory"
    311 Corrupt "corrupt" "a compiled table disagrees with its routes"
    321 UnknownLevel "unknown_level" "no level of instructions has the name"
    322 UnsupportedLevel "unsupported_level" "the CPU lacks the instructions of a level"
    401 RetiredMemory "retired_memory" "readers keep too much memory from reuse"
    402 NoThread "no_thread" "the thread that commits was not started"
    403 FamiliesRefused "families_refused" "a commit was refused with different errors in both families"
    501 Io "io" "the system refused an operation on a file"
    502 NotLongmatch "not_longmatch" "a file is not a compiled table"
    503 FileVersion "file_version" "a file has another version of the format"
    504 Truncated "truncated" "a file ends too early"
    505 Checksum "checksum" "a checksum of a file does not fit its content"
    506 FileStructure "file_structure" "a file contradicts the format"
    507 NoImage "no_image" "a file cannot hold the structure of an engine"
    508 FileLimit "file_limit" "data exceed a limit of the format of files"
    509 BigEndian "big_endian" "a big-endian machine does not read files"
}

impl ErrorCode {
    /// The number, which is never 0.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The code with a number; `None` if this version has none. O(number of codes).
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.number() == number)
    }

    /// The code of a commit: that of the one family that refused it, or of both if they agree.
    fn of_commit(refused: &Refused) -> Self {
        let code = |error: &Option<UpdateError>| error.as_ref().map(UpdateError::code);
        match (code(&refused.ipv4), code(&refused.ipv6)) {
            (Some(ipv4), Some(ipv6)) if ipv4 == ipv6 => ipv4,
            (Some(one), None) | (None, Some(one)) => one,
            _ => Self::FamiliesRefused,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Gives error types their codes.
macro_rules! codes {
    ($($(#[$feature:meta])? $error:ty: $this:pat_param => $code:expr;)*) => {$(
        $(#[$feature])?
        impl $error {
            /// The error's stable number and name.
            #[must_use]
            pub fn code(&self) -> ErrorCode {
                let $this = self;
                $code
            }
        }
    )*};
}

codes! {
    RibFull: _ => ErrorCode::RoutesFull;
    NextHopsFull: _ => ErrorCode::NextHopsFull;
    UnknownEngine: _ => ErrorCode::UnknownEngine;
    OptionError: _ => ErrorCode::EngineOption;
    Corrupt: _ => ErrorCode::Corrupt;
    UnknownLevel: _ => ErrorCode::UnknownLevel;
    Unsupported: _ => ErrorCode::UnsupportedLevel;
    Refused: refused => ErrorCode::of_commit(refused);
    MaxLengthError: _ => ErrorCode::MaxLength;
    PrefixTextError: error => error.reason.code();
    ParseSpecError: error => match error {
        Self::Engine(error) => error.code(),
        Self::Option(error) => error.code(),
    };
    PrefixError: error => match error {
        Self::Length { .. } => ErrorCode::PrefixLength,
        Self::HostBits { .. } => ErrorCode::HostBits,
    };
    ParsePrefixError: error => match error {
        Self::Address => ErrorCode::NotAnAddress,
        Self::MissingLength => ErrorCode::MissingLength,
        Self::Length => ErrorCode::LengthNotANumber,
        Self::Prefix(error) => error.code(),
    };
    InsertError: error => match error {
        Self::Prefix(error) => error.code(),
        Self::Routes(error) => error.code(),
        Self::NextHops(error) => error.code(),
        Self::Family { .. } => ErrorCode::EngineFamily,
    };
    ColumnError: error => match error {
        Self::Name { .. } => ErrorCode::ColumnName,
        Self::Width { .. } => ErrorCode::RowWidth,
        Self::Type { .. } => ErrorCode::CellType,
        Self::Row { .. } => ErrorCode::MissingRow,
        Self::Table(error) => error.code(),
    };
    CompileError: error => match error {
        Self::NextHopTooLarge { .. } => ErrorCode::NextHopTooLarge,
        Self::TooMany { .. } => ErrorCode::TooMany,
        Self::Family { .. } => ErrorCode::EngineFamily,
        Self::NotCompiled { .. } => ErrorCode::NotCompiled,
        Self::NoEngine { .. } => ErrorCode::NoEngine,
        Self::Memory { .. } => ErrorCode::NoEngineInMemory,
        Self::TooLarge { .. } => ErrorCode::MemoryLimit,
        Self::Allocation { .. } => ErrorCode::OutOfMemory,
        Self::Option(error) => error.code(),
    };
    UpdateError: error => match error {
        Self::Limit(error) => error.code(),
        Self::Full(error) => error.code(),
        Self::Values(error) => error.code(),
        Self::Retired { .. } => ErrorCode::RetiredMemory,
    };
    #[cfg(feature = "file")]
    FileError: error => match error.kind() {
        FileErrorKind::Io { error, .. } if error.kind() == ErrorKind::OutOfMemory => ErrorCode::OutOfMemory,
        FileErrorKind::Io { .. } => ErrorCode::Io,
        FileErrorKind::NotLongmatch => ErrorCode::NotLongmatch,
        FileErrorKind::Version { .. } => ErrorCode::FileVersion,
        FileErrorKind::Truncated { .. } => ErrorCode::Truncated,
        FileErrorKind::Checksum { .. } => ErrorCode::Checksum,
        FileErrorKind::Structure { .. } => ErrorCode::FileStructure,
        FileErrorKind::NoImage { .. } => ErrorCode::NoImage,
        FileErrorKind::Compile(error) => error.code(),
        FileErrorKind::Limit { .. } => ErrorCode::FileLimit,
        FileErrorKind::BigEndian => ErrorCode::BigEndian,
    };
}

#[cfg(feature = "std")]
impl<F: crate::engine::Engines> crate::live::BatcherError<F> {
    /// The error's stable number and name.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        ErrorCode::NoThread
    }
}
