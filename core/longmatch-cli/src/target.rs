//! Checks of the files that commands write. [`longmatch::file::NewFile`] writes them.

use std::fs::Metadata;
use std::path::Path;

use crate::error::CliError;
use crate::paths::{file, is_stdin};
use crate::stdin;

/// Refuses an output that is one of the inputs, also by another name of the same file.
///
/// # Errors
/// If it is one.
pub fn refuse_inputs<'p>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Result<(), CliError> {
    let Ok(output) = path.metadata() else { return Ok(()) };
    for input in inputs {
        let same = match is_stdin(input) {
            true => stdin::metadata().is_some_and(|input| is_same(&output, &input)),
            false => is_same_path(&output, path, file(input)),
        };
        if same {
            let problem = "the output is the input: write to another file";
            return Err(CliError::input(path.display(), problem));
        }
    }
    Ok(())
}

/// Suffixes of compressed files and archives.
pub const COMPRESSED: [&str; 18] = [
    "gz", "bz2", "xz", "zst", "zstd", "lz4", "lzma", "lz", "br", "sz", "z", "zip", "7z", "rar",
    "tar", "tgz", "tbz2", "txz",
];
/// Suffixes of files that are neither text nor columnar files that `annotate` writes.
pub const BINARY: [&str; 14] = [
    "xlsx", "xls", "ods", "parq", "pq", "avro", "orc", "sqlite", "db", "mmdb", "mrt", "pcap",
    "pcapng", "lm",
];

/// Refuses a name with one of these suffixes, for a file of another format.
///
/// # Errors
/// If it is such a name.
pub fn refuse_suffix(path: &Path, suffixes: &[&str], problem: &str) -> Result<(), CliError> {
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    match suffixes.contains(&&*suffix.to_ascii_lowercase()) {
        true => Err(CliError::input(path.display(), problem)),
        false => Ok(()),
    }
}

/// Whether a path on the command line is standard output: a device, pipe or file by any name.
pub fn is_output(path: &Path) -> bool {
    let output = stdin::output_metadata();
    path.metadata().ok().zip(output).is_some_and(|(one, two)| is_same(&one, &two))
}

/// Whether standard output is one of the inputs: appended to it, the lines would never end.
pub fn is_stdout<'p>(inputs: impl IntoIterator<Item = &'p Path>) -> bool {
    // Both may be one socket.
    let Some(output) = stdin::output_metadata().filter(Metadata::is_file) else { return false };
    let data = |path: &Path| match is_stdin(path) {
        true => stdin::metadata(),
        false => file(path).metadata().ok(),
    };
    inputs.into_iter().filter_map(data).any(|input| is_same(&output, &input))
}

#[cfg(unix)]
fn is_same_path(output: &Metadata, _: &Path, input: &Path) -> bool {
    input.metadata().is_ok_and(|input| is_same(output, &input))
}

#[cfg(not(unix))]
fn is_same_path(_: &Metadata, output: &Path, input: &Path) -> bool {
    input.canonicalize().is_ok_and(|one| output.canonicalize().is_ok_and(|two| one == two))
}

/// Whether both are the same file. A device, such as a terminal, can be read and written.
#[cfg(unix)]
fn is_same(one: &Metadata, two: &Metadata) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    !one.file_type().is_char_device() && (one.dev(), one.ino()) == (two.dev(), two.ino())
}

/// Other systems do not report it.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    false
}
