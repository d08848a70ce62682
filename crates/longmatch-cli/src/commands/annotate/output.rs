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
            return Ok(Self { file: stdout()?, name: None });
        };
        let name = path.display().to_string();
        if let (Ok(one), Ok(two)) = (path.canonicalize(), input.canonicalize())
            && one == two
        {
            let problem = "the output is the input: write to another file";
            return Err(CliError::input(name, problem));
        }
        let failed = |error| CliError::input(&name, format_args!("cannot be created: {error}"));
        let file = Target::File(File::create(path).map_err(failed)?);
        Ok(Self { file, name: Some(name) })
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
