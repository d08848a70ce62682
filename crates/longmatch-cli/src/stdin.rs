//! Standard input of commands that pass it on.

use std::fs::File;
use std::io;

/// Standard input without a buffer of its own.
///
/// # Errors
/// If the system does not duplicate its descriptor.
#[cfg(unix)]
pub fn open() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// Standard input.
#[cfg(not(unix))]
pub fn open() -> io::Result<io::Stdin> {
    Ok(io::stdin())
}

/// The size of the file that standard input is, if it is one.
pub fn size() -> Option<u64> {
    #[cfg(unix)]
    return open().ok()?.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
    #[cfg(not(unix))]
    None
}
