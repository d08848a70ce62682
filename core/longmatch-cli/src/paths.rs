//! Paths of the command line: files and standard input.

use std::path::Path;

use crate::error::CliError;

/// The path that means standard input.
const STDIN: &str = "-";

/// Returns whether a path on the command line means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// The name and the file of a list, `NAME=FILE`, unless that is a file itself.
pub fn named(path: &Path) -> Option<(&str, &Path)> {
    let (name, file) = path.to_str()?.split_once('=')?;
    let is_name = !name.contains('/') && !path.exists();
    is_name.then(|| (name, Path::new(file)))
}

/// The file of a path on the command line, which may have a name before it, or that of an archive's member after it.
pub fn file(path: &Path) -> &Path {
    let path = named(path).map_or(path, |(_, file)| file);
    longmatch_feed::archive_member(path).map_or(path, |(archive, _)| archive)
}

/// Refuses inputs if more than one of them is standard input.
///
/// # Errors
/// If there are two.
pub fn one_stdin(paths: impl IntoIterator<Item: AsRef<Path>>) -> Result<(), CliError> {
    match paths.into_iter().filter(|path| is_stdin(file(path.as_ref()))).count() {
        0 | 1 => Ok(()),
        _ => Err(CliError::new("'-' may be given only once: standard input cannot be read twice")),
    }
}

/// Name of a path in headings and messages: exact, so escape it with [`longmatch_feed::printable`] on a terminal.
pub fn display_name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}
