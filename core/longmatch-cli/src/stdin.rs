//! Standard input of commands that pass it on.

#[cfg(unix)]
use std::fs::File;
use std::fs::Metadata;
use std::io;

/// Standard input without a buffer.
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

/// The properties of the file that standard input is.
pub fn metadata() -> Option<Metadata> {
    #[cfg(unix)]
    return open().ok()?.metadata().ok();
    #[cfg(not(unix))]
    None
}

/// The properties of the file that standard output is.
pub fn output_metadata() -> Option<Metadata> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let owned = io::stdout().as_fd().try_clone_to_owned().ok()?;
        File::from(owned).metadata().ok()
    }
    #[cfg(not(unix))]
    None
}

/// The size of the file that standard input is, if it is one.
pub fn size() -> Option<u64> {
    metadata().filter(Metadata::is_file).map(|data| data.len())
}
