//! The memory of an open file.

use alloc::sync::Arc;
use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

use super::error::{FileError, FileErrorKind};
use crate::mem::{Frozen, LINE, Lender};

/// A file's bytes, which begin at a cache line.
enum Memory {
    Mapped(Mmap),
    Copied(Frozen<u8>),
    /// Bytes of the program.
    Static(&'static [u8]),
}

// SAFETY: a mapping stays at its place and is only read; a file that another program changes is
// excluded by the contract of `Lender`. A frozen array and a static slice are never written.
unsafe impl Lender for Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(mapping) => mapping,
            Self::Copied(bytes) => bytes,
            Self::Static(bytes) => bytes,
        }
    }
}

/// Maps a file. `all` says that all of it will be read at once.
pub(super) fn mapped(file: &File, all: bool) -> io::Result<Arc<dyn Lender>> {
    let mut options = MmapOptions::new();
    if all {
        options.populate();
    }
    // SAFETY: files are replaced, never changed: the module's documentation states it.
    let mapping = unsafe { options.map(file) }?;
    Ok(Arc::new(Memory::Mapped(mapping)))
}

/// Lends bytes of the program, or copies them if they do not begin at a cache line.
pub(super) fn of_program(bytes: &'static [u8]) -> Result<Arc<dyn Lender>, FileError> {
    match bytes.as_ptr().addr().is_multiple_of(LINE) {
        true => Ok(Arc::new(Memory::Static(bytes))),
        false => copied(bytes),
    }
}

/// Copies bytes to where their sections are aligned.
pub(super) fn copied(bytes: &[u8]) -> Result<Arc<dyn Lender>, FileError> {
    match Frozen::of(bytes) {
        Ok(bytes) => Ok(Arc::new(Memory::Copied(bytes))),
        Err(_) => {
            let error = io::ErrorKind::OutOfMemory.into();
            Err(FileErrorKind::Io { doing: "copy the table", error }.into())
        }
    }
}
