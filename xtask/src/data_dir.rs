//! Tables that are too large for the repository: files of a directory that the user names.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root;

/// The environment variable with the directory.
pub const VARIABLE: &str = "LONGMATCH_DATA";

/// Returns the directory with the large tables as an absolute path: the tool is started in the repository's root, but
/// the variable may be relative to the user's current directory. Returns `None` if the variable is not set and there is
/// no directory beside the repository.
///
/// # Errors
/// If the variable names no directory.
pub fn dir() -> Result<Option<PathBuf>, String> {
    let named = env::var_os(VARIABLE).map(PathBuf::from);
    let dir = named.clone().unwrap_or_else(|| root().join("../shared/data"));
    match fs::canonicalize(&dir) {
        Ok(dir) if dir.is_dir() => {
            println!("data directory: {}", dir.display());
            Ok(Some(dir))
        }
        _ if named.is_none() => Ok(None),
        _ => {
            Err(format!("{}: is not a directory (environment variable {VARIABLE})", dir.display()))
        }
    }
}

/// Returns the file of a table in the directory.
pub fn file(dir: &Path, table: &str) -> PathBuf {
    dir.join(format!("{table}.txt.zst"))
}
