//! The error of files.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::engine::CompileError;
use crate::engine::image::DamagedImage;
use crate::engine::images::{NoImage, WITH_IMAGES};

/// The version of the format that this program writes, and the only one that it reads.
pub(super) const VERSION: u32 = 3;

/// Why a file of a compiled table cannot be written or opened.
///
/// The message states the problem, its place and the remedy.
///
/// ```
/// use longmatch::file::{FileErrorKind, FileTable};
/// let error = FileTable::from_bytes(*b"no table").unwrap_err();
/// assert!(matches!(error.kind(), FileErrorKind::NotLongmatch));
/// assert!(error.to_string().contains("magic bytes of a longmatch table"));
/// ```
#[derive(Debug)]
pub struct FileError {
    path: Option<PathBuf>,
    kind: Box<FileErrorKind>,
}

/// The kinds of [`FileError`].
///
/// ```
/// use longmatch::file::{FileErrorKind, FileTable};
/// let error = FileTable::open("/nowhere/table.lm").unwrap_err();
/// assert!(matches!(error.kind(), FileErrorKind::Io { .. }));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// The system refused an operation.
    Io {
        /// The operation.
        doing: &'static str,
        /// The system's reason.
        error: io::Error,
    },
    /// The file does not begin with the magic bytes of a longmatch table.
    NotLongmatch,
    /// The file has another version of the format than the one that this program reads.
    Version {
        /// The file's version.
        found: u32,
    },
    /// The file ends too early.
    Truncated {
        /// The length that the file states, or the least length of any.
        expected: u64,
        /// Its length.
        found: u64,
    },
    /// The checksum of a section does not fit its content.
    Checksum {
        /// The section.
        section: String,
    },
    /// A section contradicts the format.
    Structure {
        /// The section.
        section: String,
        /// The contradiction.
        what: String,
    },
    /// Files cannot hold structures of this engine, or this program does not know it.
    NoImage {
        /// The engine with its form.
        engine: String,
    },
    /// The engine does not hold the routes.
    Compile(CompileError),
    /// The data exceed a limit of the format.
    Limit {
        /// The items that are too many.
        what: &'static str,
        /// The most that the format holds.
        limit: u64,
    },
    /// The machine is big-endian: it writes files, but does not read them.
    BigEndian,
}

impl FileError {
    /// The kind of the error.
    pub fn kind(&self) -> &FileErrorKind {
        &self.kind
    }

    /// The file; `None` for a table in memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(super) fn io(doing: &'static str, path: &Path, error: io::Error) -> Self {
        Self::from(FileErrorKind::Io { doing, error }).at(path)
    }

    pub(super) fn structure(section: impl Into<String>, what: impl Into<String>) -> Self {
        FileErrorKind::Structure { section: section.into(), what: what.into() }.into()
    }

    pub(super) fn image(family: &'static str, damaged: &DamagedImage) -> Self {
        Self::structure(format!("the image of the {family} engine"), format!("{damaged}"))
    }

    /// The same error in a file.
    pub(super) fn at(self, path: &Path) -> Self {
        Self { path: Some(path.into()), ..self }
    }
}

impl From<FileErrorKind> for FileError {
    fn from(kind: FileErrorKind) -> Self {
        Self { path: None, kind: Box::new(kind) }
    }
}

impl From<NoImage> for FileError {
    fn from(none: NoImage) -> Self {
        Self::from(match none {
            NoImage::Engine(engine) => FileErrorKind::NoImage { engine },
            NoImage::Compile(error) => FileErrorKind::Compile(error),
        })
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        match &*self.kind {
            FileErrorKind::Io { doing, error } => write!(f, "cannot {doing}: {error}"),
            FileErrorKind::NotLongmatch => f.write_str(
                "the file does not begin with the magic bytes of a longmatch table; compile one with \
                 `longmatch compile` or `FileSpec`",
            ),
            FileErrorKind::Version { found } if *found < VERSION => write!(
                f,
                "the file has version {found} of the format, which is older than version {VERSION}, \
                 the only one that this program reads; compile it again (`longmatch compile`)"
            ),
            FileErrorKind::Version { found } => write!(
                f,
                "version {found} of the format is unknown: this program knows version {VERSION}; \
                 use the program's newer version, or compile the file again with this one"
            ),
            FileErrorKind::Truncated { expected, found } => {
                write!(f, "truncated: {found} bytes of {expected}; copy or compile the file again")
            }
            FileErrorKind::Checksum { section } => {
                write!(f, "damaged: {section} has a wrong checksum; copy or compile the file again")
            }
            FileErrorKind::Structure { section, what } => {
                write!(f, "damaged: {section}: {what}; copy or compile the file again")
            }
            FileErrorKind::NoImage { engine } => {
                write!(f, "a file cannot hold engine '{engine}'; use '{WITH_IMAGES}'")
            }
            FileErrorKind::Compile(error) => error.fmt(f),
            FileErrorKind::Limit { what, limit } => {
                write!(f, "more than {limit} {what}, the most of a file; use fewer")
            }
            FileErrorKind::BigEndian => f.write_str(
                "a big-endian machine does not read compiled tables; compile the routes here",
            ),
        }
    }
}

impl core::error::Error for FileError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &*self.kind {
            FileErrorKind::Io { error, .. } => Some(error),
            FileErrorKind::Compile(error) => Some(error),
            _ => None,
        }
    }
}
