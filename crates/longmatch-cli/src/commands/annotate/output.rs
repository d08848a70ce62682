//! The output: whole blocks to standard output or a file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::error::CliError;

/// A file, or standard output.
pub struct Output {
    file: Target,
    /// Name in messages; `None` for standard output.
    name: Option<String>,
    /// The temporary file, until it is the output.
    #[cfg(feature = "columnar")]
    temporary: Option<tempfile::TempPath>,
}

enum Target {
    File(File),
    #[cfg_attr(unix, allow(dead_code, reason = "standard output is a file there"))]
    Stdout,
}

impl Output {
    /// Creates a file, or takes standard output.
    ///
    /// # Errors
    /// If the file cannot be created, or is the input.
    pub fn open(path: Option<&Path>, input: &Path) -> Result<Self, CliError> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            return Ok(Self::new(stdout()?, None));
        };
        let name = checked_name(path, input)?;
        let file = File::create(path).map_err(|error| not_created(&name, &error))?;
        Ok(Self::new(Target::File(file), Some(name)))
    }

    fn new(file: Target, name: Option<String>) -> Self {
        Self {
            file,
            name,
            #[cfg(feature = "columnar")]
            temporary: None,
        }
    }

    /// Takes standard output, or creates a temporary file that [`Output::finish`] renames, so that there
    /// is never a part of a file. Devices and pipes are written to as they are.
    ///
    /// # Errors
    /// As [`Output::open`].
    #[cfg(feature = "columnar")]
    pub fn open_whole(path: Option<&Path>, input: &Path) -> Result<Self, CliError> {
        let is_file = |path: &&Path| path.metadata().map_or(true, |data| data.is_file());
        let Some(path) = path.filter(|path| path.as_os_str() != "-").filter(is_file) else {
            return Self::open(path, input);
        };
        let name = checked_name(path, input)?;
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".longmatch-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The permissions of a new file, which the system reduces by the umask.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let created = builder.tempfile_in(dir.unwrap_or(Path::new(".")));
        let (file, temporary) = created.map_err(|error| not_created(&name, &error))?.into_parts();
        let output = Self::new(Target::File(file), Some(name));
        Ok(Self { temporary: Some(temporary), ..output })
    }

    /// Gives the temporary file of [`Output::open_whole`] the name of the output.
    ///
    /// # Errors
    /// If the system refuses.
    #[cfg(feature = "columnar")]
    pub fn finish(mut self, path: Option<&Path>) -> Result<(), CliError> {
        match (self.temporary.take(), path) {
            (Some(temporary), Some(path)) => temporary
                .persist(path)
                .map_err(|error| CliError::input(path.display(), error.error)),
            _ => Ok(()),
        }
    }

    /// Writes whole lines, or a part of a compressed stream. If the system refuses, a file ends where it
    /// ended before.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        let result = match &mut self.file {
            Target::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            Target::File(file) => {
                let before = file.metadata().ok().filter(|data| data.is_file());
                let result = file.write_all(bytes);
                if result.is_err()
                    && let Some(before) = before
                {
                    // The error that is reported is that of writing.
                    let _ = file.set_len(before.len());
                }
                result
            }
        };
        result.map_err(|error| match &self.name {
            None => CliError::from(error),
            Some(name) => CliError::input(name, format_args!("cannot be written: {error}")),
        })
    }
}

/// The name of the output in messages.
///
/// # Errors
/// If the output is the input.
fn checked_name(path: &Path, input: &Path) -> Result<String, CliError> {
    let name = path.display().to_string();
    if let (Ok(one), Ok(two)) = (path.canonicalize(), input.canonicalize())
        && one == two
    {
        let problem = "the output is the input: write to another file";
        return Err(CliError::input(name, problem));
    }
    Ok(name)
}

fn not_created(name: &str, error: &io::Error) -> CliError {
    CliError::input(name, format_args!("cannot be created: {error}"))
}

/// Standard output as a file, without a buffer that could hold a part of a line.
#[cfg(unix)]
fn stdout() -> Result<Target, CliError> {
    use std::os::fd::AsFd;
    let owned = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Target::File(owned.into()))
}

/// Standard output.
#[cfg(not(unix))]
fn stdout() -> Result<Target, CliError> {
    Ok(Target::Stdout)
}
