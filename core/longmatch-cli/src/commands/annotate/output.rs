//! The output: whole blocks to standard output or a file.

#[cfg(unix)]
use std::fs::File;
use std::io::{self, Write};
use std::time::Instant;

use longmatch::file::NewFile;

use crate::args::AnnotateArgs;
use crate::error::CliError;
use crate::output::{plural, short};
use crate::paths::{file, is_stdin};
use crate::target;

/// A file, or standard output.
pub struct Output {
    target: Target,
    /// Name in messages; `None` for standard output.
    name: Option<String>,
}

enum Target {
    New(NewFile),
    #[cfg(unix)]
    Stdout(File),
    #[cfg(not(unix))]
    Stdout,
}

/// Refuses an output that is an input or a table, or whose name means another format.
///
/// # Errors
/// If it is one.
pub fn check(args: &AnnotateArgs) -> Result<(), CliError> {
    let files = args.inputs();
    let inputs = || {
        let all = files.iter().chain(&args.routes).chain(&args.tables).map(|path| file(path));
        all.chain(args.read.joined())
    };
    let Some(path) = args.output.as_deref().filter(|path| !is_stdin(path)) else {
        let problem = "the output is the input: write to another file";
        return match target::is_stdout(inputs()) {
            true => Err(CliError::input("standard output", problem)),
            false => Ok(()),
        };
    };
    let problem = "no such file is written: Parquet and Arrow are written from such an input (name it .parquet, .arrow or .arrows), text under any other name, such as .csv or .csv.gz";
    target::refuse_suffix(path, &target::BINARY, problem)?;
    match (args.compress, args.codec()) {
        (None, None) => {
            let problem =
                "no such file is written: name it .gz, .bz2, .zst or .xz, or say --compress none";
            target::refuse_suffix(path, &target::COMPRESSED, problem)?;
        }
        (Some(_), Some(codec)) if args.codec_of_name() != Some(codec) => {
            let problem = "the name is not that of the compression of --compress: leave that out, or name the file otherwise";
            target::refuse_suffix(path, &target::COMPRESSED, problem)?;
        }
        _ => {}
    }
    target::refuse_inputs(path, inputs())
}

impl Output {
    /// Creates the file of `--output`, or takes standard output.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn open(args: &AnnotateArgs) -> Result<Self, CliError> {
        let Some(path) = args.output.as_deref().filter(|path| !is_stdin(path)) else {
            return Ok(Self { target: stdout()?, name: None });
        };
        // The library's message has the path.
        let file = NewFile::create(path).map_err(|error| CliError::file(&error))?;
        Ok(Self { target: Target::New(file), name: Some(path.display().to_string()) })
    }

    /// Whether the file appears only when it is finished.
    pub fn replaces(&self) -> bool {
        matches!(&self.target, Target::New(file) if file.replaces())
    }

    /// Writes whole lines, or a part of a compressed stream. If the system refuses, the file that standard
    /// output is ends where it ended before.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        let result = match &mut self.target {
            Target::New(file) => file.write_all(bytes),
            #[cfg(not(unix))]
            Target::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            #[cfg(unix)]
            Target::Stdout(file) => {
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

    /// Ends the output: a file gets its name.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn finish(self) -> Result<(), CliError> {
        match self.target {
            Target::New(file) => file.finish().map_err(|error| CliError::file(&error)),
            _ => Ok(()),
        }
    }
}

/// Standard output as a file, without a buffer that could hold a part of a line.
#[cfg(unix)]
fn stdout() -> Result<Target, CliError> {
    use std::os::fd::AsFd;
    let owned = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Target::Stdout(owned.into()))
}

/// Standard output.
#[cfg(not(unix))]
fn stdout() -> Result<Target, CliError> {
    Ok(Target::Stdout)
}

/// The label of the progress.
pub fn rate(rows: u64, started: Instant) -> String {
    let rate = rows as f64 / started.elapsed().as_secs_f64().max(1e-9) / 1e6;
    format!("annotating: {}, {} M rows/s", plural(rows, "row"), short(rate))
}
