//! The memory of an open file.

use alloc::sync::Arc;
use std::fs::File;
use std::io::{self, Read};

use memmap2::{Mmap, MmapOptions};

use super::error::{FileError, FileErrorKind};
use super::layout::{HEADER, verify_start};
use crate::mem::{Frozen, LINE, Lender};

/// A file's bytes, which begin at a cache line.
enum Memory {
    /// A file that nobody changes.
    Mapped(Mmap),
    /// A copy that nobody else has.
    Copied(Frozen<u8>),
    /// Bytes of the program.
    Static(&'static [u8]),
}

// SAFETY: a mapping stays at its place, and its bytes stay the same as `Unchanged` proves. A
// frozen array and a static slice are never written.
unsafe impl Lender for Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(mapping) => mapping,
            Self::Copied(bytes) => bytes,
            Self::Static(bytes) => bytes,
        }
    }
}

/// Proof that the contract of [`FileTable::map`](super::FileTable::map) holds for the files at a path.
#[derive(Clone, Copy)]
pub(super) struct Unchanged(());

impl Unchanged {
    /// # Safety
    /// While a file at the path is mapped, nobody writes into it or shortens it.
    pub unsafe fn promised() -> Self {
        Self(())
    }
}

/// Maps a file. `all` says that all of it will be read at once.
pub(super) fn mapped(file: &File, all: bool, _: Unchanged) -> io::Result<Arc<dyn Lender>> {
    let mut options = MmapOptions::new();
    if all {
        options.populate();
    }
    // SAFETY: the file stays as it is, as `Unchanged` proves.
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
    let bytes = Frozen::of(bytes).map_err(|_| out_of_memory())?;
    Ok(Arc::new(Memory::Copied(bytes)))
}

/// Reads a file of `len` bytes.
///
/// Its memory is allocated once its first bytes are those of a table of this length. A file that is
/// shortened meanwhile is [`FileErrorKind::Truncated`].
pub(super) fn read(mut file: impl Read, len: u64) -> Result<Arc<dyn Lender>, FileError> {
    let mut start = [0; HEADER];
    let count = fill(&mut file, &mut start)?;
    verify_start(&start[..count], len)?;
    let mut bytes = usize::try_from(len)
        .ok()
        .and_then(|len| Frozen::<u8>::zeroed(len).ok())
        .ok_or_else(out_of_memory)?;
    // At least a header, as verified above.
    let (copy, rest) = bytes.split_at_mut(HEADER);
    copy.copy_from_slice(&start);
    match HEADER + fill(&mut file, rest)? {
        found if found == bytes.len() => Ok(Arc::new(Memory::Copied(bytes))),
        found => Err(FileErrorKind::Truncated { expected: len, found: found as u64 }.into()),
    }
}

/// Fills a buffer, or reads to the end; returns the number of bytes read.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> Result<usize, FileError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FileErrorKind::Io { doing: "read it", error }.into()),
        }
    }
    Ok(filled)
}

fn out_of_memory() -> FileError {
    let error = io::ErrorKind::OutOfMemory.into();
    FileErrorKind::Io { doing: "copy the table", error }.into()
}
